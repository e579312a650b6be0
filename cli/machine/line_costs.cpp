#include "cli/machine/line_costs.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include "text/lists.hpp"
#include "text/markdown.hpp"
#include "text/width.hpp"
#include "toymachine/budget/budget.hpp"
#include "toymachine/language/assembler.hpp"

namespace flashlab::cli {
namespace {

constexpr std::size_t kLongestHint = 32, kLongestTotal = 80, kLongestDetail = 300;
constexpr std::int64_t kMostMilliseconds = 500;

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

std::string noun_of(const std::string& number, std::string_view noun) {
  return " " + std::string(noun) + (number == "1" ? "" : "s");
}
/// "1 load", "n loads".
std::string with_noun(const std::string& number, std::string_view noun) {
  return number + noun_of(number, noun);
}

struct TotalField {
  std::string_view noun;
  toy::Formula toy::CounterFormulas::*formula;
  toy::Count toy::Counters::*number;
};
constexpr std::array kTotals{
    TotalField{"load", &toy::CounterFormulas::loads, &toy::Counters::loads},
    TotalField{"store", &toy::CounterFormulas::stores, &toy::Counters::stores},
    TotalField{"cycle", &toy::CounterFormulas::cycles, &toy::Counters::cycles}};

}  // namespace

LineCosts::LineCosts(std::shared_ptr<const toy::Program> program, const toy::BoundProgram* defaults,
                     std::string remark)
    : program_(std::move(program)), remark_(std::move(remark)) {
  collect(program_->body, instructions_);
  try {
    toy::Budget budget({kMostMilliseconds, 0});
    if (defaults != nullptr) {
      if (auto times = toy::count_times(*defaults)) {
        times_ = *times;
        numbers_ = toy::count(*defaults, toy::scalar_executions(*defaults, std::move(*times)), {});
      }
      std::vector<std::string> values;
      for (std::size_t i = 0; i < program_->params.size(); ++i) {
        values.push_back(program_->params[i].name + " = " + std::to_string(defaults->params[i]));
      }
      default_values_ = joined(values, ", ");
    }
    auto formulas = toy::cost_formulas(*program_, {}, toy::FormulaScope::kExecutions);
    if (formulas) {
      formulas_ = std::move(*formulas);
    } else {
      unknown_ = formulas.diagnostics.front().what;
    }
  } catch (const toy::BudgetExceeded& exceeded) {
    unknown_ = "no formula: deriving it takes " + std::string(exceeded.what());
  }
}

std::string LineCosts::formula_text(const toy::Formula& formula, std::size_t most) const {
  if (!formula.is_known()) return {};
  toy::FormulaStyle style;
  style.unicode = true;
  for (const toy::ParamDeclaration& param : program_->params) style.order.push_back(param.name);
  const std::string text = toy::to_string(formula, style);
  return display_width(text) <= most ? text : std::string();
}

LineHint LineCosts::total() const {
  std::vector<std::string> formulas, numbers, details;
  bool is_short = true;
  for (const TotalField& field : kTotals) {
    if (numbers_) numbers.push_back(with_noun(((*numbers_).*field.number).get_str(), field.noun));
    if (!formulas_) continue;
    const std::string text = formula_text(formulas_->total.*field.formula, kLongestDetail);
    if (!text.empty()) details.push_back(std::string(field.noun) + "s: " + text);
    is_short = is_short && !text.empty();
    formulas.push_back(with_noun(text, field.noun));
  }
  const std::string line = joined(formulas, ", ");
  if (formulas_ && is_short && display_width(line) <= kLongestTotal) return {1, line, {}};
  std::string why = formulas_ ? joined(details, "\n") : unknown_;
  if (!default_values_.empty()) why += "\nThe numbers are for " + default_values_;
  if (!numbers.empty()) return {1, joined(numbers, ", ") + " at the defaults", why};
  return {1, formulas_ ? "the formulas are too long" : unknown_, why};
}

std::vector<LineHint> LineCosts::hints() const {
  std::vector<LineHint> result{total()};
  if (!remark_.empty()) result.front().text += "; " + remark_;
  std::vector<std::string> formulas;  // by loop body
  if (formulas_) {
    for (const toy::Formula& one : formulas_->by_body) {
      formulas.push_back(formula_text(one, kLongestDetail));
    }
  }
  for (const toy::InstructionStatement* instruction : instructions_) {
    const std::string formula =
        formulas_ ? formulas[formulas_->body_of_site[instruction->site]] : std::string();
    if (formula == "1") continue;
    const std::uint32_t line = instruction->span.line;
    if (!formula.empty() && display_width(formula) <= kLongestHint) {
      result.push_back({line, formula + " times", {}});
    } else if (instruction->site < times_.size()) {
      result.push_back({line,
                        with_noun(times_[instruction->site].get_str(), "time") + " at the defaults",
                        formula.empty() ? unknown_ : formula + " times"});
    }
  }
  return result;
}

std::string about_instruction(const toy::InstructionSpec& spec) {
  return "**" + markdown_text(spec.mnemonic) + "** " + markdown_code(spec.effect) + "\n\n" +
         std::string(spec.meaning);
}

std::string LineCosts::about_line(std::uint32_t line) const {
  const auto found = std::find_if(instructions_.begin(), instructions_.end(),
                                  [&](const auto* one) { return one->span.line == line; });
  if (found == instructions_.end() && line == 1) {
    const LineHint all = total();
    return markdown_text(all.text) +
           (all.details.empty() ? "" : "\n\n```text\n" + all.details + "\n```");
  }
  if (found == instructions_.end()) return {};
  const toy::InstructionStatement& instruction = **found;
  const toy::InstructionSpec& spec = toy::instruction_set()[instruction.row];
  std::string text =
      about_instruction(spec) + "\n\n" + markdown_code(toy::to_string(instruction, *program_));
  if (!formulas_) return text;
  const toy::Formula& executions = formulas_->executions(instruction.site);
  const std::string times = formula_text(executions, kLongestDetail);
  if (!times.empty()) text += "\n\nruns " + markdown_code(times) + noun_of(times, "time");
  const std::string cycles =
      formula_text(mpz_class(static_cast<long>(spec.cycles)) * executions, kLongestDetail);
  if (!cycles.empty()) text += ", " + markdown_code(cycles) + noun_of(cycles, "cycle");
  const std::string all = formula_text(formulas_->total.cycles, kLongestDetail);
  return all.empty() ? text : text + " of " + markdown_code(all);
}

UnchangedLines::UnchangedLines(const toy::SourceText& from, const toy::SourceText& to)
    : from_count_(from.num_lines()), to_count_(to.num_lines()) {
  const std::size_t shorter = std::min(from_count_, to_count_);
  const auto line = [](const toy::SourceText& text, std::size_t number) {
    return text.line(static_cast<std::uint32_t>(number));
  };
  while (before_ < shorter && line(from, before_ + 1) == line(to, before_ + 1)) ++before_;
  while (before_ + after_ < shorter &&
         line(from, from_count_ - after_) == line(to, to_count_ - after_)) {
    ++after_;
  }
}

std::uint32_t UnchangedLines::place_of(std::uint32_t line) const {
  if (line <= before_) return line;
  if (line <= from_count_ - after_) return 0;
  return static_cast<std::uint32_t>(line + to_count_ - from_count_);
}

std::vector<LineHint> carried_over(std::vector<LineHint> hints,
                                   const std::vector<std::uint32_t>& new_lines) {
  std::vector<LineHint> kept;
  for (LineHint& hint : hints) {
    const bool is_total = &hint == hints.data();
    if (!is_total) hint.line = new_lines.at(hint.line);
    if (hint.line == 0) continue;
    hint.details +=
        (hint.details.empty() ? "" : "\n") + std::string("of the last version without errors");
    kept.push_back(std::move(hint));
  }
  return kept;
}

}  // namespace flashlab::cli
