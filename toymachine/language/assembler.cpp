#include "toymachine/language/assembler.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>

#include "text/lists.hpp"
#include "text/nearest.hpp"
#include "text/visible.hpp"
#include "toymachine/budget/budget.hpp"
#include "toymachine/language/declaration_parser.hpp"
#include "toymachine/language/directive.hpp"
#include "toymachine/language/indented_nest.hpp"
#include "toymachine/language/lexer.hpp"
#include "toymachine/language/library.hpp"
#include "toymachine/language/name_collector.hpp"
#include "toymachine/language/score_function.hpp"
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
        parser_(program_, scope_, diagnostics_),
        function_(program_, scope_, diagnostics_) {
    program_.source = source_;
    has_function_ = source_->used_program() || source_->other();
    program_.has_score_function = has_function_;
    program_.passes.emplace_back();
  }

  Result<Program> run() {
    if (too_large()) return std::move(diagnostics_);
    read_lines();
    num_of_words_ = diagnostics_.size();
    if (has_function_) check_use();
    detail::NameCollector(program_, scope_, diagnostics_).collect(lines_);
    const std::optional<detail::ScoreMark> first_mark = find_mark();
    if (has_function_) function_.collect(function_lines_, lines_);
    declare();
    if (first_mark) {
      function_.give_sizes(*first_mark);
      function_.declare(declarations_);
    }
    statements();
    if (has_function_ && diagnostics_.empty() && !function_.has_instructions()) {
      parser_.error(use_, "the score function has no instruction",
                    "at least one, as in `flashlab programs soft_cap`");
    }
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
    const auto own = static_cast<std::uint32_t>(source_->num_lines());
    const auto both = static_cast<std::uint32_t>(source_->num_lines_of_both());
    const bool is_function_first = source_->used_program().has_value();
    read_lines(0, own, is_function_first ? function_lines_ : lines_);
    read_lines(own, both, is_function_first ? lines_ : function_lines_);
    if (!function_title_.empty()) program_.title += "; the scores: " + function_title_;
  }

  void read_lines(std::uint32_t first, std::uint32_t last, std::vector<Line>& lines) {
    std::string& title = &lines == &lines_ ? program_.title : function_title_;
    lines.resize(last - first);
    for (std::uint32_t i = first; i < last; ++i) {
      check_budget(10);
      const std::string_view text = source_->line(i + 1);
      if (text.size() > kLongestLine) {
        limit_error({i + 1, 1, 1}, "this line has " + std::to_string(text.size()) + " bytes",
                    "at most " + std::to_string(kLongestLine));
        continue;
      }
      find_title(text, title);
      Line& line = lines[i - first];
      if (!read_pass_line(text, i, line)) {
        line.tokens = detail::tokenize(text, i + 1, diagnostics_);
      }
      if (diagnostics_.size() > kMostDiagnostics) return;
    }
  }

  /// The line `.use PROGRAM` is the first of a function that has one.
  void check_use() {
    const std::optional<std::string>& used = source_->used_program();
    if (!used) return;
    const auto is_use = [](const Line& one) {
      return detail::directive_of(one) == Directive::kUse;
    };
    const auto line = std::find_if(function_lines_.begin(), function_lines_.end(), is_use);
    if (line == function_lines_.end()) return;
    use_ = line->tokens[0].span;
    const Token& name = line->tokens[1];
    if (!source_->other()) {
      std::vector<std::string> names;
      for (const EmbeddedFile& file : library_programs()) {
        names.emplace_back(file.name.substr(0, file.name.rfind('.')));
      }
      parser_.error(used->empty() ? use_ : name.span,
                    used->empty() ? "this line names no program"
                                  : "there is no bundled program '" + printable(*used) + "'",
                    "a name that `flashlab programs` lists, such as .use flash2",
                    nearest(*used, names).value_or(""));
    }
    function_lines_.erase(line);
  }

  /// Returns the sizes of the first mark, which the function's declarations may use. Errors of a mark are
  /// reported when the statements are read.
  std::optional<detail::ScoreMark> find_mark() {
    if (!has_function_ || !diagnostics_.empty()) return std::nullopt;
    for (const Line& line : lines_) {
      if (detail::directive_of(line) != Directive::kScore) continue;
      std::vector<Diagnostic> unused;
      return StatementParser(program_, scope_, unused).score_sizes(line);
    }
    parser_.error(use_, "the program has no .score line, where a function of the scores would go",
                  "a program with that line, such as flash2 or naive");
    return std::nullopt;
  }

  static void find_title(std::string_view text, std::string& title) {
    const std::string line(trimmed(text, " \t"));
    if (!title.empty() || line.empty() || (line[0] != ';' && line[0] != '#')) return;
    const auto start = line.find_first_not_of(";# \t");
    if (start != std::string::npos) title = printable(line.substr(start));
  }

  /// A pass title is free text, so its line has no tokens.
  static bool read_pass_line(std::string_view text, std::uint32_t index, Line& line) {
    constexpr std::string_view kWord = ".pass";
    const auto start = text.find_first_not_of(" \t");
    if (start == std::string_view::npos || !text.substr(start).starts_with(kWord)) return false;
    std::string_view rest = text.substr(start + kWord.size());
    if (!rest.empty() && rest[0] != ' ' && rest[0] != '\t') return false;
    rest = rest.substr(0, rest.find_first_of(";#"));
    const SourceSpan span{index + 1, static_cast<std::uint32_t>(start + 1),
                          static_cast<std::uint32_t>(kWord.size())};
    line.title = printable(trimmed(rest, " \t"));
    line.tokens = {{TokenKind::kDirective, text.substr(start, kWord.size()), 0, 0, span},
                   {TokenKind::kEnd, {}, 0, 0, span}};
    return true;
  }

  void declare() {
    for (const Line& line : lines_) {
      const auto directive = detail::directive_of(line);
      if (!directive || !detail::is_declaration(*directive)) continue;
      given_once(line, *directive);
      declarations_.declare(line, *directive);
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

  std::vector<Statement>& current_body() {
    return open_loops_.empty() ? program_.body : open_loops_.back().body;
  }

  void statements() {
    for (const Line& line : lines_) {
      if (line.tokens.empty() || line.tokens[0].kind == TokenKind::kEnd) continue;
      statement(line);
      if (too_deep_ || diagnostics_.size() > kMostDiagnostics) return;
    }
    if (!open_loops_.empty()) name_unclosed_loops();
  }

  /// What else is wrong with the nest follows from a missing `end`.
  void name_unclosed_loops() {
    std::erase_if(diagnostics_, [&](const Diagnostic& one) {
      return std::any_of(of_the_nest_.begin(), of_the_nest_.end(), [&](const SourceSpan& span) {
        return span.line == one.span.line && span.column == one.span.column;
      });
    });
    std::vector<detail::UnclosedLoop> unclosed = nest_.unclosed(open_loops_.size());
    if (unclosed.empty() && open_loops_.size() == 1 && same_variable_.line > 0) {
      unclosed.push_back({same_variable_, of_the_nest_.front().line});
    }
    if (unclosed.empty()) {
      for (const LoopStatement& loop : open_loops_) unclosed.push_back({loop.span, 0});
    }
    for (const detail::UnclosedLoop& one : unclosed) {
      parser_.error(one.loop, "this loop is not closed",
                    "an 'end' line for it" +
                        (one.before == 0 ? "" : ", before line " + std::to_string(one.before)));
    }
  }

  void statement(const Line& line) {
    const Token& first = line.tokens[0];
    if (first.is_word("for")) return open_loop(line);
    if (first.is_word("end")) return close_loop(line);
    nest_.other(first.span);
    if (first.kind == TokenKind::kDirective) return directive_line(line);
    if (auto instruction = parser_.instruction(line)) add(std::move(*instruction));
  }

  void add(InstructionStatement instruction) {
    instruction.site = program_.num_sites++;
    instruction.pass = program_.passes.size() - 1;
    current_body().emplace_back().node = std::move(instruction);
  }

  void directive_line(const Line& line) {
    const Token& word = line.tokens[0];
    const auto directive = detail::find_directive(word.text);
    if (!directive) return parser_.unknown_directive(word);
    const bool may_be_inside = *directive == Directive::kName || *directive == Directive::kScore;
    if (!open_loops_.empty() && !may_be_inside) {
      parser_.error(word.span, detail::describe(word) + " is inside a loop",
                    "it outside all loops");
      of_the_nest_.push_back(word.span);
      return;
    }
    if (*directive == Directive::kPass) {
      if (line.title.empty())
        parser_.error(word.span, "this pass has no title", "words after .pass");
      program_.passes.push_back(line.title);
    } else if (*directive == Directive::kName) {
      auto name = parser_.name(line);
      if (!name) return;
      if (has_function_) name->claim = nullptr;  // it is about scores without the function
      current_body().emplace_back().node = std::move(*name);
    } else if (*directive == Directive::kScore) {
      const auto mark = parser_.score(line);
      if (!mark || !has_function_) return;
      function_.insert(*mark, [&](InstructionStatement one) { add(std::move(one)); });
    } else if (*directive == Directive::kUse) {
      parser_.error(word.span, ".use is not the first line", "it before all other lines");
    }
  }

  void open_loop(const Line& line) {
    LoopStatement loop = parser_.loop(line);
    nest_.open(loop.span);
    note_same_variable(loop, line);
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

  /// A loop inside of one with its variable is an error, and may stand there because an `end` is missing.
  void note_same_variable(const LoopStatement& loop, const Line& line) {
    const auto around =
        std::find_if(open_loops_.begin(), open_loops_.end(),
                     [&](const LoopStatement& other) { return other.var == loop.var; });
    if (around == open_loops_.end() || line.tokens.size() < 2) return;
    if (of_the_nest_.empty()) same_variable_ = around->span;
    of_the_nest_.push_back(line.tokens[1].span);
  }

  void close_loop(const Line& line) {
    nest_.close(line.tokens[0].span);
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

  /// Drops what else a line with a character outside ASCII is blamed for: it follows from that.
  void drop_followers() {
    std::set<std::uint32_t> bad_lines;
    for (std::size_t i = 0; i < num_of_words_; ++i) {
      const SourceSpan& span = diagnostics_[i].span;
      const std::string_view rest = source_->line(span.line).substr(span.column - 1);
      if (!rest.empty() && static_cast<unsigned char>(rest[0]) >= 0x80) bad_lines.insert(span.line);
    }
    const auto first = diagnostics_.begin() + static_cast<std::ptrdiff_t>(num_of_words_);
    diagnostics_.erase(
        std::remove_if(first, diagnostics_.end(),
                       [&](const Diagnostic& one) { return bad_lines.contains(one.span.line); }),
        diagnostics_.end());
  }

  std::vector<Diagnostic> sorted_diagnostics() {
    drop_followers();
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
  std::size_t num_of_words_ = 0;  // diagnostics of words alone, which come first
  DeclarationParser declarations_;
  StatementParser parser_;
  detail::ScoreFunction function_;
  bool has_function_ = false;
  std::string function_title_;
  SourceSpan use_;  // the line .use, if there is one
  std::vector<Line> lines_, function_lines_;
  std::vector<LoopStatement> open_loops_;
  detail::IndentedNest nest_;
  std::vector<SourceSpan> of_the_nest_;  // of errors that a missing `end` explains
  SourceSpan same_variable_;  // the loop around the first loop that has its variable; line 0: none
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
