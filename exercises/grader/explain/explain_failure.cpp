// Explains a wrong result: the output's value, its expected value, and the step where they diverge.
#include <algorithm>
#include <cmath>

#include "exercises/grader/exercise/source_lines.hpp"
#include "exercises/grader/explain/explain.hpp"
#include "exercises/grader/explain/explain_repair.hpp"
#include "exercises/grader/judge/dataflow.hpp"
#include "exercises/grader/submission/submission.hpp"
#include "text/numbers.hpp"

namespace flashlab::exercises {
namespace {

constexpr std::size_t kFormulaLength = 160;  // on a line of its own
constexpr std::size_t kNameLength = 48;      // inside a sentence

std::string number_text(double value) {
  return std::isnan(value) ? "nothing" : short_text(value, 7);
}

/// One failed run: its steps, formulas and places in the text.
class Explanation {
 public:
  Explanation(const FailedAttempt& failed, const WrongOutput& cell)
      : failed_(failed),
        cell_(cell),
        bound_(*failed.attempt.bound),
        unrolled_(*failed.attempt.unrolled),
        flow_(unrolled_) {
    auto run = toy::run_normal(bound_, unrolled_);
    if (run) run_ = std::move(*run);
    const toy::BoundArray& array = bound_.arrays[cell.array];
    element_ = static_cast<std::int32_t>(array.offset + cell.element);
    store_ = flow_.last_store(element_);
    if (failed.solution != nullptr) wanted_ = failed.solution->output(array.name, cell.element);
  }

  Finding run() {
    describe();
    if (right_on_paper()) return std::move(finding_);
    if (!lost() && !too_early() && !foreign() && store_ != kNobody) {
      point_at(store_, "step " + at(store_) + " stores it");
    }
    return std::move(finding_);
  }

 private:
  std::string cell() const { return bound_.arrays[cell_.array].element_name(cell_.element); }
  std::uint32_t line(std::int32_t step) const {
    return bound_.instructions[unrolled_.steps[static_cast<std::size_t>(step)].site].span.line;
  }
  /// "9 (line 12)".
  std::string at(std::int32_t step) const {
    return std::to_string(step + 1) + " (line " + std::to_string(line(step)) + ")";
  }
  const toy::NormalForm& form(std::int32_t step) const {
    return run_.results[static_cast<std::size_t>(step)];
  }
  bool has_forms() const { return !run_.results.empty() && wanted_.is_written(); }

  void describe() {
    const std::string size = to_string(failed_.attempt.sized->size);
    finding_.inputs = inputs_text(failed_);
    const std::string where = size.empty() ? "" : " at " + size;
    finding_.what =
        store_ == kNobody ? "nothing is stored in " + cell() + where : cell() + " is wrong" + where;
    const bool numbers = cell_.value != cell_.expected && !finding_.inputs.empty();
    const auto with_number = [&](const std::string& formula, double value) {
      return numbers ? formula + "  = " + number_text(value) : formula;
    };
    if (!has_forms()) {
      finding_.details.push_back("it holds        " + number_text(cell_.value));
      finding_.details.push_back("it should hold  " + number_text(cell_.expected));
      return;
    }
    if (store_ != kNobody) {
      finding_.details.push_back("it holds        " +
                                 with_number(to_string(form(store_), kFormulaLength), cell_.value));
    }
    finding_.details.push_back("it should hold  " +
                               with_number(to_string(wanted_, kFormulaLength), cell_.expected));
  }

  void point_at(std::int32_t step, const std::string& sentence) {
    finding_.line = line(step);
    finding_.step = static_cast<std::uint64_t>(step) + 1;
    finding_.details.push_back(sentence + ".");
    append_source_line(finding_, failed_.text, finding_.line);
  }

  /// The name of the output that should hold this value, or a short formula.
  std::string name_of(const toy::NormalForm& value) const {
    if (failed_.solution != nullptr) {
      for (const toy::BoundArray& array : bound_.arrays) {
        if (array.role != toy::ArrayRole::kOutput) continue;
        for (std::int64_t i = 0; i < array.size; ++i) {
          if (failed_.solution->output(array.name, i) == value) return array.element_name(i);
        }
      }
    }
    return to_string(value, kNameLength);
  }

  /// The first step that computes the wanted value; kNobody if there is none.
  std::int32_t found() const {
    if (!has_forms()) return kNobody;
    for (std::size_t s = 0; s < unrolled_.steps.size(); ++s) {
      if (written_register(unrolled_.steps[s]) >= 0 && run_.results[s] == wanted_) {
        return static_cast<std::int32_t>(s);
      }
    }
    return kNobody;
  }

  /// The formula is right, so rounding or range causes the error.
  bool right_on_paper() {
    if (!has_forms() || store_ == kNobody || !(form(store_) == wanted_)) return false;
    finding_.details.push_back(
        "On paper the formula is right; the machine's rounding makes it wrong.");
    finding_.line = line(store_);
    finding_.step = static_cast<std::uint64_t>(store_) + 1;
    append_source_line(finding_, failed_.text, finding_.line);
    return true;
  }

