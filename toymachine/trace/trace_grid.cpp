#include "toymachine/trace/trace_grid.hpp"

#include <algorithm>
#include <cctype>
#include <ostream>
#include <string_view>

#include "text/width.hpp"

namespace flashlab::toy::detail {
namespace {

constexpr std::size_t kNarrowest = 7;     // columns for a register if there is little space
constexpr std::size_t kComfortable = 14;  // columns for a register before a new block begins
constexpr std::string_view kDitto = "\"";
constexpr std::string_view kBold = "\033[1m";
constexpr std::string_view kPlain = "\033[0m";

}  // namespace

void TraceGrid::start(std::vector<GridCell> registers) {
  start_ = std::move(registers);
  lines_.clear();
}

TraceGrid::Widths TraceGrid::natural_widths() const {
  Widths widths(start_.size());
  const auto widen = [&](std::size_t number, const GridCell& cell) {
    widths[number] =
        std::max({widths[number], display_width(cell.text), display_width(cell.below)});
  };
  for (std::size_t i = 0; i < start_.size(); ++i) {
    widths[i] = titles_[i].size();
    widen(i, start_[i]);
  }
  for (const GridLine& line : lines_) {
    for (const auto& [number, cell] : line.changes) widen(number, cell);
  }
  return widths;
}

std::vector<bool> TraceGrid::touched() const {
  std::vector<bool> result(start_.size(), false);
  for (const GridLine& line : lines_) {
    for (const auto& [number, cell] : line.changes) result[number] = true;
    for (const std::int64_t number : line.reads) result[static_cast<std::size_t>(number)] = true;
  }
  return result;
}

/// Returns the columns left for registers. Each register needs three more for its border.
std::size_t TraceGrid::room() const {
  const std::size_t fixed = 1 + step_width_ + 3 + instruction_width_ + 1;
  if (options_.width == 0) return SIZE_MAX;
  return options_.width > fixed ? options_.width - fixed : 0;
}

/// Puts all registers side by side if they fit. Otherwise leaves out those that no line reads or
/// writes. If there are still too many, makes blocks that are printed one below the other.
std::vector<TraceGrid::Columns> TraceGrid::blocks(const Widths& natural, Columns& left_out) const {
  const auto needs = [&](std::size_t number, std::size_t most) {
    return std::min(natural[number], most) + 3;
  };
  std::size_t narrow = 0;
  for (std::size_t i = 0; i < natural.size(); ++i) narrow += needs(i, kNarrowest);
  const bool all_fit = narrow <= room();
  const std::vector<bool> used = all_fit ? std::vector<bool>(natural.size(), true) : touched();
  std::vector<Columns> result(1);
  std::size_t taken = 0;
  narrow = 0;
  for (std::size_t i = 0; i < natural.size(); ++i) {
    if (used[i]) narrow += needs(i, kNarrowest);
  }
  const bool one_block = narrow <= room();
  for (std::size_t i = 0; i < natural.size(); ++i) {
    if (!used[i]) {
      left_out.push_back(i);
      continue;
    }
    const std::size_t wanted = needs(i, kComfortable);
    if (!one_block && !result.back().empty() && taken + wanted > room()) {
      result.emplace_back();
      taken = 0;
    }
    result.back().push_back(i);
    taken += wanted;
  }
  return result;
}

/// Narrows the widest columns until the block fits.
void TraceGrid::shrink(const Columns& block, Widths& widths) const {
  std::size_t total = 0;
  for (const std::size_t number : block) total += widths[number] + 3;
  while (total > room() && !block.empty()) {
    const auto widest =
        *std::max_element(block.begin(), block.end(),
                          [&](std::size_t a, std::size_t b) { return widths[a] < widths[b]; });
    if (widths[widest] <= kNarrowest) return;
    --widths[widest];
    --total;
  }
}

void TraceGrid::measure() {
  step_width_ = kStep.size();
  instruction_width_ = kInstruction.size();
  for (const GridLine& line : lines_) {
    step_width_ = std::max(step_width_, display_width(line.step));
    instruction_width_ = std::max(instruction_width_, display_width(line.instruction));
  }
  // Registers may have very long names.
  if (options_.width > 0) {
    instruction_width_ =
        std::min(instruction_width_, std::max(options_.width / 2, kInstruction.size()));
  }
}

void TraceGrid::print(std::ostream& out, After after) {
  if (lines_.empty()) return;
  measure();
  if (shows_changes_) return print_changes(out, after);
  const Widths natural = natural_widths();
  Columns left_out;
  bool first = true;
  for (const Columns& block : blocks(natural, left_out)) {
    if (!first) out << '\n';
    first = false;
    Widths widths = natural;
    shrink(block, widths);
    print_block(out, block, widths);
  }
  print_left_out(out, left_out);
  for (GridLine& line : lines_) {
    for (auto& [number, cell] : line.changes) {
      note_example(cell.text);
      start_[number] = std::move(cell);
    }
  }
  lines_.clear();
}

void TraceGrid::note_example(const std::string& text) {
  const std::size_t at = text.find('@');
  if (!example_.empty() || at == std::string::npos) return;
  const auto is_of_name = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '[' || c == ']';
  };
  std::size_t first = at, last = at + 1;
  while (first > 0 && is_of_name(text[first - 1])) --first;
  while (last < text.size() && std::isdigit(static_cast<unsigned char>(text[last])) != 0) ++last;
  example_ = text.substr(first, last - first);
}

