#include "exercises/grader/exercise/proven.hpp"

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "exercises/grader/exercise/score_json.hpp"
#include "text/lists.hpp"
#include "text/sha256.hpp"
#include "text/visible.hpp"
#include "toymachine/count/count_json.hpp"
#include "toymachine/count/polynomial/polynomial.hpp"
#include "toymachine/language/instruction_set.hpp"

namespace flashlab::exercises {
namespace {

constexpr const char* kProvenFormat = "flashlab-proven";
constexpr int kProvenVersion = 1;
constexpr ProofVerdict kVerdicts[] = {ProofVerdict::kOptimal, ProofVerdict::kBounded,
                                      ProofVerdict::kNotSearched};
constexpr std::size_t kMostShown = 40;  // bytes of a value that a message quotes
constexpr std::size_t kMostProofDigits = 1000;
constexpr int kDeepestProof = 10;

toy::Diagnostic damaged_proof(std::string what, std::string expected, toy::SourceSpan span = {}) {
  return {toy::Severity::kError, toy::Fault::kRequest, span,
          std::move(what),       std::move(expected),  {}};
}

/// A value and its path in the document: "sizes[1].states".
class Place {
 public:
  Place(const Json& value, std::string name) : value_(value), name_(std::move(name)) {}

  [[noreturn]] void wrong(const std::string& what, const std::string& expected) const {
    throw damaged_proof((name_.empty() ? "the document" : name_) + ": " + what, expected);
  }
  /// Reports the value's type, or the value itself, where something else was expected.
  [[noreturn]] void expected(const std::string& what) const {
    if (value_.is_structured()) wrong("it is an " + std::string(value_.type_name()), what);
    const std::string text = printable(value_.dump(-1, ' ', false, Json::error_handler_t::replace));
    const bool is_long = text.size() > kMostShown;
    wrong("it is " + (is_long ? std::string("a long ") + value_.type_name() : text), what);
  }

  bool has(const char* key) const { return value_.contains(key); }
  Place at(const char* key) const {
    const auto found = value_.find(key);
    if (found == value_.end()) wrong("'" + std::string(key) + "' is missing", "this key");
    return {*found, name_.empty() ? key : name_ + "." + key};
  }
  Place element(std::size_t i) const { return {value_[i], name_ + "[" + std::to_string(i) + "]"}; }
  std::size_t num_elements() const {
    if (!value_.is_array()) expected("a list");
    return value_.size();
  }
  const Json& object(std::initializer_list<std::string_view> known) const {
    if (!value_.is_object()) expected("an object");
    for (const auto& [key, value] : value_.items()) {
      if (std::find(known.begin(), known.end(), key) != known.end()) continue;
      wrong("unknown key '" + printable(key).substr(0, kMostShown) + "'",
            "one of " + joined(known));
    }
    return value_;
  }

  std::string text() const {
    if (!value_.is_string()) expected("a text");
    const auto& text = value_.get_ref<const std::string&>();
    if (first_unprintable(text) || text.find_first_of("\n\t") != std::string::npos) {
      wrong("it has a character that is not visible", "a line of text");
    }
    return text;
  }
  std::string digits() const {
    if (!value_.is_string()) expected("a text of digits");
    const auto& text = value_.get_ref<const std::string&>();
    const bool good =
        !text.empty() && text.size() <= kMostProofDigits &&
        std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (!good) expected("a text of digits");
    return text;
  }
  toy::Count count() const {
    if (value_.is_string()) return toy::Count(digits());
    if (!value_.is_number_unsigned()) expected("a whole number from 0 on");
    return toy::Count(std::to_string(value_.get<std::uint64_t>()));
  }
  std::uint64_t whole() const {
    if (!value_.is_number_unsigned()) expected("a whole number from 0 on");
    return value_.get<std::uint64_t>();
  }
  double seconds() const {
    if (!value_.is_number() || value_.get<double>() < 0) expected("seconds, from 0 on");
    return value_.get<double>();
  }
  Size size() const {
    if (!value_.is_object()) expected("an object of parameters");
    Size all;
    for (const auto& [key, value] : value_.items()) {
      if (!value.is_number_integer()) expected("a whole number for each parameter");
      all[key] = value.get<std::int64_t>();
    }
    return all;
  }

