#include "cli/editors/packages.hpp"

#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/machine/editor_grammar.hpp"
#include "cli/options/version.hpp"
#include "cli/terminal/json.hpp"
#include "editor_files.hpp"
#include "text/embedded_file.hpp"
#include "text/lists.hpp"
#include "toymachine/language/assembler.hpp"

namespace flashlab::cli {
namespace {

std::string as_text(const Json& json) { return json.dump(2) + "\n"; }

/// A text in quotation marks, as JSON, Lua, Emacs Lisp and TOML all read it: they share the escapes of
/// quotation marks and backslashes.
std::string string_literal(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + "\"";
}

std::string quoted_words(const std::vector<std::string>& words) {
  std::vector<std::string> all;
  for (const std::string& word : words) all.push_back(string_literal(word));
  return joined(all, " ");
}

/// Returns an embedded file, in which each name in @…@ became its value.
std::string filled(const char* file,
                   const std::vector<std::pair<std::string, std::string>>& values) {
  std::string text(file_text(editor_files, file));
  for (const auto& [name, value] : values) {
    for (auto at = text.find(name); at != std::string::npos;
         at = text.find(name, at + value.size())) {
      text.replace(at, name.size(), value);
    }
  }
  return text;
}

Json command(const char* name, const char* title, const char* icon = nullptr) {
  Json result = {{"command", name}, {"title", title}, {"category", "flashlab"}};
  if (icon != nullptr) result["icon"] = icon;
  return result;
}

Json debugger() {
  const Json attributes = {
      {"program",
       {{"type", "string"},
        {"description", "a .toy file, or the name of a program that comes with flashlab"}}},
      {"params", {{"type", "object"}, {"description", "parameters: {\"n\": 8}"}}},
      {"inputs",
       {{"type", "object"},
        {"description", "inputs: {\"x\": [1, 2, 3]} or {\"x\": \"random:7\"}"}}},
      {"precision", {{"type", "string"}, {"enum", {"float", "double"}}}},
      {"step", {{"type", "number"}, {"description", "where the run begins; 0 is the start"}}},
      {"stopOnEntry",
       {{"type", "boolean"},
        {"default", true},
        {"description", "false goes on to the first breakpoint"}}}};
  return {{"type", "flashlab"},
          {"label", "flashlab"},
          {"languages", {"flashlab"}},
          {"configurationAttributes",
           {{"launch", {{"required", {"program"}}, {"properties", attributes}}}}},
          {"initialConfigurations", Json::array({{{"type", "flashlab"},
                                                  {"request", "launch"},
                                                  {"name", "Debug this program"},
                                                  {"program", "${file}"}}})}};
}

/// Messages of the command: "p.toy:3:1: error: what".
Json problem_matcher() {
  return {{"name", "flashlab"},
          {"owner", "flashlab-task"},
          {"fileLocation", {"autoDetect", "${workspaceFolder}"}},
          {"pattern",
           {{"regexp", "^(.+):(\\d+):(\\d+): (error|warning): (.*)$"},
            {"file", 1},
            {"line", 2},
            {"column", 3},
            {"severity", 4},
            {"message", 5}}}};
}

Json package_manifest(const std::string& program) {
  const Json languages = Json::array({{{"id", "flashlab"},
                                       {"aliases", {"flashlab", "toy"}},
                                       {"extensions", {".toy"}},
                                       {"configuration", "./language-configuration.json"}}});
  const Json grammars = Json::array({{{"language", "flashlab"},
                                      {"scopeName", "source.flashlab"},
                                      {"path", "./syntaxes/flashlab.tmLanguage.json"}}});
  const Json task_properties = {{"kind", {{"type", "string"}, {"enum", {"run", "trace", "check"}}}},
                                {"file", {{"type", "string"}}}};
  const Json configuration = {
      {"title", "flashlab"},
      {"properties",
       {{"flashlab.path",
         {{"type", "string"},
          {"default", program},
          {"scope", "machine"},
          {"description", "The flashlab command. A change takes effect after a restart."}}}}}};
  const Json contributes = {
      {"languages", languages},
      {"grammars", grammars},
      {"breakpoints", Json::array({{{"language", "flashlab"}}})},
      {"debuggers", Json::array({debugger()})},
      {"commands", Json::array({command("flashlab.run", "Run"), command("flashlab.trace", "Trace"),
                                command("flashlab.debug", "Debug"),
                                command("flashlab.check", "Check the exercise"),
                                command("flashlab.exercise", "Open an exercise"),
                                command("flashlab.refresh", "Refresh", "$(refresh)")})},
      {"taskDefinitions", Json::array({{{"type", "flashlab"},
                                        {"required", {"kind", "file"}},
                                        {"properties", task_properties}}})},
      {"problemMatchers", Json::array({problem_matcher()})},
      {"views",
       {{"explorer",
         Json::array({{{"id", "flashlab.exercises"}, {"name", "flashlab exercises"}}})}}},
      {"menus",
       {{"view/title", Json::array({{{"command", "flashlab.refresh"},
                                     {"when", "view == flashlab.exercises"},
                                     {"group", "navigation"}}})},
        {"commandPalette", Json::array({{{"command", "flashlab.exercise"}, {"when", "false"}}})}}},
      {"configuration", configuration}};
  return {{"name", "flashlab-toy"},
          {"displayName", "flashlab"},
          {"description", "Programs of the flashlab machine: costs of every line, and a debugger"},
          {"version", version()},
          {"publisher", "flashlab"},
          {"license", "MIT"},
          {"engines", {{"vscode", "^1.75.0"}}},
          {"categories", {"Programming Languages", "Debuggers"}},
          {"main", "./extension.js"},
          {"activationEvents",
           {"onLanguage:flashlab", "onView:flashlab.exercises", "onDebugResolve:flashlab"}},
          {"contributes", contributes}};
}

/// Comments, brackets, and indentation.
Json language_configuration() {
  const Json brackets = Json::array({Json::array({"[", "]"}), Json::array({"(", ")"})});
  return {
      {"comments", {{"lineComment", ";"}}},
      {"brackets", brackets},
      {"autoClosingPairs", brackets},
      {"surroundingPairs", brackets},
      {"wordPattern", "[A-Za-z_][A-Za-z0-9_]*'*|\\.[a-z]+"},
      {"folding", {{"markers", {{"start", "^\\s*for\\b"}, {"end", "^\\s*end\\b"}}}}},
      {"indentationRules",
       {{"increaseIndentPattern", "^\\s*for\\b.*$"}, {"decreaseIndentPattern", "^\\s*end\\b.*$"}}}};
}

std::vector<std::string> mnemonics() {
  std::vector<std::string> words;
  for (const toy::InstructionSpec& spec : toy::instruction_set()) words.emplace_back(spec.mnemonic);
  return words;
}

}  // namespace

std::map<std::string, std::string> vscode_package(const std::string& program) {
  const std::string grammar = as_text(textmate_grammar(toy::instruction_set()));
  return {{"[Content_Types].xml", filled("content_types.xml", {})},
          {"extension.vsixmanifest", filled("vsixmanifest.xml", {{"@VERSION@", version()}})},
          {"extension/package.json", as_text(package_manifest(program))},
          {"extension/extension.js", filled("extension.js", {})},
          {"extension/lsp_client.js", filled("lsp_client.js", {})},
          {"extension/language-configuration.json", as_text(language_configuration())},
          {"extension/syntaxes/flashlab.tmLanguage.json", grammar}};
}

std::string neovim_configuration(const std::string& program) {
  return filled("neovim.lua", {{"@FLASHLAB@", string_literal(program)}});
}

std::string helix_configuration(const std::string& program) {
  return filled("helix.toml", {{"@FLASHLAB@", string_literal(program)}});
}

std::string emacs_configuration(const std::string& program) {
  const toy::LanguageWords& words = toy::language_words();
  std::vector<std::string> keywords = words.keywords;
  keywords.insert(keywords.end(), words.functions.begin(), words.functions.end());
  return filled("emacs.el", {{"@FLASHLAB@", string_literal(program)},
                             {"@INSTRUCTIONS@", quoted_words(mnemonics())},
                             {"@DIRECTIVES@", quoted_words(words.directives)},
                             {"@KEYWORDS@", quoted_words(keywords)}});
}

}  // namespace flashlab::cli
