#include "exercises/isolation/isolated_grader.hpp"

#include <utility>
#include <variant>

#include "toymachine/budget/budget.hpp"

namespace flashlab::exercises {
namespace {

WorkOrder order_for(const Exercise& exercise, const GraderOptions& options) {
  WorkOrder order;
  order.id = exercise.id;
  order.folder = exercise.folder;
  order.files = exercise.files;
  order.seed = options.seed;
  order.explain = options.explain;
  order.milliseconds = options.milliseconds;
  order.bytes = options.bytes;
  return order;
}

/// The message that the library itself gives for this limit.
std::string limit_text(toy::Resource resource, std::int64_t limit) {
  return std::string("grading takes ") + toy::BudgetExceeded(resource, limit).what();
}

}  // namespace

IsolatedGrader::IsolatedGrader(std::shared_ptr<const Exercise> exercise,
                               const GraderOptions& options, WorkerProgram program)
    : exercise_(std::move(exercise)),
      program_(std::move(program)),
      order_(order_for(*exercise_, options)),
      milliseconds_(options.milliseconds > 0 ? options.milliseconds
                                             : exercise_->program.max_milliseconds) {
  start();
}

void IsolatedGrader::start() {
  worker_ = std::make_unique<WorkerProcess>(program_, order_, milliseconds_);
  sandbox_ = worker_->sandbox();
}

std::shared_ptr<const Verdict> IsolatedGrader::grade(const std::string& text) {
  return std::make_shared<const Verdict>(grade(GradingRequest{{}, text, true}));
}

Verdict IsolatedGrader::grade(const std::string& name, const std::string& text) {
  return grade(GradingRequest{name, text, false});
}

Verdict IsolatedGrader::grade(const GradingRequest& request) {
  WorkerEnd end;
  for (int i = 0; i < kMostTries; ++i) {
    if (worker_ == nullptr) start();
    auto answer = worker_->grade(request);
    if (Verdict* const verdict = std::get_if<Verdict>(&answer)) return std::move(*verdict);
    worker_.reset();
    end = std::get<WorkerEnd>(answer);
    // The submission caused the limit: a second worker would reach it as well.
    if (end.kind == WorkerEnd::Kind::kTime) {
      return over_limit(*exercise_, limit_text(toy::Resource::kTime, milliseconds_));
    }
    if (end.kind == WorkerEnd::Kind::kMemory) {
      return over_limit(*exercise_, limit_text(toy::Resource::kMemory, order_.bytes));
    }
  }
  return crashed(*exercise_,
                 "the grader crashed on it, twice (" + to_string(end) + "), please report this");
}

}  // namespace flashlab::exercises
