#include "cli/machine/editor_grammar.hpp"

#include <nlohmann/json.hpp>
#include <vector>

#include "cli/terminal/json.hpp"
#include "text/lists.hpp"
#include "toymachine/language/assembler.hpp"

namespace flashlab::cli {
namespace {

using toy::OperandKind;

const std::string kName = "[A-Za-z_][A-Za-z0-9_]*";
const std::string kIndex = "\\[[^\\];#]*\\]";  // indices are affine: no brackets inside
// Text up to a comma outside brackets; one nested pair is enough in practice.
const std::string kExpression =
    "(?:[^,;#()\\[\\]]|\\((?:[^;#()]|\\([^;#()]*\\))*\\)|\\[[^;#\\[\\]]*\\])*";

const char* const kRegister = "variable.language.register";
const char* const kArray = "variable.other.array";
const char* const kParameter = "variable.parameter";
const char* const kDirective = "keyword.control.directive";
const char* const kConstant = "constant.language";
const char* const kMnemonic = "support.function.instruction";

/// A group of a rule's match: a scope, or text for further rules.
struct Group {
  std::string scope;
  std::string include;
};
Group scope(const std::string& name) { return {name, {}}; }
Group text(const std::string& rules) { return {{}, rules}; }

Json rule(const std::string& name, const std::string& match) {
  return {{"name", name + ".flashlab"}, {"match", match}};
}

Json include(const std::string& name) { return {{"include", "#" + name}}; }

/// A rule whose groups, counted from 1, each have their own scope.
Json grouped_rule(const std::string& match, const std::vector<Group>& groups) {
  Json captures = Json::object();
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const Group& group = groups[i];
    captures[std::to_string(i + 1)] =
        group.scope.empty() ? Json{{"patterns", Json::array({include(group.include)})}}
                            : Json{{"name", group.scope + ".flashlab"}};
  }
  return {{"match", match}, {"captures", std::move(captures)}};
}

Json patterns(std::vector<Json> rules) { return {{"patterns", std::move(rules)}}; }

std::string alternatives(const std::vector<std::string>& words) {
  return "(?:" + joined(words, "|") + ")";
}

/// Adds one operand's part of the match and its groups.
void add_operand(OperandKind kind, std::string& match, std::vector<Group>& groups) {
  if (toy::is_register(kind)) {
    match += "(" + kName + ")((?:" + kIndex + ")?)((?:\\s*\\^\\s*[Tt]\\b)?)";
    groups.push_back(scope(kRegister));
    groups.push_back(text("expression"));
    groups.push_back(scope("keyword.operator.transpose"));
  } else if (toy::is_memory(kind)) {
    match += "(" + kName + ")((?:\\s*" + kIndex + ")*)";
    groups.push_back(scope(kArray));
    groups.push_back(text("expression"));
  } else {
    match += "(" + kExpression + ")";
    groups.push_back(text("expression"));
  }
}

/// The rule for a complete instruction. An incomplete one is matched by the rule for its mnemonic.
Json instruction_rule(const toy::InstructionSpec& spec) {
  std::string match = "(?i)\\b(" + std::string(spec.mnemonic) + ")\\s+";
  std::vector<Group> groups{scope(kMnemonic)};
  for (std::size_t i = 0; i < spec.num_operands; ++i) {
    if (i > 0) match += "\\s*,\\s*";
    add_operand(spec.operands[i], match, groups);
  }
  return grouped_rule(match + "\\s*(?=$|[;#])", groups);
}

Json instruction_rules(std::span<const toy::InstructionSpec> instructions) {
  std::vector<Json> rules;
  std::vector<std::string> mnemonics;
  for (const toy::InstructionSpec& spec : instructions) {
    rules.push_back(instruction_rule(spec));
    mnemonics.emplace_back(spec.mnemonic);
  }
  rules.push_back(rule(kMnemonic, "(?i)\\b" + alternatives(mnemonics) + "\\b"));
  return patterns(std::move(rules));
}

/// Directives with a special form, followed by the general rule.
Json directive_rules() {
  const std::string rest = "([^;#]*)";
  return patterns({
      grouped_rule("(\\.pass)\\b" + rest, {scope(kDirective), scope("entity.name.section")}),
      grouped_rule("(\\.isa)\\b" + rest, {scope(kDirective), text("levels")}),
      grouped_rule("(\\.operands)\\b\\s*((?:any|pinned|constants)?)\\b",
                   {scope(kDirective), scope(kConstant)}),
      grouped_rule("(\\.reg)\\b" + rest, {scope(kDirective), text("register_names")}),
      grouped_rule("(\\.(?:input|temp|output))\\s+(" + kName + ")" + rest,
                   {scope(kDirective), scope(kArray), text("declaration")}),
      grouped_rule("(\\.name)\\s+(" + kName + ")((?:" + kIndex + ")?)\\s*=\\s*(" + kName +
                       "'*)((?:" + kIndex + ")*)" + rest,
                   {scope(kDirective), scope(kRegister), text("expression"),
                    scope("entity.name.label"), text("expression"), text("expression")}),
      rule(kDirective, alternatives([] {
                         std::vector<std::string> words;
                         for (const std::string& word : toy::language_words().directives) {
                           words.push_back("\\" + word);
                         }
                         return words;
                       }()) +
                           "\\b"),
  });
}

Json level_rules(std::span<const toy::InstructionSpec> instructions) {
  std::vector<std::string> mnemonics;
  for (const toy::InstructionSpec& spec : instructions) mnemonics.emplace_back(spec.mnemonic);
  return patterns({rule(kConstant, "\\b(?:matmul|softmax|attention)\\b"),
                   rule(kMnemonic, "(?i)\\b" + alternatives(mnemonics) + "\\b")});
}

Json expression_rules() {
  const toy::LanguageWords& words = toy::language_words();
  return patterns({
      rule("constant.numeric", "\\b[0-9]+(?:\\.[0-9]+)?(?:[eE][+-]?[0-9]+)?\\b"),
      rule(kConstant, "\\binf\\b"),
      rule("keyword.control", "\\b" + alternatives(words.keywords) + "\\b"),
      rule("support.function.expression", "\\b" + alternatives(words.functions) + "(?=\\s*\\()"),
      rule(kConstant, "\\bregisters\\b"),
      rule(kRegister, "\\b[Rr][0-9]+\\b|\\b[Rr](?=\\[)"),
      rule(kArray, "\\b" + kName + "(?=\\[)"),
      rule(kParameter, "\\b" + kName + "'*"),
      rule("keyword.operator", "\\.\\.|[-+*/^=:]"),
  });
}

}  // namespace

Json textmate_grammar(std::span<const toy::InstructionSpec> instructions) {
  return {{"name", "flashlab"},
          {"scopeName", "source.flashlab"},
          {"fileTypes", {"toy"}},
          {"patterns", Json::array({include("comment"), include("directive"),
                                    include("instruction"), include("expression")})},
          {"repository",
           {{"comment", patterns({rule("comment.line", "[;#].*$")})},
            {"directive", directive_rules()},
            {"instruction", instruction_rules(instructions)},
            {"levels", level_rules(instructions)},
            {"register_names", patterns({grouped_rule("(" + kName + ")((?:" + kIndex + ")?)",
                                                      {scope(kRegister), text("expression")})})},
            {"declaration", patterns({rule("storage.type", "\\b(?:float|double|bf16|fp16)\\b"),
                                      include("expression")})},
            {"expression", expression_rules()}}}};
}

}  // namespace flashlab::cli