 private:
  const Json& value_;
  std::string name_;
};

ProofVerdict verdict_of(const Place& place) {
  const std::string text = place.text();
  for (const ProofVerdict verdict : kVerdicts) {
    if (text == to_string(verdict)) return verdict;
  }
  place.expected("\"optimal\", \"bounded\" or \"not searched\"");
}

std::string program_of(const Place& place) {
  std::string text;
  const std::size_t lines = place.num_elements();
  for (std::size_t i = 0; i < lines; ++i) text += place.element(i).text() + "\n";
  return text;
}

void check_bounds(const ProvenSize& size, const Place& place) {
  if (size.at_least_cycles < size.floor_cycles) {
    place.at("at_least_cycles")
        .wrong("it is less than the floor", "at least " + size.floor_cycles.get_str());
  }
  if (size.at_most_cycles < size.at_least_cycles) {
    place.at("at_most_cycles")
        .wrong("the bounds cross", "at least " + size.at_least_cycles.get_str());
  }
  if (size.verdict == ProofVerdict::kOptimal && size.at_least_cycles != size.at_most_cycles) {
    place.at("verdict").wrong("it says optimal, and the bounds are " +
                                  size.at_least_cycles.get_str() + " and " +
                                  size.at_most_cycles.get_str(),
                              "\"bounded\", or bounds that meet");
  }
}

ProvenSize size_of(const Place& place) {
  place.object({"size", "verdict", "computation", "allowed", "floor_loads", "floor_cycles",
                "at_least_cycles", "at_most_cycles", "loads", "stores", "program", "programs",
                "programs_up_to_symmetry", "states", "seconds"});
  ProvenSize size;
  size.size = place.at("size").size();
  size.verdict = verdict_of(place.at("verdict"));
  size.computation = place.at("computation").text();
  size.allowed = place.at("allowed").text();
  size.floor_loads = place.at("floor_loads").count();
  size.floor_cycles = place.at("floor_cycles").count();
  size.at_least_cycles = place.at("at_least_cycles").count();
  size.at_most_cycles = place.at("at_most_cycles").count();
  if (place.has("loads")) size.loads = place.at("loads").count();
  if (place.has("stores")) size.stores = place.at("stores").count();
  if (place.has("program")) size.program = program_of(place.at("program"));
  if (place.has("programs")) size.programs = place.at("programs").digits();
  if (place.has("programs_up_to_symmetry")) {
    size.programs_up_to_symmetry = place.at("programs_up_to_symmetry").digits();
  }
  size.states = place.at("states").whole();
  size.seconds = place.at("seconds").seconds();
  check_bounds(size, place);
  return size;
}

Proven proven_of(const Json& document) {
  const Place place(document, "");
  if (!document.is_object()) place.expected("an object");
  if (place.at("format").text() != kProvenFormat) {
    place.at("format").expected("\"" + std::string(kProvenFormat) + "\"");
  }
  if (place.at("version").whole() != kProvenVersion) {
    place.at("version").expected("version " + std::to_string(kProvenVersion));
  }
  place.object({"format", "version", "command", "task", "sizes"});
  Proven proven;
  proven.command = place.at("command").text();
  proven.task = place.at("task").text();
  const Place sizes = place.at("sizes");
  const std::size_t num_sizes = sizes.num_elements();
  for (std::size_t i = 0; i < num_sizes; ++i) {
    proven.sizes.push_back(size_of(sizes.element(i)));
    for (std::size_t j = 0; j < i; ++j) {
      if (proven.sizes[j].size != proven.sizes[i].size) continue;
      sizes.element(i).at("size").wrong("sizes[" + std::to_string(j) + "] has the same size",
                                        "each size once");
    }
  }
  return proven;
}

toy::SourceSpan span_at(const std::string& text, std::size_t byte) {
  const std::size_t at = std::min(byte == 0 ? 0 : byte - 1, text.size());
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(at);
  const auto line = static_cast<std::uint32_t>(1 + std::count(text.begin(), end, '\n'));
  const std::size_t start = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
  const std::size_t column = start == std::string::npos ? at + 1 : at - start;
  return {line, static_cast<std::uint32_t>(column), 1};
}

/// Rejects two things that the parser allows: equal keys, of which it silently keeps the last, and
/// deep nesting, which would overflow the stack when values are copied.
Json parse_strictly(const std::string& text) {
  std::vector<std::set<std::string>> open;
  return Json::parse(text, [&](int depth, Json::parse_event_t event, Json& value) {
    if (depth > kDeepestProof)
      throw damaged_proof("it is nested too deeply", "lists and objects as documented");
    if (event == Json::parse_event_t::object_start) open.emplace_back();
    if (event == Json::parse_event_t::object_end) open.pop_back();
    if (event == Json::parse_event_t::key && !open.back().insert(value.get<std::string>()).second) {
      throw damaged_proof("the key '" + printable(value.get<std::string>()).substr(0, kMostShown) +
                              "' occurs twice in one object",
                          "each key once");
    }
    return true;
  });
}

/// The lines of a text as a list.
Json lines_json(const std::string& text) {
  Json lines = Json::array();
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    lines.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return lines;
}

/// Everything except the program, which has lines of its own.
Json proven_size_json(const ProvenSize& size) {
  Json parameters = Json::object();
  for (const auto& [name, value] : size.size) parameters[name] = value;
  Json all = {{"size", parameters},
              {"verdict", to_string(size.verdict)},
              {"computation", size.computation},
              {"allowed", size.allowed},
              {"floor_loads", toy::count_json(size.floor_loads)},
              {"floor_cycles", toy::count_json(size.floor_cycles)},
              {"at_least_cycles", toy::count_json(size.at_least_cycles)},
              {"at_most_cycles", toy::count_json(size.at_most_cycles)}};
  if (size.loads) all["loads"] = toy::count_json(*size.loads);
  if (size.stores) all["stores"] = toy::count_json(*size.stores);
  if (!size.programs.empty()) all["programs"] = size.programs;
  if (!size.programs_up_to_symmetry.empty()) {
    all["programs_up_to_symmetry"] = size.programs_up_to_symmetry;
  }
  all["states"] = size.states;
  all["seconds"] = size.seconds;
  return all;
}

std::string size_text(const ProvenSize& size) {
  std::string text = " " + dumped(proven_size_json(size));
  if (size.program.empty()) return text;
  text.pop_back();  // the closing brace
  text += ",\n  \"program\": [";
  bool first = true;
  for (const Json& line : lines_json(size.program)) {
    text += (first ? "\n   " : ",\n   ") + dumped(line);
    first = false;
  }
  return text + "]}";
}

/// Adds one fact about the task. The length marks its end, so that two different lists of facts
/// never give the same text.
void add_fact(std::string& facts, std::string_view name, const std::string& value) {
  facts += std::string(name) + " " + std::to_string(value.size()) + ":" + value + "\n";
}

void add_program(std::string& facts, std::string_view name, const toy::Program* program) {
  add_fact(facts, name, program == nullptr ? "" : program->source->text());
}

}  // namespace

std::string_view to_string(ProofVerdict verdict) {
  switch (verdict) {
    case ProofVerdict::kOptimal:
      return "optimal";
    case ProofVerdict::kBounded:
      return "bounded";
    case ProofVerdict::kNotSearched:
      return "not searched";
  }
  return "";
}

const ProvenSize* Proven::at(const Size& size) const {
  for (const ProvenSize& one : sizes) {
    if (one.size == size) return &one;
  }
  return nullptr;
}

bool Proven::in_step_with(const ProgramTask& program) const {
  const auto same = [](const ProvenSize& proven, const Size& size) { return proven.size == size; };
  return task == proven_task(program) &&
         std::equal(sizes.begin(), sizes.end(), program.sizes.begin(), program.sizes.end(), same);
}

std::string proven_task(const ProgramTask& task) {
  std::string facts;
  add_fact(facts, "level", std::string(toy::to_string(task.level)));
  for (const std::size_t row : task.extra_instructions) {
    add_fact(facts, "extra", std::string(toy::instruction_set()[row].mnemonic));
  }
  add_fact(facts, "registers", task.registers);
  add_fact(facts, "operands", task.operands == toy::OperandRule::kPinned ? "pinned" : "any");
  add_fact(facts, "temporaries", task.temporaries ? "yes" : "no");
  if (task.free_tiles) add_fact(facts, "tiles", "free");
  if (task.most_register_bytes) {
    add_fact(facts, "register bytes", toy::to_string(*task.most_register_bytes));
  }
  for (const std::string& array : task.arrays) add_fact(facts, "array", array);
  for (const Size& size : task.sizes) add_fact(facts, "size", to_string(size));
  for (const Family family : task.inputs.families) {
    add_fact(facts, "family", std::string(to_string(family)));
  }
  add_program(facts, "derive", task.inputs.derive.get());
  for (const std::string& output : task.check) add_fact(facts, "check", output);
  add_fact(facts, "builtin", task.builtin_reference);
  add_program(facts, "reference", task.reference.get());
  for (const auto& [key, formula] : task.cost.most) {
    add_fact(facts, "most", key + " " + toy::to_string(formula));
  }
  for (const std::string& key : task.cost.most_of_solution) add_fact(facts, "most", key);
  add_fact(facts, "range_safe", task.numerics.range_safe ? "yes" : "no");
  add_fact(facts, "rounding_safe", task.numerics.rounding_safe ? "yes" : "no");
  add_program(facts, "solution", task.solution.get());
  return hex(sha256(facts));
}

toy::Result<Proven> parse_proven(const std::string& text) {
  try {
    return proven_of(parse_strictly(text));
  } catch (const toy::Diagnostic& diagnostic) {
    return diagnostic;
  } catch (const Json::parse_error& error) {
    return damaged_proof(
        "it is not JSON from here on",
        "a file that `flashlab exercises prove` wrote; delete the file and run the command again",
        span_at(text, error.byte));
  } catch (const Json::exception& error) {
    return damaged_proof(
        "a value cannot be read: " + printable(error.what()),
        "a file that `flashlab exercises prove` wrote; delete the file and run the command again");
  }
}

std::string to_json(const Proven& proven) {
  std::string text = "{\"format\": " + dumped(kProvenFormat) +
                     ", \"version\": " + std::to_string(kProvenVersion) +
                     ",\n \"command\": " + dumped(proven.command) +
                     ",\n \"task\": " + dumped(proven.task) + ",\n \"sizes\": [";
  bool first = true;
  for (const ProvenSize& size : proven.sizes) {
    text += (first ? "\n" : ",\n") + size_text(size);
    first = false;
  }
  return text + (first ? "]}\n" : "\n ]}\n");
}

}  // namespace flashlab::exercises
