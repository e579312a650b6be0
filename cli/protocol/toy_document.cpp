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
    : source_(std::make_shared<const toy::SourceText>(name, text)), names_(source_) {
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