void TraceGrid::print_block(std::ostream& out, const Columns& block, const Widths& widths) {
  std::vector<HeaderCell> header;
  for (const std::size_t number : block) header.push_back({titles_[number], widths[number]});
  print_header(out, header);
  std::vector<GridCell> cells = start_;
  std::vector<bool> fresh(cells.size(),
                          true);  // shown in full, as nothing is above the first line
  for (const GridLine& line : lines_) {
    for (const auto& [number, cell] : line.changes) {
      cells[number] = cell;
      fresh[number] = true;
    }
    print_line(out, line, block, widths, cells, fresh, false);
    const bool numbers = std::any_of(block.begin(), block.end(), [&](std::size_t number) {
      return !cells[number].below.empty() && !line.remark;
    });
    if (numbers) print_line(out, line, block, widths, cells, fresh, true);
    // After a line that is not a step, everything is written out again.
    std::fill(fresh.begin(), fresh.end(), line.remark);
  }
}

/// Step, instruction, and these columns: title and width.
void TraceGrid::print_header(std::ostream& out, const std::vector<HeaderCell>& columns) const {
  const char* bar = options_.unicode ? "│" : "|";
  const char* cross = options_.unicode ? "┼" : "+";
  const auto rules = [&](std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) out << (options_.unicode ? "─" : "-");
  };
  const auto title = [&](std::string_view text, std::size_t width, bool is_last) {
    return is_last ? cut_outside_names(std::string(text), width, options_.unicode)
                   : fitted(text, width, options_.unicode);
  };
  out << ' ' << std::string(step_width_ - kStep.size(), ' ') << kStep << ' ' << bar << ' '
      << title(kInstruction, instruction_width_, columns.empty());
  for (const HeaderCell& column : columns) {
    out << ' ' << bar << ' ' << title(column.title, column.width, &column == &columns.back());
  }
  out << '\n';
  rules(step_width_ + 2);
  out << cross;
  rules(instruction_width_ + 2);
  for (const HeaderCell& column : columns) {
    out << cross;
    rules(column.width + 2);
  }
  out << '\n';
}

void TraceGrid::print_line(std::ostream& out, const GridLine& line, const Columns& block,
                           const Widths& widths, const std::vector<GridCell>& cells,
                           const std::vector<bool>& fresh, bool below) const {
  const char* bar = options_.unicode ? "│" : "|";
  const std::string step = below ? std::string() : line.step;
  out << ' ' << std::string(step_width_ - display_width(step), ' ') << step << ' ' << bar;
  out << cell(below ? std::string() : line.instruction, instruction_width_, line.stores && !below,
              block.empty());
  for (std::size_t i = 0; i < block.size(); ++i) {
    const std::size_t number = block[i];
    const bool marked = line.written == static_cast<std::int64_t>(number) && !below;
    const std::string& own = below ? cells[number].below : cells[number].text;
    const bool repeat = cells[number].ditto && !fresh[number] && !own.empty() && !marked;
    const std::string text = line.remark ? "" : repeat ? std::string(kDitto) : own;
    out << bar << cell(text, widths[number], marked, i + 1 == block.size());
  }
  out << '\n';
}

/// Returns a cell with the space or mark before it and, unless it ends the line, the
/// space after it.
std::string TraceGrid::cell(const std::string& text, std::size_t width, bool marked,
                            bool last) const {
  std::string body = fitted(text, width, options_.unicode);
  const std::size_t length = body.find_last_not_of(' ') + 1;
  const std::string padding = last ? "" : std::string(body.size() - length + 1, ' ');
  body.resize(length);
  if (!marked) return (last && body.empty() ? "" : " ") + body + padding;
  if (options_.color) body = std::string(kBold) + body + std::string(kPlain);
  return (options_.unicode ? "›" : ">") + body + padding;
}

void TraceGrid::print_left_out(std::ostream& out, const Columns& left_out) const {
  if (left_out.empty()) return;
  std::string list;
  for (std::size_t i = 0; i < left_out.size();) {
    std::size_t end = i + 1;
    while (end < left_out.size() && left_out[end] == left_out[end - 1] + 1) ++end;
    list += (list.empty() ? "" : ", ") + titles_[left_out[i]];
    if (end - i > 1) list += (end - i > 2 ? " to " : ", ") + titles_[left_out[end - 1]];
    i = end;
  }
  const std::string text = "Neither read nor written here: " + list;
  const std::size_t width = options_.width > 1 ? options_.width - 1 : display_width(text);
  for (const std::string& line : wrap(text, width)) out << ' ' << line << '\n';
}

}  // namespace flashlab::toy::detail
