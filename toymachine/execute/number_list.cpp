#include "toymachine/execute/number_list.hpp"

#include <algorithm>
#include <cmath>

#include "text/lists.hpp"
#include "text/utf8.hpp"
#include "toymachine/language/read_number.hpp"
#include "toymachine/language/request_error.hpp"

namespace flashlab::toy::detail {
namespace {

constexpr std::size_t kMostAxes = 16;
constexpr std::size_t kShownLength = 24;  // of a wrong value, in a message
constexpr std::string_view kBlanks = " \t\r\n";

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

/// Appends the numbers of one line; returns an error if there is one.
std::optional<Diagnostic> read_csv_line(std::string_view line, const std::string& place,
                                        std::vector<double>& values) {
  for (std::size_t column = 1;; ++column) {
    const std::size_t comma = line.find(',');
    const std::string_view field = trimmed(line.substr(0, comma), kBlanks);
    const Result<double> number = parse_number(field);
    if (!number) {
      const Diagnostic& problem = number.diagnostics.front();
      return request_error(place + ", column " + std::to_string(column) + ": " + problem.what,
                           field.empty() ? "one number between two commas" : problem.expected);
    }
    values.push_back(*number);
    if (comma == std::string_view::npos) return std::nullopt;
    line.remove_prefix(comma + 1);
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
  for (std::int64_t line_number = 1; !text.empty(); ++line_number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end), kBlanks);
    text.remove_prefix(std::min(text.size(), end + 1));
    if (line.empty() || line.front() == '#') continue;
    const std::size_t before = table.values.size();
    const std::string place = name + ": line " + std::to_string(line_number);
    if (auto problem = read_csv_line(line, place, table.values)) return *problem;
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
