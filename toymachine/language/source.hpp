// Source text, places in it, and messages about them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace flashlab::toy {

/// A stretch of source text. Lines and columns count from 1; columns count bytes. Line 0: no place.
struct SourceSpan {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::uint32_t length = 0;
};

/// One program text and the name for reports. Its lines are found once, on construction. A byte
/// order mark is no part of it, and CRLF counts as one line end.
///
/// A program with a score function has two texts. The lines of the other one are numbered after those of
/// this one, so that every place is one line number: a function after its program, or a program after
/// the function that begins with `.use PROGRAM`.
class SourceText {
 public:
  SourceText(std::string name, std::string text);
  /// A program with a score function.
  SourceText(std::string name, std::string text, std::shared_ptr<const SourceText> score_function);

  const std::string& name() const { return name_; }
  const std::string& text() const { return text_; }
  std::size_t num_lines() const { return line_starts_.size(); }
  /// The other text; null if there is none.
  const std::shared_ptr<const SourceText>& other() const { return other_; }
  /// Returns the word after `.use` if that line is the first one (but for comments): the name of a
  /// program of the library, which is the other text if there is one of that name.
  const std::optional<std::string>& used_program() const { return used_; }
  std::size_t num_lines_of_both() const { return num_lines() + (other_ ? other_->num_lines() : 0); }
  /// Returns the name of the text that has the line.
  const std::string& name_of(std::uint32_t number) const {
    return is_of_other(number) ? other_->name() : name_;
  }
  /// Returns the line's number in the text that has it.
  std::uint32_t number_in_part(std::uint32_t number) const {
    return is_of_other(number) ? number - static_cast<std::uint32_t>(num_lines()) : number;
  }
  /// Returns the line without its end; empty if there is no such line.
  std::string_view line(std::uint32_t number) const;
  /// Returns the byte of text() at which a line begins; behind the last one, the end.
  std::size_t start_of_line(std::uint32_t number) const {
    return number <= line_starts_.size() ? line_starts_[number - 1] : text_.size();
  }
  /// Whether the text was given with a byte order mark before it.
  bool has_byte_order_mark() const { return has_mark_; }
  /// Returns the end of the first line, as the whole text should have it: "\n" if there is none.
  std::string_view line_end() const;

 private:
  bool is_of_other(std::uint32_t number) const { return other_ && number > num_lines(); }

  std::string name_;
  std::string text_;
  std::shared_ptr<const SourceText> other_;
  std::optional<std::string> used_;
  bool has_mark_ = false;
  std::vector<std::size_t> line_starts_;
};

enum class Severity { kError, kWarning, kNote };

/// Who must act, which decides the command's exit code: 1 the program, 2 the request, 3 a limit.
enum class Fault { kProgram, kRequest, kLimit };

/// One message. `what` says which value is wrong and how, `expected` what would be right,
/// `suggestion` a near miss ("LOAD"). The last two may be empty.
struct Diagnostic {
  Severity severity = Severity::kError;
  Fault fault = Fault::kProgram;
  SourceSpan span;
  std::string what;
  std::string expected;
  std::string suggestion;
};

/// `name:line:column: error: what`, the source line, a caret line, then expected and suggestion.
/// Control characters of the source are shown as `?`; a long line is cut around the caret.
std::string format(const Diagnostic& diagnostic, const SourceText& source);

/// Returns the first `limit` messages one after another, then how many were left out.
std::string format(const std::vector<Diagnostic>& diagnostics, const SourceText& source,
                   std::size_t limit = 20);

/// A value, or the reasons why there is none. A value may come with warnings.
template <class Value>
struct [[nodiscard]] Result {
  std::optional<Value> value;
  std::vector<Diagnostic> diagnostics;

  Result() = default;
  Result(Value v) : value(std::move(v)) {}  // NOLINT: a value converts to its result
  Result(Diagnostic d) { diagnostics.push_back(std::move(d)); }     // NOLINT
  Result(std::vector<Diagnostic> d) : diagnostics(std::move(d)) {}  // NOLINT
  explicit operator bool() const { return value.has_value(); }
  Value& operator*() { return *value; }
  const Value& operator*() const { return *value; }
  Value* operator->() { return &*value; }
  const Value* operator->() const { return &*value; }
};

}  // namespace flashlab::toy
