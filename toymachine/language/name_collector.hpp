// Collects the names that lines declare, before any line is parsed: declarations may come after the
// lines that use them.
#pragma once

#include <vector>

#include "toymachine/language/directive.hpp"
#include "toymachine/language/line_parser.hpp"

namespace flashlab::toy::detail {

/// Returns the directive of a line, if it begins with one.
std::optional<Directive> directive_of(const Line& line);

/// Adds declarations without content to the program, and their names to the scope. In a score
/// function, which has a scope of its own (Scope::outer is the program's), a register may have the name
/// of something in the program.
class NameCollector : public LineParser {
 public:
  using LineParser::LineParser;

  void collect(const std::vector<Line>& lines);

 private:
  void collect(const Line& line, Directive directive);
  void collect_list(const Line& line, NamedThing::Kind kind);
  void collect_label(const Line& line);
  void declare_name(const Token& token, NamedThing::Kind kind);
  bool is_free(const Token& token, NamedThing::Kind kind);
  std::string name_in_program(std::string name) const;
};

}  // namespace flashlab::toy::detail
