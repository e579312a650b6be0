#include "cli/terminal/markdown_text.hpp"

#include <algorithm>
#include <vector>

#include "cli/terminal/code_block.hpp"
#include "cli/terminal/text_table.hpp"
#include "text/ascii.hpp"
#include "text/visible.hpp"
#include "text/width.hpp"

namespace flashlab::cli {
namespace {

constexpr std::string_view kSpaces = " \t";
constexpr char kLoneQuote = '\x01';  // a quote without code; printable text has no such character

std::vector<std::string> printable_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    std::string without_tabs;
    for (const char c : line) without_tabs += c == '\t' ? std::string(4, ' ') : std::string(1, c);
    lines.push_back(printable(without_tabs));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::size_t indent_of(std::string_view line) {
  return std::min(line.find_first_not_of(kSpaces), line.size());
}

bool blank(std::string_view line) { return indent_of(line) == line.size(); }

std::size_t heading_level(std::string_view line) {
  const std::size_t level = std::min(line.find_first_not_of('#'), line.size());
  return level > 0 && level <= 6 && level < line.size() && line[level] == ' ' ? level : 0;
}

/// The length of "- " or "12. " after the indent; 0: not a list item.
std::size_t bullet_length(std::string_view line) {
  const std::string_view rest = line.substr(indent_of(line));
  if (rest.starts_with("- ") || rest.starts_with("* ")) return 2;
  const std::size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
  return digits > 0 && digits < 4 && rest.substr(digits).starts_with(". ") ? digits + 2 : 0;
}

class Renderer {
 public:
  Renderer(std::vector<std::string> lines, const Terminal& terminal)
      : lines_(std::move(lines)),
        terminal_(terminal),
        width_(std::min(terminal.width, kWidestText)) {}

  std::string run() {
    while (at_ < lines_.size()) {
      const std::string& line = lines_[at_];
      if (blank(line)) {
        pending_blank_ = !text_.empty();
        ++at_;
      } else if (line.starts_with("```")) {
        fenced();
      } else if (heading_level(line) > 0) {
        heading();
      } else if (line.starts_with("|")) {
        table();
      } else if (indent_of(line) >= 4 && bullet_length(line) == 0) {
        indented();
      } else {
        paragraph();
      }
    }
    return std::move(text_);
  }

 private:
  void put(const std::string& line) {
    if (pending_blank_) text_ += "\n";
    pending_blank_ = false;
    text_ += line + "\n";
  }

  void fenced() {
    const std::string language = lines_[at_].substr(3);
    std::vector<std::string> code;
    for (++at_; at_ < lines_.size() && !lines_[at_].starts_with("```"); ++at_) {
      code.push_back(lines_[at_]);
    }
    ++at_;
    put_code(code, language);
  }

  void indented() {
    std::vector<std::string> code;
    for (; at_ < lines_.size() && indent_of(lines_[at_]) >= 4 && !blank(lines_[at_]); ++at_) {
      code.push_back(lines_[at_].substr(4));
    }
    put_code(code, {});
  }

  /// Indents code by four, or by less if it does not fit otherwise.
  void put_code(const std::vector<std::string>& code, std::string_view language) {
    constexpr std::size_t kIndent = 4;
    const std::vector<std::string> lines = fitted_code(code, terminal_.width, language);
    std::size_t widest = 0;
    for (const std::string& line : lines) widest = std::max(widest, display_width(line));
    const std::size_t room = terminal_.width - std::min(widest, terminal_.width);
    for (const std::string& line : lines) {
      put(blank(line)
              ? ""
              : std::string(std::min(room, kIndent), ' ') + styled(line, Style::kBlue, terminal_));
    }
  }

  void heading() {
    const std::size_t level = heading_level(lines_[at_]);
    const std::string title = lines_[at_++].substr(level + 1);
    pending_blank_ = !text_.empty();
    for (const std::string& line : wrap(inline_text(title), width_)) {
      put(styled(line, Style::kBold, terminal_));
      if (!terminal_.color) put(std::string(display_width(line), level == 1 ? '=' : '-'));
    }
    pending_blank_ = true;
  }

  /// Formats a paragraph or a list item with all its lines.
  void paragraph() {
    const std::size_t bullet = bullet_length(lines_[at_]);
    const std::size_t indent = bullet > 0 ? indent_of(lines_[at_]) : 0;
    const std::string head = lines_[at_].substr(indent, bullet);
    std::string joined = lines_[at_].substr(bullet > 0 ? indent + bullet : indent_of(lines_[at_]));
    for (++at_; at_ < lines_.size() && continues(lines_[at_]); ++at_) {
      joined += " " + lines_[at_].substr(indent_of(lines_[at_]));
    }
    const std::size_t hang = indent + bullet;
    const std::size_t room = width_ > hang + 10 ? width_ - hang : width_;
    bool first = true;
    for (const std::string& line : inline_lines(joined, room)) {
      put((first ? std::string(indent, ' ') + head : std::string(hang, ' ')) + line);
      first = false;
    }
  }

  static bool continues(std::string_view line) {
    return !blank(line) && !line.starts_with("```") && !line.starts_with("|") &&
           heading_level(line) == 0 && bullet_length(line) == 0;
  }

