#include "cli/protocol/toy_document.hpp"

#include <algorithm>
#include <exception>
#include <utility>
#include <variant>

#include "text/lists.hpp"
#include "text/utf8.hpp"
#include "text/visible.hpp"
#include "text/width.hpp"
#include "toymachine/bind/bound_program.hpp"
#include "toymachine/budget/budget.hpp"
#include "toymachine/language/assembler.hpp"

namespace flashlab::cli {
namespace {

constexpr std::size_t kLongestHint = 32, kLongestHover = 300;
constexpr std::int64_t kMillisecondsForFormulas = 500;

/// Whether a word names something that the program declares.
bool is_declared(const toy::SourceWords& words, const toy::SourceWord& word) {
  return word.name != toy::kNoName && words.names[word.name].declaration.line > 0;
}

bool is_identifier(std::string_view text) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !text.empty() && is_letter(text[0]) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return is_letter(c) || is_digit(c); });
}

/// Whether all words mean the same in both texts; their places and the texts of names may differ.
bool mean_the_same(const toy::SourceWords& a, const toy::SourceWords& b) {
  return std::equal(a.words.begin(), a.words.end(), b.words.begin(), b.words.end(),
                    [](const toy::SourceWord& one, const toy::SourceWord& other) {
                      return one.kind == other.kind && one.name == other.name;
                    });
}

std::string first_reason(const std::vector<toy::Diagnostic>& errors, const std::string& name) {
  const auto found = std::find_if(errors.begin(), errors.end(), [&](const toy::Diagnostic& one) {
    return one.what.find("'" + name + "'") != std::string::npos;
  });
  const toy::Diagnostic& error = found == errors.end() ? errors.front() : *found;
  return "line " + std::to_string(error.span.line) + " would be wrong: " + error.what;
}

void collect(const std::vector<toy::Statement>& body,
             std::vector<const toy::InstructionStatement*>& instructions) {
  for (const toy::Statement& statement : body) {
    if (const auto* one = std::get_if<toy::InstructionStatement>(&statement.node)) {
      instructions.push_back(one);
    } else if (const auto* loop = std::get_if<toy::LoopStatement>(&statement.node)) {
      collect(loop->body, instructions);
    }
  }
}

}  // namespace

ToyDocument::ToyDocument(const std::string& name, const std::string& text)
    : source_(std::make_shared<const toy::SourceText>(name, text)),
      words_(toy::source_words(*source_)) {
  try {
    toy::Budget budget({kMillisecondsForFormulas, 0});
    auto program = toy::assemble(source_);
    diagnostics_ = std::move(program.diagnostics);
    if (!program) return;
    program_ = std::make_shared<const toy::Program>(std::move(*program));
    collect(program_->body, instructions_);
    const bool has_defaults =
        std::all_of(program_->params.begin(), program_->params.end(),
                    [](const toy::ParamDeclaration& one) { return one.default_value != nullptr; });
    if (has_defaults) {
      const auto bound = toy::bind(program_, toy::Binding());
      diagnostics_.insert(diagnostics_.end(), bound.diagnostics.begin(), bound.diagnostics.end());
    }
    auto formulas = toy::cost_formulas(*program_);
    if (formulas) formulas_ = std::move(*formulas);
  } catch (const toy::BudgetExceeded&) {
    formulas_.reset();  // hints are not worth a longer wait
  } catch (const std::exception& error) {
    diagnostics_.push_back(
        {toy::Severity::kError, toy::Fault::kLimit, {1, 1, 1}, error.what(), {}, {}});
  }
}

std::string ToyDocument::formula_text(const toy::Formula& formula, std::size_t most) const {
  if (!formula.is_known()) return {};
  toy::FormulaStyle style;
  style.unicode = true;
  for (const toy::ParamDeclaration& param : program_->params) style.order.push_back(param.name);
  const std::string text = toy::to_string(formula, style);
  return display_width(text) <= most ? text : std::string();
}

