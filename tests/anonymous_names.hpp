// Finds the names that C++ and CUDA sources declare, well enough for the tests that read our own:
// two files that are compiled as one must not both declare a name of their own.
#pragma once

#include <algorithm>
#include <cctype>
#include <compare>
#include <cstddef>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace flashlab::test {

/// A name, and, where two files of one translation unit may both say the same (an alias, a macro),
/// what is said; else nothing.
struct DeclaredName {
  std::string name, repeatable;
  friend auto operator<=>(const DeclaredName&, const DeclaredName&) = default;
};
using DeclaredNames = std::set<DeclaredName>;

/// Code as words and signs, without comments, literals' contents and preprocessor lines.
struct CodeTokens {
  std::vector<std::string> tokens;
  DeclaredNames macros;  // that are defined at the end

  static bool is_letter(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  }
  static bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
  static bool is_name(const std::string& token) {
    return is_letter(token.front()) && !is_digit(token.front());
  }

  explicit CodeTokens(const std::string& code) {
    std::map<std::string, std::string> defined;
    const auto past = [&](const std::string& end, std::size_t from) {  // just behind the next `end`
      const std::size_t place = code.find(end, from);
      return place == std::string::npos ? code.size() : place + end.size();
    };
    bool begins_line = true;
    for (std::size_t i = 0; i < code.size();) {
      const char c = code[i];
      const std::string_view rest = std::string_view(code).substr(i);
      if (std::isspace(static_cast<unsigned char>(c)) != 0) {
        begins_line = begins_line || c == '\n';
        ++i;
        continue;
      }
      const bool first_of_line = std::exchange(begins_line, false);
      if (rest.starts_with("//")) {
        i = past("\n", i);
        begins_line = true;
      } else if (rest.starts_with("/*")) {
        i = past("*/", i + 2);
      } else if (c == '#' && first_of_line) {
        std::size_t end = past("\n", i);
        while (end < code.size() && code[end - 2] == '\\') end = past("\n", end);
        const CodeTokens line(code.substr(i + 1, end - i - 1));
        const std::vector<std::string>& words = line.tokens;
        if (words.size() > 1 && words[0] == "define") defined[words[1]] = code.substr(i, end - i);
        if (words.size() > 1 && words[0] == "undef") defined.erase(words[1]);
        i = end;
        begins_line = true;
      } else if (rest.starts_with("R\"")) {
        const std::size_t open = code.find('(', i);
        if (open == std::string::npos) break;
        i = past(")" + code.substr(i + 2, open - i - 2) + "\"", open);
        tokens.emplace_back("\"\"");
      } else if (c == '"' || c == '\'') {
        for (++i; i < code.size() && code[i] != c; ++i) i += code[i] == '\\' ? 1 : 0;
        ++i;
        tokens.emplace_back("\"\"");
      } else if (is_letter(c)) {
        const std::size_t from = i;
        const auto goes_on = [&] {
          return is_letter(code[i]) || (is_digit(c) && code[i] == '\'');  // 1'000
        };
        while (i < code.size() && goes_on()) ++i;
        tokens.push_back(code.substr(from, i - from));
      } else {
        const bool two = rest.starts_with("::") || rest.starts_with("->") || rest.starts_with("[[");
        tokens.push_back(code.substr(i, two ? 2 : 1));
        i += two ? 2 : 1;
      }
    }
    for (auto& [name, text] : defined) macros.insert({name, text});
  }
};

/// Reads declarations at namespace level, one after the other, and steps over what they contain.
class DeclarationReader {
 public:
  /// `only_own`: no functions, variables and declared types that other files may know.
  DeclarationReader(const std::string& code, bool only_own) : only_own_(only_own) {
    CodeTokens read(code);
    tokens_ = std::move(read.tokens);
    names_ = std::move(read.macros);
    while (!at_end()) declaration();
    for (const std::string& name : external_) names_.erase({name, ""});
  }
  const DeclaredNames& names() const { return names_; }

