#include "exercises/grader/explain/undefined_result.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "exercises/grader/explain/claims.hpp"
#include "exercises/grader/explain/right_steps.hpp"
#include "exercises/grader/judge/attempt.hpp"
#include "exercises/grader/repair/operand_rules.hpp"
#include "exercises/grader/repair/value_runs.hpp"
#include "exercises/grader/submission/statement_lines.hpp"
#include "exercises/grader/submission/submission.hpp"
#include "text/numbers.hpp"
#include "toymachine/execute/dram.hpp"
#include "toymachine/forms/form_algebra.hpp"
#include "toymachine/replay/replay.hpp"

namespace flashlab::exercises {
namespace {

constexpr double kCloseNumber = 1e-4;  // beside the larger of two numbers

bool is_close_number(double a, double b) {
  if (!std::isfinite(a) || !std::isfinite(b)) return a == b;
  return std::abs(a - b) <= kCloseNumber * std::max({std::abs(a), std::abs(b), 1e-30});
}

std::string digits_text(double value) { return short_text(value, 6); }

const toy::InstructionSpec& row_spec(const toy::BoundInstruction& instruction) {
  return toy::instruction_set()[instruction.row];
}

/// The element of a tile that an error names: "… in row 0, column 2 of the tile".
std::pair<std::int64_t, std::int64_t> element_named(const std::string& what) {
  const auto number_after = [&](const std::string& word) {
    const std::size_t at = what.find(word);
    return at == std::string::npos ? 0 : std::atoll(what.c_str() + at + word.size());
  };
  return {number_after(" in row "), number_after(", column ")};
}

/// The operands of the step at which a replayed run ends.
class FailingStep {
 public:
  FailingStep(toy::Replay& replay, const std::string& what, bool is_nan)
      : replay_(replay),
        point_(replay.point()),
        instruction_(replay.program().instructions[point_.site]),
        element_(element_named(what)),
        is_nan_(is_nan) {}

  std::optional<UndefinedResult> find() {
    UndefinedResult result;
    result.line = instruction_.span.line;
    result.site = point_.site;
    result.is_nan = is_nan_;
    result.earlier = replay_.execution().executions.times[point_.site].get_ui();
    if (!read_operands()) return std::nullopt;
    result.is_product = row_spec(instruction_).flop_kind == toy::FlopKind::kProduct &&
                        std::any_of(contents_.begin(), contents_.end(),
                                    [](const auto& one) { return one.elements.size() > 1; });
    result.numbers = result.is_product ? infinite_numbers() : numbers();
    if (result.numbers.empty()) return std::nullopt;
    for (ReadNumber& number : result.numbers) number.written_in = writer_of(number.position);
    return result;
  }

 private:
  std::int64_t register_of(std::size_t position) const {
    return instruction_.operands[position].index(point_.loop_values.data());
  }

  /// Returns false if an operand is no register.
  bool read_operands() {
    for (std::size_t i = 0; i < instruction_.operands.size(); ++i) {
      const toy::OperandKind kind = instruction_.operands[i].kind;
      if (kind == toy::OperandKind::kDestination) continue;
      if (!toy::is_register_read(kind)) return false;
      const std::int64_t number = register_of(i);
      if (number < 0 || number >= replay_.program().num_registers) return false;
      contents_.push_back(replay_.register_contents(number));
      positions_.push_back(i);
      if (!contents_.back().is_written()) return false;
    }
    return !contents_.empty();
  }

  ReadNumber number_at(std::size_t operand, std::int64_t row, std::int64_t col) const {
    const toy::RegisterContents& tile = contents_[operand];
    ReadNumber number;
    number.position = positions_[operand];
    number.name = replay_.program().register_name(register_of(number.position));
    number.row = row;
    number.col = col;
    number.is_one = tile.elements.size() == 1;
    number.value = tile.elements[static_cast<std::size_t>(row * tile.cols + col)];
    return number;
  }

  /// Element by element: a number for each operand. Empty if they do not make the result undefined.
  std::vector<ReadNumber> numbers() const {
    std::vector<ReadNumber> found;
    std::vector<double> values;
    for (std::size_t i = 0; i < contents_.size(); ++i) {
      const std::int64_t row = contents_[i].rows == 1 ? 0 : element_.first;
      const std::int64_t col = contents_[i].cols == 1 ? 0 : element_.second;
      if (row >= contents_[i].rows || col >= contents_[i].cols) return {};
      found.push_back(number_at(i, row, col));
      values.push_back(found.back().value);
    }
    const auto kind = row_spec(instruction_).flop_kind;
    if (kind == toy::FlopKind::kReduction || row_spec(instruction_).is_mask()) return {};
    if (std::isfinite(toy::numeric_effect(instruction_.row, values))) {
      const bool is_huge = std::any_of(values.begin(), values.end(), [](double value) {
        return std::abs(value) > 1e15;  // in float, and not in double
      });
      const bool is_exponential = kind == toy::FlopKind::kExponential;
      if (!is_huge && !is_exponential) return {};
    }
    return found;
  }