std::vector<ToyDocument::Hint> ToyDocument::hints() const {
  std::vector<Hint> result;
  if (!formulas_) return result;
  std::string total;
  const std::pair<const char*, const toy::Formula*> counters[] = {
      {" loads", &formulas_->total.loads},
      {" stores", &formulas_->total.stores},
      {" cycles", &formulas_->total.cycles}};
  for (const auto& [name, formula] : counters) {
    const std::string text = formula_text(*formula, kLongestHint);
    if (!text.empty()) total += (total.empty() ? "" : ", ") + text + name;
  }
  if (!total.empty()) result.push_back({1, total});
  for (const auto* instruction : instructions_) {
    const std::string text = formula_text(formulas_->executions(instruction->site), kLongestHint);
    if (text.empty() || text == "1") continue;
    result.push_back({instruction->span.line, text + " times"});
  }
  return result;
}

const toy::InstructionStatement* ToyDocument::instruction_at(std::uint32_t line) const {
  const auto found = std::find_if(instructions_.begin(), instructions_.end(),
                                  [&](const auto* one) { return one->span.line == line; });
  return found == instructions_.end() ? nullptr : *found;
}

std::string ToyDocument::about_line(std::uint32_t line) const {
  const toy::InstructionStatement* const instruction = instruction_at(line);
  if (instruction == nullptr) return {};
  const toy::InstructionSpec& spec = toy::instruction_set()[instruction->row];
  std::string text = "**" + std::string(spec.mnemonic) + "** `" + std::string(spec.effect) +
                     "`\n\n" + std::string(spec.meaning) + "\n\n`" +
                     toy::to_string(*instruction, *program_) + "`";
  if (!formulas_) return text;
  const toy::Formula& executions = formulas_->executions(instruction->site);
  const std::string times = formula_text(executions, kLongestHover);
  if (!times.empty()) text += "\n\nruns " + times + (times == "1" ? " time" : " times");
  const std::string cycles =
      formula_text(mpz_class(static_cast<long>(spec.cycles)) * executions, kLongestHover);
  if (!cycles.empty()) text += ", " + cycles + (cycles == "1" ? " cycle" : " cycles");
  const std::string all = formula_text(formulas_->total.cycles, kLongestHover);
  return all.empty() ? text : text + " of " + all;
}

const toy::SourceWord* ToyDocument::word_at(std::uint32_t line, std::uint32_t column) const {
  const toy::SourceWord* result = nullptr;
  const auto first =
      std::partition_point(words_.words.begin(), words_.words.end(),
                           [&](const toy::SourceWord& word) { return word.span.line < line; });
  for (auto word = first; word != words_.words.end() && word->span.line == line; ++word) {
    if (column >= word->span.column && column <= word->span.column + word->span.length &&
        word->kind != toy::WordKind::kComment) {
      result = &*word;
    }
  }
  return result;
}

std::string_view ToyDocument::text_of(const toy::SourceWord& word) const {
  return source_->line(word.span.line).substr(word.span.column - 1, word.span.length);
}

std::optional<toy::SourceSpan> ToyDocument::declaration_of(const toy::SourceWord& word) const {
  if (!is_declared(words_, word)) return std::nullopt;
  return words_.names[word.name].declaration;
}

std::vector<toy::SourceSpan> ToyDocument::places_of(const toy::SourceWord& word) const {
  std::vector<toy::SourceSpan> places;
  for (const toy::SourceWord& one : words_.words) {
    const bool is_same = one.name == word.name && one.kind == word.kind &&
                         (word.name != toy::kNoName || text_of(one) == text_of(word));
    if (is_same) places.push_back(one.span);
  }
  return places;
}

std::string ToyDocument::why_not_renamed(const toy::SourceWord& word) const {
  const std::string text = "'" + std::string(text_of(word)) + "'";
  if (word.kind == toy::WordKind::kLabel) return text + " is a label; labels keep their names";
  if (is_declared(words_, word)) return {};
  if (word.kind == toy::WordKind::kRegister) {
    return text + " is a register of the machine; only names of .reg lines can change";
  }
  if (word.kind == toy::WordKind::kUnknown) return text + " is not declared";
  return text +
         (word.kind == toy::WordKind::kNumber ? " is a number" : " is a word of the language");
}

