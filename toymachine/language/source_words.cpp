#include "toymachine/language/source_words.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "toymachine/language/directive.hpp"
#include "toymachine/language/lexer.hpp"
#include "toymachine/language/machine.hpp"
#include "toymachine/language/operand_parser.hpp"

namespace flashlab::toy {
namespace {

using detail::Directive;
using detail::Token;
using detail::TokenKind;
using Tokens = std::vector<Token>;
using NamesByText = std::map<std::string, std::size_t, std::less<>>;

constexpr std::size_t kLongestLineOfWords = 1 << 16;  // the assembler refuses longer ones

int nesting(const Token& token) {
  if (token.is("(") || token.is("[")) return 1;
  return token.is(")") || token.is("]") ? -1 : 0;
}

std::optional<Directive> directive_in(const Tokens& tokens) {
  if (tokens[0].kind != TokenKind::kDirective) return std::nullopt;
  return detail::find_directive(tokens[0].text);
}

bool declares_array(Directive directive) {
  return directive == Directive::kInput || directive == Directive::kTemp ||
         directive == Directive::kOutput;
}

/// Returns where a declaration's line names things: all positions of .param and .reg lists.
std::vector<std::size_t> declared_at(Directive directive, const Tokens& tokens) {
  if (directive == Directive::kConst || declares_array(directive)) return {1};
  if (directive == Directive::kMachines) {
    return tokens.size() > 4 ? std::vector<std::size_t>{1, 3} : std::vector<std::size_t>{1};
  }
  if (directive != Directive::kParam && directive != Directive::kReg) return {};
  std::vector<std::size_t> result;
  int depth = 0;
  for (std::size_t i = 1; i < tokens.size(); ++i) {
    if (i == 1 || (depth == 0 && tokens[i - 1].is(","))) result.push_back(i);
    depth += nesting(tokens[i]);
  }
  return result;
}

class WordReader {
 public:
  explicit WordReader(const SourceText& source) : source_(source) {}

  SourceWords run() {
    if (static_cast<std::int64_t>(source_.text().size()) > Limits{}.max_source_bytes) return {};
    const auto count = static_cast<std::uint32_t>(source_.num_lines());
    std::vector<Tokens> lines(count);
    for (std::uint32_t i = 0; i < count; ++i) {
      diagnostics_.clear();
      const std::string_view text = source_.line(i + 1);
      if (text.size() <= kLongestLineOfWords) {
        lines[i] = detail::tokenize(text, i + 1, diagnostics_);
        collect_names(lines[i]);
      }
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      if (!lines[i].empty()) read_line(lines[i]);
      const std::string_view text = source_.line(i + 1);
      const std::size_t start = text.find_first_of(";#");
      if (start == std::string_view::npos) continue;
      result_.words.push_back({WordKind::kComment,
                               kNoName,
                               {i + 1, static_cast<std::uint32_t>(start + 1),
                                static_cast<std::uint32_t>(text.size() - start)}});
    }
    for (std::size_t row = 0; row < instruction_set().size(); ++row) {
      if (machine_.has_instruction(row)) result_.instructions.push_back(row);
    }
    return std::move(result_);
  }

 private:
  void collect_names(const Tokens& tokens) {
    const auto directive = directive_in(tokens);
    if (!directive) return;
    for (const std::size_t at : declared_at(*directive, tokens)) {
      const Token& token = tokens[at];
      if (token.kind != TokenKind::kIdentifier || declared_.contains(token.text)) continue;
      const WordKind kind = *directive == Directive::kParam || *directive == Directive::kMachines
                                ? WordKind::kParam
                            : *directive == Directive::kReg   ? WordKind::kRegister
                            : *directive == Directive::kConst ? WordKind::kConst
                                                              : WordKind::kArray;
      if (*directive == Directive::kInput) inputs_[std::string(token.text)] = 0;
      declared_[std::string(token.text)] = add_name(token, kind);
    }
    if (*directive == Directive::kName) {
      const std::size_t at = label_at(tokens);
      for (std::string_view label = tokens[at].text; !label.empty(); label.remove_suffix(1)) {
        // The label m' declares m too, as the prime is removed when an iteration ends.
        if (!labels_.contains(label)) {
          labels_[std::string(label)] = add_name(tokens[at], WordKind::kLabel);
          result_.names.back().text = std::string(label);
        }
        if (label.back() != '\'') break;
      }
    }
  }

