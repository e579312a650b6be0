#include "cli/optimal_options.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <stdexcept>

#include "cli/failure.hpp"

namespace flashlab::cli {
namespace {

constexpr int kMostStateBits = 64;       // of the solver's states of a product
constexpr int kMostVectorRegisters = 7;  // of its states of a vector's values
constexpr int kMostProductRegisters = 64;
constexpr const char* kComputations =
    "2x2x2 (rows x inner x columns), dot:8, sum:4, max:4, softmax:2";

std::string in_quotes(const std::string& text) { return "'" + printable(text) + "'"; }

/// 1, 2, … as far as an int goes.
std::optional<int> size_of(std::string_view digits) {
  int value = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (code != std::errc{} || end != digits.data() + digits.size() || value < 1) return {};
  return value;
}

int bits_of(const optimal::MatrixProduct& product, bool spills) {
  return product.num_terms() + product.num_inputs() + (spills ? product.num_outputs() : 0);
}

Failure too_large(const std::string& text, const std::string& limit) {
  return request_failure(in_quotes(text) + " is too large for the solver", limit);
}

Failure product_too_large(const std::string& text, bool spills) {
  return too_large(text, std::string("rows x inner x columns, plus the elements of A and B") +
                             (spills ? ", and with --spills those of C" : "") + ": at most " +
                             std::to_string(kMostStateBits) + " together");
}

/// Nothing when the text is no product at all.
std::optional<optimal::MatrixProduct> parse_product(const std::string& text) {
  std::vector<std::string> sizes = CLI::detail::split(text, 'x');
  if (text.starts_with("dot:")) sizes = {"1", text.substr(4), "1"};
  if (sizes.size() != 3) return {};
  const auto rows = size_of(sizes[0]), inner = size_of(sizes[1]), columns = size_of(sizes[2]);
  if (!rows || !inner || !columns) return {};
  if (std::max({*rows, *inner, *columns}) > kMostStateBits) throw product_too_large(text, false);
  const optimal::MatrixProduct product{*rows, *inner, *columns};
  if (bits_of(product, false) > kMostStateBits) throw product_too_large(text, false);
  return product;
}

struct VectorComputation {
  std::string_view name;
  int least, most;  // elements
  optimal::ValueAlgebra (*algebra)(int n);
};
constexpr VectorComputation kVectorComputations[] = {
    {"sum", 2, 8, optimal::vector_sum},
    {"max", 2, 8, optimal::vector_maximum},
    {"softmax", 2, 4, optimal::safe_softmax},
};

std::optional<optimal::ValueAlgebra> parse_vector(const std::string& text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  for (const VectorComputation& known : kVectorComputations) {
    if (text.substr(0, colon) != known.name || colon == text.size()) continue;
    const auto n = size_of(std::string_view(text).substr(colon + 1));
    if (!n) return {};
    const std::string limits =
        std::to_string(known.least) + " to " + std::to_string(known.most) + " elements";
    if (*n > known.most) throw too_large(text, limits);
    if (*n < known.least) throw request_failure(in_quotes(text) + " is too small", limits);
    return known.algebra(*n);
  }
  return {};
}

std::size_t parse_bytes(const std::string& text) {
  double number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string unit(end, text.data() + text.size());
  constexpr double kLargest = 1e15;
  struct Unit {
    const char* name;
    double bytes;
  };
  for (const auto& [name, bytes] :
       {Unit{"", 1}, Unit{"KiB", 1024}, Unit{"KB", 1e3}, Unit{"MiB", 1048576}, Unit{"MB", 1e6},
        Unit{"GiB", 1073741824}, Unit{"GB", 1e9}}) {
    if (code != std::errc{} || unit != name || !(number > 0 && number * bytes < kLargest)) continue;
    return static_cast<std::size_t>(number * bytes);
  }
  throw request_failure("--most-bytes " + in_quotes(text) + " is no size",
                        "bytes such as 500MB or 8GiB");
}

std::vector<int> parse_registers(const std::string& text, bool is_product) {
  const int most = is_product ? kMostProductRegisters : kMostVectorRegisters;
  const std::string all = is_product ? "2..8" : "2..6";
  std::vector<int> result;
  for (const std::int64_t value : parse_values("registers", text.empty() ? all : text)) {
    if (value < 1 || value > most) {
      throw request_failure(std::to_string(value) + " registers are outside of what is solved",
                            "1 to " + std::to_string(most) + " for this computation");
    }
    result.push_back(static_cast<int>(value));
  }
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

/// What the flags say of products makes no sense for a vector.
void check_flags(const OptimalOptions& options, const OptimalRequest& request) {
  if (const auto* product = request.computation.product()) {
    if (options.spills && bits_of(*product, true) > kMostStateBits) {
      throw product_too_large(request.computation.name, true);
    }
  } else if (options.spills || options.operands != "any") {
    throw request_failure((options.spills ? "--spills" : "--operands " + options.operands) +
                              std::string(" says nothing about ") + in_quotes(options.computation),
                          "it beside a product: 2x2x2, dot:8");
  }
  if (options.witness.empty()) return;
  if (!request.is_one_machine()) {
    throw request_failure("--witness writes one program, and several are asked for",
                          "one number of registers and one rule: --registers 4 --operands any");
  }
  if (options.json && options.witness == "-") {
    throw request_failure("--json and --witness - both write to standard output",
                          "one of them, or a file");
  }
}

}  // namespace

Computation parse_computation(const std::string& text) {
  if (auto product = parse_product(text)) return {text, *product};
  if (auto algebra = parse_vector(text)) return {text, std::move(*algebra)};
  throw request_failure(in_quotes(text) + " is no computation that the solver knows",
                        std::string(kComputations) + ", sizes from 1");
}

void OptimalOptions::add_to(CLI::App& command) {
  command
      .add_option("computation", computation,
                  std::string("what to compute, and its size: ") + kComputations)
      ->required()
      ->type_name("COMPUTATION");
  command
      .add_option("--registers", registers,
                  "one number, or a range (2..8 for products, 2..6 for the rest)")
      ->type_name("K");
  command
      .add_option("--operands", operands,
                  "any, pinned (products take R0 and R1 only), or both side by side")
      ->check(CLI::IsMember({"any", "pinned", "both"}))
      ->capture_default_str()
      ->type_name("RULE");
  command.add_flag("--spills", spills,
                   "partial sums may be stored and loaded again; without it, only results are");
  command.add_option("--cost", costs, "cycles of instructions, 1 each unless set: LOAD=10,STORE=2")
      ->type_name("OP=CYCLES,...");
  command.add_option("--most-seconds", most_seconds, "search no longer, for each machine")
      ->check(CLI::Range(0.0, 1e9))
      ->capture_default_str()
      ->type_name("S");
  command.add_option("--most-bytes", most_bytes, "memory that the search may take")
      ->capture_default_str()
      ->type_name("SIZE");
  command.add_option("--witness", witness, "write the program to a file, or to - alone")
      ->type_name("FILE");
  command.add_flag("--times", times, "how long each search took");
  command.add_flag("--no-plot", no_plot, "the table only");
  command.add_flag("--json", json, "as JSON");
  terminal.add_to(command);
}

OptimalRequest understand(const OptimalOptions& options) {
  OptimalRequest request;
  request.computation = parse_computation(options.computation);
  const bool is_product = request.computation.product() != nullptr;
  request.registers = parse_registers(options.registers, is_product);
  if (options.operands != "pinned") request.rules.push_back(toy::OperandRule::kAny);
  if (options.operands != "any") request.rules.push_back(toy::OperandRule::kPinned);
  value_or_fail(request.costs.parse(options.costs));
  request.most_bytes = parse_bytes(options.most_bytes);
  check_flags(options, request);
  return request;
}

std::string rule_name(toy::OperandRule rule) {
  return rule == toy::OperandRule::kPinned ? "pinned" : "any";
}

}  // namespace flashlab::cli
