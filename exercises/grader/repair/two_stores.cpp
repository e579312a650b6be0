#include "exercises/grader/repair/two_stores.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "exercises/grader/judge/attempt.hpp"
#include "exercises/grader/repair/edits.hpp"
#include "exercises/grader/repair/line_differences.hpp"
#include "exercises/grader/repair/missing_lines.hpp"
#include "exercises/grader/repair/trial.hpp"
#include "exercises/grader/submission/statement_lines.hpp"
#include "exercises/grader/submission/submission.hpp"

namespace flashlab::exercises {
namespace {

/// The cost of a trial beside its run, in steps on lanes.
constexpr std::uint64_t kStoreTrialSteps = 1000;
constexpr std::uint64_t kMostStoreSteps = 2'000'000;

using StoringProgram = std::shared_ptr<const toy::Program>;

class TwoStores {
 public:
  TwoStores(const ProgramTask& task, const toy::Program& solution,
            const std::vector<RepairSize>& sizes, std::size_t failing, std::uint64_t& steps)
      : task_(task),
        solution_(solution),
        failing_(failing),
        steps_(steps),
        limit_(steps + kMostStoreSteps) {
    for (const RepairSize& size : sizes) sizes_.push_back(&size);
    std::swap(sizes_.front(), sizes_[failing_]);  // where most is wrong
  }

  StoringProgram find(const toy::Program& program) {
    const std::vector<std::string> lacking = lacking_arrays(program);
    if (lacking.size() != 2) return nullptr;
    const StoringProgram one = with_store(program, lacking[0], [&](const StoringProgram& tried) {
      return std::all_of(sizes_.begin(), sizes_.end(), [&](const RepairSize* size) {
        return is_array_right(tried, *size, lacking[0]);
      });
    });
    if (one == nullptr) return nullptr;
    return with_store(*one, lacking[1], [&](const StoringProgram& tried) {
      return std::all_of(sizes_.begin(), sizes_.end(),
                         [&](const RepairSize* size) { return is_right_at(task_, tried, *size); });
    });
  }

 private:
  /// The outputs that lack a store, in the order in which the solution stores them: a later one may depend on one before.
  std::vector<std::string> lacking_arrays(const toy::Program& program) const {
    std::vector<std::string> lacking;
    for (auto line = static_cast<std::uint32_t>(solution_.source->num_lines()); line > 0; --line) {
      const std::string array = stored_array(solution_.source->line(line));
      const bool is_known = std::find(lacking.begin(), lacking.end(), array) != lacking.end();
      const bool is_checked =
          std::find(task_.check.begin(), task_.check.end(), array) != task_.check.end();
      if (is_checked && !is_known && lacks_store(solution_, program, array))
        lacking.push_back(array);
    }
    std::reverse(lacking.begin(), lacking.end());
    return lacking;
  }

  /// "m" of "STORE M, m[i][0]"; empty if the line stores nothing.
  static std::string stored_array(std::string_view line) {
    const std::vector<std::string> here = words(line);
    const auto row = here.empty() ? std::nullopt : toy::find_instruction(here.front());
    if (!row || !toy::instruction_set()[*row].is_store()) return {};
    return here.back().substr(0, here.back().find('['));
  }

  /// The program with the first store to the array that `is_right` takes; null: none.
  template <class IsRight>
  StoringProgram with_store(const toy::Program& program, const std::string& array,
                            const IsRight& is_right) {
    const auto lines = missing_stores(solution_, program, array);
    if (lines == nullptr) return nullptr;
    for (const Edit& edit : enumerate_insertions(program, nullptr, lines.get())) {
      if (steps_ > limit_) return nullptr;
      steps_ += kStoreTrialSteps;
      auto applied = apply(program, edit);
      if (!applied) continue;
      auto tried = std::make_shared<const toy::Program>(std::move(*applied));
      if (is_right(tried)) return tried;
    }
    return nullptr;
  }

  /// Whether the array is right on all ordinary inputs of the size, whatever the others are. On huge ones what is still
  /// missing may end the run.
  bool is_array_right(const StoringProgram& program, const RepairSize& size,
                      const std::string& array) const {
    const auto all = bind_machines(task_, program, size.sized->size);
    if (!all || all->machines) return false;
    return std::all_of(size.sized->cases.begin(), size.sized->cases.end(), [&](const Case& entry) {
      if (!is_ordinary(entry.family)) return true;
      const auto wanted = entry.expected.find(array);
      if (wanted == entry.expected.end()) return false;
      const Case one{entry.family, entry.inputs, {*wanted}};
      return !run_case(all->bound, one, task_.tolerance);
    });
  }

  const ProgramTask& task_;
  const toy::Program& solution_;
  std::vector<const RepairSize*> sizes_;  // the failing one first
  const std::size_t failing_;
  std::uint64_t& steps_;
  const std::uint64_t limit_;
};

}  // namespace

std::optional<Departures> two_missing_stores(const ProgramTask& task, const toy::Program& solution,
                                             const toy::Program& program,
                                             const std::vector<RepairSize>& sizes,
                                             std::size_t failing, std::uint64_t& steps) {
  const StoringProgram right = TwoStores(task, solution, sizes, failing, steps).find(program);
  if (right == nullptr) return std::nullopt;
  auto all = line_differences(*program.source, *right->source);
  if (!all || all->empty()) return std::nullopt;
  return Departures{std::move(*all), std::string(right->source->text()), right};
}

}  // namespace flashlab::exercises