  void table() {
    std::vector<std::vector<std::string>> rows;
    for (; at_ < lines_.size() && lines_[at_].starts_with("|"); ++at_) {
      const std::string& line = lines_[at_];
      if (line.find_first_not_of("|-: ") == std::string::npos) continue;  // the separator line
      rows.push_back(cells_of(line));
    }
    if (rows.empty()) return;
    std::vector<Column> columns;
    for (const std::string& title : rows.front()) columns.push_back({title});
    TextTable shown(columns);
    for (std::size_t i = 1; i < rows.size(); ++i) {
      rows[i].resize(columns.size());
      shown.row(rows[i]);
    }
    if (pending_blank_) text_ += "\n";
    pending_blank_ = false;
    text_ += shown.to_string(terminal_);
  }

  std::vector<std::string> cells_of(const std::string& line) const {
    std::vector<std::string> cells;
    for (std::size_t start = 1; start < line.size();) {
      const std::size_t end = std::min(line.find('|', start), line.size());
      std::string cell = line.substr(start, end - start);
      cell.erase(0, indent_of(cell));
      cell.erase(std::min(cell.find_last_not_of(' ') + 1, cell.size()));
      cells.push_back(inline_text(cell));
      start = end + 1;
    }
    return cells;
  }

  /// Takes the text between two `mark`s at `at`, and moves `at` behind them. Returns false if there
  /// is no end.
  static bool take_between(std::string_view text, std::string_view mark, std::size_t& at,
                           std::string_view& inside) {
    if (!text.substr(at).starts_with(mark)) return false;
    const std::size_t start = at + mark.size(), end = text.find(mark, start);
    if (end == std::string_view::npos || end == start) return false;
    inside = text.substr(start, end - start);
    at = end + mark.size();
    return true;
  }

  std::string inline_text(std::string_view text) const {
    return coloured({quoted_text(text)}).front();
  }

  /// Wraps the text before it gets colours, so that no command is broken that fits on a line.
  std::vector<std::string> inline_lines(std::string_view text, std::size_t width) const {
    const std::string quoted = quoted_text(text);
    std::vector<std::string> lines;
    std::size_t start = 0;
    for (std::size_t open = 0; (open = quoted.find('`', open)) != std::string::npos;) {
      const std::size_t close = quoted.find('`', open + 1);
      if (close == std::string::npos) break;
      const std::string code = quoted.substr(open, close + 1 - open);
      open = close + 1;
      if (display_width(code) <= width || !is_command(code)) continue;
      const std::size_t end = std::min(quoted.find(' ', open), quoted.size());
      std::string before = quoted.substr(start, open - code.size() - start);
      before.erase(before.find_last_not_of(' ') + 1);
      if (!before.empty()) append(lines, wrap(before, width));
      append(lines, command_lines(code + quoted.substr(open, end - open), width));
      open = start = std::min(end + 1, quoted.size());
    }
    if (start < quoted.size() || lines.empty()) append(lines, wrap(quoted.substr(start), width));
    return coloured(std::move(lines));
  }

  static bool is_command(std::string_view code) {
    return code.starts_with("`flashlab ") || code.find(" -") != std::string_view::npos;
  }

  static void append(std::vector<std::string>& lines, const std::vector<std::string>& more) {
    lines.insert(lines.end(), more.begin(), more.end());
  }

  /// Replaces the quotes around code by colour, on a terminal that has it.
  std::vector<std::string> coloured(std::vector<std::string> lines) const {
    bool is_code = false;
    for (std::string& line : lines) {
      std::string result;
      for (std::size_t at = 0; at <= line.size();) {
        const std::size_t quote = std::min(line.find('`', at), line.size());
        const std::string part = line.substr(at, quote - at);
        result += is_code ? styled(part, Style::kBlue, terminal_) : part;
        if (quote < line.size()) {
          is_code = !is_code;
          if (!terminal_.color) result += '`';
        }
        at = quote + 1;
      }
      std::replace(result.begin(), result.end(), kLoneQuote, '`');
      line = std::move(result);
    }
    return lines;
  }

  /// The text without marks for bold text and links, but with the quotes around code.
  std::string quoted_text(std::string_view text) const {
    std::string result;
    for (std::size_t at = 0; at < text.size();) {
      std::string_view inside;
      if (take_between(text, "`", at, inside)) {
        result += "`" + std::string(inside) + "`";
      } else if (take_between(text, "**", at, inside)) {
        result += styled(inside, Style::kBold, terminal_);
      } else if (!link(text, at, result)) {
        result += text[at] == '`' ? kLoneQuote : text[at];
        ++at;
      }
    }
    return result;
  }

  /// Writes [text](to) as "text (to)".
  static bool link(std::string_view text, std::size_t& at, std::string& result) {
    if (text[at] != '[') return false;
    const std::size_t middle = text.find("](", at);
    if (middle == std::string_view::npos || text.find('[', at + 1) < middle) return false;
    const std::size_t end = text.find(')', middle);
    if (end == std::string_view::npos) return false;
    result += std::string(text.substr(at + 1, middle - at - 1)) + " (" +
              std::string(text.substr(middle + 2, end - middle - 2)) + ")";
    at = end + 1;
    return true;
  }

  std::vector<std::string> lines_;
  Terminal terminal_;
  std::size_t width_;
  std::size_t at_ = 0;
  bool pending_blank_ = false;
  std::string text_;
};

}  // namespace

std::string markdown_text(std::string_view markdown, const Terminal& terminal) {
  const std::string text = terminal.unicode ? std::string(markdown) : in_ascii(markdown);
  return Renderer(printable_lines(text), terminal).run();
}

}  // namespace flashlab::cli
