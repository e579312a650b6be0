#include "cli/debug/debug_screen.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>
#include <utility>

#include "cli/debug/watch_text.hpp"
#include "cli/machine/counter_report.hpp"
#include "cli/terminal/text_table.hpp"
#include "text/numbers.hpp"
#include "text/visible.hpp"
#include "text/width.hpp"
#include "toymachine/count/counters.hpp"

namespace flashlab::cli {
namespace {

using Lines = std::vector<std::string>;

constexpr std::size_t kLastSteps = 5;
constexpr std::size_t kBeforeText = 7;  // columns for marks and the number of a line
constexpr std::size_t kRowsBesideSource = kLastSteps + 5;  // heads, counters, message, keys

/// The cells and registers that an instruction touches at a point.
struct Touched {
  std::vector<std::int64_t> read_registers;
  std::int64_t written_register = -1;
  std::map<std::uint32_t, std::int64_t> elements;  // by array: of DRAM
};

Touched touched_at(const toy::BoundProgram& program, const toy::RunPoint& point) {
  Touched touched;
  if (point.site >= program.instructions.size()) return touched;
  for (const toy::BoundOperand& operand : program.instructions[point.site].operands) {
    const std::int64_t index = operand.index(point.loop_values.data());
    if (toy::is_register_read(operand.kind)) touched.read_registers.push_back(index);
    if (operand.kind == toy::OperandKind::kDestination) touched.written_register = index;
    if (toy::is_memory(operand.kind)) touched.elements[operand.array] = index;
  }
  return touched;
}

/// The source around the next instruction.
Lines source_lines(const DebugSession& session, std::uint32_t current, std::size_t rows,
                   std::size_t columns, const Terminal& terminal) {
  const toy::SourceText& source = *session.program().program->source;
  const auto count = static_cast<std::int64_t>(source.num_lines_of_both());
  const auto height = static_cast<std::int64_t>(rows);
  const std::int64_t middle = current == 0 ? count : current;
  const std::int64_t first =
      std::max<std::int64_t>(1, std::min(middle - height / 2, count - height + 1));
  Lines lines;
  for (std::int64_t number = first; number < first + height; ++number) {
    const auto line = static_cast<std::uint32_t>(number);
    if (number > count) {
      lines.push_back(fitted("", columns, terminal.unicode));
      continue;
    }
    const bool is_current = line == current;
    std::string text = session.has_breakpoint_at(line) ? "*" : " ";
    text += is_current ? (terminal.unicode ? "▶" : ">") : " ";
    const std::string digits = std::to_string(number);
    text += std::string(digits.size() < 4 ? 4 - digits.size() : 0, ' ') + digits + " ";
    text = fitted(text + visible(source.line(line)), columns, terminal.unicode);
    lines.push_back(is_current ? styled(text, Style::kBold, terminal) : text);
  }
  return lines;
}

/// "x[0]: 0.1 0.2 [0.3] .", from a little before the element; "o[0]: not written" if no step has
/// written what fits.
std::string array_line(const DebugSession& session, toy::Replay& run, std::uint32_t number,
                       const Touched& touched, std::size_t columns) {
  const toy::BoundArray& array = session.program().arrays[number];
  const auto found = touched.elements.find(number);
  const std::int64_t element =
      found == touched.elements.end()
          ? 0
          : std::clamp<std::int64_t>(found->second - array.offset, 0,
                                     std::max<std::int64_t>(array.size - 1, 0));
  const std::int64_t first = std::max<std::int64_t>(0, element - 2);
  if (array.size == 0) return array.name + " is empty";
  const std::string name = array.element_name(first) + ":";
  std::string text = name;
  bool is_written = false;
  for (std::int64_t i = first; i < array.size && text.size() <= columns; ++i) {
    const double value = run.cell(array.offset + i);
    is_written = is_written || !std::isnan(value);
    const std::string shown = std::isnan(value) ? "." : value_text(value, run);
    text += " " + (i == element && found != touched.elements.end() ? "[" + shown + "]" : shown);
  }
  return is_written ? text : name + " not written";
}

Lines state_lines(DebugSession& session, const Touched& next, std::int64_t last_written,
                  std::size_t rows, std::size_t columns, const Terminal& terminal) {
  const toy::BoundProgram& program = session.program();
  toy::Replay& run = session.run();
  Lines arrays;
  for (std::uint32_t number = 0; number < program.arrays.size(); ++number) {
    arrays.push_back(array_line(session, run, number, next, columns));
  }
  const std::size_t for_registers =
      rows - std::min(arrays.size() + 1, std::max<std::size_t>(rows / 2, 1));
  // Registers that fit, around the ones in use.
  const auto count = static_cast<std::size_t>(program.num_registers);
  std::size_t first = 0;
  if (count > for_registers && for_registers > 0) {
    const std::int64_t wanted = !next.read_registers.empty()
                                    ? next.read_registers.front()
                                    : std::max<std::int64_t>(last_written, 0);
    const auto middle = static_cast<std::size_t>(std::max<std::int64_t>(wanted, 0));
    first = std::min(middle - std::min(middle, for_registers / 2), count - for_registers);
  }
  Lines lines;
  for (std::size_t i = first; i < count && lines.size() < for_registers; ++i) {
    const auto number = static_cast<std::int64_t>(i);
    const bool is_read = std::find(next.read_registers.begin(), next.read_registers.end(),
                                   number) != next.read_registers.end();
    std::string text = number == last_written ? "> " : is_read ? "= " : "  ";
    text += fitted(program.register_name(number), 6, terminal.unicode) + " ";
    text += session.register_text(number, columns > 12 ? columns - 10 : 2);
    text = fitted(text, columns, terminal.unicode);
    lines.push_back(number == last_written ? styled(text, Style::kBold, terminal) : text);
  }
  lines.push_back(fitted("", columns, terminal.unicode));
  for (const std::string& array : arrays) {
    if (lines.size() >= rows) break;
    lines.push_back(fitted(array, columns, terminal.unicode));
  }
  lines.resize(rows, fitted("", columns, terminal.unicode));
  return lines;
}

/// Columns for the source: what its lines with code need if the right side keeps enough, the same
/// at every step.
std::size_t source_columns(const DebugSession& session, std::size_t columns) {
  constexpr std::size_t kLeastForState = 31;
  const toy::SourceText& source = *session.program().program->source;
  std::size_t wanted = columns * 58 / 100;
  for (std::uint32_t line = 1; line <= source.num_lines_of_both(); ++line) {
    const std::string text = visible(source.line(line));
    const std::size_t first = text.find_first_not_of(' ');
    if (first == std::string::npos || text[first] == ';') continue;
    wanted = std::max(wanted, kBeforeText + display_width(text));
  }
  const std::size_t most = columns - 3 - std::min(columns * 42 / 100, kLeastForState);
  return std::min(wanted, most);
}

/// The comment of a line if the columns of the source cut it.
std::string cut_comment(const DebugSession& session, std::uint32_t line, std::size_t columns) {
  if (line == 0) return {};
  const std::string text = visible(session.program().program->source->line(line));
  const std::size_t comment = text.find(';');
  if (comment == std::string::npos || kBeforeText + display_width(text) <= columns) return {};
  return "   " + text.substr(comment);
}

std::string counters_line(DebugSession& session) {
  const toy::Counters counters =
      toy::count(session.program(), session.run().execution().executions, session.costs());
  std::string text;
  for (const toy::CounterDescription& one : toy::counter_descriptions()) {
    const std::string_view key = one.key;
    if (key != "cycles" && key != "loads" && key != "stores" && key != "flops") continue;
    text += (text.empty() ? "" : "   ") + std::string(one.key) + " " +
            grouped((counters.*one.value).get_str());
  }
  return text;
}

/// "12  MAX r1, R0, r1   R1 = max(m, x2) = 0.9   (i = 2)".
std::string past_line(DebugSession& session, const toy::PastStep& past) {
  const toy::BoundProgram& program = session.program();
  std::string text = std::to_string(past.number) + "  " + session.instruction_text(past.point.site);
  const Touched touched = touched_at(program, past.point);
  std::string made = session.made_by(past.number);
  if (made.empty() && touched.written_register >= 0) {
    made = program.register_name(touched.written_register);
  } else if (made.empty() && !touched.elements.empty()) {
    made = program.cell_name(touched.elements.begin()->second);
  }
  text += "   " + made;
  const std::string value = " = " + contents_text(past.value, session.run(), 30);
  if (!made.ends_with(value)) text += value;
  const std::string loops = session.loops_text(past.point);
  return loops.empty() ? text : text + "   (" + loops + ")";
}

/// As many keys as fit, and always those of the help and of the end.
std::string keys_line(std::size_t columns) {
  constexpr std::string_view kLast = "? help  q quit";
  std::string text;
  for (const std::string_view key :
       {"n next", "b back", "c continue", "r reverse", "w who wrote", "t break", "s symbols"}) {
    if (text.size() + key.size() + 2 + kLast.size() > columns) break;
    text += std::string(key) + "  ";
  }
  return text + std::string(kLast);
}

}  // namespace

std::string part_around(const std::string& line, std::size_t cursor, std::size_t columns) {
  std::vector<std::string> cells = display_cells(line);
  if (cells.size() <= columns || columns < 3) return line;
  // Half a window behind the cursor if there is so much, so that a letter does not move the line
  // each time.
  const std::size_t half = columns / 2;
  const std::size_t start =
      cursor < columns - 1 ? 0 : std::min(cursor - half, cells.size() - columns);
  const auto cut = [&](std::size_t at, const char* mark) {
    // Of a wide letter, neither column can be shown alone.
    if (cells[at].empty()) cells[at - 1] = " ";
    if (at + 1 < cells.size() && cells[at + 1].empty()) cells[at + 1] = " ";
    cells[at] = mark;
  };
  if (start > 0) cut(start, "<");
  if (start + columns < cells.size()) cut(start + columns - 1, ">");
  std::string part;
  for (std::size_t at = start; at < start + columns; ++at) part += cells[at];
  return part;
}

std::string debug_screen(DebugSession& session, const ScreenBottom& bottom, WindowSize window,
                         const Terminal& terminal) {
  const auto line = [&](const std::string& text) {
    return fitted(text, window.columns, terminal.unicode);
  };
  if (window.rows < kSmallestWindow.rows || window.columns < kSmallestWindow.columns) {
    Lines lines(std::max<std::size_t>(window.rows, 1), line(""));
    lines[0] = line("the window is smaller than " + std::to_string(kSmallestWindow.columns) +
                    " x " + std::to_string(kSmallestWindow.rows));
    std::string text;
    for (const std::string& one : lines) text += (text.empty() ? "" : "\n") + one;
    return text;
  }
  const std::vector<toy::PastStep> past = session.run().last_steps(kLastSteps);
  const toy::RunPoint point = session.run().point();
  const toy::BoundProgram& program = session.program();
  const Touched next = touched_at(program, point);
  const std::int64_t last_written =
      past.empty() ? -1 : touched_at(program, past.back().point).written_register;
  const std::size_t rows = window.rows - kRowsBesideSource;
  const std::size_t left = source_columns(session, window.columns);
  const std::size_t right = window.columns - left - 3;
  const bool at_end = point.site >= program.instructions.size();
  const std::uint32_t current = at_end ? 0 : program.instructions[point.site].span.line;
  const Lines source = source_lines(session, current, rows, left, terminal);
  const Lines state = state_lines(session, next, last_written, rows, right, terminal);
  Lines lines;
  lines.push_back(styled(line(" " + session.where() + cut_comment(session, current, left)),
                         Style::kBold, terminal));
  for (std::size_t row = 0; row < rows; ++row) {
    lines.push_back(source[row] + (terminal.unicode ? " │ " : " | ") + state[row]);
  }
  lines.push_back(styled(line("Last steps"), Style::kDim, terminal));
  // A long message takes lines from the oldest of the last steps.
  Lines message{part_around(bottom.prompt, bottom.cursor, window.columns)};
  if (bottom.prompt.empty()) {
    message.clear();
    std::istringstream said(bottom.message);
    for (std::string one; std::getline(said, one);) {
      for (std::string& part : wrap(printable(one), window.columns)) {
        message.push_back(std::move(part));
      }
    }
    if (message.empty()) message.emplace_back();
    if (message.size() > kLastSteps) {
      message.resize(kLastSteps);
      message.back() += terminal.unicode ? " …" : " ...";
    }
  }
  for (std::size_t row = message.size() - 1; row < kLastSteps; ++row) {
    const std::size_t missing = kLastSteps - past.size();
    lines.push_back(line(row < missing ? "" : "  " + past_line(session, past[row - missing])));
  }
  lines.push_back(line(counters_line(session)));
  for (const std::string& one : message) lines.push_back(line(one));
  lines.push_back(styled(line(keys_line(window.columns)), Style::kDim, terminal));
  std::string text;
  for (const std::string& one : lines) text += (text.empty() ? "" : "\n") + one;
  return text;
}

}  // namespace flashlab::cli
