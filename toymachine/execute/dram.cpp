#include "toymachine/execute/dram.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <utility>

#include "text/encoding.hpp"
#include "text/lists.hpp"
#include "text/nearest.hpp"
#include "text/read_number.hpp"
#include "toymachine/execute/number_list.hpp"
#include "toymachine/language/request_error.hpp"

namespace flashlab::toy {
namespace {

using detail::parse_csv;
using detail::parse_json_list;
using detail::parse_number;

constexpr std::string_view kSourceForms =
    "random:SEED, random:SEED:LOW:HIGH, constant:VALUE, a list [1, 2.5, -inf], "
    "or a file that ends in .csv or .json";

std::string in_quotes(std::string_view text) { return "'" + std::string(text) + "'"; }

Result<InputSource> parse_random(std::string_view text) {
  const std::vector<std::string_view> parts = split_at(text, ':');
  if (parts.size() != 2 && parts.size() != 4) {
    return request_error("input " + in_quotes(text) + " is not complete",
                         "random:SEED or random:SEED:LOW:HIGH");
  }
  RandomInput random;
  const std::string_view digits = parts[1];
  if (!read_whole(digits, random.seed)) {
    return request_error("seed " + in_quotes(digits) + " is not a whole number",
                         "a seed from 0 to 18446744073709551615");
  }
  if (parts.size() == 2) return InputSource{random};
  const Result<double> low = parse_number(parts[2]), high = parse_number(parts[3]);
  if (!low) return low.diagnostics;
  if (!high) return high.diagnostics;
  if (!(*low < *high) || !std::isfinite(*high - *low)) {
    return request_error("the range of " + in_quotes(text) + " is empty or infinite",
                         "LOW below HIGH, both finite");
  }
  random.low = *low;
  random.high = *high;
  return InputSource{random};
}

/// FNV-1a: the seed of an input without a source is the hash of its name.
std::uint64_t hash(std::string_view name) {
  std::uint64_t value = 14695981039346656037ULL;
  for (const char c : name) value = (value ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return value;
}

/// The standard's distributions may differ between libraries, but its engines may not. The top 53
/// bits are therefore mapped to [0, 1) here.
class Uniform {
 public:
  explicit Uniform(const RandomInput& random)
      : low_(random.low),
        width_(random.high - random.low),
        most_(std::nextafter(random.high, random.low)) {}
  double operator()(std::mt19937_64& engine) const {
    const double unit = static_cast<double>(engine() >> 11) * 0x1p-53;
    return std::min(low_ + unit * width_, most_);
  }
  double most() const { return most_; }

 private:
  double low_, width_, most_;
};

std::vector<double> draw(const RandomInput& random, std::int64_t size) {
  std::mt19937_64 engine(random.seed);
  const Uniform uniform(random);
  std::vector<double> values(static_cast<std::size_t>(size));
  for (double& value : values) value = uniform(engine);
  return values;
}

std::string extents_text(const std::vector<std::int64_t>& shape) {
  return joined(shape, " x ", [](std::int64_t extent) { return std::to_string(extent); });
}

/// "x[n], which is 4 values with n = 4": the expected shape, and the -D option that decides it.
std::string wanted(const BoundProgram& program, const BoundArray& array) {
  std::string declared = array.name, values;
  for (std::size_t axis = 0; axis < array.extents.size(); ++axis) {
    const Expression* extent =
        axis < array.extent_expressions.size() ? array.extent_expressions[axis].get() : nullptr;
    const std::string number = std::to_string(array.extents[axis]);
    declared += "[" + (extent != nullptr ? to_string(*extent) : number) + "]";
    if (extent != nullptr && extent->op == ExpressionOp::kParam) {
      const std::string& name = program.program->params[extent->index].name;
      const std::string value = name + " = " + number;
      if (values.find(value) == std::string::npos) values += (values.empty() ? "" : ", ") + value;
    }
  }
  return extents_text(array.extents) + " values, as " + declared + " holds" +
         (values.empty() ? "" : " with " + values + " (-D changes it)");
}

bool is_csv(const std::string& path) { return path.ends_with(".csv"); }

/// A list must have the array's shape. A table has two axes: its rows are the leading axes one
/// after the other. An array with one axis may be one row or one column.
bool shape_fits(const std::vector<std::int64_t>& shape, const BoundArray& array, bool table) {
  if (shape == array.extents) return true;
  if (!table || shape.size() != 2) return false;
  if (shape[0] * shape[1] != array.size) return false;
  if (array.extents.size() == 1) return shape[0] == 1 || shape[1] == 1 || array.size == 0;
  return array.size == 0 || shape[1] == array.extents.back();
}

Result<std::string> read_text(const std::string& path, std::int64_t most_bytes) {
  namespace fs = std::filesystem;
  std::error_code code;
  const fs::file_status status = fs::status(path, code);
  if (!fs::exists(status)) return request_error("there is no file " + in_quotes(path));
  if (!fs::is_regular_file(status)) {
    return request_error(in_quotes(path) + " is not a regular file", "a .csv or .json file");
  }
  if (fs::file_size(path, code) > static_cast<std::uintmax_t>(most_bytes)) {
    return request_error(in_quotes(path) + " is too large for the values it should hold",
                         "at most " + std::to_string(most_bytes) + " bytes");
  }
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf() || text.str().empty()) || file.bad()) {
    return request_error(in_quotes(path) + " cannot be read");
  }
  std::string bytes = std::move(text).str();
  if (const std::string_view other = other_encoding(bytes); !other.empty()) {
    return request_error(in_quotes(path) + " is text in " + std::string(other), "text in UTF-8");
  }
  return bytes;
}

Result<std::vector<double>> list_values(const BoundProgram& program, const BoundArray& array,
                                        const ListInput& list, bool table) {
  if (shape_fits(list.shape, array, table)) return list.values;
  return request_error("input " + array.name + " has " + extents_text(list.shape) +
                           (list.shape.size() == 1 && list.shape[0] == 1 ? " value" : " values"),
                       wanted(program, array));
}

/// Returns the values of one input, before rounding to its element type.
Result<std::vector<double>> input_values(const BoundProgram& program, const BoundArray& array,
                                         const InputSource& source) {
  constexpr std::int64_t kBytesPerValue = 64, kBytesOfComments = 1 << 16;
  if (const auto* random = std::get_if<RandomInput>(&source)) return draw(*random, array.size);
  if (const auto* constant = std::get_if<ConstantInput>(&source)) {
    return std::vector<double>(static_cast<std::size_t>(array.size), constant->value);
  }
  if (const auto* list = std::get_if<ListInput>(&source)) {
    return list_values(program, array, *list, false);
  }
  const std::string& path = std::get<FileInput>(source).path;
  const Result<std::string> text = read_text(path, array.size * kBytesPerValue + kBytesOfComments);
  if (!text) return text.diagnostics;
  const Result<ListInput> list =
      is_csv(path) ? parse_csv(*text, path) : parse_json_list(*text, path);
  if (!list) return list.diagnostics;
  return list_values(program, array, *list, is_csv(path));
}

/// Rounds to the nearest float, or to an infinity.
double round_to_float(double value) {
  constexpr double kFirstTooLarge = 0x1.ffffffp127;  // half a unit above the largest float
  if (std::abs(value) < kFirstTooLarge || !std::isfinite(value)) return static_cast<float>(value);
  return std::copysign(std::numeric_limits<double>::infinity(), value);
}

/// Rounds and checks the values.
std::optional<Diagnostic> round_all(const BoundArray& array, std::vector<double>& values) {
  const bool is_float = array.element_type == ElementType::kFloat;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double given = values[i];
    const double value = is_float ? round_to_float(given) : round_to(array.element_type, given);
    if (std::isnan(value) || (std::isinf(value) && !(std::isinf(given) && given < 0))) {
      std::ostringstream what;
      what << "input " << array.element_name(static_cast<std::int64_t>(i)) << " = " << given
           << (std::isfinite(given) ? " does not fit the array's type"
                                    : " is not a value of this machine");
      return request_error(what.str(), "finite numbers of its element type, or -inf");
    }
    values[i] = value;
  }
  return std::nullopt;
}

