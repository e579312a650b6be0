#include "toymachine/language/source.hpp"

#include <algorithm>

#include "text/utf8.hpp"
#include "text/visible.hpp"
#include "toymachine/language/library.hpp"

namespace flashlab::toy {
namespace {

constexpr std::size_t kShownColumns = 100;  // of a source line, around the caret

std::string_view label(Severity severity) {
  switch (severity) {
    case Severity::kError:
      return "error";
    case Severity::kWarning:
      return "warning";
    case Severity::kNote:
      return "note";
  }
  return "error";
}

/// Returns the word after `.use`, if that is what the first line begins with that has more than a comment.
std::optional<std::string> word_after_use(std::string_view text) {
  constexpr std::string_view kWord = ".use", kBlank = " \t";
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of("\r\n"), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line = line.substr(0, line.find_first_of(";#"));
    line.remove_prefix(std::min(line.find_first_not_of(kBlank), line.size()));
    if (line.empty()) continue;
    if (!line.starts_with(kWord)) return std::nullopt;
    line.remove_prefix(kWord.size());
    if (!line.empty() && kBlank.find(line[0]) == std::string_view::npos) return std::nullopt;
    line.remove_prefix(std::min(line.find_first_not_of(kBlank), line.size()));
    return std::string(line.substr(0, line.find_first_of(kBlank)));
  }
  return std::nullopt;
}

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

/// Returns the part of the line that is shown, and the column where it starts.
std::pair<std::string_view, std::size_t> window(std::string_view line, std::size_t column) {
  if (line.size() <= kShownColumns) return {line, 1};
  std::size_t start = column > kShownColumns / 2 ? column - kShownColumns / 2 : 0;
  start = std::min(start, line.size() - kShownColumns);
  while (start > 0 && is_continuation(line[start])) --start;
  return {line.substr(start, kShownColumns), start + 1};
}

/// Returns the source line and the caret line below it. What would affect a terminal, and what is no
/// UTF-8, becomes `?`.
std::string excerpt(const SourceSpan& span, const SourceText& source) {
  const std::string_view line = source.line(span.line);
  const auto [shown, first_column] = window(line, span.column);
  const std::string number = std::to_string(source.number_in_part(span.line));
  std::string text = "  " + number + " | ";
  std::string carets = "  " + std::string(number.size(), ' ') + " | ";
  for (std::size_t i = 0; i < shown.size();) {
    const CodePoint point = code_point(shown, i);
    const bool is_tab = shown[i] == '\t';
    text += is_tab || !is_odd(point) ? shown.substr(i, point.bytes) : "?";
    const std::size_t column = first_column + i;
    if (column < span.column) {
      carets += is_tab ? '\t' : ' ';
    } else if (column < span.column + span.length || column == span.column) {
      carets += column == span.column ? '^' : '~';
    }
    i += point.bytes;
  }
  if (span.column >= first_column + shown.size()) carets += '^';
  return text + "\n" + carets + "\n";
}

}  // namespace

SourceText::SourceText(std::string name, std::string text)
    : name_(std::move(name)), text_(std::move(text)) {
  has_mark_ = text_.starts_with(kByteOrderMark);
  if (has_mark_) text_.erase(0, kByteOrderMark.size());
  line_starts_.push_back(0);
  for (std::size_t i = 0; i < text_.size(); ++i) {
    const bool is_old_end = text_[i] == '\r' && (i + 1 == text_.size() || text_[i + 1] != '\n');
    if (text_[i] == '\n' || is_old_end) line_starts_.push_back(i + 1);
  }
  if (line_starts_.back() == text_.size()) line_starts_.pop_back();  // ends with a line end
  used_ = word_after_use(text_);
  if (!used_) return;
  if (const EmbeddedFile* program = find_in_library(library_programs(), *used_)) {
    other_ =
        std::make_shared<const SourceText>(std::string(program->name), std::string(program->text));
  }
}

SourceText::SourceText(std::string name, std::string text,
                       std::shared_ptr<const SourceText> score_function)
    : SourceText(std::move(name), std::move(text)) {
  if (!used_) other_ = std::move(score_function);
}

std::string_view SourceText::line(std::uint32_t number) const {
  if (is_of_other(number)) return other_->line(number_in_part(number));
  if (number == 0 || number > line_starts_.size()) return {};
  const std::size_t start = line_starts_[number - 1];
  const std::size_t next = number < line_starts_.size() ? line_starts_[number] : text_.size();
  std::string_view line(text_.data() + start, next - start);
  if (line.ends_with('\n')) line.remove_suffix(1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::string_view SourceText::line_end() const {
  const std::size_t end = text_.find_first_of("\r\n");
  if (end == std::string::npos || text_[end] == '\n') return "\n";
  return text_.compare(end, 2, "\r\n") == 0 ? "\r\n" : "\r";
}

std::string format(const Diagnostic& diagnostic, const SourceText& source) {
  const SourceSpan& span = diagnostic.span;
  std::string text = printable(source.name_of(span.line));
  if (span.line > 0) {
    text +=
        ":" + std::to_string(source.number_in_part(span.line)) + ":" + std::to_string(span.column);
  }
  text += ": " + std::string(label(diagnostic.severity)) + ": " + diagnostic.what + "\n";
  if (span.line > 0) text += excerpt(span, source);
  if (!diagnostic.expected.empty()) text += "  expected " + diagnostic.expected + "\n";
  if (!diagnostic.suggestion.empty()) text += "  did you mean " + diagnostic.suggestion + "?\n";
  return text;
}

std::string format(const std::vector<Diagnostic>& diagnostics, const SourceText& source,
                   std::size_t limit) {
  std::string text;
  const std::size_t shown = std::min(limit, diagnostics.size());
  for (std::size_t i = 0; i < shown; ++i) text += format(diagnostics[i], source);
  if (shown < diagnostics.size()) {
    text += printable(source.name()) + ": " + std::to_string(diagnostics.size() - shown) +
            " more messages are not shown\n";
  }
  return text;
}

}  // namespace flashlab::toy
