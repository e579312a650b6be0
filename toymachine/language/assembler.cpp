#include "toymachine/language/assembler.hpp"

#include <algorithm>
#include <array>

#include "text/lists.hpp"
#include "text/nearest.hpp"
#include "text/visible.hpp"
#include "toymachine/budget/budget.hpp"
#include "toymachine/language/declaration_parser.hpp"
#include "toymachine/language/directive.hpp"
#include "toymachine/language/lexer.hpp"
#include "toymachine/language/statement_parser.hpp"

namespace flashlab::toy {
namespace {

using detail::DeclarationParser;
using detail::Directive;
using detail::Line;
using detail::Scope;
using detail::StatementParser;
using detail::Token;
using detail::TokenKind;

constexpr std::size_t kLongestLine = 1 << 16;
constexpr std::size_t kMostDiagnostics = 1000;  // kept; format() shows 20

class Assembler {
 public:
  Assembler(std::shared_ptr<const SourceText> source, const Limits& limits)
      : source_(std::move(source)),
        limits_(limits),
        declarations_(program_, scope_, diagnostics_),
        parser_(program_, scope_, diagnostics_) {
    program_.source = source_;
    program_.passes.emplace_back();
  }

  Result<Program> run() {
    if (too_large()) return std::move(diagnostics_);
    read_lines();
    collect_names();
    declare();
    statements();
    if (diagnostics_.empty() && program_.num_sites == 0) {
      parser_.error({}, "the program has no instruction", "at least one");
    }
    if (!diagnostics_.empty()) return sorted_diagnostics();
    return std::move(program_);
  }

 private:
  bool too_large() {
    const auto size = static_cast<std::int64_t>(source_->text().size());
    if (size <= limits_.max_source_bytes) return false;
    limit_error({}, "the source has " + std::to_string(size) + " bytes",
                "at most " + std::to_string(limits_.max_source_bytes) + " (--max-source)");
    return true;
  }

  void limit_error(const SourceSpan& span, std::string what, std::string expected) {
    diagnostics_.push_back(
        {Severity::kError, Fault::kLimit, span, std::move(what), std::move(expected), {}});
  }

  void read_lines() {
    const auto count = static_cast<std::uint32_t>(source_->num_lines());
    lines_.resize(count);
    for (std::uint32_t i = 0; i < count; ++i) {
      check_budget(10);
      const std::string_view text = source_->line(i + 1);
      if (text.size() > kLongestLine) {
        limit_error({i + 1, 1, 1}, "this line has " + std::to_string(text.size()) + " bytes",
                    "at most " + std::to_string(kLongestLine));
        continue;
      }
      find_title(text);
      if (!read_pass_line(text, i)) {
        lines_[i].tokens = detail::tokenize(text, i + 1, diagnostics_);
      }
      if (diagnostics_.size() > kMostDiagnostics) return;
    }
  }

  void find_title(std::string_view text) {
    const std::string line(trimmed(text, " \t"));
    if (!program_.title.empty() || line.empty() || (line[0] != ';' && line[0] != '#')) return;
    const auto start = line.find_first_not_of(";# \t");
    if (start != std::string::npos) program_.title = printable(line.substr(start));
  }

  /// A pass title is free text, so its line has no tokens.
  bool read_pass_line(std::string_view text, std::uint32_t index) {
    constexpr std::string_view kWord = ".pass";
    const auto start = text.find_first_not_of(" \t");
    if (start == std::string_view::npos || !text.substr(start).starts_with(kWord)) return false;
    std::string_view rest = text.substr(start + kWord.size());
    if (!rest.empty() && rest[0] != ' ' && rest[0] != '\t') return false;
    rest = rest.substr(0, rest.find_first_of(";#"));
    const SourceSpan span{index + 1, static_cast<std::uint32_t>(start + 1),
                          static_cast<std::uint32_t>(kWord.size())};
    lines_[index].title = printable(trimmed(rest, " \t"));
    lines_[index].tokens = {{TokenKind::kDirective, text.substr(start, kWord.size()), 0, 0, span},
                            {TokenKind::kEnd, {}, 0, 0, span}};
    return true;
  }

  std::optional<Directive> directive_of(const Line& line) const {
    if (line.tokens.empty() || line.tokens[0].kind != TokenKind::kDirective) return std::nullopt;
    return detail::find_directive(line.tokens[0].text);
  }

