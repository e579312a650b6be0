#include "cli/options/options.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <set>
#include <sstream>

#include "cli/terminal/failure.hpp"
#include "cli/terminal/files.hpp"
#include "cli/terminal/text_table.hpp"
#include "gpu/sheets/gpu_specs.hpp"
#include "text/lists.hpp"
#include "text/nearest.hpp"
#include "text/read_number.hpp"
#include "text/visible.hpp"
#include "text/width.hpp"
#include "toymachine/budget/budget.hpp"
#include "toymachine/language/assembler.hpp"

namespace flashlab::cli {
namespace {

bool is_name(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_';
  });
}

struct Definition {
  std::string name, value;
};

/// Splits "n=64,d=4". A part without '=' continues the value before it: "n=8,16,32".
std::vector<Definition> split_definitions(const std::vector<std::string>& texts) {
  std::vector<Definition> definitions;
  for (const std::string& text : texts) {
    if (text.ends_with(',')) {
      throw request_failure("-D " + in_quotes(text) + " ends in a comma",
                            "-D NAME=NUMBER, as in -D n=64, or several with commas between them");
    }
    bool first = true;
    for (const std::string& part : split(text, ',')) {
      const std::size_t equals = part.find('=');
      if (equals == std::string::npos && !first && !definitions.empty()) {
        definitions.back().value += "," + part;
        continue;
      }
      const std::string name(trimmed(part.substr(0, equals)));
      if (equals == std::string::npos || !is_name(name)) {
        throw request_failure("-D " + in_quotes(text) + " gives no parameter a value",
                              "-D NAME=NUMBER, as in -D n=64");
      }
      definitions.push_back({name, std::string(trimmed(part.substr(equals + 1)))});
      first = false;
    }
  }
  return definitions;
}

/// A number that is not written as a whole one: "30.5".
std::optional<double> parse_real(std::string_view text) {
  std::int64_t whole = 0;
  double number = 0;
  if (read_whole(text, whole) || text.find("..") != std::string_view::npos) return {};
  if (!read_whole(text, number) || !std::isfinite(number)) return {};
  return number;
}

void check_given_once(const std::vector<Definition>& definitions) {
  std::set<std::string> names;
  for (const Definition& definition : definitions) {
    if (!names.insert(definition.name).second) {
      throw request_failure("parameter " + in_quotes(definition.name) + " is given twice");
    }
  }
}

std::shared_ptr<const toy::Program> assemble_or_fail(
    const std::shared_ptr<const toy::SourceText>& source, const toy::Limits& limits) {
  return std::make_shared<const toy::Program>(
      value_or_fail(toy::assemble(source, limits), *source));
}

}  // namespace

/// Sets the limits for the rest of the command.
void MachineOptions::limit_work() const {
  if (max_seconds == 0 && max_memory.empty()) return;
  static std::optional<toy::Budget> budget;
  if (budget) return;
  toy::BudgetLimits most;
  most.milliseconds = std::llround(std::ceil(max_seconds * 1000));
  if (!max_memory.empty()) {
    const auto size = parse_size(max_memory);
    if (!size || *size == 0) {
      throw request_failure("--max-memory " + in_quotes(max_memory) + " is not a size",
                            "bytes such as 100000000 or 100MB");
    }
    most.bytes = *size;
  }
  budget.emplace(most);
}

toy::CapacityBinding MachineOptions::binding_without_params() const {
  limit_work();
  toy::CapacityBinding binding;
  binding.limits = limits;
  if (operands == "any") binding.operand_rule = toy::OperandRule::kAny;
  if (operands == "pinned") binding.operand_rule = toy::OperandRule::kPinned;
  if (!sram.empty()) binding.sram_bytes = parse_capacity(sram);
  return binding;
}

std::vector<ParameterRange> MachineOptions::ranges(toy::CapacityBinding& binding) const {
  binding = binding_without_params();
  std::vector<ParameterRange> swept;
  const std::vector<Definition> definitions_given = split_definitions(definitions);
  check_given_once(definitions_given);
  for (const auto& [name, text] : definitions_given) {
    if (const auto real = parse_real(text)) {
      constexpr double kExact = 9007199254740992;  // 2^53
      if (std::trunc(*real) == *real && std::abs(*real) <= kExact) {
        binding.params[name] = static_cast<std::int64_t>(*real);  // 1e3
      } else {  // of a .const; binding refuses it for a .param
        binding.reals[name] = *real;
      }
      continue;
    }
    std::vector<std::int64_t> values =
        parse_values(name, text, "a whole number, for a .const any number");
    if (values.size() == 1) {
      binding.params[name] = values.front();
    } else {
      swept.push_back({name, std::move(values)});
    }
  }
  if (!registers.empty()) {
    std::vector<std::int64_t> values = parse_values("registers", registers);
    if (values.size() == 1) {
      binding.registers = values.front();
    } else {
      swept.push_back({"registers", std::move(values)});
    }
  }
  return swept;
}

