#include "exercises/grader/grader.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "exercises/grader/answers.hpp"
#include "exercises/grader/cases.hpp"
#include "exercises/grader/count_keys.hpp"
#include "exercises/grader/submission.hpp"
#include "toymachine/dram.hpp"
#include "toymachine/interpreter.hpp"

namespace flashlab::exercises {
namespace {

constexpr std::size_t kCasesPerSize = 14;

double value_at(const toy::Polynomial& formula, const Size& size) {
  const auto value = toy::evaluate(formula, [&](const std::string& symbol) {
    const auto found = size.find(symbol);
    return found == size.end() ? std::nullopt : std::optional<mpz_class>(found->second);
  });
  if (!value) throw std::runtime_error("a formula in [cost] uses an unknown parameter");
  return value->get_d();
}

}  // namespace

std::string_view to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::kFull:
      return "full marks";
    case Outcome::kCostly:
      return "right, but costly";
    case Outcome::kPartial:
      return "partly right";
    case Outcome::kWrong:
      return "wrong";
    case Outcome::kRejected:
      return "rejected";
    case Outcome::kLimit:
      return "limit exceeded";
    case Outcome::kUnreadable:
      return "unreadable";
  }
  return "";
}

struct Grader::Shared {
  std::shared_ptr<const Exercise> exercise;
  GraderOptions options;
  std::vector<SizedCases> sizes;
};

namespace {

/// One submission on its way through the cases.
class Grading {
 public:
  Grading(const ProgramTask& task, const std::vector<SizedCases>& sizes,
          const toy::SourceText& text)
      : task_(task), sizes_(sizes), text_(text) {}

  Verdict run() {
    verdict_.max_points = task_.points.correct + task_.points.cost;
    Refusal refusal;
    program_ = read_submission(task_, text_, refusal);
    if (program_ == nullptr) {
      verdict_.outcome = refusal.outcome;
      verdict_.findings = std::move(refusal.findings);
      return std::move(verdict_);
    }
    verdict_.outcome = Outcome::kFull;
    for (const SizedCases& sized : sizes_) {
      if (!run_size(sized)) return std::move(verdict_);
    }
    verdict_.points = task_.points.correct;
    judge_cost();
    return std::move(verdict_);
  }

 private:
  bool fail(Outcome outcome, Finding finding) {
    verdict_.outcome = outcome;
    verdict_.findings.push_back(std::move(finding));
    return false;
  }
  bool fail(const std::vector<toy::Diagnostic>& diagnostics, Outcome outcome) {
    for (const toy::Diagnostic& diagnostic : diagnostics) {
      if (diagnostic.fault == toy::Fault::kLimit) outcome = Outcome::kLimit;
      fail(outcome, finding_of(diagnostic, text_));
    }
    return false;
  }

  bool run_size(const SizedCases& sized) {
    auto bound = bind_submission(task_, program_, sized.size);
    if (!bound) return fail(bound.diagnostics, Outcome::kRejected);
    const auto executions = toy::count_executions(*bound);
    if (!executions) return fail(executions.diagnostics, Outcome::kWrong);
    counters_ = toy::count(*bound, *executions, {});
    Check check{"results at " + to_string(sized.size), true, 0, 0, {}};
    for (const Case& entry : sized.cases) {
      check.passed = check.passed && run_case(*bound, entry, sized.size);
      if (!check.passed) break;
    }
    verdict_.checks.push_back(check);
    bound_ = std::move(*bound);
    return check.passed;
  }

  bool run_case(const toy::BoundProgram& bound, const Case& entry, const Size& size) {
    std::map<std::string, toy::InputSource> sources;
    for (const auto& [name, array] : entry.inputs) {
      sources[name] = toy::ListInput{array.extents, array.values};
    }
    auto dram = toy::initial_dram(bound, sources);
    if (!dram) return fail(dram.diagnostics, Outcome::kWrong);
    std::vector<float> cells(dram->begin(), dram->end());
    const auto run = toy::run(bound, std::span<float>(cells));
    if (!run) return fail(run.diagnostics, Outcome::kWrong);
    for (const toy::BoundArray& array : bound.arrays) {
      const auto wanted = entry.expected.find(array.name);
      if (wanted == entry.expected.end()) continue;
      const double scale = scale_of(wanted->second);
      for (std::int64_t i = 0; i < array.size; ++i) {
        const auto at = static_cast<std::size_t>(i);
        const double value = cells[static_cast<std::size_t>(array.offset) + at];
        if (close_enough(value, wanted->second.values[at], scale, task_.tolerance)) continue;
        Finding finding;
        finding.what = array.name + " is wrong";
        finding.inputs = to_string(size) + ", " + std::string(to_string(entry.family)) + " inputs";
        return fail(Outcome::kWrong, std::move(finding));
      }
    }
    return true;
  }

  void judge_cost() {
    const Size& size = sizes_.back().size;
    verdict_.size = size;
    double share = 0;
    for (const auto& [key, formula] : task_.cost.full) {
      const double full = value_at(formula, size);
      CostLine line{key, count_of(key, counters_, bound_), toy::Count(full), {}};
      const double value = line.value.get_d();
      const double part = value <= full ? 1 : std::max(0.0, 2 - value / std::max(full, 1.0));
      if (value > full) verdict_.outcome = Outcome::kCostly;
      share += part / static_cast<double>(task_.cost.full.size());
      verdict_.costs.push_back(std::move(line));
    }
    verdict_.points += task_.points.cost * share;
  }

  const ProgramTask& task_;
  const std::vector<SizedCases>& sizes_;
  const toy::SourceText& text_;
  std::shared_ptr<const toy::Program> program_;
  toy::BoundProgram bound_;
  toy::Counters counters_;
  Verdict verdict_;
};

}  // namespace

Grader::Grader(std::shared_ptr<const Exercise> exercise, const GraderOptions& options) {
  auto shared = std::make_unique<Shared>();
  shared->exercise = std::move(exercise);
  shared->options = options;
  if (shared->exercise->kind == Kind::kProgram) {
    shared->sizes = make_cases(shared->exercise->program, options.seed, kCasesPerSize);
  }
  shared_ = std::move(shared);
}
Grader::~Grader() = default;
Grader::Grader(Grader&&) noexcept = default;

const Exercise& Grader::exercise() const { return *shared_->exercise; }

Verdict Grader::grade(const toy::SourceText& submission) const {
  const Exercise& exercise = *shared_->exercise;
  if (exercise.kind == Kind::kQuestions) return grade_answers(exercise, submission);
  return Grading(exercise.program, shared_->sizes, submission).run();
}

Verdict Grader::grade(const std::string& name, const std::string& text) const {
  return grade(toy::SourceText(name, text));
}

}  // namespace flashlab::exercises