  /// Returns the position of the label, or of the end if there is none.
  static std::size_t label_at(const Tokens& tokens) {
    for (std::size_t i = 1; i + 1 < tokens.size(); ++i) {
      if (!tokens[i].is("=")) continue;
      return tokens[i + 1].kind == TokenKind::kIdentifier ? i + 1 : tokens.size() - 1;
    }
    return tokens.size() - 1;
  }

  std::size_t add_name(const Token& token, WordKind kind) {
    result_.names.push_back({std::string(token.text), kind, token.span});
    return result_.names.size() - 1;
  }

  void add(const Token& token, WordKind kind, std::size_t name = kNoName) {
    result_.words.push_back({kind, name, token.span});
  }
  void add_use(const Token& token, std::size_t name) { add(token, result_.names[name].kind, name); }

  void read_line(const Tokens& tokens) {
    const Token& first = tokens[0];
    if (first.kind == TokenKind::kDirective) return read_directive(tokens);
    if (first.is_word("for")) return open_loop(tokens);
    if (first.is_word("end")) {
      add(first, WordKind::kKeyword);
      close_loop(first.span.line);
    } else if (first.kind == TokenKind::kIdentifier) {
      add(first, find_instruction(first.text) ? WordKind::kInstruction : WordKind::kUnknown);
    }
    read_words(tokens, 1, tokens.size(), false);
  }

  void read_directive(const Tokens& tokens) {
    const auto directive = directive_in(tokens);
    add(tokens[0], directive ? WordKind::kDirective : WordKind::kUnknown);
    if (directive == Directive::kPass) return;  // its title is free text
    if (directive == Directive::kIsa || directive == Directive::kOperands) {
      return read_machine(tokens);
    }
    if (directive == Directive::kName) return read_label(tokens);
    if (directive == Directive::kMachines) machine_.machines = MachinesDeclaration{};
    const bool is_array = directive && declares_array(*directive);
    int depth = 0;
    for (std::size_t i = 1; i < tokens.size(); ++i) {
      depth += nesting(tokens[i]);
      const bool is_word = tokens[i].kind == TokenKind::kIdentifier;
      const bool is_of = directive == Directive::kMachines && i == 2;
      const bool is_type = is_array && i > 1 && depth == 0;  // tile, float
      const bool is_of_mark = directive == Directive::kScore && tokens[i + 1].is("(");
      if (is_word && (is_of || is_type || is_of_mark || directive == Directive::kUse)) {
        add(tokens[i], WordKind::kKeyword);
      } else if (is_array && i == 1 && is_word) {  // q(n, d) is no call
        add_use(tokens[i], declared_.find(tokens[i].text)->second);
      } else {
        read_words(tokens, i, i + 1, false);
      }
    }
  }

  void read_machine(const Tokens& tokens) {
    for (std::size_t i = 1; i < tokens.size(); ++i) {
      if (tokens[i].kind != TokenKind::kIdentifier) continue;
      const auto row = find_instruction(tokens[i].text);
      add(tokens[i], row ? WordKind::kInstruction : WordKind::kKeyword);
      if (const auto level = parse_level(tokens[i].text)) machine_.level = *level;
      if (row) machine_.extra_instructions.push_back(*row);
    }
  }

  void read_label(const Tokens& tokens) {
    const std::size_t label = label_at(tokens);
    read_words(tokens, 1, label, false);
    if (tokens[label].kind != TokenKind::kIdentifier) return;
    add_use(tokens[label], labels_.find(tokens[label].text)->second);
    std::size_t claim = label + 1;
    while (claim < tokens.size() && !tokens[claim].is("=")) ++claim;
    read_words(tokens, label + 1, claim, false);
    read_words(tokens, claim, tokens.size(), true);
  }

  void open_loop(const Tokens& tokens) {
    add(tokens[0], WordKind::kKeyword);
    if (tokens[1].kind == TokenKind::kIdentifier) {
      const std::size_t name = add_name(tokens[1], WordKind::kLoopVar);
      result_.names[name].first = tokens[1].span.line + 1;  // not in its own range
      add_use(tokens[1], name);
      read_words(tokens, 2, tokens.size(), false);
      open_loops_[result_.names[name].text].push_back(name);
      loops_.push_back(name);
    } else {
      read_words(tokens, 1, tokens.size(), false);
      loops_.push_back(kNoName);
    }
  }