  /// Of a product of tiles: the first -inf of each operand among those that this element is made of.
  std::vector<ReadNumber> infinite_numbers() const {
    std::vector<ReadNumber> found;
    for (std::size_t i = 0; i < contents_.size(); ++i) {
      const toy::RegisterContents& tile = contents_[i];
      const bool is_transposed = instruction_.operands[positions_[i]].transposed;
      for (std::int64_t row = 0; row < tile.rows; ++row) {
        for (std::int64_t col = 0; col < tile.cols; ++col) {
          const std::int64_t there_row = is_transposed ? col : row;
          const std::int64_t there_col = is_transposed ? row : col;
          const bool is_used = i == 0   ? there_row == element_.first
                               : i == 1 ? there_col == element_.second
                                        : row == element_.first && col == element_.second;
          ReadNumber number = number_at(i, row, col);
          if (!is_used || !std::isinf(number.value)) continue;
          found.push_back(std::move(number));
          row = tile.rows - 1;
          break;
        }
      }
    }
    return found;
  }

  /// The line of the step that wrote the register last.
  std::uint32_t writer_of(std::size_t position) {
    const std::uint64_t here = replay_.step();
    const auto step = replay_.writer_of(toy::Place{false, register_of(position)});
    if (!step) return 0;
    replay_.go_to(*step);
    const std::uint32_t line = replay_.program().instructions[replay_.point().site].span.line;
    replay_.go_to(here);
    return line;
  }

  toy::Replay& replay_;
  const toy::RunPoint point_;
  const toy::BoundInstruction& instruction_;
  const std::pair<std::int64_t, std::int64_t> element_;
  const bool is_nan_;
  std::vector<toy::RegisterContents> contents_;  // of the operands that are read
  std::vector<std::size_t> positions_;           // of these operands
};

/// The number in a right program, before the same execution of the same line; nothing if that is not known.
class RightNumbers {
 public:
  RightNumbers(const FailedAttempt& failed, const Repairs& repairs, const UndefinedResult& result)
      : result_(result) {
    const auto program = right_program(failed, repairs);
    if (program == nullptr) return;
    auto bound = bound_alone(failed.task, program, failed.attempt.sized->size);
    if (!bound) return;
    run_ =
        run_values(std::move(*bound), failed.attempt.sized->cases[failed.attempt.failure->entry]);
    if (!run_) return;
    const StatementLines mine(failed.text), right(*program->source);
    const auto here = mine.with(mine.words(result.line)),
               there = right.with(mine.words(result.line));
    if (here.size() != 1 || there.size() != 1) return;
    std::uint64_t earlier = result.earlier;
    for (std::size_t s = 0; s < run_->values.steps.size() && step_ == SIZE_MAX; ++s) {
      if (run_->line(run_->values.steps[s].site) == there.front() && earlier-- == 0) step_ = s;
    }
  }

  std::optional<double> of(const ReadNumber& number) const {
    if (step_ == SIZE_MAX) return std::nullopt;
    const std::int64_t place = run_->values.steps[step_].reads[number.position];
    for (std::size_t s = step_; place >= 0 && s-- > 0;) {
      const toy::StepValue& value = run_->values.steps[s];
      if (value.is_stored || value.rows == 0 || value.place != place) continue;
      if (number.row >= value.rows || number.col >= value.cols) return std::nullopt;
      const auto at = static_cast<std::size_t>(number.row * value.cols + number.col);
      return run_->values.of(value)[at];
    }
    return std::nullopt;
  }

