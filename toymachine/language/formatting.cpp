#include "toymachine/language/formatting.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "text/lists.hpp"
#include "text/utf8.hpp"
#include "text/width.hpp"
#include "toymachine/language/lexer.hpp"
#include "toymachine/language/machine.hpp"

namespace flashlab::toy {
namespace {

using detail::Token;
using detail::TokenKind;

constexpr std::size_t kIndentation = 2, kTabStop = 8;
constexpr std::size_t kLongestFormattedLine = 1 << 16;  // the assembler refuses longer ones

/// Columns that a text takes on a screen, counted from 0.
std::size_t width_with_tabs(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t tab = std::min(text.find('\t', at), text.size());
    width += display_width(text.substr(at, tab - at));
    if (tab < text.size()) width = (width / kTabStop + 1) * kTabStop;
    at = tab + 1;
  }
  return width;
}

class Formatter {
 public:
  explicit Formatter(const SourceText& source) : source_(source) {}

  std::vector<std::string> run() {
    const auto count = static_cast<std::uint32_t>(source_.num_lines());
    for (std::uint32_t number = 1; number <= count; ++number) add(source_.line(number), number);
    while (!lines_.empty() && lines_.back().empty()) lines_.pop_back();
    lines_.emplace_back();
    return std::move(lines_);
  }

 private:
  /// A comment at the end of the last line, by its column there and in the source.
  struct Column {
    std::size_t before = 0, after = 0;
    bool is_set = false;
  };

  void add(std::string_view line, std::uint32_t number) {
    if (line.size() > kLongestFormattedLine) {
      column_ = {};
      lines_.emplace_back(line);
      return;
    }
    // Blanks before a byte order mark are part of the error: without them, the mark would be none.
    if (number == 1 && trimmed(line, " \t").starts_with(kByteOrderMark)) {
      lines_.emplace_back(line);
      return;
    }
    const std::size_t end = std::min(line.find_first_of(";#"), line.size());
    const std::string_view comment = trimmed(line.substr(end), " \t");
    const std::size_t column = width_with_tabs(line.substr(0, end));
    std::string text = code(line.substr(0, end), number);
    if (comment.empty()) {
      column_ = {};
    } else if (!text.empty()) {
      const std::size_t width = width_with_tabs(text);
      column_ = {column, std::max(column, width + 1), true};
      text += std::string(column_.after - width, ' ');
    } else if (column_.is_set && column == column_.before) {
      text.assign(column_.after, ' ');
    } else {
      column_ = {};
      text = indentation();
    }
    lines_.push_back(text += comment);
  }

  std::string indentation() const {
    const auto most = static_cast<std::size_t>(Limits{}.max_nesting);
    return std::string(kIndentation * std::min(depth_, most), ' ');
  }

  /// Returns the code of a line, formatted.
  std::string code(std::string_view line, std::uint32_t number) {
    std::vector<Diagnostic> errors;
    const std::vector<Token> tokens = detail::tokenize(line, number, errors);
    const Token& first = tokens[0];
    if (first.is_word("end") && depth_ > 0) --depth_;
    std::string text = trimmed(line, " \t").empty() ? std::string() : indentation();
    if (first.is_word("for")) ++depth_;
    if (!errors.empty() || (first.kind == TokenKind::kDirective && first.text == ".pass")) {
      return text += trimmed(line, " \t");
    }
    for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
      if (i > 0) text += space_between(tokens[i - 1], tokens[i], first);
      text += tokens[i].text;
    }
    return text;
  }

  static std::string space_between(const Token& left, const Token& right, const Token& first) {
    const std::size_t found = right.span.column - left.span.column - left.span.length;
    if (right.is(",")) return {};
    const std::size_t least = left.is(",") ? 1 : 0;
    if (first.kind == TokenKind::kDirective) return std::string(std::max(found, least), ' ');
    if (left.is("(") || left.is("[") || right.is(")") || right.is("]")) return {};
    return std::string(std::max(std::min<std::size_t>(found, 1), least), ' ');
  }

  const SourceText& source_;
  std::size_t depth_ = 0;
  Column column_;
  std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> formatted_lines(const SourceText& source) {
  if (static_cast<std::int64_t>(source.text().size()) <= Limits{}.max_source_bytes) {
    return Formatter(source).run();
  }
  std::vector<std::string> lines;
  const auto count = static_cast<std::uint32_t>(source.num_lines());
  for (std::uint32_t number = 1; number <= count; ++number) {
    lines.emplace_back(source.line(number));
  }
  lines.emplace_back();
  return lines;
}

std::vector<LineEdit> line_edits(std::string_view line, std::string_view formatted) {
  const auto behind_blanks = [](std::string_view text, std::size_t at) {
    return std::min(text.find_first_not_of(" \t", at), text.size());
  };
  std::vector<LineEdit> edits;
  std::size_t from = 0, begin = 0;  // in the line, and in the formatted one
  while (from < line.size() || begin < formatted.size()) {
    if (from < line.size() && begin < formatted.size() && line[from] == formatted[begin]) {
      ++from, ++begin;
      continue;
    }
    std::size_t to = behind_blanks(line, from), end = behind_blanks(formatted, begin);
    if (line.substr(to, 1) != formatted.substr(end, 1)) {  // more than blanks differ
      to = line.size();
      end = formatted.size();
    }
    edits.push_back({from + 1, to + 1, formatted.substr(begin, end - begin)});
    from = to;
    begin = end;
  }
  return edits;
}

std::string formatted(const SourceText& source) {
  // joined() would lose empty lines at the start
  std::string text(source.has_byte_order_mark() ? kByteOrderMark : std::string_view());
  const std::vector<std::string> lines = formatted_lines(source);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) text += source.line_end();
    text += lines[i];
  }
  return text;
}

}  // namespace flashlab::toy