 private:
  const std::string& token(std::size_t i) const {
    static const std::string kEnd = ";";
    return i < tokens_.size() ? tokens_[i] : kEnd;
  }
  const std::string& token() const { return token(at_); }
  bool is(std::string_view text) const { return token() == text; }
  bool is_any(std::initializer_list<std::string_view> texts) const {
    return std::find(texts.begin(), texts.end(), token()) != texts.end();
  }
  bool at_name() const { return CodeTokens::is_name(token()); }
  bool at_end() const { return at_ >= tokens_.size(); }
  /// Of a scope whose declarations are this file's own.
  bool takes_all() const {
    return !only_own_ || std::find(scopes_.begin(), scopes_.end(), true) != scopes_.end();
  }
  void add(const std::string& name, std::string repeatable = "") {
    names_.insert({name, std::move(repeatable)});
  }
  std::string words_from(std::size_t from) const {
    std::string result;
    for (std::size_t i = from; i < at_; ++i) result.append(token(i)).append(" ");
    return result;
  }

  /// Over a token, or from an opening bracket to behind the closing one.
  void step() {
    int depth = 0;
    do {
      if (is_any({"(", "{", "["})) ++depth;
      if (is("[[")) depth += 2;
      if (is_any({")", "}", "]"})) --depth;
      ++at_;
    } while (depth > 0 && !at_end());
  }
  /// The same where "<" is a bracket.
  void step_in_type() {
    int depth = 0;
    do {
      if (is("<")) ++depth;
      if (is(">")) --depth;
      step();
    } while (depth > 0 && !at_end());
  }
  void step_behind_semicolon() {
    while (!is(";")) step();
    ++at_;
  }

  void declaration() {
    const std::size_t from = at_;
    if (is("}")) {
      if (!scopes_.empty()) scopes_.pop_back();
      ++at_;
    } else if (is(";")) {
      ++at_;
    } else if (is("namespace") || (is("inline") && token(at_ + 1) == "namespace")) {
      at_ += is("inline") ? 2 : 1;
      const std::string name = token();
      while (!is_any({"{", "=", ";"})) ++at_;
      if (is("{")) {
        scopes_.push_back(name == "{");
        ++at_;
      } else {
        step_behind_semicolon();
        add(name, words_from(from));
      }
    } else if (is("extern") && token(at_ + 1) == "\"\"" && token(at_ + 2) == "{") {
      scopes_.push_back(false);
      at_ += 3;
    } else if (is("using")) {
      alias();
    } else if (is_any({"static_assert", "asm"})) {
      step_behind_semicolon();
    } else if (is("template")) {
      templated();
    } else {
      type_or_value();
    }
  }

  /// using Name = …;  using scope::name;
  void alias() {
    const std::size_t from = at_++;
    const bool names_something = !is_any({"namespace", "enum"});
    std::string name;
    for (; !is_any({";", "="}); step()) {
      if (at_name()) name = token();
    }
    step_behind_semicolon();
    if (names_something) add(name, words_from(from));
  }

  void templated() {
    ++at_;
    if (!is("<")) return step_behind_semicolon();  // an explicit instantiation
    step_in_type();
    if (is("requires")) requirement();
    if (is_any({"using", "concept"})) {
      add(token(at_ + 1));
      step_behind_semicolon();
    } else if (is("template")) {  // a member template
      templated();
    } else {
      type_or_value();
    }
  }
  /// requires A<T> && (…)
  void requirement() {
    do {
      while (is_any({"requires", "&", "|"})) ++at_;
      if (!at_name()) {
        step();
        continue;
      }
      while (token(at_ + 1) == "::") at_ += 2;
      ++at_;
      if (is("<")) step_in_type();
    } while (is_any({"&", "|"}));
  }

  void type_or_value() {
    while (is("[[")) step();
    if (is_any({"struct", "class", "union", "enum"})) {
      type();
    } else if (at_name() && token(at_ + 1) == "(" && token(at_ + 2) != "*" && !belongs_to_type()) {
      // A macro, or a guide to a template.
      at_ += 1;
      step();
      if (is("->")) step_behind_semicolon();
      if (is("{")) step();
    } else {
      value();
    }
  }