toy::CapacityBinding MachineOptions::binding() const {
  toy::CapacityBinding binding;
  const std::vector<ParameterRange> swept = ranges(binding);
  if (!swept.empty()) {
    throw request_failure(in_quotes(swept.front().name) + " is given several values",
                          "one value here; `flashlab sweep` takes a range");
  }
  return binding;
}

toy::CostTable MachineOptions::cost_table() const {
  toy::CostTable table;
  value_or_fail(table.parse(costs));
  return table;
}

std::map<std::string, toy::InputSource> RunOptions::input_sources() const {
  std::map<std::string, toy::InputSource> sources;
  for (const std::string& text : inputs) {
    const std::size_t equals = text.find('=');
    const std::string name(trimmed(text.substr(0, equals)));
    if (equals == std::string::npos || !is_name(name)) {
      throw request_failure("--input " + in_quotes(text) + " names no array",
                            "--input ARRAY=VALUES, as in --input x=random:7");
    }
    toy::InputSource source = value_or_fail(toy::parse_input_source(text.substr(equals + 1)));
    if (GivenFiles::current() != nullptr && std::holds_alternative<toy::FileInput>(source)) {
      throw request_failure(
          "input " + in_quotes(name) + " names a file, and no files are read here",
          "its numbers, random:SEED[:LOW:HIGH] or constant:V");
    }
    if (!sources.emplace(name, std::move(source)).second) {
      throw request_failure("input " + in_quotes(name) + " is given twice");
    }
  }
  return sources;
}

toy::BoundProgram LoadedProgram::bind(const toy::CapacityBinding& binding) const {
  return value_or_fail(toy::bind(program, binding), *source);
}

toy::Machines LoadedProgram::bind_machines(const toy::CapacityBinding& binding) const {
  return value_or_fail(toy::bind_machines(program, binding), *source);
}

std::string LoadedProgram::short_name() const {
  const auto stem = [](const std::string& name) {
    return printable(std::filesystem::path(name).stem().string());
  };
  const bool has_function = source->other() && !source->used_program();
  return stem(source->name()) +
         (has_function ? "+" + stem(std::string(trimmed(source->other()->name(), "-"))) : "");
}

std::string LoadedProgram::heading(const Terminal& terminal) const {
  const std::string title = program->title.empty() ? "" : ": " + printable(program->title);
  std::string text;
  for (const std::string& line : wrap(short_name() + title, terminal.width)) {
    text += styled(line, Style::kBold, terminal) + "\n";
  }
  return text;
}

LoadedProgram load_program(const std::string& name, const MachineOptions& machine) {
  const std::size_t plus = is_known_program(name) ? std::string::npos : name.rfind('+');
  std::optional<std::string> score = machine.score;
  if (plus != std::string::npos) score = name.substr(plus + 1);
  if (!score) return load_program(name, machine.limits);
  const std::int64_t most_bytes = machine.limits.max_source_bytes;
  const auto alone = read_program(name.substr(0, plus), most_bytes);
  if (alone->used_program()) {
    throw request_failure(in_quotes(name) + " has a score function already: it begins with .use",
                          "no --score");
  }
  auto source = std::make_shared<const toy::SourceText>(alone->name(), alone->text(),
                                                        read_score(*score, most_bytes));
  auto program = assemble_or_fail(source, machine.limits);
  return {std::move(source), std::move(program)};
}

LoadedProgram load_program(const std::string& name, const toy::Limits& limits) {
  auto source = read_program(name, limits.max_source_bytes);
  auto program = assemble_or_fail(source, limits);
  return {std::move(source), std::move(program)};
}

LoadedProgram load_text(const std::string& name, const std::string& text) {
  auto source = std::make_shared<const toy::SourceText>(name, text);
  auto program = assemble_or_fail(source, {});
  return {std::move(source), std::move(program)};
}

std::vector<std::size_t> common_params(const toy::BoundProgram& bound) {
  const std::vector<char> own = toy::params_of_rank(*bound.program);
  std::vector<std::size_t> common;
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (own[i] == 0) common.push_back(i);
  }
  return common;
}

std::string setting(const toy::BoundProgram& bound) {
  std::string text;
  for (const std::size_t i : common_params(bound)) {
    text += bound.program->params[i].name + " = " + std::to_string(bound.params[i]) + ", ";
  }
  const std::string count = std::to_string(bound.num_registers);
  return text + count + (bound.num_registers == 1 ? " register" : " registers") +
         (bound.machine ? " on each machine" : "");
}

