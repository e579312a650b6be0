#include "cli/protocol/toy_document.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "cli/exercises/loading.hpp"
#include "exercises/grader/judge/proven_distance.hpp"
#include "text/lists.hpp"
#include "text/read_number.hpp"
#include "toymachine/bind/bound_program.hpp"
#include "toymachine/language/assembler.hpp"

namespace flashlab::cli {
ToyDocument::ToyDocument(const std::string& name, const std::string& text,
                         const std::shared_ptr<const ToyDocument>& previous)
    : source_(std::make_shared<const toy::SourceText>(name, text)), names_(source_) {
  try {
    auto program = toy::assemble(source_);
    diagnostics_ = std::move(program.diagnostics);
    if (program) {
      program_ = std::make_shared<const toy::Program>(std::move(*program));
      bind_defaults();
    }
  } catch (const std::exception& error) {
    diagnostics_.push_back(
        {toy::Severity::kError, toy::Fault::kLimit, {1, 1, 1}, error.what(), {}, {}});
  }
  // What is wrong in a bundled program's lines is shown where the text names the program.
  for (toy::Diagnostic& one : diagnostics_) {
    if (one.span.line > source_->num_lines()) one.span = {1, 1, 1};
  }
  if (!program_ && previous) {
    last_valid_ = previous->is_valid() ? previous : previous->last_valid_;
    if (last_valid_) find_old_lines(*previous);
  }
}

/// Without the lines of the program that a line .use names.
std::vector<LineHint> ToyDocument::own_lines(std::vector<LineHint> hints) const {
  const auto last = static_cast<std::uint32_t>(source_->num_lines());
  std::erase_if(hints, [&](const LineHint& hint) { return hint.line > last; });
  return hints;
}

/// A change has one place, and the lines before and after it are those of the version before. So lines
/// are followed from version to version: the last one without errors may differ in several places.
void ToyDocument::find_old_lines(const ToyDocument& previous) {
  const UnchangedLines since(source(), previous.source());
  const UnchangedLines since_valid(source(), last_valid_->source());
  old_lines_.assign(source_->num_lines() + 1, 0);
  std::vector<bool> is_taken(last_valid_->source().num_lines() + 1, false);
  for (std::uint32_t line = 1; line < old_lines_.size(); ++line) {
    const std::uint32_t place = since.place_of(line);
    if (place == 0) continue;
    old_lines_[line] = previous.is_valid() ? place : previous.old_lines_[place];
    is_taken[old_lines_[line]] = true;
  }
  for (std::uint32_t line = 1; line < old_lines_.size(); ++line) {  // changed, and changed back
    const std::uint32_t place = since_valid.place_of(line);
    if (old_lines_[line] == 0 && place != 0 && !is_taken[place]) old_lines_[line] = place;
  }
}

std::int64_t ToyDocument::num_registers() const {
  if (defaults_) return defaults_->num_registers;
  constexpr std::string_view kWord = ".registers";
  const auto count = static_cast<std::uint32_t>(source_->num_lines());
  for (std::uint32_t line = 1; line <= count; ++line) {
    std::string_view text = trimmed(source_->line(line));
    if (!text.starts_with(kWord)) continue;
    text = trimmed(text.substr(0, text.find_first_of(";#")).substr(kWord.size()));
    std::int64_t number = 0;
    if (read_whole(text, number)) return number;
  }
  return last_valid_ ? last_valid_->num_registers() : 0;
}

void ToyDocument::bind_defaults() {
  const bool has_defaults =
      std::all_of(program_->params.begin(), program_->params.end(),
                  [](const toy::ParamDeclaration& one) { return one.default_value != nullptr; });
  if (!has_defaults) return;
  auto bound = toy::bind(program_, toy::Binding());
  diagnostics_.insert(diagnostics_.end(), bound.diagnostics.begin(), bound.diagnostics.end());
  if (bound) defaults_ = std::make_unique<const toy::BoundProgram>(std::move(*bound));
}

const LineCosts& ToyDocument::costs() const {
  if (costs_) return *costs_;
  const ExercisePointer exercise = exercise_of_file(source_->name());
  return costs_.emplace(program_, defaults_.get(),
                        exercise ? exercises::proven_distance(*exercise, program_) : std::string());
}

std::vector<LineHint> ToyDocument::hints() const {
  if (is_valid()) return own_lines(costs().hints());
  if (!last_valid_) return {};
  std::vector<std::uint32_t> new_lines(last_valid_->source().num_lines() + 1, 0);
  for (std::uint32_t line = 1; line < old_lines_.size(); ++line) new_lines[old_lines_[line]] = line;
  return carried_over(last_valid_->hints(), new_lines);
}

std::string ToyDocument::about_line(std::uint32_t line) const {
  if (is_valid()) return costs().about_line(line);
  if (!last_valid_) return {};
  const std::uint32_t old_line = line < old_lines_.size() ? old_lines_[line] : 0;
  return old_line == 0 ? std::string() : last_valid_->about_line(old_line);
}

std::vector<ToyDocument::Symbol> ToyDocument::symbols() const {
  std::vector<Symbol> stack{{"", true, 0, 0, {}}};  // the file, a pass, loops
  const auto close = [&](std::uint32_t last) {
    Symbol done = std::move(stack.back());
    stack.pop_back();
    done.last = last;
    stack.back().inside.push_back(std::move(done));
  };
  const auto count = static_cast<std::uint32_t>(source_->num_lines());
  std::uint32_t too_deep = 0;  // open loops that the assembler refuses, and that are left out
  for (std::uint32_t line = 1; line <= count; ++line) {
    const std::string_view code =
        source_->line(line).substr(0, source_->line(line).find_first_of(";#"));
    const std::string_view text = trimmed(code, " \t");
    const std::string_view word = text.substr(0, text.find_first_of(" \t"));
    if (word == ".pass") {
      while (stack.size() > 1) close(line - 1);
      too_deep = 0;
      stack.push_back({std::string(text), true, line, line, {}});
    } else if (word == "for" && (too_deep > 0 || std::ssize(stack) > toy::Limits{}.max_nesting)) {
      ++too_deep;
    } else if (word == "for") {
      stack.push_back({std::string(text), false, line, line, {}});
    } else if (word == "end" && too_deep > 0) {
      --too_deep;
    } else if (word == "end" && stack.size() > 1 && !stack.back().is_pass) {
      close(line);
    }
  }
  while (stack.size() > 1) close(count);
  return std::move(stack.back().inside);
}

}  // namespace flashlab::cli
