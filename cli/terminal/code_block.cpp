#include "cli/terminal/code_block.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include "text/width.hpp"

namespace flashlab::cli {
namespace {

using Cells = std::vector<std::string>;  // one for each column of the terminal

std::size_t first_letter(const Cells& line) {
  const auto text = std::find_if(line.begin(), line.end(), [](const auto& c) { return c != " "; });
  return static_cast<std::size_t>(text - line.begin());
}

/// The text of columns [first, last).
std::string text_between(const Cells& line, std::size_t first, std::size_t last) {
  std::string text;
  for (std::size_t i = first; i < std::min(last, line.size()); ++i) text += line[i];
  return text;
}

std::string without_blanks_at_the_end(std::string text) {
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

// ---- tables ----------------------------------------------------------------------------------------

/// Columns [first, last) of the terminal.
struct Range {
  std::size_t first = 0, last = 0;
};

bool is_rule(const Cells& line) {
  return std::all_of(line.begin(), line.end(),
                     [](const auto& c) { return c == " " || c == "-" || c == "─"; });
}

class WideTable {
 public:
  explicit WideTable(std::vector<Cells> rows) : rows_(std::move(rows)) {
    for (const Cells& row : rows_) widest_ = std::max(widest_, row.size());
    find_columns();
    count_names();
  }

  bool fits(std::size_t width) const {
    if (rows_.size() < 2 || columns_.size() < names_ + 2) return false;
    return std::all_of(
        columns_.begin() + static_cast<std::ptrdiff_t>(names_), columns_.end(),
        [&](const Range& c) { return width_of_names() + c.last - c.first <= width; });
  }

  std::vector<std::string> blocks(std::size_t width) const {
    std::vector<std::string> lines;
    for (std::size_t next = names_; next < columns_.size();) {
      const std::size_t start = next;
      while (next < columns_.size() &&
             width_of_names() + columns_[next].last - columns_[start].first <= width) {
        ++next;
      }
      if (!lines.empty()) lines.emplace_back();
      const Range shown{columns_[start].first, columns_[next - 1].last};
      for (const Cells& row : rows_) lines.push_back(without_blanks_at_the_end(part(row, shown)));
    }
    return lines;
  }

 private:
  /// Columns are separated by at least two blanks in every row. Each begins with these blanks.
  void find_columns() {
    std::vector<bool> is_blank(widest_, true);
    for (const Cells& row : rows_) {
      if (is_rule(row)) continue;
      for (std::size_t i = 0; i < row.size(); ++i) is_blank[i] = is_blank[i] && row[i] == " ";
    }
    std::size_t first = 0, blanks = 0;
    for (std::size_t i = 0; i < widest_; ++i) {
      if (!is_blank[i]) {
        if (blanks > 1 && i > blanks) {
          columns_.push_back({first, i - blanks});
          first = i - blanks;
        }
        blanks = 0;
      } else {
        ++blanks;
      }
    }
    columns_.push_back({first, widest_});
  }

  /// As many columns as tell the rows apart; one, if none do.
  void count_names() {
    for (names_ = 1; names_ < columns_.size(); ++names_) {
      std::set<std::string> names;
      for (const Cells& row : rows_) names.insert(text_between(row, 0, width_of_names()));
      if (names.size() == rows_.size()) return;
    }
    names_ = 1;
  }

  std::size_t width_of_names() const { return columns_[names_ - 1].last; }

  std::string part(const Cells& row, const Range& shown) const {
    const std::string name = text_between(row, 0, width_of_names());
    return name + std::string(width_of_names() - display_width(name), ' ') +
           text_between(row, shown.first, shown.last);
  }

  std::vector<Cells> rows_;
  std::vector<Range> columns_;
  std::size_t widest_ = 0, names_ = 1;
};

// ---- lines -----------------------------------------------------------------------------------------

/// The sign with which a comment begins at this column, with its blank: "; ", "// ".
std::string comment_sign(const Cells& line, std::size_t at) {
  for (const char* sign : {"; ", "// ", "# "}) {
    const std::size_t size = std::string_view(sign).size();
    if (text_between(line, at, at + size) == sign) return sign;
  }
  return {};
}

/// Where the line's text goes on: under the text behind the last gap of two blanks in its first
/// half, or behind a comment's sign there.
std::string hanging_indent(const Cells& line, std::size_t width) {
  std::size_t at = first_letter(line);
  bool has_gap = false;
  for (std::size_t i = at + 2; i < std::min(line.size(), width * 2 / 3); ++i) {
    const bool begins = line[i] != " " && line[i - 1] == " " && line[i - 2] == " ";
    if (!begins || (has_gap && !comment_sign(line, at).empty())) continue;
    at = i;
    has_gap = true;
  }
  const std::string sign = comment_sign(line, at);
  if (!sign.empty()) return std::string(at, ' ') + sign;
  return std::string(at + (has_gap ? 0 : 4), ' ');
}

std::vector<std::string> continued(const std::string& text, std::size_t width) {
  const Cells line = display_cells(text);
  const std::string indent = hanging_indent(line, width);
  if (indent.size() + 10 > width) return wrap(text, width);
  // The first line may end at its indent at the earliest: no word is there before.
  std::size_t end = width;
  while (end > indent.size() && line[end] != " ") --end;
  if (end <= indent.size()) end = width;
  std::vector<std::string> lines{without_blanks_at_the_end(text_between(line, 0, end))};
  while (end < line.size() && line[end] == " ") ++end;
  for (const std::string& part :
       wrap(text_between(line, end, line.size()), width - indent.size())) {
    lines.push_back(indent + part);
  }
  return lines;
}

}  // namespace

std::vector<std::string> command_lines(std::string_view command, std::size_t width) {
  std::vector<std::string> lines;
  std::string indent;
  while (indent.size() + display_width(command) > width) {
    std::size_t pipe = 0, blank = 0, columns = indent.size();
    char quote = 0;
    for (std::size_t i = 0; i < command.size() && columns <= width; ++i, ++columns) {
      const char c = command[i];
      if (quote == 0 && c == ' ' && i > 0) {
        if (command[i - 1] == '|') pipe = i;
        if (columns + 2 <= width) blank = i;
      }
      if (c == '"' || c == '\'') quote = quote == 0 ? c : quote == c ? char{0} : quote;
    }
    const std::size_t end = pipe > 0 ? pipe : blank;
    if (end == 0) break;
    lines.push_back(indent + std::string(command.substr(0, end)) + (pipe > 0 ? "" : " \\"));
    command.remove_prefix(end + 1);
    indent = "    ";
  }
  lines.push_back(indent + std::string(command));
  return lines;
}

std::vector<std::string> fitted_code(const std::vector<std::string>& lines, std::size_t width,
                                     std::string_view language) {
  const auto too_wide = [&](const std::string& line) { return display_width(line) > width; };
  const auto blank = [](const std::string& line) {
    return line.find_first_not_of(' ') == std::string::npos;
  };
  std::vector<std::string> result;
  for (auto line = lines.begin(); line != lines.end();) {
    const auto end = std::find_if(line, lines.end(), blank);
    if (std::any_of(line, end, too_wide)) {
      std::vector<Cells> rows;
      std::transform(line, end, std::back_inserter(rows), display_cells);
      const WideTable table(std::move(rows));
      if (language != "sh" && table.fits(width)) {
        const std::vector<std::string> blocks = table.blocks(width);
        result.insert(result.end(), blocks.begin(), blocks.end());
        line = end;
      }
    }
    for (; line != end; ++line) {
      const std::vector<std::string> parts = !too_wide(*line)   ? std::vector{*line}
                                             : language == "sh" ? command_lines(*line, width)
                                                                : continued(*line, width);
      result.insert(result.end(), parts.begin(), parts.end());
    }
    if (line != lines.end()) result.push_back(*line++);
  }
  return result;
}

}  // namespace flashlab::cli
