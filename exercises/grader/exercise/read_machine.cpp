// Reads the machine, the sizes and the arrays from exercise.toml.
#include <algorithm>
#include <cctype>

#include "exercises/grader/exercise/read_program.hpp"
#include "text/lists.hpp"
#include "text/nearest.hpp"
#include "text/visible.hpp"
#include "toymachine/bind/bound_program.hpp"
#include "toymachine/language/assembler.hpp"
#include "toymachine/language/instruction_set.hpp"
#include "toymachine/links/machines.hpp"

namespace flashlab::exercises {
namespace {

constexpr std::size_t kMostSizes = 64;
constexpr std::size_t kMostParameters = 16;
constexpr std::size_t kMostArrays = 64;
constexpr std::int64_t kLargestSize = 1'000'000;

}  // namespace

bool is_name(std::string_view text) {
  constexpr std::size_t kLongest = 32;
  const auto is_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  return !text.empty() && text.size() <= kLongest &&
         std::isdigit(static_cast<unsigned char>(text[0])) == 0 &&
         std::all_of(text.begin(), text.end(), is_word);
}

void PartReader::read_machine(TomlTable& machine) {
  ProgramTask& task = exercise.program;
  const std::string level = machine.required_line("level");
  if (const auto known = toy::parse_level(level)) {
    task.level = *known;
  } else if (machine.has("level")) {
    machine.wrong("level", "unknown level '" + level + "'", "matmul, softmax or attention");
  }
  read_extra(machine);
  task.registers = machine.expression("registers");
  const std::string operands = machine.line("operands", "any");
  if (operands != "any" && operands != "pinned") {
    machine.wrong("operands", "unknown rule '" + operands + "'", "any or pinned");
  }
  task.operands = operands == "pinned" ? toy::OperandRule::kPinned : toy::OperandRule::kAny;
  read_sizes(machine);
  read_machines(machine);
  read_drawn(machine);
  read_temporaries(machine);
  read_on_chip(machine);
  read_interface(machine);
}

void PartReader::read_extra(TomlTable& machine) {
  for (const std::string& name : machine.texts("extra")) {
    const auto row = toy::find_instruction(name);
    if (row && toy::instruction_set()[*row].in(exercise.program.level)) {
      machine.wrong(
          "extra", name + " is on the machine already",
          "instructions beyond those of " + std::string(to_string(exercise.program.level)));
    }
    if (row) {
      exercise.program.extra_instructions.push_back(*row);
      continue;
    }
    std::vector<std::string> mnemonics;
    for (const auto& spec : toy::instruction_set()) mnemonics.emplace_back(spec.mnemonic);
    machine.wrong("extra", "there is no instruction '" + name + "'", "one of " + joined(mnemonics),
                  nearest(name, mnemonics).value_or(""));
  }
}

Size PartReader::read_size(const toml::table& entry) {
  Size size;
  for (const auto& [key, value] : entry) {
    const std::string name(key.str());
    const auto* number = value.as_integer();
    if (!is_name(name)) {
      errors.add(key.source(), "'" + printable(name) + "' is not a name for a parameter",
                 "letters, digits and _, at most 32");
    } else if (number == nullptr || number->get() < 0 || number->get() > kLargestSize) {
      errors.add(value.source(), "the value of " + name + " is not a size",
                 "a whole number from 0 to 1000000");
    } else {
      size[name] = number->get();
    }
  }
  if (entry.size() > kMostParameters) {
    errors.add(entry.source(), std::to_string(entry.size()) + " parameters", "at most 16");
  }
  return size;
}

void PartReader::read_sizes(TomlTable& machine) {
  if (!machine.has("sizes")) machine.missing("sizes", "[{ n = 1 }, { n = 2 }], smallest first");
  const auto same_names = [](const Size& a, const Size& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const auto& x, const auto& y) { return x.first == y.first; });
  };
  std::vector<Size>& sizes = exercise.program.sizes;
  for (const toml::table* entry : machine.tables("sizes", kMostSizes)) {
    Size size = read_size(*entry);
    if (!sizes.empty() && !same_names(size, sizes[0])) {
      errors.add(entry->source(), "this size has other parameters than the first one",
                 "values for " + to_string(sizes[0]));
    } else if (std::find(sizes.begin(), sizes.end(), size) != sizes.end()) {
      errors.add(entry->source(), "this size is listed twice", "each size once");
    }
    sizes.push_back(std::move(size));
  }
  const toml::node* list = machine.node("sizes");
  if (list != nullptr && list->is_array() && list->as_array()->empty()) {
    machine.wrong("sizes", "no size at all", "[{ n = 1 }, { n = 2 }], or [{}] without parameters");
  }
}

