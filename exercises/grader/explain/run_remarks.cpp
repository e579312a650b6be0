#include "exercises/grader/explain/run_remarks.hpp"

#include <algorithm>

#include "exercises/grader/explain/first_wrong_step.hpp"

namespace flashlab::exercises {
namespace {

class OutputRemarks {
 public:
  explicit OutputRemarks(const FailedRun& run) : run_(run) {}

  std::optional<RunRemark> find() const {
    if (!run_.has_forms() || !run_.wanted().is_written()) return std::nullopt;
    if (store() != kNobody && run_.form(store()) == run_.wanted()) return std::nullopt;
    if (auto remark = misplaced()) return remark;
    if (auto remark = lost()) return remark;
    return too_early();
  }

 private:
  std::int32_t store() const { return run_.failing_step(); }

  /// The first step that computes the wanted value; kNobody if there is none.
  std::int32_t found() const {
    if (is_plain(run_.wanted())) return kNobody;
    for (std::size_t s = 0; s < run_.steps().size(); ++s) {
      const auto step = static_cast<std::int32_t>(s);
      if (written_register(run_.steps()[s]) >= 0 && run_.form(step) == run_.wanted()) return step;
    }
    return kNobody;
  }

  /// The cell holds what belongs into another one.
  std::optional<RunRemark> misplaced() const {
    if (store() == kNobody || is_plain(run_.form(store()))) return std::nullopt;
    const std::string other = run_.output_with(run_.form(store()));
    if (other.empty()) return std::nullopt;
    return RunRemark{"belongs elsewhere", store(), "",
                     "step " + run_.at(store()) + " stores here what belongs in " + other};
  }

  /// The wanted value was computed, and then overwritten or stored elsewhere.
  std::optional<RunRemark> lost() const {
    const std::int32_t made = found();
    if (made == kNobody || (store() != kNobody && store() < made)) return std::nullopt;
    const std::int32_t over = run_.flow()[static_cast<std::size_t>(made)].overwritten_by;
    const std::string name = run_.written_name(made);
    for (std::size_t s = static_cast<std::size_t>(made); s < run_.steps().size(); ++s) {
      const std::int32_t element = written_element(run_.steps()[s]);
      const auto step = static_cast<std::int32_t>(s);
      if (element < 0 || element == run_.element() || !(run_.form(step) == run_.wanted())) continue;
      if (run_.is_wanted_at(element, run_.wanted())) continue;
      return RunRemark{
          "stored elsewhere", step, "",
          "step " + run_.at(step) + " stores the value of " + run_.cell() + " in another cell"};
    }
    if (over != kNobody && (store() == kNobody || over < store())) {
      return RunRemark{"overwritten", over, name,
                       "step " + run_.at(over) + " overwrote " + name + ", which held " +
                           run_.cell() + ", before it was stored"};
    }
    if (store() == kNobody) {
      return RunRemark{
          "never stored", made, name,
          name + " holds it from step " + run_.at(made) + " on, and is never stored there"};
    }
    return RunRemark{"another register", store(), name,
                     "step " + run_.at(store()) + " stores another register: " + name +
                         " holds what belongs there"};
  }

  /// The wanted value is computed only after the store.
  std::optional<RunRemark> too_early() const {
    const std::int32_t made = found();
    if (made == kNobody || store() == kNobody || store() > made) return std::nullopt;
    return RunRemark{"too early", store(), "",
                     "step " + run_.at(store()) +
                         " stores it too early: it is complete after step " + run_.at(made)};
  }

  const FailedRun& run_;
};

bool is_wrong(const FailedRun& run) {
  if (!run.has_forms() || !run.wanted().is_written()) return false;
  return run.failing_step() == kNobody || !(run.form(run.failing_step()) == run.wanted());
}

}  // namespace

std::optional<RunRemark> remark_on_output(const FailedRun& run) {
  return OutputRemarks(run).find();
}

std::vector<RunRemark> all_remarks(FailedRun& run) {
  constexpr std::size_t kMostOutputs = 64;
  std::vector<RunRemark> remarks;
  std::size_t outputs = 0;
  for (std::size_t a = 0; a < run.bound().arrays.size(); ++a) {
    const toy::BoundArray& array = run.bound().arrays[a];
    if (array.role != toy::ArrayRole::kOutput) continue;
    std::vector<RunRemark> of_array;
    std::size_t num_wrong = 0;
    for (std::int64_t i = 0; i < array.size && outputs < kMostOutputs; ++i, ++outputs) {
      run.look_at(a, i);
      if (auto remark = remark_on_output(run)) of_array.push_back(std::move(*remark));
      num_wrong += is_wrong(run) ? 1 : 0;
      if (auto wrong = not_added(run)) {
        remarks.push_back({to_string(wrong->kind), wrong->step, wrong->place, wrong->sentence});
      }
    }
    for (const RunRemark& remark : of_array) {
      // Of one output alone it may hold by chance.
      const auto same = std::count_if(of_array.begin(), of_array.end(), [&](const RunRemark& one) {
        return one.kind == remark.kind;
      });
      if (2 * static_cast<std::size_t>(same) > num_wrong) remarks.push_back(remark);
    }
  }
  for (const WrongStep& wrong : all_wrong_steps(run)) {
    remarks.push_back({to_string(wrong.kind), wrong.step, wrong.place, wrong.sentence});
  }
  return remarks;
}

}  // namespace flashlab::exercises