 private:
  const UndefinedResult& result_;
  std::optional<ValueRun> run_;
  std::size_t step_ = SIZE_MAX;
};

/// "-inf - -inf": the effect of an instruction, "Rd = Ra - Rb", with numbers for its registers.
std::string effect_with_numbers(std::size_t row, const std::vector<ReadNumber>& numbers) {
  const toy::InstructionSpec& spec = toy::instruction_set()[row];
  std::string text(spec.effect.substr(spec.effect.find("= ") + 2));
  for (const ReadNumber& number : numbers) {
    const std::string name = operand_name(spec, number.position);
    const std::size_t at = text.find(name);
    if (at != std::string::npos) text.replace(at, name.size(), digits_text(number.value));
  }
  return text;
}

std::string element_text(const ReadNumber& number) {
  return number.is_one
             ? ""
             : " in row " + std::to_string(number.row) + ", column " + std::to_string(number.col);
}

std::string from_line_text(const ReadNumber& number) {
  return number.written_in == 0 ? "" : " (from line " + std::to_string(number.written_in) + ")";
}

/// The operands, each register once.
std::vector<ReadNumber> distinct_registers(const std::vector<ReadNumber>& numbers) {
  std::vector<ReadNumber> found;
  for (const ReadNumber& number : numbers) {
    const bool is_known = std::any_of(found.begin(), found.end(), [&](const ReadNumber& other) {
      return other.name == number.name;
    });
    if (!is_known) found.push_back(number);
  }
  return found;
}

/// "A (from line 33) and M (from line 25) are both -inf here", "R1 is 300 here"
std::string numbers_text(const std::vector<ReadNumber>& numbers) {
  const bool are_equal = numbers.size() == 2 && numbers[0].value == numbers[1].value;
  if (are_equal) {
    return numbers[0].name + from_line_text(numbers[0]) + " and " + numbers[1].name +
           from_line_text(numbers[1]) + " are both " + digits_text(numbers[0].value) + " here";
  }
  std::string text;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    text += i == 0 ? "" : i + 1 == numbers.size() ? " and " : ", ";
    text += numbers[i].name + from_line_text(numbers[i]) + " is " + digits_text(numbers[i].value);
  }
  return text + " here";
}

std::string undefined_sentence(const toy::BoundProgram& bound, const UndefinedResult& result) {
  const std::vector<ReadNumber> numbers = distinct_registers(result.numbers);
  if (result.is_product) {
    std::string text = "The sum of products has -inf in it: ";
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      text += (i == 0 ? "" : ", ") + numbers[i].name + from_line_text(numbers[i]) + " is " +
              digits_text(numbers[i].value) + element_text(numbers[i]);
    }
    return text;
  }
  const bool are_finite = std::all_of(numbers.begin(), numbers.end(), [](const ReadNumber& number) {
    return std::isfinite(number.value) && number.value != 0;
  });
  const std::string what = result.is_nan ? " is not a number"
                           : are_finite  ? " is too large for the machine's numbers"
                                         : " is +inf";
  return effect_with_numbers(bound.instructions[result.site].row, result.numbers) + what + ": " +
         numbers_text(numbers);
}

/// ". M should be 0.134535"
std::string right_numbers_text(const UndefinedResult& result, const RightNumbers& right) {
  std::string text;
  for (const ReadNumber& number : distinct_registers(result.numbers)) {
    const auto wanted = right.of(number);
    if (!wanted || is_close_number(number.value, *wanted)) continue;
    text += (text.empty() ? ". " : ", and ") + number.name + " should be " + digits_text(*wanted);
  }
  return text;
}

}  // namespace

std::optional<UndefinedResult> undefined_result(const toy::BoundProgram& bound, const Case& entry) {
  const auto dram = dram_for(bound, entry);
  if (!dram) return std::nullopt;
  auto replay = toy::Replay::start(bound, toy::InitialDram::of_cells(bound, *dram));
  if (!replay) return std::nullopt;
  (*replay)->go_to(UINT64_MAX);
  if ((*replay)->error() == nullptr || (*replay)->step() == 0) return std::nullopt;
  const std::string what = (*replay)->error()->what;
  const bool is_nan = what.find("(NaN)") != std::string::npos;
  if (!is_nan && what.find("overflows to +inf") == std::string::npos) return std::nullopt;
  const std::uint64_t step = (*replay)->step();
  (*replay)->go_to(step - 1);  // the step has written its register, which it may have read
  (*replay)->go_to(step);
  return FailingStep(**replay, what, is_nan).find();
}

std::string pattern_of(const UndefinedResult& result) {
  std::string text = result.is_nan ? "NaN" : "+inf";
  for (const ReadNumber& number : result.numbers) {
    const bool is_named = std::isinf(number.value) || number.value == 0;
    text += " " + number.name.substr(0, number.name.find('[')) + "=" +
            (is_named ? digits_text(number.value) : "number");
  }
  return text;
}

std::string undefined_text(const FailedAttempt& failed, const Repairs& repairs, Claim& claim) {
  const Failure& failure = *failed.attempt.failure;
  if (!failure.error || failed.attempt.machines || !failed.attempt.bound) return {};
  const Case& entry = failed.attempt.sized->cases[failure.entry];
  const auto result = undefined_result(*failed.attempt.bound, entry);
  if (!result || result->line != failure.error->span.line) return {};
  claim = {Claim::Kind::kUndefined, result->line, 0, "", pattern_of(*result)};
  if (!is_confirmed(claim, failed)) return {};
  return undefined_sentence(*failed.attempt.bound, *result) +
         right_numbers_text(*result, RightNumbers(failed, repairs, *result)) + ".";
}

}  // namespace flashlab::exercises
