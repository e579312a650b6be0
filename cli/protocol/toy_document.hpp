// A program open in an editor, and what the language server says about it. Lines and columns count
// from 1, columns in bytes, as in toy::SourceSpan.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "toymachine/count/cost_formula.hpp"
#include "toymachine/language/program.hpp"
#include "toymachine/language/source.hpp"
#include "toymachine/language/source_words.hpp"

namespace flashlab::cli {

class ToyDocument {
 public:
  /// Never throws because of the text.
  ToyDocument(const std::string& name, const std::string& text);

  const toy::SourceText& source() const { return *source_; }
  const std::vector<toy::Diagnostic>& diagnostics() const { return diagnostics_; }

  /// Whether it assembles.
  bool is_valid() const { return program_ != nullptr; }

  /// A short text at the end of a line.
  struct Hint {
    std::uint32_t line = 0;
    std::string text;
  };
  /// Returns how often each instruction runs ("n - 1 times"), and in the first line what the whole
  /// program costs. Empty if there are no formulas.
  std::vector<Hint> hints() const;
  /// Returns, in Markdown, what the instruction of the line does and costs; empty for other lines.
  std::string about_line(std::uint32_t line) const;

  /// All words, also of a program with errors.
  const toy::SourceWords& words() const { return words_; }
  /// Returns the word that contains a place or ends there; null: none, or a comment.
  const toy::SourceWord* word_at(std::uint32_t line, std::uint32_t column) const;
  std::string_view text_of(const toy::SourceWord& word) const;
  /// Returns the declaration of what a word names; nothing for R0 and words of the language.
  std::optional<toy::SourceSpan> declaration_of(const toy::SourceWord& word) const;
  /// Returns all places at which the thing is named, in source order.
  std::vector<toy::SourceSpan> places_of(const toy::SourceWord& word) const;
  /// Returns why the thing cannot get another name; empty: it can.
  std::string why_not_renamed(const toy::SourceWord& word) const;
  /// Returns why it cannot get this name; empty: it can, and every word keeps its meaning.
  std::string why_not_renamed(const toy::SourceWord& word, const std::string& new_name) const;

  /// A pass, or a loop with the loops inside.
  struct Symbol {
    std::string name;
    bool is_pass = false;
    std::uint32_t first = 0, last = 0;  // lines
    std::vector<Symbol> inside;
  };
  std::vector<Symbol> symbols() const;

 private:
  const toy::InstructionStatement* instruction_at(std::uint32_t line) const;
  std::string with_name(const toy::SourceWord& word, const std::string& new_name) const;
  std::string formula_text(const toy::Formula& formula, std::size_t most) const;

  std::shared_ptr<const toy::SourceText> source_;
  toy::SourceWords words_;
  std::shared_ptr<const toy::Program> program_;  // null: it does not assemble
  std::optional<toy::CostFormulas> formulas_;
  std::vector<const toy::InstructionStatement*> instructions_;  // of program_, in source order
  std::vector<toy::Diagnostic> diagnostics_;
};

}  // namespace flashlab::cli
