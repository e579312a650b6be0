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
#include "toymachine/language/named_places.hpp"
#include "toymachine/language/program.hpp"
#include "toymachine/language/source.hpp"

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

  /// The words, also of a program with errors.
  const toy::NamedPlaces& names() const { return names_; }

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
  std::string formula_text(const toy::Formula& formula, std::size_t most) const;

  std::shared_ptr<const toy::SourceText> source_;
  toy::NamedPlaces names_;
  std::shared_ptr<const toy::Program> program_;  // null: it does not assemble
  std::optional<toy::CostFormulas> formulas_;
  std::vector<const toy::InstructionStatement*> instructions_;  // of program_, in source order
  std::vector<toy::Diagnostic> diagnostics_;
};

}  // namespace flashlab::cli
