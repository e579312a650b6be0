// Parses declarations: machine, registers, parameters, constants, arrays.
#pragma once

#include <optional>

#include "toymachine/language/directive.hpp"
#include "toymachine/language/line_parser.hpp"

namespace flashlab::toy::detail {

/// Fills the declarations of a Program. Each call reads one line from its first token. A line with
/// an error is reported and left out.
class DeclarationParser : public LineParser {
 public:
  using LineParser::LineParser;

  /// Parses the line of a declaration.
  void declare(const Line& line, Directive directive);
  /// The first register without a name is the one after the other parser's.
  void number_registers_after(const DeclarationParser& other) {
    next_register_ = other.next_register_;
  }

 private:
  void isa(const Line& line);
  void operands(const Line& line);
  void registers(const Line& line);
  void machines(const Line& line);
  void register_names(const Line& line);
  void params(const Line& line);
  void constant(const Line& line);
  void array(const Line& line, ArrayRole role);

  /// Returns the index of the declaration for which the name was collected. Returns nothing if the
  /// name was refused or belongs to something else; both have been reported.
  std::optional<std::size_t> declared(const Token& word, NamedThing::Kind kind) const;
  /// Returns false if the word is no mnemonic.
  bool extra_instruction(const Token& word);
  bool extents(Cursor& cursor, ArrayDeclaration& declaration);
  void element_type(Cursor& cursor, ArrayDeclaration& declaration);

  ExpressionPtr next_register_;  // the first without a name
};

}  // namespace flashlab::toy::detail
