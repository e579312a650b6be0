#include "toymachine/replay/watch_parser.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "text/nearest.hpp"
#include "text/read_number.hpp"
#include "toymachine/language/request_error.hpp"

namespace flashlab::toy::detail {
namespace {

struct OperatorRow {
  std::string_view text;
  WatchOp op;
  int level;  // binds more tightly if higher
};
constexpr int kUnaryLevel = 6;
// A text that begins with another one stands before it.
constexpr std::array<OperatorRow, 15> kOperators{{{"||", WatchOp::kOr, 1},
                                                  {"&&", WatchOp::kAnd, 2},
                                                  {"<=", WatchOp::kAtMost, 3},
                                                  {">=", WatchOp::kAtLeast, 3},
                                                  {"==", WatchOp::kEqual, 3},
                                                  {"!=", WatchOp::kUnequal, 3},
                                                  {"<", WatchOp::kLess, 3},
                                                  {">", WatchOp::kGreater, 3},
                                                  {"+", WatchOp::kAdd, 4},
                                                  {"-", WatchOp::kSubtract, 4},
                                                  {"*", WatchOp::kMultiply, 5},
                                                  {"/", WatchOp::kDivide, 5},
                                                  {"%", WatchOp::kRemainder, 5},
                                                  {"or", WatchOp::kOr, 1},
                                                  {"and", WatchOp::kAnd, 2}}};

bool begins_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_decimal(char c) { return c >= '0' && c <= '9'; }

class WatchParser {
 public:
  WatchParser(const BoundProgram& program, std::string_view text, std::optional<std::uint32_t> site)
      : program_(program), text_(text), site_(site) {}

  Result<WatchNode> run() {
    WatchNode root = binary(1);
    skip_blanks();
    if (root && accept("=")) {
      fail("'=' sets nothing: " + std::string(kNothingIsSet), "== to compare");
    } else if (root && at_ < text_.size()) {
      fail("'" + std::string(text_.substr(at_)) + "' does not belong to an expression", kExpected);
    }
    if (!errors_.empty()) return std::move(errors_);
    return root;
  }

 private:
  static constexpr const char* kExpected =
      "an expression such as R1, x[i + 1] or R1 > 0.5 && i == 3";
  static constexpr int kMostDepth = 100;

  WatchNode fail(std::string what, std::string expected, std::string near = {}) {
    if (errors_.empty()) {
      errors_.push_back(request_error(std::move(what), std::move(expected), std::move(near)));
    }
    return nullptr;
  }

  void skip_blanks() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r' || text_[at_] == '\n')) {
      ++at_;
    }
  }

  bool accept(std::string_view token) {
    skip_blanks();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }

  const OperatorRow* peek_operator() {
    skip_blanks();
    for (const OperatorRow& row : kOperators) {
      const std::string_view rest = text_.substr(at_);
      if (!rest.starts_with(row.text)) continue;
      const bool is_word = begins_word(row.text[0]);
      if (is_word && rest.size() > row.text.size() &&
          (begins_word(rest[row.text.size()]) || is_decimal(rest[row.text.size()]))) {
        continue;
      }
      return &row;
    }
    return nullptr;
  }

  WatchNode make(std::size_t first, WatchExpression::Node node) const {
    std::size_t last = at_;
    while (last > first && text_[last - 1] == ' ') --last;
    node.text = std::string(text_.substr(first, last - first));
    return std::make_shared<const WatchExpression::Node>(std::move(node));
  }

  std::size_t place() {
    skip_blanks();
    return at_;
  }

  WatchNode binary(int level) {
    if (level == kUnaryLevel) return unary();
    const std::size_t first = place();
    WatchNode left = binary(level + 1);
    bool has_compared = false;
    while (left) {
      const OperatorRow* const row = peek_operator();
      if (row == nullptr || row->level != level) return left;
      if (row->level == 3 && std::exchange(has_compared, true)) {
        return fail("'" + std::string(text_) + "' compares twice", "0 < R1 && R1 < 2");
      }
      at_ += row->text.size();
      WatchNode right = binary(level + 1);
      if (!right) return nullptr;
      left = make(first, {.op = row->op, .args = {left, right}, .text = {}});
    }
    return left;
  }

