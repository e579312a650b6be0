#include "toymachine/replay/breakpoint.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <utility>

#include "text/nearest.hpp"
#include "text/read_number.hpp"
#include "toymachine/language/request_error.hpp"
#include "toymachine/replay/watch_expression.hpp"

namespace flashlab::toy {
namespace {

constexpr const char* kExpectedBreakpoint =
    "a line (12), a line with a test (12 if R1 > 0, 12 if i == 3), a test (R1 > 0, out[3] < 0), or "
    "a "
    "write (out[3] is written, R1 is written if R1 > 2 && i == 3)";

std::string_view without_blanks(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string quoted_name(std::string_view text) { return "'" + std::string(text) + "'"; }

/// "c[0][1]" in its parts.
struct IndexedName {
  std::string_view name;
  std::vector<std::int64_t> indices;
};

std::optional<IndexedName> read_indexed_name(std::string_view text) {
  IndexedName result{text.substr(0, text.find('[')), {}};
  if (result.name.empty()) return std::nullopt;
  for (std::string_view rest = text.substr(result.name.size()); !rest.empty();) {
    const auto end = rest.find(']');
    std::int64_t index = 0;
    if (rest[0] != '[' || end == std::string_view::npos ||
        !read_whole(without_blanks(rest.substr(1, end - 1)), index)) {
      return std::nullopt;
    }
    result.indices.push_back(index);
    rest.remove_prefix(end + 1);
  }
  return result;
}

Result<Place> find_cell(const BoundArray& array, const IndexedName& name, std::string_view text) {
  std::int64_t element = 0;
  bool inside = name.indices.size() == array.extents.size();
  for (std::size_t axis = 0; inside && axis < array.extents.size(); ++axis) {
    inside = name.indices[axis] >= 0 && name.indices[axis] < array.extents[axis];
    element = element * array.extents[axis] + name.indices[axis];
  }
  if (inside) return Place{true, array.offset + element};
  std::string expected = array.name;
  for (const std::int64_t extent : array.extents) {
    expected += extent > 0 ? "[0 to " + std::to_string(extent - 1) + "]" : "[] without elements";
  }
  return request_error("there is no cell " + quoted_name(text), std::move(expected));
}

/// Returns the number of the register, or nothing if it is not a register's name.
std::optional<std::int64_t> register_of_name(const BoundProgram& program, const IndexedName& name) {
  for (const NamedRegisters& named : program.named_registers) {
    if (named.name != name.name || named.indexed == name.indices.empty()) continue;
    if (name.indices.size() > 1) return std::nullopt;
    const std::int64_t index = named.indexed ? name.indices[0] : 0;
    if (index < 0 || index >= named.count) return std::nullopt;
    return named.first + index;
  }
  std::int64_t number = 0;
  const char letter = name.name[0];
  if ((letter != 'R' && letter != 'r') || !name.indices.empty() ||
      !read_whole(name.name.substr(1), number) || number < 0 || number >= program.num_registers) {
    return std::nullopt;
  }
  return number;
}

std::vector<std::string> names_of_places(const BoundProgram& program) {
  std::vector<std::string> names;
  for (const BoundArray& array : program.arrays) names.push_back(array.name);
  for (const NamedRegisters& named : program.named_registers) names.push_back(named.name);
  return names;
}

struct PlaceTest {
  Place place;
  ValueTest test;
};

struct Comparison {
  std::string_view text;
  ValueTest::Op op;
};
constexpr std::array<Comparison, 6> kComparisons{{{"<=", ValueTest::Op::kAtMost},
                                                  {">=", ValueTest::Op::kAtLeast},
                                                  {"==", ValueTest::Op::kEqual},
                                                  {"!=", ValueTest::Op::kUnequal},
                                                  {"<", ValueTest::Op::kLess},
                                                  {">", ValueTest::Op::kGreater}}};

Result<PlaceTest> parse_test(const BoundProgram& program, std::string_view text) {
  for (const Comparison& comparison : kComparisons) {
    const auto at = text.find(comparison.text);
    if (at == std::string_view::npos) continue;
    auto place = parse_place(program, text.substr(0, at));
    if (!place) return std::move(place.diagnostics);
    const std::string_view number = without_blanks(text.substr(at + comparison.text.size()));
    ValueTest test{comparison.op, 0};
    if (number.empty()) {
      return request_error(quoted_name(text) + " compares with nothing",
                           "a number such as 0.5 or -inf");
    }
    if (!read_whole(number, test.value) || std::isnan(test.value)) {
      return request_error(quoted_name(number) + " is no number", "a number such as 0.5 or -inf");
    }
    return PlaceTest{*place, test};
  }
  return request_error(quoted_name(text) + " is no breakpoint", kExpectedBreakpoint);
}

/// Reads a condition. `site`: as of WatchExpression::parse().
Result<WatchExpression> parse_condition(const BoundProgram& program, std::string_view condition,
                                        std::optional<std::uint32_t> site = std::nullopt) {
  auto expression = WatchExpression::parse(program, condition, site);
  if (expression && !expression->is_test()) {
    return request_error(quoted_name(condition) + " is no test",
                         "a comparison such as R1 > 0, i == 3 or x[i] > R1");
  }
  if (expression) {
    if (auto why = expression->why_never()) return std::move(*why);
  }
  return expression;
}

/// "1 to 20": the lines at or before the last instruction.
std::string lines_with_instructions(const BoundProgram& program) {
  std::uint32_t last = 0;
  for (const BoundInstruction& one : program.instructions) last = std::max(last, one.span.line);
  return last == 0 ? "a program with instructions" : "1 to " + std::to_string(last);
}

Result<Breakpoint> line_breakpoint(const BoundProgram& program, std::uint32_t line,
                                   std::string_view condition) {
  const auto site = site_at_line(program, line);
  if (!site) {
    return request_error("no instruction at or after line " + std::to_string(line),
                         lines_with_instructions(program));
  }
  Breakpoint result;
  result.site = *site;
  result.line = program.instructions[*site].span.line;
  if (condition.empty()) return result;
  if (const auto test = parse_test(program, condition); test && !test->place.is_cell) {
    result.place = test->place;
    result.test = test->test;
    return result;
  }
  auto expression = parse_condition(program, condition, *site);
  if (!expression) return std::move(expression.diagnostics);
  bool is_all = false;
  result.ranges = expression->index_ranges(is_all);
  if (!is_all) result.condition = std::make_shared<const WatchExpression>(std::move(*expression));
  return result;
}

}  // namespace

Result<Place> parse_place(const BoundProgram& program, std::string_view text) {
  text = without_blanks(text);
  const auto name = read_indexed_name(text);
  if (name) {
    for (const BoundArray& array : program.arrays) {
      if (array.name == name->name) return find_cell(array, *name, text);
    }
    if (const auto number = register_of_name(program, *name)) return Place{false, *number};
  }
  const auto near = nearest(name ? name->name : text, names_of_places(program));
  return request_error("there is no register or cell " + quoted_name(text),
                       "a register from R0 to R" + std::to_string(program.num_registers - 1) +
                           ", a register's name, or a cell such as x[0]",
                       near.value_or(""));
}

Result<Breakpoint> parse_breakpoint(const BoundProgram& program, std::string_view text) {
  text = without_blanks(text);
  if (text.starts_with("line ")) text = without_blanks(text.substr(5));
  std::uint32_t line = 0;
  const auto [end, code] = read_number(text, line);
  const auto rest =
      without_blanks(text.substr(static_cast<std::size_t>(end - text.data())));  // "if R1 > 0"
  if (code == std::errc{} && (rest.empty() || rest.starts_with("if "))) {
    return line_breakpoint(program, line, rest.empty() ? rest : without_blanks(rest.substr(3)));
  }
  constexpr std::string_view kIsWritten = " is written", kIf = " if ";
  Breakpoint result;
  const auto verb = text.find(kIsWritten);
  const auto after_verb =
      verb == std::string_view::npos ? std::string_view() : text.substr(verb + kIsWritten.size());
  if (verb != std::string_view::npos && (after_verb.empty() || after_verb.starts_with(kIf))) {
    auto place = parse_place(program, text.substr(0, verb));
    if (!place) return std::move(place.diagnostics);
    result.kind = Breakpoint::Kind::kWritten;
    result.place = *place;
    if (after_verb.empty()) return result;
    auto condition = parse_condition(program, without_blanks(after_verb.substr(kIf.size())));
    if (!condition) return std::move(condition.diagnostics);
    result.condition = std::make_shared<const WatchExpression>(std::move(*condition));
    return result;
  }
  auto test = parse_test(program, text);
  if (!test) {
    // What a line could test: it needs a place where it is tested.
    if (parse_condition(program, text)) {
      return request_error(quoted_name(text) + " tests more than one value against a number",
                           "a place where it is tested, as in 12 if " + std::string(text) +
                               ", or R1 is written if " + std::string(text));
    }
    return std::move(test.diagnostics);
  }
  result.kind = test->place.is_cell ? Breakpoint::Kind::kWritten : Breakpoint::Kind::kBecomes;
  result.place = test->place;
  result.test = test->test;
  return result;
}

std::optional<std::uint32_t> site_at_line(const BoundProgram& program, std::uint32_t line) {
  for (const BoundInstruction& instruction : program.instructions) {
    if (instruction.span.line >= line) return instruction.site;
  }
  return std::nullopt;
}

std::vector<WantedExecutions> writes_of(const BoundProgram& program, const Place& place) {
  std::vector<WantedExecutions> result;
  for (const BoundInstruction& instruction : program.instructions) {
    for (const BoundOperand& operand : instruction.operands) {
      WantedExecutions executions{instruction.site, {}};
      if (!place.is_cell && operand.kind == OperandKind::kDestination) {
        if (operand.index.is_constant() && operand.index.constant != place.number) continue;
        executions.wanted.push_back({&operand.index, place.number, place.number});
      } else if (place.is_cell && is_memory_write(operand.kind)) {
        const BoundArray& array = program.arrays[operand.array];
        std::int64_t element = place.number - array.offset;
        if (element < 0 || element >= array.size) continue;
        for (std::size_t axis = array.extents.size(); axis-- > 0;) {
          const std::int64_t index = element % array.extents[axis];
          element /= array.extents[axis];
          const std::int64_t wanted = index / array.tile[axis];
          executions.wanted.push_back({&operand.axes[axis], wanted, wanted});
        }
      } else {
        continue;
      }
      result.push_back(std::move(executions));
    }
  }
  return result;
}

WantedExecutions visits_of(const Breakpoint& breakpoint) {
  WantedExecutions visits{breakpoint.site, {}};
  for (const IndexRange& range : breakpoint.ranges) {
    visits.wanted.push_back({&range.index, range.low, range.high});
  }
  return visits;
}

std::string place_name(const BoundProgram& program, const Place& place) {
  return place.is_cell ? program.cell_name(place.number) : program.register_name(place.number);
}

}  // namespace flashlab::toy