std::optional<Diagnostic> check_name(const BoundProgram& program, const std::string& name) {
  std::vector<std::string> inputs;
  for (const BoundArray& array : program.arrays) {
    if (array.role == ArrayRole::kInput) inputs.push_back(array.name);
    if (array.name != name) continue;
    if (array.role == ArrayRole::kInput) return std::nullopt;
    return request_error("array " + in_quotes(name) + " takes no input: the program writes it",
                         "an array declared with .input");
  }
  return request_error(
      "the program has no input " + in_quotes(name),
      inputs.empty() ? "no input: the program declares none" : "one of " + joined(inputs),
      nearest(name, inputs).value_or(""));
}

/// Rounds to a binary format with `precision` significant bits, smallest normal number
/// 2^min_exponent and largest number `largest`; ties to even, as the hardware does.
double round_to_format(double value, int precision, int min_exponent, double largest) {
  if (value == 0 || !std::isfinite(value)) return value;
  int exponent = 0;  // 2^(exponent - 1) <= |value| < 2^exponent
  std::frexp(value, &exponent);
  const int last_bit = std::max(exponent, min_exponent + 1) - precision;
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(value, -last_bit)), last_bit);
  if (std::abs(rounded) <= largest) return rounded;
  return std::copysign(std::numeric_limits<double>::infinity(), value);
}

}  // namespace

std::optional<Diagnostic> array_bytes_error(const BoundProgram& program) {
  std::int64_t bytes = 0;
  for (const BoundArray& array : program.arrays) {
    bytes += array.size * element_bytes(array.element_type);
    if (bytes <= program.limits.max_array_bytes) continue;
    return Diagnostic{Severity::kError,
                      Fault::kLimit,
                      array.span,
                      "the arrays up to '" + array.name + "' take more than " +
                          std::to_string(program.limits.max_array_bytes) + " bytes",
                      "smaller sizes, or a larger --max-array-bytes; 'cost' needs no arrays",
                      {}};
  }
  return std::nullopt;
}