  /// The wanted value was computed, and then overwritten or stored elsewhere.
  bool lost() {
    const std::int32_t made = found();
    if (made == kNobody || (store_ != kNobody && store_ < made)) return false;
    const std::int32_t over = flow_[static_cast<std::size_t>(made)].overwritten_by;
    const std::string name =
        bound_.register_name(written_register(unrolled_.steps[static_cast<std::size_t>(made)]));
    for (std::size_t s = static_cast<std::size_t>(made); s < unrolled_.steps.size(); ++s) {
      const std::int32_t element = written_element(unrolled_.steps[s]);
      if (element < 0 || element == element_ || !(run_.results[s] == wanted_)) continue;
      if (is_wanted_at(element, run_.results[s])) continue;
      point_at(static_cast<std::int32_t>(s), "step " + at(static_cast<std::int32_t>(s)) +
                                                 " stores the value of " + cell() +
                                                 " in another cell");
      return true;
    }
    if (over != kNobody && (store_ == kNobody || over < store_)) {
      point_at(over, "step " + at(over) + " overwrote " + name + ", which held " + cell() +
                         ", before it was stored");
      return true;
    }
    if (store_ == kNobody) {
      point_at(made, name + " holds it from step " + at(made) + " on, and is never stored there");
      return true;
    }
    point_at(store_, "step " + at(store_) + " stores another register: " + name +
                         " holds what belongs there");
    return true;
  }

  bool is_wanted_at(std::int32_t element, const toy::NormalForm& value) const {
    for (const toy::BoundArray& array : bound_.arrays) {
      const std::int64_t i = element - array.offset;
      if (i >= 0 && i < array.size) return failed_.solution->output(array.name, i) == value;
    }
    return false;
  }

  /// The wanted value is computed only after the store.
  bool too_early() {
    const std::int32_t made = found();
    if (made == kNobody || store_ == kNobody || store_ > made) return false;
    point_at(store_,
             "step " + at(store_) + " stores it too early: it is complete after step " + at(made));
    return true;
  }

  /// The first step that the wrong output depends on and whose result the solution never computes.
  bool foreign() {
    if (!has_forms() || store_ == kNobody || failed_.solution == nullptr) return false;
    const std::vector<char> slice = flow_.slice(store_);
    for (std::size_t s = 0; s < slice.size(); ++s) {
      if (slice[s] == 0 || failed_.solution->hashes.contains(run_.results[s].hash())) continue;
      if (clobbered(s)) return true;
      const std::int32_t step = static_cast<std::int32_t>(s);
      point_at(step, "step " + at(step) + " is the first wrong step: it computes " +
                         to_string(run_.results[s], kNameLength));
      return true;
    }
    return false;
  }

  /// An operand of the step was overwritten before any step used its old value.
  bool clobbered(std::size_t astray) {
    const toy::UnrolledStep& step = unrolled_.steps[astray];
    const toy::InstructionSpec& spec = toy::instruction_set()[step.row];
    for (std::size_t i = 0; i < spec.num_operands; ++i) {
      const std::int32_t source = flow_[astray].sources[i];
      if (!toy::is_register_read(spec.operands[i]) || source == kNobody) continue;
      for (std::int32_t before = source - 1; before >= 0; --before) {
        const FlowStep& entry = flow_[static_cast<std::size_t>(before)];
        if (entry.overwritten_by != source || entry.used) continue;
        point_at(source, "step " + at(source) + " overwrote " +
                             bound_.register_name(step.slots[i]) + ", which held " +
                             name_of(form(before)) + ", before anything used it");
        return true;
      }
    }
    return false;
  }

  const FailedAttempt& failed_;
  const WrongOutput& cell_;
  const toy::BoundProgram& bound_;
  const toy::UnrolledProgram& unrolled_;
  Dataflow flow_;
  toy::NormalRun run_;
  toy::NormalForm wanted_;
  std::int32_t element_ = 0;
  std::int32_t store_ = kNobody;
  Finding finding_;
};

/// Removes the step, which the finding states: "step 13 (i = 1): the result overflows" becomes "at
/// i = 1: …".
std::string without_step(const std::string& what) {
  const std::string start = "step ";
  const std::size_t end = what.find(": ");
  if (!what.starts_with(start) || end == std::string::npos) return what;
  const std::size_t loops = what.find('(');
  const std::string rest = what.substr(end + 2);
  return loops < end ? "at " + what.substr(loops + 1, end - loops - 2) + ": " + rest : rest;
}

Finding explain_error(const FailedAttempt& failed) {
  const Failure& failure = *failed.attempt.failure;
  Finding finding = finding_of(*failure.error, failed.text);
  finding.what = without_step(finding.what);
  finding.step = failure.step;
  finding.inputs = inputs_text(failed);
  return finding;
}

/// States only numbers: for tiles, or when the budget has ended.
Finding explain_numbers(const FailedAttempt& failed) {
  const WrongOutput& cell = *failed.attempt.failure->cell;
  Finding finding;
  finding.what = failed.attempt.bound->arrays[cell.array].element_name(cell.element) +
                 " is wrong at " + to_string(failed.attempt.sized->size);
  finding.details = {"it holds        " + number_text(cell.value),
                     "it should hold  " + number_text(cell.expected)};
  finding.inputs = inputs_text(failed);
  return finding;
}

}  // namespace

std::string inputs_text(const FailedAttempt& failed) {
  const SizedCases& sized = *failed.attempt.sized;
  const std::string size = to_string(sized.size);
  return (size.empty() ? "" : size + ", ") +
         std::string(to_string(sized.cases[failed.attempt.failure->entry].family)) + " inputs";
}

Finding state_failure(const FailedAttempt& failed) {
  return failed.attempt.failure->error ? explain_error(failed) : explain_numbers(failed);
}

std::vector<Finding> explain_failure(const FailedAttempt& failed) {
  const Failure& failure = *failed.attempt.failure;
  Finding finding = failure.error             ? explain_error(failed)
                    : failed.attempt.unrolled ? Explanation(failed, *failure.cell).run()
                                              : explain_numbers(failed);
  point_at_repair(failed, finding);
  return {std::move(finding)};
}

}  // namespace flashlab::exercises