std::string gpu_keys() { return joined(gpu::gpu_specs(), ", ", &gpu::GpuSpec::key); }

std::vector<std::string> split(const std::string& text, char separator) {
  if (text.empty()) return {""};
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  if (separator == ',' && text.back() == separator) parts.emplace_back();
  return parts;
}

std::optional<std::int64_t> parse_size(const std::string& text) {
  constexpr double kLargest = 9e15;
  double number = 0;
  const auto [end, code] = read_number(text, number);
  if (code != std::errc{} || !(number >= 0)) return {};
  const std::string unit(trimmed(std::string(end, text.data() + text.size())));
  for (const auto& [name, factor] :
       std::initializer_list<std::pair<const char*, double>>{{"", 1},
                                                             {"B", 1},
                                                             {"KiB", 1024},
                                                             {"KB", 1e3},
                                                             {"kB", 1e3},
                                                             {"MiB", 1048576},
                                                             {"MB", 1e6},
                                                             {"GiB", 1073741824},
                                                             {"GB", 1e9}}) {
    if (unit == name && number * factor < kLargest)
      return static_cast<std::int64_t>(number * factor);
  }
  return {};
}

std::int64_t parse_capacity(const std::string& text) {
  if (const auto gpu = gpu::find_gpu(text)) return gpu->shared_memory_per_block_bytes;
  if (const auto size = parse_size(text)) return *size;
  std::vector<std::string> names;
  for (const gpu::GpuSpec& gpu : gpu::gpu_specs()) names.push_back(gpu.key);
  throw request_failure("--sram " + in_quotes(text) + " is not a capacity",
                        "bytes such as 49152, 48KiB or 0.1MB, or a GPU: " + gpu_keys(),
                        nearest(text, names).value_or(""));
}

std::size_t parse_memory(const std::string& text) {
  if (const auto size = parse_size(text); size && *size > 0) {
    return static_cast<std::size_t>(*size);
  }
  throw request_failure("--most-bytes " + in_quotes(text) + " is not a size",
                        "bytes such as 500MB or 8GiB");
}

std::vector<std::int64_t> parse_values(const std::string& name, const std::string& text,
                                       const std::string& number) {
  constexpr std::size_t kMostValues = 10'000;
  const std::string expected =
      number + ", or for a sweep a range: 3..32, 8..64+8, 8..1024*2 or 8,16,32";
  const auto fail = [&] {
    return request_failure(in_quotes(text) + " is not a value for " + in_quotes(name), expected);
  };
  const auto whole = [&](std::string_view digits) {
    std::int64_t value = 0;
    if (!read_whole(digits, value)) throw fail();
    return value;
  };
  if (text.ends_with(',')) throw fail();
  std::vector<std::int64_t> values;
  for (const std::string& part : split(text, ',')) {
    const std::size_t dots = part.find("..");
    if (dots == std::string::npos) {
      values.push_back(whole(trimmed(part)));
      continue;
    }
    const std::size_t sign = std::min(part.find_first_of("+*", dots + 2), part.size());
    const std::int64_t first = whole(part.substr(0, dots));
    const std::int64_t last = whole(part.substr(dots + 2, sign - dots - 2));
    const bool factor = sign < part.size() && part[sign] == '*';
    const std::int64_t step = sign < part.size() ? whole(part.substr(sign + 1)) : 1;
    const auto refuse = [&](const std::string& why, const std::string& wanted) {
      return request_failure("the range " + in_quotes(part) + " of " + in_quotes(name) + " " + why,
                             wanted);
    };
    if (first > last) {
      throw refuse("begins above its end", std::to_string(last) + ".." + std::to_string(first) +
                                               part.substr(sign) +
                                               ", or the values one by one, as in 16,8,4");
    }
    if (step < (factor ? 2 : 1)) {
      throw refuse("never gets to its end",
                   factor ? "a factor of 2 or more" : "a step of 1 or more");
    }
    if (factor && first < 1)
      throw refuse("begins below 1", "a first value of 1 or more for a factor");
    for (std::int64_t value = first;;) {
      values.push_back(value);
      if (values.size() > kMostValues) throw request_failure("a sweep has at most 10 000 values");
      std::int64_t next = 0;
      const bool wraps = factor ? __builtin_mul_overflow(value, step, &next)
                                : __builtin_add_overflow(value, step, &next);
      if (wraps || next > last) break;
      value = next;
    }
  }
  return values;
}

}  // namespace flashlab::cli
