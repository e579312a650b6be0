#include "cli/terminal/text_table.hpp"

#include <algorithm>
#include <numeric>
#include <sstream>

#include "text/width.hpp"

namespace flashlab::cli {
namespace {

constexpr std::size_t kWrapIndent = 2, kGap = 3;
constexpr std::size_t kMostTitleLines = 3;
constexpr std::size_t kHangingIndent = 2;      // of a wrapped cell that is indented itself
constexpr std::size_t kNarrowestWrapped = 10;  // minimum width of a wrapped column

std::string aligned(const std::string& cell, std::size_t width, Align align) {
  const std::string blanks(width - std::min(width, display_width(cell)), ' ');
  return align == Align::kLeft ? cell + blanks : blanks + cell;
}

std::size_t total(const std::vector<std::size_t>& widths) {
  return std::accumulate(widths.begin(), widths.end(), kWrapIndent + kGap * (widths.size() - 1));
}

std::string without_trailing_blanks(const std::string& line) {
  return line.substr(0, line.find_last_not_of(' ') + 1);
}

/// Where a cell may be wrapped: between words, or between the parts of paths, addresses and
/// products, too.
enum class Breaks { kBlanks, kParts };

std::size_t longest_word(const std::string& text, Breaks breaks = Breaks::kBlanks) {
  std::size_t longest = 0;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = breaks == Breaks::kBlanks ? std::min(text.find(' ', start), text.size())
                                                      : end_of_part(text, start);
    longest = std::max(longest, display_width(text.substr(start, end - start)));
    start = std::max(end, std::min(text.find_first_not_of(' ', end), text.size()));
  }
  return longest;
}

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// The width that a cell needs, so that none of its words is broken.
std::size_t longest_part(const std::string& cell, Breaks breaks) {
  const std::size_t indent = std::min(cell.find_first_not_of(' '), cell.size());
  const std::size_t word = longest_word(cell.substr(indent), breaks);
  return indent == 0 ? word : std::min(display_width(cell), indent + kHangingIndent + word);
}

/// The lines of a cell. One that is indented, as a part of the row above, stays indented.
std::vector<std::string> cell_lines(const std::string& cell, std::size_t width) {
  const std::size_t indent = std::min(cell.find_first_not_of(' '), cell.size());
  const std::size_t hanging = indent + kHangingIndent;
  if (indent == 0 || display_width(cell) <= width) return wrap(cell, width);
  std::vector<std::string> lines = wrap(std::string_view(cell).substr(indent), width - hanging);
  for (std::string& line : lines) line.insert(0, &line == &lines.front() ? indent : hanging, ' ');
  return lines;
}

}  // namespace

void TextTable::row(std::vector<std::string> cells) {
  if (!cells.empty()) cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

TextTable::Widths TextTable::natural_widths() const {
  Widths widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t width = display_width(columns_[i].title);
    for (const auto& cells : rows_) {
      if (!cells.empty()) width = std::max(width, display_width(cells[i]));
    }
    widths.push_back(width);
  }
  return widths;
}

/// The minimum width of a column. Numbers and words are never broken: they may be names, which somebody copies.
std::size_t TextTable::narrowest(std::size_t column, bool breaks_paths) const {
  if (columns_[column].align == Align::kLeft) {
    const Breaks breaks = breaks_paths ? Breaks::kParts : Breaks::kBlanks;
    std::size_t width = std::max(longest_word(columns_[column].title), kNarrowestWrapped);
    for (const auto& cells : rows_) {
      if (!cells.empty()) width = std::max(width, longest_part(cells[column], breaks));
    }
    return width;
  }
  const std::string& title = columns_[column].title;
  std::size_t width = std::max(longest_word(title), display_width(title) / kMostTitleLines + 2);
  width = std::min(width, display_width(title));
  for (const auto& cells : rows_) {
    if (!cells.empty()) width = std::max(width, display_width(cells[column]));
  }
  return width;
}

TextTable::Widths TextTable::least_widths(std::size_t available) const {
  const Widths natural = natural_widths();
  Widths least;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    least.push_back(narrowest(i, false));
    const bool fits = total(i == 0 ? least : Widths{least.front(), least.back()}) <= available;
    if (!fits) least.back() = narrowest(i, true);
    least.back() = std::min(least.back(), natural[i]);  // short columns are not wrapped
  }
  return least;
}