Result<InputSource> parse_input_source(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos)
    return request_error("input is empty", std::string(kSourceForms));
  text.remove_prefix(first);
  if (text.starts_with("random:")) return parse_random(text);
  if (text.starts_with("constant:")) {
    const Result<double> value = parse_number(text.substr(text.find(':') + 1));
    if (!value) return value.diagnostics;
    return InputSource{ConstantInput{*value}};
  }
  if (text.starts_with('[')) {
    Result<ListInput> list = parse_json_list(text, "list");
    if (!list) return list.diagnostics;
    return InputSource{std::move(*list)};
  }
  if (text.ends_with(".csv") || text.ends_with(".json")) {
    return InputSource{FileInput{std::string(text)}};
  }
  const std::string word(text.substr(0, text.find(':')));
  const auto near = nearest(word, {"random", "constant"});
  return request_error("input " + in_quotes(text) + " has no known form", std::string(kSourceForms),
                       near ? *near + ":" : "");
}

Result<InitialDram> InitialDram::make(const BoundProgram& program,
                                      const std::map<std::string, InputSource>& inputs) {
  std::vector<Diagnostic> problems;
  if (auto problem = array_bytes_error(program)) return *problem;
  for (const auto& [name, source] : inputs) {
    if (auto problem = check_name(program, name)) problems.push_back(*problem);
  }
  InitialDram dram;
  for (const BoundArray& array : program.arrays) {
    Values& values = dram.arrays_.emplace_back();
    if (array.role != ArrayRole::kInput || !problems.empty()) continue;
    const auto given = inputs.find(array.name);
    const InputSource source =
        given != inputs.end() ? given->second : InputSource{RandomInput{hash(array.name), -1, 1}};
    const auto fits = [&](double value) {
      return std::isfinite(round_to(array.element_type, value));
    };
    const auto* random = std::get_if<RandomInput>(&source);
    // Rounding keeps the order, so that all values fit if both ends do.
    if (random != nullptr && fits(random->low) && fits(Uniform(*random).most())) {
      values = Drawn{*random, array.element_type, std::mt19937_64(random->seed)};
      continue;
    }
    const auto* constant = std::get_if<ConstantInput>(&source);
    if (constant != nullptr && fits(constant->value)) {
      values = ConstantInput{round_to(array.element_type, constant->value)};
      continue;
    }
    Result<std::vector<double>> all = input_values(program, array, source);
    if (!all) return all.diagnostics;
    if (auto problem = round_all(array, *all)) problems.push_back(*problem);
    values = std::move(*all);
  }
  if (!problems.empty()) return problems;
  return dram;
}

InitialDram InitialDram::of_cells(const BoundProgram& program, const std::vector<double>& cells) {
  InitialDram dram;
  for (const BoundArray& array : program.arrays) {
    const auto first = cells.begin() + array.offset;
    dram.arrays_.emplace_back(std::vector<double>(first, first + array.size));
  }
  return dram;
}

template <class Cell>
void InitialDram::fill(std::size_t array, std::int64_t first, std::span<Cell> cells) {
  Values& values = arrays_[array];
  if (const auto* constant = std::get_if<ConstantInput>(&values)) {
    std::fill(cells.begin(), cells.end(), static_cast<Cell>(constant->value));
  } else if (const auto* all = std::get_if<std::vector<double>>(&values)) {
    std::transform(all->begin() + first, all->begin() + first + std::ssize(cells), cells.begin(),
                   [](double value) { return static_cast<Cell>(value); });
  } else if (auto* drawn = std::get_if<Drawn>(&values)) {
    if (first == 0) drawn->engine.seed(drawn->random.seed);
    const Uniform uniform(drawn->random);
    for (Cell& cell : cells) {
      cell = static_cast<Cell>(round_to(drawn->type, uniform(drawn->engine)));
    }
  } else {
    std::fill(cells.begin(), cells.end(), std::numeric_limits<Cell>::quiet_NaN());
  }
}
template void InitialDram::fill(std::size_t, std::int64_t, std::span<float>);
template void InitialDram::fill(std::size_t, std::int64_t, std::span<double>);

Result<std::vector<double>> initial_dram(const BoundProgram& program,
                                         const std::map<std::string, InputSource>& inputs) {
  Result<InitialDram> initial = InitialDram::make(program, inputs);
  if (!initial) return initial.diagnostics;
  std::vector<double> dram(static_cast<std::size_t>(program.dram_elements),
                           std::numeric_limits<double>::quiet_NaN());
  for (std::size_t array = 0; array < program.arrays.size(); ++array) {
    const BoundArray& one = program.arrays[array];
    initial->fill(array, 0,
                  std::span(dram).subspan(static_cast<std::size_t>(one.offset),
                                          static_cast<std::size_t>(one.size)));
  }
  return dram;
}

double round_to(ElementType type, double value) {
  switch (type) {
    case ElementType::kFloat:
      return round_to_float(value);
    case ElementType::kDouble:
      return value;
    case ElementType::kBf16:
      return round_to_format(value, 8, -126, 0x1.fep127);
    case ElementType::kFp16:
      return round_to_format(value, 11, -14, 65504);
  }
  return value;
}

}  // namespace flashlab::toy