  void close_loop(std::uint32_t line) {
    if (loops_.empty()) return;
    const std::size_t name = loops_.back();
    loops_.pop_back();
    if (name == kNoName) return;
    result_.names[name].last = line;
    open_loops_[result_.names[name].text].pop_back();
  }

  /// A variable of a sum or max: it is visible from the colon to the closing parenthesis.
  struct BoundVariable {
    std::size_t name = 0;
    int depth = 0;
    bool is_visible = false;
  };

  void read_words(const Tokens& tokens, std::size_t from, std::size_t to, bool is_claim) {
    std::vector<BoundVariable> bound;
    int depth = 0;
    for (std::size_t i = from; i < to; ++i) {
      const Token& token = tokens[i];
      depth += nesting(token);
      while (!bound.empty() && depth < bound.back().depth) bound.pop_back();
      if (token.is(":") && !bound.empty()) bound.back().is_visible = true;
      if (token.kind == TokenKind::kInteger || token.kind == TokenKind::kReal) {
        add(token, WordKind::kNumber);
      } else if (token.kind == TokenKind::kDirective) {
        add(token, WordKind::kUnknown);
      } else if (token.kind == TokenKind::kIdentifier) {
        const bool is_bound = is_claim && tokens[i - 1].is("(") && tokens[i + 1].is_word("in");
        if (is_bound) {
          const std::size_t name = add_name(token, WordKind::kLoopVar);
          result_.names[name].first = result_.names[name].last = token.span.line;
          bound.push_back({name, depth, false});
          add_use(token, name);
        } else {
          read_word(tokens, i, is_claim, bound);
        }
      }
    }
  }

  void read_word(const Tokens& tokens, std::size_t at, bool is_claim,
                 const std::vector<BoundVariable>& bound) {
    const Token& token = tokens[at];
    const Token& next = tokens[at + 1];
    const bool is_word_of_language = token.text == "in" || token.text == "step" ||
                                     token.text == "inf" || token.text == "registers";
    if (tokens[at - 1].is("^") || (is_word_of_language && !next.is("("))) {
      return add(token, WordKind::kKeyword);
    }
    if (next.is("(")) return add(token, WordKind::kFunction);
    for (auto one = bound.rbegin(); one != bound.rend(); ++one) {
      if (one->is_visible && result_.names[one->name].text == token.text) {
        return add_use(token, one->name);
      }
    }
    const auto loop = open_loops_.find(token.text);
    if (loop != open_loops_.end() && !loop->second.empty()) {
      return add_use(token, loop->second.back());
    }
    const auto label = is_claim ? labels_.find(token.text) : labels_.end();
    const auto declared = declared_.find(token.text);
    if (declared != declared_.end() &&
        (label == labels_.end() || !is_hidden_by_label(declared->second))) {
      return add_use(token, declared->second);
    }
    if (label != labels_.end()) return add_use(token, label->second);
    if (detail::register_number(token.text)) return add_use(token, register_name(token));
    const bool is_computed = (token.text == "R" || token.text == "r") && next.is("[");
    add(token, is_computed ? WordKind::kRegister : WordKind::kUnknown);
  }

  /// In a claim, a register's or an output's name means the label.
  bool is_hidden_by_label(std::size_t name) const {
    const SourceName& declared = result_.names[name];
    return declared.kind == WordKind::kRegister ||
           (declared.kind == WordKind::kArray && !inputs_.contains(declared.text));
  }

  /// R0 and r0 are one register.
  std::size_t register_name(const Token& token) {
    const std::string text = "R" + std::to_string(*detail::register_number(token.text));
    const auto [found, is_new] = registers_.try_emplace(text, result_.names.size());
    if (is_new) result_.names.push_back({text, WordKind::kRegister, {}});
    return found->second;
  }

  const SourceText& source_;
  SourceWords result_;
  Program machine_;  // only what decides which instructions it has
  NamesByText declared_, labels_, registers_, inputs_;
  std::map<std::string, std::vector<std::size_t>, std::less<>> open_loops_;
  std::vector<std::size_t> loops_;  // the open ones, outermost first
  std::vector<Diagnostic> diagnostics_;
};

}  // namespace

SourceWords source_words(const SourceText& source) { return WordReader(source).run(); }

}  // namespace flashlab::toy