  WatchNode unary() {
    const std::size_t first = place();
    if (++depth_ > kMostDepth) return fail("the expression is nested too deeply", "fewer brackets");
    WatchNode result;
    const bool is_not = (text_.substr(at_).starts_with('!') && accept("!")) || accept_word("not");
    if (is_not || accept("-")) {
      WatchNode inner = is_not ? binary(3) : unary();
      if (inner) {
        result = make(first, {.op = is_not ? WatchOp::kNot : WatchOp::kNegate,
                              .args = {std::move(inner)},
                              .text = {}});
      }
    } else {
      accept("+");
      result = primary();
    }
    --depth_;
    return result;
  }

  bool accept_word(std::string_view word) {
    skip_blanks();
    const std::string_view rest = text_.substr(at_);
    if (!rest.starts_with(word) || (rest.size() > word.size() && begins_word(rest[word.size()]))) {
      return false;
    }
    at_ += word.size();
    return true;
  }

  WatchNode primary() {
    const std::size_t first = place();
    if (at_ == text_.size()) return fail("the expression ends too early", kExpected);
    if (accept("(")) {
      WatchNode inner = binary(1);
      if (inner && !accept(")")) return fail("a closing bracket is missing", "')'");
      return inner;
    }
    if (is_decimal(text_[at_]) || text_[at_] == '.') return number(first);
    if (!begins_word(text_[at_])) {
      return fail("'" + std::string(text_.substr(at_)) + "' is no expression", kExpected);
    }
    while (at_ < text_.size() && (begins_word(text_[at_]) || is_decimal(text_[at_]))) ++at_;
    return name(first, text_.substr(first, at_ - first));
  }

  WatchNode number(std::size_t first) {
    std::int64_t whole = 0;
    double real = 0;
    const auto [end, code] = read_number(text_.substr(first), real);
    const auto length = static_cast<std::size_t>(end - (text_.data() + first));
    if (code != std::errc{} || length == 0) {
      return fail("'" + std::string(text_.substr(first)) + "' is no number",
                  "a number such as 0.5");
    }
    at_ = first + length;
    if (read_whole(text_.substr(first, length), whole)) {
      return make(first, {.op = WatchOp::kWhole, .whole = whole, .args = {}, .text = {}});
    }
    return make(first, {.op = WatchOp::kReal, .real = real, .args = {}, .text = {}});
  }

  WatchNode name(std::size_t first, std::string_view word) {
    if (word == "inf") {
      return make(first, {.op = WatchOp::kReal,
                          .real = std::numeric_limits<double>::infinity(),
                          .args = {},
                          .text = {}});
    }
    WatchExpression::Node node;
    if (!find(word, node)) return unknown(word);
    while (accept("[")) {
      WatchNode index = binary(1);
      if (!index) return nullptr;
      if (!accept("]")) return fail("a closing bracket is missing", "']'");
      node.args.push_back(std::move(index));
    }
    if (auto why = wrong_indices(word, node); !why.empty()) return fail(why, expected_);
    return make(first, std::move(node));
  }

  /// Finds what a name means. Registers are numbered; with an index, the named registers are.
  bool find(std::string_view word, WatchExpression::Node& node) {
    const auto is_it = [&](const auto& one) { return one.name == word; };
    const auto at = [](const auto& all, const auto& found) {
      return static_cast<std::size_t>(found - all.begin());
    };
    if (const auto array = std::find_if(program_.arrays.begin(), program_.arrays.end(), is_it);
        array != program_.arrays.end()) {
      node.op = WatchOp::kCell;
      node.index = at(program_.arrays, array);
      return true;
    }
    const auto& named = program_.named_registers;
    if (const auto found = std::find_if(named.begin(), named.end(), is_it); found != named.end()) {
      node.op = WatchOp::kRegister;
      node.index = found->indexed ? at(named, found) : static_cast<std::size_t>(found->first);
      return true;
    }
    const auto& params = program_.program->params;
    if (const auto found = std::find_if(params.begin(), params.end(), is_it);
        found != params.end()) {
      node.op = WatchOp::kParam;
      node.index = at(params, found);
      return true;
    }
    return find_loop(word, node) || find_register(word, node);
  }

