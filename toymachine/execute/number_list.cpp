#include "toymachine/execute/number_list.hpp"

#include <algorithm>
#include <cmath>

#include "text/lists.hpp"
#include "text/read_number.hpp"
#include "text/utf8.hpp"
#include "toymachine/language/request_error.hpp"

namespace flashlab::toy::detail {
namespace {

constexpr std::size_t kMostAxes = 16;
constexpr std::size_t kShownLength = 24;  // of a wrong value, in a message
constexpr std::string_view kBlanks = " \t\r\n";
constexpr std::string_view kBlanksOfLine = " \r\n";  // a tab may be a separator

/// A value for a message: short, and safe for a terminal.
std::string quoted(std::string_view text) {
  std::string shown(text.substr(0, kShownLength));
  std::replace_if(
      shown.begin(), shown.end(), [](unsigned char c) { return c < 0x20 || c >= 0x7F; }, '?');
  return "'" + shown + (text.size() > kShownLength ? "..." : "") + "'";
}

/// Reads nested lists from left to right, up to the first error.
class JsonListReader {
 public:
  JsonListReader(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  Result<ListInput> read() {
    skip_blanks();
    if (peek() != '[') return error("a list must start with '['", "[1, 2.5, -inf]");
    if (auto problem = read_list(0)) return *problem;
    skip_blanks();
    if (position_ < text_.size()) return error("something follows the list", "the end of the text");
    return std::move(list_);
  }

 private:
  using Problem = std::optional<Diagnostic>;

  char peek() const { return position_ < text_.size() ? text_[position_] : '\0'; }

  void skip_blanks() {
    position_ = std::min(text_.find_first_not_of(kBlanks, position_), text_.size());
  }

  Problem read_list(std::size_t depth) {
    if (depth == kMostAxes) return error("lists are nested too deeply", "at most 16 axes");
    if (depth == num_axes_) return error("found a list instead of a number", "a number");
    const std::size_t start = position_++;
    std::int64_t length = 0;
    for (skip_blanks(); peek() != ']'; skip_blanks(), ++length) {
      if (length > 0) {
        if (peek() != ',') return error("a list is not closed", "',' or ']'");
        ++position_;
        skip_blanks();
      }
      if (auto problem = peek() == '[' ? read_list(depth + 1) : read_value(depth)) return problem;
    }
    ++position_;
    return close_list(depth, length, start);
  }

  Problem read_value(std::size_t depth) {
    const std::size_t start = position_;
    std::string_view word = next_word();
    position_ = start;  // errors point at the value's start
    if (word.empty()) return error("a value is missing", "a number or '['");
    if (num_axes_ != kMostAxes + 1 && num_axes_ != depth + 1) {
      return error("found a number instead of a list", "a list");
    }
    if (list_.shape.size() > depth + 1) {
      return error("found a number instead of a list", "a list");
    }
    num_axes_ = depth + 1;
    position_ += word.size();
    if (word.size() > 2 && word.front() == '"' && word.back() == '"') {
      word = word.substr(1, word.size() - 2);
    }
    const Result<double> number = parse_number(word);
    if (!number) {
      position_ = start;
      return error(number.diagnostics.front().what, number.diagnostics.front().expected);
    }
    list_.values.push_back(*number);
    return std::nullopt;
  }

  std::string_view next_word() const {
    const std::size_t end = std::min(text_.find_first_of(" \t\r\n,[]", position_), text_.size());
    return text_.substr(position_, end - position_);
  }

  /// Lists of one depth must have the same length. Inner lists close first, so shape_ may have gaps
  /// (unset, -1) at depths that are still open.
  Problem close_list(std::size_t depth, std::int64_t length, std::size_t start) {
    if (list_.shape.size() <= depth) list_.shape.resize(depth + 1, -1);
    std::int64_t& expected = list_.shape[depth];
    if (expected == -1) expected = length;
    if (expected == length) return std::nullopt;
    position_ = start;
    return error("a list has " + std::to_string(length) + " items, the ones before it had " +
                     std::to_string(expected),
                 "lists of the same length");
  }

  Diagnostic error(const std::string& what, const std::string& expected) const {
    const std::string_view before = text_.substr(0, std::min(position_, text_.size()));
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
    return request_error(name_ + ":" + std::to_string(line) + ":" +
                             std::to_string(before.size() - line_start + 1) + ": " + what,
                         expected);
  }

  std::string_view text_;
  const std::string& name_;
  std::size_t position_ = 0;
  std::size_t num_axes_ = kMostAxes + 1;  // known after the first number
  ListInput list_;
};

/// Where the field at the start of a line ends: at the separator, but not at one between quotes.
std::size_t end_of_field(std::string_view line, char separator) {
  const std::size_t start = line.find_first_not_of(kBlanks);
  if (start != std::string_view::npos && line[start] == '"') {
    const std::size_t quote = line.find('"', start + 1);
    if (quote != std::string_view::npos) return std::min(line.find(separator, quote), line.size());
  }
  return std::min(line.find(separator), line.size());
}

/// The text of a line without what is between quotes.
std::string without_quoted(std::string_view line) {
  std::string rest;
  bool is_inside = false;
  for (const char c : line) {
    if (c == '"') is_inside = !is_inside;
    if (!is_inside) rest += c;
  }
  return rest;
}

/// The character between the values of a table, and an error if there is none that is certain: in
/// "1,5;2,5" the commas are decimal, and nothing says so.
Result<char> separator_of(std::string_view line, const std::string& place) {
  const std::string rest = without_quoted(line);
  const bool has_comma = rest.find(',') != std::string::npos;
  for (const auto& [separator, name] : {std::pair(';', "semicolons"), std::pair('\t', "tabs")}) {
    // "1,\t2": blanks around a comma.
    bool separates = rest.find(separator) != std::string::npos;
    if (separator == '\t' && has_comma) {
      separates = false;
      for (std::string_view fields = rest; !fields.empty();) {
        const std::size_t comma = std::min(fields.find(','), fields.size());
        separates = separates ||
                    trimmed(fields.substr(0, comma), kBlanks).find('\t') != std::string_view::npos;
        fields.remove_prefix(std::min(fields.size(), comma + 1));
      }
    }
    if (!separates) continue;
    if (!has_comma) return separator;
    return request_error(
        place + ", column 1: there are " + name + " between the values, and commas as well",
        "one separator, and decimal points: 1.5,2.5");
  }
  return ',';
}

/// Appends the numbers of one line; returns an error if there is one.
std::optional<Diagnostic> read_csv_line(std::string_view line, char separator,
                                        const std::string& place, std::vector<double>& values) {
  for (std::size_t column = 1;; ++column) {
    const std::size_t end = end_of_field(line, separator);
    std::string_view field = trimmed(line.substr(0, end), kBlanks);
    if (field.size() > 1 && field.front() == '"' && field.back() == '"') {
      field = trimmed(field.substr(1, field.size() - 2), kBlanks);
    }
    const Result<double> number = parse_number(field);
    if (!number) {
      const Diagnostic& problem = number.diagnostics.front();
      const auto part = field.substr(0, field.find_first_of(kBlanks));
      const bool has_blanks = part.size() < field.size() && parse_number(part);
      return request_error(place + ", column " + std::to_string(column) + ": " + problem.what,
                           field.empty() ? "one number between two separators"
                           : has_blanks  ? "a comma, not a blank, between two values"
                                         : problem.expected + "; a row of names begins with #");
    }
    values.push_back(*number);
    if (end == line.size()) return std::nullopt;
    line.remove_prefix(end + 1);
  }
}

}  // namespace

Result<double> parse_number(std::string_view text) {
  std::string_view digits = text;
  if (digits.starts_with('+')) digits.remove_prefix(1);
  double value = 0;
  const auto [end, code] = read_number(digits, value);
  const bool complete = end == digits.data() + digits.size() && !text.starts_with("+-");
  if (text.empty()) return request_error("a number is missing", "a number");
  if (code == std::errc::result_out_of_range && complete) {
    return request_error(quoted(text) + " does not fit into a double", "a smaller exponent");
  }
  if (code != std::errc{} || !complete) {
    return request_error(quoted(text) + " is not a number", "a number such as 2, -0.5, 1e-3, -inf");
  }
  if (std::isnan(value)) return request_error("NaN is not a value of this machine", "a number");
  if (value > 0 && std::isinf(value)) {
    return request_error("+inf is not a value of this machine", "a finite number or -inf");
  }
  return value;
}

Result<ListInput> parse_json_list(std::string_view text, const std::string& name) {
  return JsonListReader(without_byte_order_mark(text), name).read();
}

Result<ListInput> parse_csv(std::string_view text, const std::string& name) {
  text = without_byte_order_mark(text);
  ListInput table;
  std::int64_t rows = 0, columns = 0;
  char separator = ',';
  for (std::int64_t line_number = 1; !text.empty(); ++line_number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end), kBlanksOfLine);
    text.remove_prefix(std::min(text.size(), end + 1));
    if (trimmed(line, kBlanks).empty() || line.front() == '#') continue;
    const std::size_t before = table.values.size();
    const std::string place = name + ": line " + std::to_string(line_number);
    if (rows == 0) {
      const Result<char> found = separator_of(line, place);
      if (!found) return found.diagnostics;
      separator = *found;
    }
    if (auto problem = read_csv_line(line, separator, place, table.values)) return *problem;
    const auto found = static_cast<std::int64_t>(table.values.size() - before);
    if (rows++ == 0) columns = found;
    if (found != columns) {
      return request_error(place + " has " + std::to_string(found) + " values, the rows before " +
                               std::to_string(columns),
                           "rows of the same length");
    }
  }
  table.shape = {rows, columns};
  return table;
}

}  // namespace flashlab::toy::detail
