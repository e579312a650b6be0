#include "text/width.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <sstream>

#include "text/utf8.hpp"

namespace flashlab {
namespace {

/// A part of text that is displayed as a unit.
struct Piece {
  std::size_t bytes = 1, columns = 0;
};

/// Variation selector 16: the character before it is shown as a picture, as wide as a wide letter (UAX 11).
constexpr std::string_view kAsPicture = "\xEF\xB8\x8F";

bool may_be_picture(utf8proc_int32_t code) {
  const bool is_key = code == '#' || code == '*' || (code >= '0' && code <= '9');
  return is_key ||
         utf8proc_get_property(code)->boundclass == UTF8PROC_BOUNDCLASS_EXTENDED_PICTOGRAPHIC;
}

Piece piece_at(std::string_view text, std::size_t at) {
  if (text[at] == '\x1b') {
    return {std::min(text.find('m', at), text.size() - 1) + 1 - at, 0};
  }
  const CodePoint point = code_point(text, at);
  const bool is_control = point.code < 0x20 || (point.code >= 0x7F && point.code < 0xA0);
  if (!point.valid || is_control) return {point.bytes, 1};
  const auto code = static_cast<utf8proc_int32_t>(point.code);
  const int columns = utf8proc_charwidth(code);
  const std::string_view rest = text.substr(at + point.bytes);
  if (columns == 1 && rest.starts_with(kAsPicture) && may_be_picture(code)) {
    return {point.bytes + kAsPicture.size(), 2};
  }
  return {point.bytes, static_cast<std::size_t>(std::max(columns, 0))};
}

/// The maximum number of bytes from the start that fit into `width` columns.
std::size_t fitting_bytes(std::string_view text, std::size_t width) {
  std::size_t at = 0, columns = 0;
  while (at < text.size()) {
    const Piece piece = piece_at(text, at);
    columns += piece.columns;
    if (columns > width) break;
    at += piece.bytes;
  }
  return at;
}

/// The end of a cut formula without a dangling operator: "a + " becomes "a".
std::size_t end_of_formula(std::string_view text) {
  constexpr std::string_view kLoose[] = {" ", "+", "-", "*", "/", ".", "(", ",", "−", "·", "…"};
  for (bool shorter = true; shorter;) {
    shorter = false;
    for (const std::string_view loose : kLoose) {
      if (text.size() <= loose.size() || !text.ends_with(loose)) continue;
      text.remove_suffix(loose.size());
      shorter = true;
    }
  }
  return text.size();
}

/// Returns the start of the word with code (`...`) in which byte `at` lies, if code and what is
/// attached to it fit on one line; otherwise npos.
std::size_t start_of_code(std::string_view text, std::size_t at, std::size_t width) {
  std::size_t open = text.find('`');
  while (open < at) {
    const std::size_t close = text.find('`', open + 1);
    if (close == std::string_view::npos) break;
    const std::size_t end = std::min(text.find(' ', close), text.size());
    if (at < end) {
      const std::size_t blank = text.rfind(' ', open);
      const std::size_t begin = blank == std::string_view::npos ? 0 : blank + 1;
      return display_width(text.substr(begin, end - begin)) <= width ? begin
                                                                     : std::string_view::npos;
    }
    open = text.find('`', close + 1);
  }
  return std::string_view::npos;
}

/// Follows whether a text is inside a quotient that is rounded: ⌈n/B⌉, floor((n + 1)/2).
class QuotientDepth {
 public:
  /// Takes the character at byte `at`.
  void pass(std::string_view text, std::size_t at) {
    const std::string_view rest = text.substr(at), before = text.substr(0, at);
    if (rest.starts_with("⌈") || rest.starts_with("⌊")) ++signs_;
    if (rest.starts_with("⌉") || rest.starts_with("⌋")) signs_ -= signs_ > 0 ? 1 : 0;
    if (rest.starts_with("(")) {
      ++parentheses_;
      if (before.ends_with("ceil") || before.ends_with("floor")) calls_.push_back(parentheses_);
    }
    if (rest.starts_with(")")) {
      if (!calls_.empty() && calls_.back() == parentheses_) calls_.pop_back();
      --parentheses_;
    }
  }
  bool inside() const { return signs_ > 0 || !calls_.empty(); }