/// machines = "rank of ranks": the number of machines is a parameter of the sizes.
void PartReader::read_machines(TomlTable& machine) {
  if (!machine.has("machines")) return;
  const std::string text = machine.line("machines", "");
  const std::size_t of = text.find(" of ");
  const std::string rank = text.substr(0, of),
                    ranks = of == std::string::npos ? "" : text.substr(of + 4);
  if (!is_name(rank) || !is_name(ranks) || rank == ranks) {
    machine.wrong("machines", "'" + printable(text) + "' does not name the machines",
                  "two names, as in \"rank of ranks\"");
    return;
  }
  const std::vector<Size>& sizes = exercise.program.sizes;
  if (sizes.empty()) return;
  if (!sizes[0].contains(ranks) || sizes[0].contains(rank)) {
    machine.wrong("machines",
                  sizes[0].contains(rank) ? "the sizes give a value to " + rank
                                          : "the sizes give no value to " + ranks,
                  "sizes with a number of machines, and each machine has a number for itself");
    return;
  }
  exercise.program.machines = ".machines " + text;
}

/// drawn = { n = [20, 40], d = 3 }, draws = 4; in the same way counted and counts.
void PartReader::read_drawn(TomlTable& machine) {
  constexpr std::int64_t kMostDraws = 64;
  ProgramTask& task = exercise.program;
  task.drawn.ranges = read_size_ranges(machine, "drawn");
  const auto is_drawn = [](const auto& entry) { return entry.second.first < entry.second.second; };
  const auto parameters =
      std::count_if(task.drawn.ranges.begin(), task.drawn.ranges.end(), is_drawn);
  task.drawn.count =
      machine.whole("draws", parameters > 1 ? kUsualDrawsOfSeveral : kUsualDraws, 1, kMostDraws);
  task.counted.count = machine.whole("counts", 1, 1, kMostDraws);
  task.counted.ranges = read_size_ranges(machine, "counted");
}

std::map<std::string, std::pair<std::int64_t, std::int64_t>> PartReader::read_size_ranges(
    TomlTable& machine, const char* key_of_ranges) {
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> read;
  const toml::table* ranges = machine.table(key_of_ranges);
  if (ranges == nullptr) return read;
  for (const auto& [key, value] : *ranges) {
    const std::string name(key.str());
    const toml::array* ends = value.as_array();
    const auto end = [&](std::size_t i) {
      return ends != nullptr ? ends->get(i)->as_integer() : value.as_integer();
    };
    const bool two = ends == nullptr || ends->size() == 2;
    const auto *low = two ? end(0) : nullptr, *high = two ? end(1) : nullptr;
    if (low == nullptr || high == nullptr || low->get() < 0 || high->get() > kLargestSize ||
        low->get() > high->get()) {
      errors.add(value.source(), "'" + printable(name) + "' has no range of sizes",
                 "the least and the greatest, [20, 40], or one number, from 0 to 1000000");
      continue;
    }
    read[name] = {low->get(), high->get()};
  }
  const std::vector<Size>& sizes = exercise.program.sizes;
  const bool same =
      sizes.empty() || std::equal(read.begin(), read.end(), sizes[0].begin(), sizes[0].end(),
                                  [](const auto& range, const auto& parameter) {
                                    return range.first == parameter.first;
                                  });
  if (!same) {
    machine.wrong(key_of_ranges, "these are not the parameters of the sizes",
                  "ranges for those of " + to_string(sizes[0]));
    read.clear();
  }
  return read;
}

/// Reads the limit on the bytes in registers, and whose choice the tiles are.
void PartReader::read_on_chip(TomlTable& machine) {
  ProgramTask& task = exercise.program;
  const std::string tiles = machine.line("tiles", "given");
  if (tiles != "given" && tiles != "free") {
    machine.wrong("tiles", "unknown choice '" + tiles + "'",
                  "given, as in arrays, or free: the submission chooses their sizes");
  }
  task.free_tiles = tiles == "free";
  const toml::node* bytes = machine.node("register_bytes");
  if (bytes == nullptr || task.sizes.empty()) return;
  task.most_register_bytes = read_formula(*bytes, "register_bytes");
  if (task.most_register_bytes) check_values(*bytes, "register_bytes", *task.most_register_bytes);
}