  void type() {
    const bool is_enum = is("enum");
    ++at_;
    const bool is_scoped = is_enum && is_any({"class", "struct"});
    if (is_scoped) ++at_;
    while (is_any({"[[", "alignas", "__align__"})) {
      if (!is("[[")) ++at_;
      step();
    }
    std::string name = at_name() ? token() : "";
    if (!name.empty()) ++at_;
    if (is_any({"<", "::"})) name.clear();  // a specialisation, a member
    while (!is_any({"{", ";", "="})) step_in_type();
    if (!name.empty() && (is("{") || (only_own_ && takes_all()))) add(name);
    if (is_enum && !is_scoped && is("{")) enumerators();
    for (; !is(";"); step()) {  // variables of that type
      if (at_name() && takes_all()) add(token());
      if (is("=")) break;
    }
    step_behind_semicolon();
  }
  void enumerators() {
    for (++at_; !is_any({"}", ";"}); step()) {
      const std::string& before = token(at_ - 1);
      if (at_name() && (before == "{" || before == ",")) add(token());
    }
    ++at_;
  }

  /// At a word whose brackets belong to a type.
  bool belongs_to_type() const {
    return is_any(
        {"decltype", "alignas", "noexcept", "explicit", "__launch_bounds__", "__attribute__"});
  }
  /// A function or a variable: its name is the last before the first "(", "=", "{", "[" or ";" that
  /// is no part of its type.
  void value() {
    const std::size_t from = at_;
    std::string name;
    for (; !is_any({"(", "=", "{", "[", ";", "}"}); step_in_type()) {
      if (is("operator")) return operator_function();
      if (at_name()) name = token(at_ - 1) == "::" ? "" : token();  // no member of a class
      if (belongs_to_type() && token(at_ + 1) == "(") ++at_;
    }
    if (is("(") && (token(at_ + 1) == "*" || token(at_ + 1) == "&")) name = token(at_ + 2);
    const bool is_function = is("(") && token(at_ + 1) != "*" && token(at_ + 1) != "&";
    const bool own = is_own(from, is_function);
    const auto declared = [&](const std::string& what) {
      if (own && !what.empty()) add(what);
    };
    if (token(from) == "extern" && only_own_) external_.insert(name);
    if (is("[") && name == "auto") {  // auto [a, b] = …
      for (++at_; !is_any({"]", ";"}); ++at_) {
        if (at_name()) declared(token());
      }
      return step_behind_semicolon();
    }
    declared(name);
    if (is_function) return function();
    for (; !is(";"); step()) {
      const std::string& behind = token(at_ + 2);
      const bool one_more =
          is(",") && CodeTokens::is_name(token(at_ + 1)) &&
          (behind == "=" || behind == "{" || behind == "," || behind == ";" || behind == "[");
      if (one_more) declared(token(at_ + 1));
    }
    ++at_;
  }
  /// Constants are their file's; other variables and functions only when they are static.
  bool is_own(std::size_t from, bool is_function) const {
    if (takes_all()) return true;
    if (token(from) == "extern") return false;
    for (std::size_t i = from; i < at_; ++i) {
      const bool constant = token(i) == "const" && !is_function;
      const bool is_pointed_at = token(at_ - 2) == "*" || token(at_ - 2) == "&";
      if (constant && !is_pointed_at) return true;
      if (token(i) == "constexpr" || token(i) == "static") return true;
    }
    return false;
  }
  void operator_function() {  // is overloaded, and has no name of its own
    ++at_;
    if (is("(")) step();
    while (!is("(") && !at_end()) ++at_;
    function();
  }

  /// From the parameters to behind the body, or behind the semicolon.
  void function() {
    step();
    bool members = false;  // a constructor's, before its body
    while (!is(";")) {
      members = members || is(":");
      const bool is_body =
          is("{") && !(members && (CodeTokens::is_name(token(at_ - 1)) || token(at_ - 1) == ">"));
      step();
      if (is_body) return;
    }
    ++at_;
  }

  bool only_own_;
  std::vector<std::string> tokens_;
  std::size_t at_ = 0;
  std::vector<bool> scopes_;  // by namespace around: it is anonymous
  DeclaredNames names_;
  std::set<std::string> external_;
};

/// What a source declares for itself: everything in its anonymous namespaces, and outside of them
/// static functions, constants, types with their members, aliases and macros.
inline DeclaredNames anonymous_names(const std::string& code) {
  return DeclarationReader(code, true).names();
}

/// Everything that a source declares at namespace level.
inline DeclaredNames declared_names(const std::string& code) {
  return DeclarationReader(code, false).names();
}

}  // namespace flashlab::test