 private:
  int signs_ = 0, parentheses_ = 0;
  std::vector<int> calls_;  // the depth of parentheses in each
};

bool is_inside_quotient(std::string_view text, std::size_t at) {
  QuotientDepth depth;
  for (std::size_t i = 0; i < at; ++i) depth.pass(text, i);
  return depth.inside();
}

/// Whether a blank stands beside the sign of "n = 8".
bool is_beside_equals(std::string_view text, std::size_t blank) {
  constexpr std::string_view kEquals = " = ";
  return text.substr(blank).starts_with(kEquals) || text.substr(0, blank + 1).ends_with(kEquals);
}

/// The last blank before `end` at which a line may end; npos: there is none after `first`.
std::size_t last_blank(std::string_view text, std::size_t end, std::size_t first) {
  const std::size_t last = text.substr(0, end).rfind(' ');
  std::size_t blank = last;
  while (blank != std::string_view::npos && blank > first &&
         (is_beside_equals(text, blank) || is_inside_quotient(text, blank))) {
    blank = text.substr(0, blank).rfind(' ');
  }
  const bool found = blank != std::string_view::npos && blank > first;
  if (found) return blank;
  return last != std::string_view::npos && last > first ? last : std::string_view::npos;
}

/// The last end of a part of a word that is at most `end`; npos: the first part is longer.
std::size_t last_part(std::string_view text, std::size_t start, std::size_t end) {
  std::size_t last = std::string_view::npos;
  for (std::size_t at = start; at < end;) {
    const std::size_t next = end_of_part(text, at);
    if (next == at) break;  // a blank
    if (next <= end) last = next;
    at = next;
  }
  return last;
}

}  // namespace

std::size_t end_of_part(std::string_view text, std::size_t at) {
  const std::size_t blank = std::min(text.find(' ', at), text.size());
  if (blank == at) return at;
  const std::string_view word = text.substr(0, blank);
  const std::size_t start = word.rfind(' ') == std::string_view::npos ? 0 : word.rfind(' ') + 1;
  const std::string_view whole = word.substr(start);
  constexpr std::string_view kFormula[] = {"⌈", "⌊", "·", "ceil(", "floor("};
  const bool is_formula = std::any_of(std::begin(kFormula), std::end(kFormula), [&](auto sign) {
    return whole.find(sign) != std::string_view::npos;
  });
  if (!is_formula) return std::min(word.find('/', at), blank - 1) + 1;
  QuotientDepth depth;
  for (std::size_t i = start; i < blank;) {
    depth.pass(word, i);
    const bool ends_factor = word.substr(i).starts_with("·") || word[i] == '*';
    i += code_point(word, i).bytes;
    if (i > at && ends_factor && !depth.inside()) return i;
  }
  return blank;
}

std::string wrapped(std::string_view text, std::size_t width) {
  std::string lines;
  for (const std::string& line : wrap(text, width)) lines += line + "\n";
  return lines;
}

std::size_t display_width(std::string_view text) {
  std::size_t columns = 0;
  for (std::size_t at = 0; at < text.size();) {
    const Piece piece = piece_at(text, at);
    columns += piece.columns;
    at += piece.bytes;
  }
  return columns;
}

std::size_t end_of_cell(std::string_view text, std::size_t at) {
  if (at >= text.size()) return text.size();
  const auto end_of_piece = [&] {
    return at + (text[at] == '\x1b' ? 1 : piece_at(text, at).bytes);  // no colour: a text as typed
  };
  at = end_of_piece();
  while (at < text.size() && !is_odd(code_point(text, at)) && piece_at(text, at).columns == 0) {
    at = end_of_piece();
  }
  return at;
}

std::size_t start_of_cell(std::string_view text, std::size_t at) {
  std::size_t start = 0;
  for (std::size_t end = 0; end < at; end = end_of_cell(text, end)) start = end;
  return start;
}

std::vector<std::string> display_cells(std::string_view text) {
  std::vector<std::string> cells;
  for (std::size_t at = 0; at < text.size();) {
    const Piece piece = piece_at(text, at);
    const std::string bytes(text.substr(at, piece.bytes));
    at += piece.bytes;
    if (bytes.starts_with('\x1b')) continue;
    if (piece.columns > 0) {
      cells.push_back(bytes);
      cells.resize(cells.size() + piece.columns - 1);
    } else if (!cells.empty()) {
      cells.back() += bytes;
    }
  }
  return cells;
}

std::string fitted(std::string_view text, std::size_t width, bool unicode) {
  const std::size_t natural = display_width(text);
  if (natural <= width) return std::string(text) + std::string(width - natural, ' ');
  const std::string dots = width == 0 ? ""
                           : unicode  ? "…"
                                      : std::string(std::min<std::size_t>(width, 3), '.');
  std::string result(text.substr(0, fitting_bytes(text, width - display_width(dots))));
  result.erase(end_of_formula(result));
  result += dots;
  return result + std::string(width - display_width(result), ' ');
}

std::vector<std::string> wrap(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  width = std::max<std::size_t>(width, 1);
  while (display_width(text) > width) {
    std::size_t end = fitting_bytes(text, width);
    if (end == 0) end = piece_at(text, 0).bytes;            // a wide letter in one column
    const std::size_t first = text.find_first_not_of(' ');  // keep the indentation with its word
    const std::size_t space = last_blank(text, end + 1, first);
    if (space != std::string_view::npos) {
      end = space;
    } else if (const std::size_t part = last_part(text, first, end);
               part != std::string_view::npos) {
      end = part;  // of a path, an address or a product
    }
    // A command can be copied only as a whole.
    const std::size_t code = start_of_code(text, end, width);
    if (code != std::string_view::npos && code > text.find_first_not_of(' ')) end = code - 1;
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  }
  if (!text.empty() || lines.empty()) lines.emplace_back(text);
  return lines;
}

std::vector<std::string> paragraph_lines(std::string_view text, std::size_t width) {
  std::istringstream words{std::string(text)};
  std::vector<std::string> lines;
  std::size_t used = 0;
  for (std::string word; words >> word;) {
    const std::size_t length = display_width(word);
    if (lines.empty() || used + 1 + length > width) {
      lines.push_back(word);
      used = length;
    } else {
      lines.back() += " " + word;
      used += 1 + length;
    }
  }
  return lines;
}

}  // namespace flashlab