/// Reads true, false, or a formula: the limit for the elements of all .temp arrays.
void PartReader::read_temporaries(TomlTable& machine) {
  ProgramTask& task = exercise.program;
  const toml::node* value = machine.node("temporaries");
  if (value == nullptr || value->is_boolean() || task.sizes.empty()) {
    task.temporaries = machine.flag("temporaries");
    return;
  }
  task.temporaries = true;
  task.most_temporary = read_formula(*value, "temporaries");
  if (task.most_temporary) check_values(*value, "temporaries", *task.most_temporary);
}

/// Returns the declarations as a program: parameters, registers, arrays, one instruction.
std::string PartReader::interface_text() const {
  const ProgramTask& task = exercise.program;
  std::string text;
  for (const auto& [name, value] : task.sizes[0]) {
    const bool are_machines = task.machines.ends_with(" of " + name);
    text +=
        (are_machines ? task.machines : ".param " + name) + " = " + std::to_string(value) + "\n";
  }
  text += ".isa attention\n";
  text += task.registers.empty() ? "\n" : ".registers " + task.registers + "\n";
  for (const std::string& line : task.arrays) text += line + "\n";
  return text + "FILL 0, R0\n";
}

/// Reports an error in a line of interface_text() at its place in exercise.toml.
void PartReader::blame(TomlTable& machine, const toy::Diagnostic& diagnostic,
                       const std::string& where) {
  const std::size_t first = exercise.program.sizes[0].size() + 3;  // the line of the first array
  const std::size_t line = diagnostic.span.line;
  const std::string what = diagnostic.what + where;
  const toml::node* arrays = machine.node("arrays");
  const toml::array* list = arrays != nullptr ? arrays->as_array() : nullptr;
  if (line >= first && list != nullptr && line - first < list->size()) {
    errors.add(list->get(line - first)->source(), what, diagnostic.expected, diagnostic.suggestion);
  } else {
    machine.wrong(line + 2 < first ? "sizes" : "registers", what, diagnostic.expected,
                  diagnostic.suggestion);
  }
}

void PartReader::read_interface(TomlTable& machine) {
  ProgramTask& task = exercise.program;
  if (!machine.has("arrays")) machine.missing("arrays", "[\".input x[n]\", \".output out[n]\"]");
  task.arrays = machine.texts("arrays", kMostArrays);
  if (task.sizes.empty() || task.arrays.empty()) return;
  for (const std::string& line : task.arrays) {
    if (line.starts_with(".input ") || line.starts_with(".output ")) continue;
    machine.wrong("arrays", "'" + line + "' declares no input and no output",
                  "\".input x[n]\" or \".output out[n]\"");
    return;
  }
  auto assembled =
      toy::assemble(std::make_shared<toy::SourceText>("arrays", interface_text()), task.limits);
  for (const toy::Diagnostic& diagnostic : assembled.diagnostics) {
    if (!assembled) blame(machine, diagnostic, "");
  }
  if (!assembled) return;
  auto interface = std::make_shared<const toy::Program>(std::move(*assembled));
  for (const Size& size : task.sizes) {
    if (!binds(machine, interface, size)) return;
  }
  if (std::none_of(interface->arrays.begin(), interface->arrays.end(),
                   [](const auto& array) { return array.role == toy::ArrayRole::kOutput; })) {
    machine.wrong("arrays", "no output", ".output NAME[…]");
  }
  task.interface = std::move(interface);
}

bool PartReader::binds(TomlTable& machine, const std::shared_ptr<const toy::Program>& interface,
                       const Size& size) {
  const std::size_t num_ranks = interface->machines ? 1 : 0;  // no size gives a machine's number
  if (size.size() + num_ranks != interface->params.size()) return false;  // reported already
  toy::Binding binding;
  binding.params = size;
  binding.limits = exercise.program.limits;
  const auto bound = toy::bind_machines(interface, {binding, {}});
  for (const toy::Diagnostic& diagnostic : bound.diagnostics) {
    if (!bound) blame(machine, diagnostic, size.empty() ? "" : ", at " + to_string(size));
  }
  return static_cast<bool>(bound);
}

}  // namespace flashlab::exercises