  void collect_names() {
    for (const Line& line : lines_) {
      const auto directive = directive_of(line);
      if (!directive || line.tokens.size() < 2) continue;
      switch (*directive) {
        case Directive::kParam:
          collect_list(line, detail::NamedThing::Kind::kParam);
          break;
        case Directive::kMachines:
          for (const std::size_t at : {1, 3}) {
            if (at < line.tokens.size()) {
              declare_name(line.tokens[at], detail::NamedThing::Kind::kParam);
            }
          }
          break;
        case Directive::kReg:
          collect_list(line, detail::NamedThing::Kind::kRegister);
          break;
        case Directive::kConst:
          declare_name(line.tokens[1], detail::NamedThing::Kind::kConst);
          break;
        case Directive::kInput:
        case Directive::kTemp:
        case Directive::kOutput:
          declare_name(line.tokens[1], detail::NamedThing::Kind::kArray);
          break;
        case Directive::kName:
          collect_label(line);
          break;
        default:
          break;
      }
    }
  }

  /// Declares the first name of each entry in a list separated by commas.
  void collect_list(const Line& line, detail::NamedThing::Kind kind) {
    int depth = 0;
    bool start = true;
    for (std::size_t i = 1; i < line.tokens.size(); ++i) {
      const Token& token = line.tokens[i];
      if (start) declare_name(token, kind);
      depth += (token.is("(") || token.is("[") ? 1 : 0) - (token.is(")") || token.is("]") ? 1 : 0);
      start = depth == 0 && token.is(",");
    }
  }

  void collect_label(const Line& line) {
    for (std::size_t i = 1; i + 1 < line.tokens.size(); ++i) {
      if (!line.tokens[i].is("=")) continue;
      if (line.tokens[i + 1].kind != TokenKind::kIdentifier) return;
      // The prime is removed when the iteration ends, so X' also declares a label X.
      std::string name(line.tokens[i + 1].text);
      ++scope_.labels[name];
      for (; name.ends_with('\''); name.pop_back())
        ++scope_.labels[name.substr(0, name.size() - 1)];
      return;
    }
  }

  void declare_name(const Token& token, detail::NamedThing::Kind kind) {
    if (token.kind != TokenKind::kIdentifier) return;  // reported when the line is parsed
    const std::string name(token.text);
    const auto& functions = detail::function_names();
    const bool reserved = name == "for" || name == "in" || name == "end" || name == "step" ||
                          name == "inf" || name == "R" || name == "r" ||
                          name.find('\'') != std::string::npos ||
                          detail::register_number(name).has_value() ||
                          std::find(functions.begin(), functions.end(), name) != functions.end();
    if (reserved) {
      parser_.error(token.span,
                    detail::describe(token) + " cannot be declared: it is a word of the language",
                    "another name");
      return;
    }
    if (const auto first = scope_.declared.find(name); first != scope_.declared.end()) {
      parser_.error(token.span,
                    detail::describe(token) + " is declared twice, first in line " +
                        std::to_string(first->second.span.line),
                    "one declaration");
      return;
    }
    std::size_t index = 0;
    if (kind == detail::NamedThing::Kind::kParam) {
      index = program_.params.size();
      program_.params.push_back({name, nullptr, token.span});
    } else if (kind == detail::NamedThing::Kind::kConst) {
      index = program_.consts.size();
      program_.consts.push_back({name, nullptr, token.span});
    } else if (kind == detail::NamedThing::Kind::kRegister) {
      index = program_.register_names.size();
      program_.register_names.push_back({name, nullptr, nullptr, token.span});
    } else {
      index = program_.arrays.size();
      ArrayDeclaration array;
      array.name = name;
      array.span = token.span;
      program_.arrays.push_back(std::move(array));
    }
    scope_.declared[name] = {kind, index, token.span};
  }

  void declare() {
    for (const Line& line : lines_) {
      const auto directive = directive_of(line);
      if (!directive || !detail::is_declaration(*directive)) continue;
      given_once(line, *directive);
      declare(line, *directive);
    }
  }

  void given_once(const Line& line, Directive directive) {
    const bool single = directive == Directive::kIsa || directive == Directive::kOperands ||
                        directive == Directive::kRegisters || directive == Directive::kMachines;
    if (!single) return;
    const SourceSpan span = line.tokens[0].span;
    std::uint32_t& first = first_lines_[static_cast<std::size_t>(directive)];
    if (first == 0) {
      first = span.line;
    } else {
      parser_.error(span,
                    detail::describe(line.tokens[0]) + " is given twice, first in line " +
                        std::to_string(first),
                    "one");
    }
  }

  void declare(const Line& line, Directive directive) {
    switch (directive) {
      case Directive::kIsa:
        return declarations_.isa(line);
      case Directive::kOperands:
        return declarations_.operands(line);
      case Directive::kRegisters:
        return declarations_.registers(line);
      case Directive::kMachines:
        return declarations_.machines(line);
      case Directive::kReg:
        return declarations_.register_names(line);
      case Directive::kParam:
        return declarations_.params(line);
      case Directive::kConst:
        return declarations_.constant(line);
      case Directive::kInput:
        return declarations_.array(line, ArrayRole::kInput);
      case Directive::kTemp:
        return declarations_.array(line, ArrayRole::kTemp);
      case Directive::kOutput:
        return declarations_.array(line, ArrayRole::kOutput);
      case Directive::kPass:
      case Directive::kName:
        return;
    }
  }

