#include "cli/protocol/toy_document.hpp"

#include <algorithm>
#include <exception>
#include <map>
#include <utility>
#include <variant>

#include "text/width.hpp"
#include "toymachine/bind/bound_program.hpp"
#include "toymachine/budget/budget.hpp"
#include "toymachine/language/assembler.hpp"

namespace flashlab::cli {
namespace {

constexpr std::size_t kLongestHint = 32, kLongestHover = 300;
constexpr std::int64_t kMillisecondsForFormulas = 500;

bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.';
}

std::string_view without_comment(std::string_view line) { return line.substr(0, line.find(';')); }

/// Calls visit(word, first column) for the words of a line.
template <class Visit>
void visit_words(std::string_view line, const Visit& visit) {
  line = without_comment(line);
  for (std::size_t at = 0; at < line.size();) {
    const bool is_in_range =
        line[at] == '.' && at > 0 && line[at - 1] != ' ' && line[at - 1] != '\t';
    if (!is_word_character(line[at]) || is_in_range) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < line.size() && is_word_character(line[end])) {
      if (line[end] == '.' && end > at) break;  // 0..n is no word, .isa is one
      ++end;
    }
    visit(line.substr(at, end - at), at + 1);
    at = end;
  }
}

void collect(const std::vector<toy::Statement>& body,
             std::vector<const toy::InstructionStatement*>& instructions,
             std::vector<const toy::LoopStatement*>& loops) {
  for (const toy::Statement& statement : body) {
    if (const auto* one = std::get_if<toy::InstructionStatement>(&statement.node)) {
      instructions.push_back(one);
    } else if (const auto* loop = std::get_if<toy::LoopStatement>(&statement.node)) {
      loops.push_back(loop);
      collect(loop->body, instructions, loops);
    }
  }
}

}  // namespace

ToyDocument::ToyDocument(const std::string& name, const std::string& text)
    : source_(std::make_shared<const toy::SourceText>(name, text)) {
  try {
    toy::Budget budget({kMillisecondsForFormulas, 0});
    auto program = toy::assemble(source_);
    diagnostics_ = std::move(program.diagnostics);
    if (!program) return;
    program_ = std::make_shared<const toy::Program>(std::move(*program));
    collect(program_->body, instructions_, loops_);
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

std::string ToyDocument::word_at(std::uint32_t line, std::uint32_t column) const {
  std::string result;
  visit_words(source_->line(line), [&](std::string_view word, std::size_t first) {
    if (column >= first && column <= first + word.size()) result = word;
  });
  return result;
}

std::optional<toy::SourceSpan> ToyDocument::declaration_of(const std::string& word) const {
  if (!program_) return std::nullopt;
  std::map<std::string, toy::SourceSpan> declared;
  for (const auto* loop : loops_) declared.try_emplace(loop->var, loop->span);
  for (const auto& one : program_->register_names) declared[one.name] = one.span;
  for (const auto& one : program_->consts) declared[one.name] = one.span;
  for (const auto& one : program_->params) declared[one.name] = one.span;
  for (const auto& one : program_->arrays) declared[one.name] = one.span;
  const auto found = declared.find(word);
  if (found == declared.end()) return std::nullopt;
  toy::SourceSpan span = found->second;  // of the whole declaration, perhaps
  visit_words(source_->line(span.line), [&](std::string_view one, std::size_t first) {
    if (one == word && first >= span.column && span.length != word.size()) {
      span.column = static_cast<std::uint32_t>(first);
      span.length = static_cast<std::uint32_t>(word.size());
    }
  });
  return span;
}

std::vector<toy::SourceSpan> ToyDocument::places_of(const std::string& word) const {
  std::vector<toy::SourceSpan> places;
  // R0 and r0 are one register.
  const auto is_it = [&](std::string_view one) {
    const bool is_register = word.size() > 1 && (word[0] == 'R' || word[0] == 'r');
    return one == word || (is_register && (one[0] == 'R' || one[0] == 'r') &&
                           one.substr(1) == std::string_view(word).substr(1) &&
                           word.find_first_not_of("0123456789", 1) == std::string::npos);
  };
  for (std::uint32_t line = 1; line <= source_->num_lines(); ++line) {
    visit_words(source_->line(line), [&](std::string_view one, std::size_t first) {
      if (is_it(one)) {
        places.push_back(
            {line, static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(one.size())});
      }
    });
  }
  return places;
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
  for (std::uint32_t line = 1; line <= count; ++line) {
    std::string_view text = without_comment(source_->line(line));
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    const std::string_view word = text.substr(0, text.find_first_of(" \t"));
    if (word == ".pass") {
      while (stack.size() > 1) close(line - 1);
      stack.push_back({std::string(text), true, line, line, {}});
    } else if (word == "for") {
      stack.push_back({std::string(text), false, line, line, {}});
    } else if (word == "end" && stack.size() > 1 && !stack.back().is_pass) {
      close(line);
    }
  }
  while (stack.size() > 1) close(count);
  return std::move(stack.back().inside);
}

}  // namespace flashlab::cli
