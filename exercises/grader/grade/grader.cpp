#include "exercises/grader/grade/grader.hpp"

#include <utility>

#include "exercises/grader/exercise/answers.hpp"
#include "exercises/grader/explain/explain.hpp"
#include "exercises/grader/grade/check_rows.hpp"
#include "exercises/grader/grade/grading.hpp"
#include "exercises/grader/grade/prepared_exercise.hpp"

namespace flashlab::exercises {
namespace {

Verdict graded_answers(const Exercise& exercise, const toy::SourceText& submission,
                       const toy::BudgetLimits& limits) {
  try {
    const toy::Budget budget(limits);
    return grade_answers(exercise, submission);
  } catch (const toy::BudgetExceeded& over) {
    Verdict verdict;
    verdict.outcome = Outcome::kLimit;
    verdict.max_points = exercise.max_points();
    verdict.findings = {over_budget(over)};
    return verdict;
  }
}

}  // namespace

struct Grader::Shared {
  PreparedExercise prepared;
};

Grader::Grader(std::shared_ptr<const Exercise> exercise, const GraderOptions& options)
    : shared_(std::make_unique<const Shared>(Shared{prepare(std::move(exercise), options)})) {}
Grader::~Grader() = default;
Grader::Grader(Grader&&) noexcept = default;

const Exercise& Grader::exercise() const { return *shared_->prepared.exercise; }

toy::BudgetLimits Grader::limits() const { return shared_->prepared.limits(); }

Verdict Grader::grade(const toy::SourceText& submission) const {
  const PreparedExercise& prepared = shared_->prepared;
  if (prepared.exercise->kind == Kind::kQuestions) {
    return graded_answers(*prepared.exercise, submission, prepared.limits());
  }
  Verdict verdict = grade_program(prepared, submission);
  complete_checks(prepared.exercise->program, verdict);
  return verdict;
}

Verdict Grader::grade(const std::string& name, const std::string& text) const {
  return grade(toy::SourceText(name, text));
}

}  // namespace flashlab::exercises