/// Narrows the widest column of a block that can be narrowed until it fits or no column is left.
void TextTable::wrap_to_fit(Widths& widths, const Block& block, const Widths& least,
                            std::size_t available) {
  const auto needed = [&] {
    Widths shown;
    for (const std::size_t i : block) shown.push_back(widths[i]);
    return total(shown);
  };
  while (needed() > available) {
    std::size_t widest = widths.size();
    for (const std::size_t i : block) {
      if (widths[i] <= least[i]) continue;
      if (widest == widths.size() || widths[i] > widths[widest]) widest = i;
    }
    if (widest == widths.size()) return;
    --widths[widest];
  }
}

void TextTable::print_row(const std::vector<std::string>& cells, const Block& block,
                          const Widths& widths, const Terminal* bold, std::string& text) const {
  std::vector<std::vector<std::string>> lines(block.size());
  std::size_t height = 1;
  for (std::size_t i = 0; i < block.size(); ++i) {
    lines[i] = cell_lines(cells[block[i]], widths[block[i]]);
    height = std::max(height, lines[i].size());
  }
  const bool at_bottom = bold != nullptr;  // titles are aligned at the rule below them
  for (std::size_t y = 0; y < height; ++y) {
    std::string line(kWrapIndent, ' ');
    for (std::size_t i = 0; i < block.size(); ++i) {
      const std::size_t skipped = at_bottom ? height - lines[i].size() : 0;
      const bool inside = y >= skipped && y - skipped < lines[i].size();
      std::string cell = inside ? lines[i][y - skipped] : "";
      cell = aligned(cell, widths[block[i]], columns_[block[i]].align);
      line += (i > 0 ? std::string(kGap, ' ') : "") + cell;
    }
    line = without_trailing_blanks(line);
    text += (bold != nullptr ? styled(line, Style::kBold, *bold) : line) + "\n";
  }
}

void TextTable::print_block(const Block& block, const Widths& widths, const Terminal& terminal,
                            std::string& text) const {
  Widths shown;
  for (const std::size_t i : block) shown.push_back(widths[i]);
  std::string rule(kWrapIndent, ' ');
  for (std::size_t i = kWrapIndent; i < total(shown); ++i) rule += terminal.unicode ? "─" : "-";
  rule = styled(rule, Style::kDim, terminal) + "\n";

  std::vector<std::string> titles;
  for (const Column& column : columns_) titles.push_back(column.title);
  const bool titled = std::any_of(titles.begin(), titles.end(), [](auto& t) { return !t.empty(); });
  if (titled) {
    print_row(titles, block, widths, &terminal, text);
    text += rule;
  }
  for (const auto& cells : rows_) {
    if (cells.empty()) {
      text += rule;
    } else {
      print_row(cells, block, widths, nullptr, text);
    }
  }
}

std::string TextTable::to_string(const Terminal& terminal) const {
  if (columns_.empty()) return {};
  const Widths natural = natural_widths();
  const Widths least = total(natural) <= terminal.width ? natural : least_widths(terminal.width);
  std::string text;
  for (std::size_t next = 1; next <= columns_.size();) {
    Block block{0};
    Widths shown{least[0]};
    while (next < columns_.size()) {
      shown.push_back(least[next]);
      if (block.size() > 1 && total(shown) > terminal.width) break;
      block.push_back(next++);
    }
    // Each block has the whole width: what others had to be narrowed for does not concern it.
    Widths widths = natural;
    wrap_to_fit(widths, block, least, terminal.width);
    if (!text.empty()) text += "\n";
    print_block(block, widths, terminal, text);
    if (next == columns_.size()) break;
  }
  return text;
}

std::string grouped_number(std::int64_t value) { return grouped(std::to_string(value)); }
std::string grouped_number(std::uint64_t value) { return grouped(std::to_string(value)); }

std::string counted(std::int64_t number, const std::string& what) {
  return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
}

std::string side_by_side(const std::string& left, const std::string& right,
                         const Terminal& terminal) {
  constexpr std::size_t kBetween = 4;
  const std::vector<std::string> a = split_lines(left), b = split_lines(right);
  std::size_t left_width = 0, right_width = 0;
  for (const std::string& line : a) left_width = std::max(left_width, display_width(line));
  for (const std::string& line : b) right_width = std::max(right_width, display_width(line));
  if (left_width + kBetween + right_width > terminal.width) return {};
  std::string text;
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    const std::string first = i < a.size() ? a[i] : "";
    const std::string second = i < b.size() ? b[i] : "";
    text += first;
    if (!second.empty()) {
      text += std::string(left_width - display_width(first) + kBetween, ' ') + second;
    }
    text += "\n";
  }
  return text;
}

}  // namespace flashlab::cli
