#include "toymachine/language/name_collector.hpp"

#include <algorithm>
#include <string>

#include "toymachine/language/operand_parser.hpp"

namespace flashlab::toy::detail {

std::optional<Directive> directive_of(const Line& line) {
  if (line.tokens.empty() || line.tokens[0].kind != TokenKind::kDirective) return std::nullopt;
  return find_directive(line.tokens[0].text);
}

void NameCollector::collect(const std::vector<Line>& lines) {
  for (const Line& line : lines) {
    const auto directive = directive_of(line);
    if (directive && line.tokens.size() > 1) collect(line, *directive);
  }
}

void NameCollector::collect(const Line& line, Directive directive) {
  switch (directive) {
    case Directive::kParam:
      collect_list(line, NamedThing::Kind::kParam);
      break;
    case Directive::kMachines:
      for (const std::size_t at : {1, 3}) {
        if (at < line.tokens.size()) declare_name(line.tokens[at], NamedThing::Kind::kParam);
      }
      break;
    case Directive::kReg:
      collect_list(line, NamedThing::Kind::kRegister);
      break;
    case Directive::kConst:
      declare_name(line.tokens[1], NamedThing::Kind::kConst);
      break;
    case Directive::kInput:
    case Directive::kTemp:
    case Directive::kOutput:
      declare_name(line.tokens[1], NamedThing::Kind::kArray);
      break;
    case Directive::kName:
      collect_label(line);
      break;
    default:
      break;
  }
}

/// Declares the first name of each entry in a list separated by commas.
void NameCollector::collect_list(const Line& line, NamedThing::Kind kind) {
  int depth = 0;
  bool start = true;
  for (std::size_t i = 1; i < line.tokens.size(); ++i) {
    const Token& token = line.tokens[i];
    if (start) declare_name(token, kind);
    depth += (token.is("(") || token.is("[") ? 1 : 0) - (token.is(")") || token.is("]") ? 1 : 0);
    start = depth == 0 && token.is(",");
  }
}

void NameCollector::collect_label(const Line& line) {
  for (std::size_t i = 1; i + 1 < line.tokens.size(); ++i) {
    if (!line.tokens[i].is("=")) continue;
    if (line.tokens[i + 1].kind != TokenKind::kIdentifier) return;
    // The prime is removed when the iteration ends, so X' also declares a label X.
    std::string name(line.tokens[i + 1].text);
    ++scope_.labels[name];
    for (; name.ends_with('\''); name.pop_back()) ++scope_.labels[name.substr(0, name.size() - 1)];
    return;
  }
}

bool NameCollector::is_free(const Token& token, NamedThing::Kind kind) {
  const std::string name(token.text);
  const auto& functions = function_names();
  const bool reserved = name == "for" || name == "in" || name == "end" || name == "step" ||
                        name == "inf" || name == "R" || name == "r" ||
                        name.find('\'') != std::string::npos || register_number(name).has_value() ||
                        std::find(functions.begin(), functions.end(), name) != functions.end();
  if (reserved) {
    error(token.span, describe(token) + " cannot be declared: it is a word of the language",
          "another name");
    return false;
  }
  if (scope_.given.contains(name)) {
    error(token.span,
          describe(token) + " cannot be declared: it has a meaning in every score function",
          "another name");
    return false;
  }
  const Scope& scope = scope_;
  auto first = scope.declared.find(name);
  bool is_declared = first != scope.declared.end();
  if (!is_declared && scope_.outer && kind != NamedThing::Kind::kRegister) {
    first = scope_.outer->declared.find(name);
    is_declared = first != scope_.outer->declared.end();
  }
  if (!is_declared) return true;
  const SourceText& source = *program_.source;
  const std::uint32_t line = first->second.span.line;
  error(
      token.span,
      describe(token) + " is declared twice, first in line " +
          std::to_string(source.number_in_part(line)) +
          (source.name_of(line) == source.name_of(token.span.line) ? std::string()
                                                                   : " of " + source.name_of(line)),
      "one declaration");
  return false;
}

/// A register of a score function keeps its name if the program has no such name.
std::string NameCollector::name_in_program(std::string name) const {
  while (scope_.outer && scope_.outer->declared.contains(name)) name = "score_" + name;
  return name;
}

void NameCollector::declare_name(const Token& token, NamedThing::Kind kind) {
  if (token.kind != TokenKind::kIdentifier) return;  // reported when the line is parsed
  if (!is_free(token, kind)) return;
  const std::string name(token.text);
  std::size_t index = 0;
  if (kind == NamedThing::Kind::kParam) {
    index = program_.params.size();
    program_.params.push_back({name, nullptr, token.span});
  } else if (kind == NamedThing::Kind::kConst) {
    index = program_.consts.size();
    program_.consts.push_back({name, nullptr, token.span});
  } else if (kind == NamedThing::Kind::kRegister) {
    index = program_.register_names.size();
    program_.register_names.push_back({name_in_program(name), nullptr, nullptr, token.span});
  } else {
    index = program_.arrays.size();
    ArrayDeclaration array;
    array.name = name;
    array.span = token.span;
    program_.arrays.push_back(std::move(array));
  }
  scope_.declared[name] = {kind, index, token.span};
}

}  // namespace flashlab::toy::detail
