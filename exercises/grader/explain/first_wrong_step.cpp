#include "exercises/grader/explain/first_wrong_step.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>
#include <vector>

#include "exercises/grader/repair/operand_rules.hpp"
#include "toymachine/forms/form_algebra.hpp"
#include "toymachine/forms/formula_difference.hpp"

namespace flashlab::exercises {
namespace {

constexpr std::size_t kNameLength = 48;  // of a formula in a sentence

const toy::InstructionSpec& instruction_of(const toy::UnrolledStep& step) {
  return toy::instruction_set()[step.row];
}

class Finder {
 public:
  explicit Finder(const FailedRun& run) : run_(run), slice_(run.flow().slice(run.failing_step())) {}

  std::optional<WrongStep> find() {
    if (auto found = not_added(run_)) return found;
    std::optional<WrongStep> first;
    for (std::size_t s = 0; s < slice_.size(); ++s) {
      const auto step = static_cast<std::int32_t>(s);
      if (slice_[s] == 0 || run_.is_known(run_.form(step))) continue;
      if (exchanged(step)) {
        return exchange(step);
      }
      if (!first) {
        first = overwritten_operand(step);
        if (!first) first = used_too_early(step);
        if (!first) first = foreign(step);
      }
    }
    return first;
  }

  std::vector<WrongStep> all() const {
    std::vector<WrongStep> found;
    for (std::size_t s = 0; s < run_.steps().size(); ++s) {
      const auto step = static_cast<std::int32_t>(s);
      if (!run_.form(step).is_written() || run_.is_known(run_.form(step))) continue;
      if (exchanged(step)) found.push_back(exchange(step));
      if (auto overwrote = overwritten_operand(step)) found.push_back(std::move(*overwrote));
      if (auto early = used_too_early(step)) found.push_back(std::move(*early));
      found.push_back(foreign(step));
    }
    return found;
  }

 private:
  std::string text(const toy::NormalForm& form) const {
    return toy::shortened_formula(run_.text(form), kNameLength);
  }

  std::string name_of(const toy::NormalForm& value) const {
    const std::string output = run_.output_with(value);
    return output.empty() ? text(value) : output;
  }

  WrongStep exchange(std::int32_t step) const {
    const std::string value = text(run_.form(step));
    // "undefined(minus -inf: …)" says nothing to a reader.
    const bool is_number = value.find("undefined") == std::string::npos;
    return {WrongStep::Kind::kExchanged,
            step,
            "step " + run_.at(step) + " computes " + (is_number ? value + ", " : "") +
                exchange_text(run_.steps()[static_cast<std::size_t>(step)].row),
            {}};
  }

  WrongStep foreign(std::int32_t step) const {
    return {WrongStep::Kind::kForeign, step, foreign_text(run_, step), {}};
  }

  /// An operand of the step was overwritten before any step used its old value.
  std::optional<WrongStep> overwritten_operand(std::int32_t wrong) const {
    const auto at = static_cast<std::size_t>(wrong);
    const toy::UnrolledStep& step = run_.steps()[at];
    const toy::InstructionSpec& spec = instruction_of(step);
    for (std::size_t i = 0; i < spec.num_operands; ++i) {
      const std::int32_t source = run_.flow()[at].sources[i];
      if (!toy::is_register_read(spec.operands[i]) || source == kNobody) continue;
      for (std::int32_t before = source - 1; before >= 0; --before) {
        const FlowStep& entry = run_.flow()[static_cast<std::size_t>(before)];
        if (entry.overwritten_by != source || entry.used) continue;
        return WrongStep{WrongStep::Kind::kOverwrote, source,
                         "step " + run_.at(source) + " overwrote " +
                             run_.bound().register_name(step.slots[i]) + ", which held " +
                             name_of(run_.form(before)) + ", before anything used it",
                         run_.bound().register_name(step.slots[i])};
      }
    }
    return std::nullopt;
  }

  /// A register of the step goes on to change, and with its later value the step would compute a
  /// value of the solution: a sum was used before its last term came.
  std::optional<WrongStep> used_too_early(std::int32_t wrong) const {
    constexpr std::size_t kMostLater = 16;
    const auto at = static_cast<std::size_t>(wrong);
    const toy::UnrolledStep& step = run_.steps()[at];
    std::vector<toy::NormalForm> operands;
    std::vector<std::int32_t> sources;
    for (std::size_t i = 0; i + 1 < instruction_of(step).num_operands; ++i) {
      const std::int32_t source = run_.flow()[at].sources[i];
      if (!toy::is_register_read(instruction_of(step).operands[i]) || source == kNobody) return {};
      sources.push_back(source);
      operands.push_back(run_.form(source));
    }
    if (sources.size() < 2 ||
        instruction_of(step).operands[sources.size()] != toy::OperandKind::kDestination) {
      return {};
    }
    for (std::size_t i = 0; i < sources.size(); ++i) {
      const toy::NormalForm now = operands[i];
      std::int32_t later = sources[i];
      for (std::size_t k = 0; k < kMostLater; ++k) {
        const std::int32_t next = run_.flow()[static_cast<std::size_t>(later)].overwritten_by;
        if (next <= wrong || !reads(next, later)) break;
        later = next;
        operands[i] = run_.form(later);
        if (operands[i].is_written() && computes_known(step.row, operands)) {
          const std::string name = run_.bound().register_name(step.slots[i]);
          return WrongStep{WrongStep::Kind::kTooEarly, wrong,
                           "step " + run_.at(wrong) + " uses " + name +
                               " too early: it is complete only after step " + run_.at(later),
                           name};
        }
      }
      operands[i] = now;
    }
    return {};
  }