  bool find_loop(std::string_view word, WatchExpression::Node& node) const {
    node.op = WatchOp::kLoop;
    if (!site_) {
      node.index = kAnyLoop;
      return std::any_of(program_.loops.begin(), program_.loops.end(),
                         [&](const BoundLoop& loop) { return loop.var == word; });
    }
    for (std::uint32_t loop = program_.instructions[*site_].loop; loop != kNoLoop;
         loop = program_.loops[loop].parent) {
      node.index = loop;
      if (program_.loops[loop].var == word) return true;
    }
    return false;
  }

  bool find_register(std::string_view word, WatchExpression::Node& node) const {
    std::int64_t number = 0;
    if ((word[0] != 'R' && word[0] != 'r') || !read_whole(word.substr(1), number) || number < 0 ||
        number >= program_.num_registers) {
      return false;
    }
    node.op = WatchOp::kRegister;
    node.index = static_cast<std::size_t>(number);
    return true;
  }

  WatchNode unknown(std::string_view word) {
    std::vector<std::string> names;
    for (const BoundArray& array : program_.arrays) names.push_back(array.name);
    for (const NamedRegisters& named : program_.named_registers) names.push_back(named.name);
    for (const ParamDeclaration& param : program_.program->params) names.push_back(param.name);
    const bool is_elsewhere =
        site_ && std::any_of(program_.loops.begin(), program_.loops.end(),
                             [&](const BoundLoop& loop) { return loop.var == word; });
    if (is_elsewhere) {
      return fail("no loop over " + std::string(word) + " is around line " +
                      std::to_string(program_.instructions[*site_].span.line),
                  "a variable of a loop around the line");
    }
    return fail(
        "there is no register, cell, loop variable or parameter '" + std::string(word) + "'",
        "a register from R0 to R" + std::to_string(program_.num_registers - 1) +
            ", a cell such as x[0], or a name of the program",
        nearest(word, names).value_or(""));
  }

  /// Returns what is wrong about the number of indices; empty: nothing.
  std::string wrong_indices(std::string_view word, WatchExpression::Node& node) {
    constexpr std::size_t kOfTile = 2;
    std::size_t wanted = 0;
    if (node.op == WatchOp::kCell) wanted = program_.arrays[node.index].extents.size();
    for (const NamedRegisters& named : program_.named_registers) {
      if (named.name == word && named.indexed) wanted = 1;
    }
    if (node.args.size() == wanted) return {};
    if (node.op == WatchOp::kRegister && node.args.size() == wanted + kOfTile) {
      node.op = WatchOp::kElement;
      return {};
    }
    expected_ = std::string(word);
    for (std::size_t i = 0; i < wanted; ++i) expected_ += "[0]";
    return "'" + std::string(word) + "' has " + std::to_string(node.args.size()) +
           (node.args.size() == 1 ? " index" : " indices") + " here, and " +
           std::to_string(wanted) + " in the program";
  }

  const BoundProgram& program_;
  std::string_view text_;
  std::optional<std::uint32_t> site_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::string expected_;
  std::vector<Diagnostic> errors_;
};

}  // namespace

Result<WatchNode> parse_watch(const BoundProgram& program, std::string_view text,
                              std::optional<std::uint32_t> site) {
  constexpr std::size_t kLongest = 2000;  // longer ones would be nested too deeply for recursion
  if (text.size() > kLongest) {
    return request_error("the expression has " + std::to_string(text.size()) + " characters",
                         "at most " + std::to_string(kLongest));
  }
  return WatchParser(program, text, site).run();
}

}  // namespace flashlab::toy::detail