std::string ToyDocument::why_not_renamed(const toy::SourceWord& word,
                                         const std::string& new_name) const {
  std::string reason = why_not_renamed(word);
  if (!reason.empty()) return reason;
  const std::string quoted = "'" + printable(new_name) + "'";
  if (!is_identifier(new_name)) {
    return quoted + " is no name; expected letters, digits and _, with no digit first";
  }
  const toy::SourceName& renamed = words_.names[word.name];
  if (new_name == renamed.text) return {};
  // The assembler allows some of these as loop variables, but nobody wants to read that.
  const toy::LanguageWords& language = toy::language_words();
  for (const auto* const list : {&language.keywords, &language.functions}) {
    if (std::find(list->begin(), list->end(), new_name) != list->end()) {
      return quoted + " is a word of the language";
    }
  }
  for (const toy::SourceName& one : words_.names) {
    const bool is_visible = one.first <= renamed.last && renamed.first <= one.last;
    if (one.text != new_name || !is_visible) continue;
    return quoted + " is in use" +
           (one.declaration.line == 0 ? "" : ", see line " + std::to_string(one.declaration.line));
  }
  const auto source =
      std::make_shared<const toy::SourceText>(source_->name(), with_name(word, new_name));
  // What else the language forbids, the assembler knows. A program with errors must get no more.
  const auto errors = toy::assemble(source).diagnostics;
  if (errors.size() > toy::assemble(source_).diagnostics.size()) {
    return first_reason(errors, new_name);
  }
  if (mean_the_same(words_, toy::source_words(*source))) return {};
  return quoted + " has another meaning in one of these places";
}

std::string ToyDocument::with_name(const toy::SourceWord& word, const std::string& new_name) const {
  std::string result;
  const std::string_view text = source_->text();
  std::size_t copied = 0;
  for (const toy::SourceSpan& span : places_of(word)) {
    const std::string_view line = source_->line(span.line);
    const auto start = static_cast<std::size_t>(line.data() - text.data()) + span.column - 1;
    result += text.substr(copied, start - copied);
    result += new_name;
    copied = start + span.length;
  }
  return result += text.substr(copied);
}

std::vector<ToyDocument::Symbol> ToyDocument::symbols() const {
  std::vector<Symbol> stack{{"", true, 0, 0, {}}};  // the file, a pass, loops
  const auto close = [&](std::uint32_t last) {
    Symbol done = std::move(stack.back());
    stack.pop_back();
    done.last = last;
    stack.back().inside.push_back(std::move(done));
  };
  const auto count = static_cast<std::uint32_t>(source_->num_lines());
  std::uint32_t too_deep = 0;  // open loops that the assembler refuses, and that are left out
  for (std::uint32_t line = 1; line <= count; ++line) {
    const std::string_view code =
        source_->line(line).substr(0, source_->line(line).find_first_of(";#"));
    const std::string_view text = trimmed(code, " \t");
    const std::string_view word = text.substr(0, text.find_first_of(" \t"));
    if (word == ".pass") {
      while (stack.size() > 1) close(line - 1);
      too_deep = 0;
      stack.push_back({std::string(text), true, line, line, {}});
    } else if (word == "for" && (too_deep > 0 || std::ssize(stack) > toy::Limits{}.max_nesting)) {
      ++too_deep;
    } else if (word == "for") {
      stack.push_back({std::string(text), false, line, line, {}});
    } else if (word == "end" && too_deep > 0) {
      --too_deep;
    } else if (word == "end" && stack.size() > 1 && !stack.back().is_pass) {
      close(line);
    }
  }
  while (stack.size() > 1) close(count);
  return std::move(stack.back().inside);
}

}  // namespace flashlab::cli