  /// Whether the step reads what the earlier one wrote.
  bool reads(std::int32_t step, std::int32_t earlier) const {
    const auto& sources = run_.flow()[static_cast<std::size_t>(step)].sources;
    return std::find(sources.begin(), sources.end(), earlier) != sources.end();
  }

  bool computes_known(std::size_t row, const std::vector<toy::NormalForm>& operands) const {
    try {
      const toy::NormalForm value = toy::FormAlgebra().effect(row, operands);
      return value.is_written() && run_.is_known(value);
    } catch (const std::length_error&) {
      return false;  // a formula that is too long is not compared
    }
  }

  /// Whether the step would compute a value of the solution with its sources exchanged.
  bool exchanged(std::int32_t s) const {
    const auto at = static_cast<std::size_t>(s);
    const toy::UnrolledStep& step = run_.steps()[at];
    if (!order_matters(step.row)) return false;
    const auto& sources = run_.flow()[at].sources;
    if (sources[0] == kNobody || sources[1] == kNobody) return false;
    const std::vector<toy::NormalForm> operands{run_.form(sources[1]), run_.form(sources[0])};
    return computes_known(step.row, operands) && !is_loaded(step.row, operands);
  }

  /// Whether the step would compute what a step loads: x[0] - 0 is known, and nothing that it should be.
  bool is_loaded(std::size_t row, const std::vector<toy::NormalForm>& operands) const {
    const toy::NormalForm value = toy::FormAlgebra().effect(row, operands);
    for (std::size_t s = 0; s < run_.steps().size(); ++s) {
      if (!instruction_of(run_.steps()[s]).is_load()) continue;
      if (run_.form(static_cast<std::int32_t>(s)) == value) return true;
    }
    return false;
  }

  const FailedRun& run_;
  const std::vector<char> slice_;
};

}  // namespace

std::string foreign_text(const FailedRun& run, std::int32_t step) {
  return "step " + run.at(step) +
         " is the first that computes what the exercise's solution does not: " +
         toy::shortened_formula(run.text(run.form(step)), kNameLength);
}

std::string to_string(WrongStep::Kind kind) {
  constexpr std::array<const char*, 5> kNames{"foreign", "overwrote", "exchanged", "used too early",
                                              "not added"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::optional<WrongStep> not_added(const FailedRun& run) {
  if (run.element() < 0 || run.failing_step() < 0 || !run.wanted().is_written()) return {};
  std::vector<toy::NormalForm> stored;
  const auto last = static_cast<std::size_t>(run.failing_step());
  const std::uint32_t site = run.steps()[last].site;
  if (instruction_of(run.steps()[last]).is_update()) return {};
  for (std::size_t s = 0; s <= last; ++s) {
    const toy::UnrolledStep& step = run.steps()[s];
    if (step.site != site || written_element(step) != run.element()) continue;
    stored.push_back(run.form(static_cast<std::int32_t>(s)));
  }
  if (stored.size() < 2) return {};
  try {
    toy::FormAlgebra algebra;
    toy::NormalForm sum = stored.front();
    for (std::size_t i = 1; i < stored.size(); ++i) sum = algebra.add(sum, stored[i]);
    if (!(sum == run.wanted())) return {};
  } catch (const std::length_error&) {
    return {};
  }
  return WrongStep{WrongStep::Kind::kNotAdded,
                   run.failing_step(),
                   "line " + std::to_string(run.line(run.failing_step())) +
                       " overwrites what it stored there before: " + run.cell() +
                       " should hold the sum of all " + std::to_string(stored.size()) + " values",
                   {}};
}

std::vector<WrongStep> all_wrong_steps(const FailedRun& run) {
  if (!run.has_forms()) return {};
  return Finder(run).all();
}

std::optional<WrongStep> first_wrong_step(const FailedRun& run) {
  if (!run.has_forms() || run.failing_step() == kNobody) return std::nullopt;
  return Finder(run).find();
}

std::string exchange_text(std::size_t row) {
  constexpr std::array<double, 2> kOneWay{2, 3}, kOther{3, 2};
  const double one = toy::numeric_effect(row, kOneWay), other = toy::numeric_effect(row, kOther);
  if (one + other == 0) return "the negative of what it should be";
  if (one * other == 1) return "the reciprocal of what it should be";
  return "with its sources exchanged";
}

}  // namespace flashlab::exercises
