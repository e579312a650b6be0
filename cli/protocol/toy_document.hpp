// A program open in an editor, and what the language server says about it. Lines and columns count
// from 1, columns in bytes, as in toy::SourceSpan.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/machine/line_costs.hpp"
#include "toymachine/bind/bound_program.hpp"
#include "toymachine/language/named_places.hpp"
#include "toymachine/language/program.hpp"
#include "toymachine/language/source.hpp"

namespace flashlab::cli {

class ToyDocument {
 public:
  /// `previous`: the document before a change; null: there is none. Never throws because of the text.
  ToyDocument(const std::string& name, const std::string& text,
              const std::shared_ptr<const ToyDocument>& previous = nullptr);

  const toy::SourceText& source() const { return *source_; }
  const std::vector<toy::Diagnostic>& diagnostics() const { return diagnostics_; }

  /// Whether it assembles.
  bool is_valid() const { return program_ != nullptr; }

  /// The program; null: it does not assemble.
  const std::shared_ptr<const toy::Program>& program() const { return program_; }

  /// Returns LineCosts::hints(). With errors: those of the last version without, in lines that did not
  /// change since.
  std::vector<LineHint> hints() const;
  /// Returns LineCosts::about_line(), with errors likewise.
  std::string about_line(std::uint32_t line) const;

  /// The program with its default parameters; null if there is none, or they do not fit.
  const toy::BoundProgram* at_defaults() const { return defaults_.get(); }

  /// The registers of the machine at the defaults, or as the text declares them; 0: not known.
  std::int64_t num_registers() const;

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
  std::vector<LineHint> own_lines(std::vector<LineHint> hints) const;
  void bind_defaults();
  void find_old_lines(const ToyDocument& previous);
  /// Derived when first asked for: errors are wanted sooner.
  const LineCosts& costs() const;

  std::shared_ptr<const toy::SourceText> source_;
  toy::NamedPlaces names_;
  std::shared_ptr<const toy::Program> program_;        // null: it does not assemble
  std::unique_ptr<const toy::BoundProgram> defaults_;  // with default parameters, if they fit
  std::shared_ptr<const ToyDocument> last_valid_;      // with errors: the version before them
  std::vector<std::uint32_t>
      old_lines_;  // likewise, by line from 1: where it stood there; 0: newer
  mutable std::optional<LineCosts> costs_;
  std::vector<toy::Diagnostic> diagnostics_;
};

}  // namespace flashlab::cli