  std::vector<Statement>& current_body() {
    return open_loops_.empty() ? program_.body : open_loops_.back().body;
  }

  void statements() {
    for (const Line& line : lines_) {
      if (line.tokens.empty() || line.tokens[0].kind == TokenKind::kEnd) continue;
      statement(line);
      if (too_deep_ || diagnostics_.size() > kMostDiagnostics) return;
    }
    for (const LoopStatement& loop : open_loops_) {
      parser_.error(loop.span, "this loop is not closed", "an 'end' line for it");
    }
  }

  void statement(const Line& line) {
    const Token& first = line.tokens[0];
    if (first.kind == TokenKind::kDirective) return directive_line(line);
    if (first.is_word("for")) return open_loop(line);
    if (first.is_word("end")) return close_loop(line);
    if (auto instruction = parser_.instruction(line)) {
      instruction->site = program_.num_sites++;
      instruction->pass = program_.passes.size() - 1;
      current_body().emplace_back().node = std::move(*instruction);
    }
  }

  void directive_line(const Line& line) {
    const Token& word = line.tokens[0];
    const auto directive = detail::find_directive(word.text);
    if (!directive) {
      parser_.error(word.span, "unknown directive " + detail::describe(word),
                    "a directive such as .input",
                    nearest(word.text, language_words().directives).value_or(""));
      return;
    }
    if (!open_loops_.empty() && *directive != Directive::kName) {
      parser_.error(word.span, detail::describe(word) + " is inside a loop",
                    "it outside all loops");
      return;
    }
    if (*directive == Directive::kPass) {
      if (line.title.empty())
        parser_.error(word.span, "this pass has no title", "words after .pass");
      program_.passes.push_back(line.title);
    } else if (*directive == Directive::kName) {
      if (auto name = parser_.name(line)) current_body().emplace_back().node = std::move(*name);
    }
  }

  void open_loop(const Line& line) {
    LoopStatement loop = parser_.loop(line);
    scope_.loops.emplace_back(loop.var, loop.loop);
    if (static_cast<std::int64_t>(open_loops_.size()) >= limits_.max_nesting) {
      limit_error(line.tokens[0].span,
                  "loops are nested deeper than " + std::to_string(limits_.max_nesting),
                  "at most " + std::to_string(limits_.max_nesting) + " (--max-nesting)");
      too_deep_ = true;
      return;
    }
    open_loops_.push_back(std::move(loop));
  }

  void close_loop(const Line& line) {
    if (line.tokens.size() > 2) {
      parser_.error(line.tokens[1].span,
                    "found " + detail::describe(line.tokens[1]) + " after 'end'",
                    "the end of the line");
    }
    if (open_loops_.empty()) {
      parser_.error(line.tokens[0].span, "this 'end' closes nothing", "a 'for' before it");
      return;
    }
    LoopStatement loop = std::move(open_loops_.back());
    open_loops_.pop_back();
    scope_.loops.pop_back();
    current_body().emplace_back().node = std::move(loop);
  }

  std::vector<Diagnostic> sorted_diagnostics() {
    std::stable_sort(diagnostics_.begin(), diagnostics_.end(), [](const auto& a, const auto& b) {
      return std::pair(a.span.line, a.span.column) < std::pair(b.span.line, b.span.column);
    });
    return std::move(diagnostics_);
  }

  std::shared_ptr<const SourceText> source_;
  const Limits& limits_;
  Program program_;
  Scope scope_;
  std::vector<Diagnostic> diagnostics_;
  DeclarationParser declarations_;
  StatementParser parser_;
  std::vector<Line> lines_;
  std::vector<LoopStatement> open_loops_;
  std::array<std::uint32_t, detail::kDirectives.size()> first_lines_{};  // 0: not seen
  bool too_deep_ = false;  // the rest of the file is not read
};

}  // namespace

Result<Program> assemble(std::shared_ptr<const SourceText> source, const Limits& limits) {
  return Assembler(std::move(source), limits).run();
}

const LanguageWords& language_words() {
  static const LanguageWords words = [] {
    LanguageWords all;
    for (const auto& [name, directive] : detail::kDirectives) all.directives.emplace_back(name);
    all.keywords = {"for", "in", "step", "end", "tile", "of"};
    all.functions = detail::function_names();
    return all;
  }();
  return words;
}

}  // namespace flashlab::toy
