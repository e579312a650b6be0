#include "exercises/grader/prove/remarks.hpp"

#include <algorithm>
#include <random>
#include <set>
#include <utility>

#include "exercises/grader/exercise/cases.hpp"
#include "exercises/grader/explain/claims.hpp"
#include "exercises/grader/explain/crossed_sizes.hpp"
#include "exercises/grader/grade/grader.hpp"
#include "exercises/grader/judge/attempt.hpp"
#include "exercises/grader/repair/repair.hpp"
#include "exercises/grader/submission/submission.hpp"

namespace flashlab::exercises {
namespace {

constexpr std::size_t kMostFurtherSizes = 20, kDrawsFromEach = 6;
constexpr std::size_t kWantedSizes = 2;  // at which each remark is checked

/// Sizes between the displayed ones, with tiles as they have them, that the grader does not use.
std::vector<Size> further_sizes(const ProgramTask& task, std::uint64_t seed) {
  if (task.sizes.front().empty()) return {Size{}, Size{}};  // only the inputs differ
  std::mt19937_64 generator(seed);
  const std::set<std::string> tiles = parameters_of_tiles(task);
  std::set<Size> used(task.sizes.begin(), task.sizes.end());
  for (Size& size : drawn_sizes(task, GraderOptions{}.seed)) used.insert(std::move(size));
  std::vector<Size> sizes;
  for (std::size_t draw = 0; draw < kDrawsFromEach; ++draw) {
    for (Size size : task.sizes) {
      for (auto& [name, value] : size) {
        if (tiles.contains(name)) continue;
        std::int64_t least = value, most = value;
        for (const Size& other : task.sizes) {
          least = std::min(least, other.at(name));
          most = std::max(most, other.at(name));
        }
        constexpr std::int64_t kWidest = 12;  // formulas of larger sizes are too long
        most = std::min(most + 1, least + kWidest);
        value = std::uniform_int_distribution(least, most)(generator);
      }
      if (used.insert(size).second) sizes.push_back(std::move(size));
    }
  }
  return sizes;
}

/// The sizes at which the solution is right, with inputs of their own.
std::vector<SizedCases> further_cases(const ProgramTask& task, std::uint64_t seed) {
  std::vector<SizedCases> all;
  std::uint64_t number = 1000;
  for (const Size& size : further_sizes(task, seed)) {
    if (all.size() == kMostFurtherSizes) break;
    try {
      SizedCases sized = cases_at(task, size, task.inputs.families, seed, ++number);
      if (attempt(task, task.solution, sized, nullptr).passed()) all.push_back(std::move(sized));
    } catch (const std::runtime_error&) {
      continue;  // a size that the exercise's reference does not take
    }
  }
  return all;
}

/// The size that the finding is about; nothing if it names none.
const Size* size_in(const Finding& finding, const ProgramTask& task,
                    const std::vector<Size>& drawn) {
  for (const std::vector<Size>* sizes : {&task.sizes, &drawn}) {
    for (const Size& size : *sizes) {
      if (finding.inputs.starts_with(to_string(size) + ", ")) return &size;
    }
  }
  return nullptr;
}

/// Whether no array is smaller at `size` than at `least`. A smaller size hides more: with one key, every weight is 1.
bool is_as_large(const Size& size, const Size& least, const std::set<std::string>& tiles) {
  return std::all_of(size.begin(), size.end(), [&](const auto& entry) {
    return tiles.contains(entry.first) || entry.second >= least.at(entry.first);
  });
}

}  // namespace

RemarkReport check_remarks(const std::shared_ptr<const Exercise>& exercise,
                           const RemarkOptions& options) {
  RemarkReport report;
  report.exercise = exercise->id;
  if (exercise->kind != Kind::kProgram) return report;
  const ProgramTask& task = exercise->program;
  const auto all = bind_machines(task, task.solution, task.sizes.front());
  if (!all) return report;
  const Grader grader(exercise);
  const std::vector<SizedCases> elsewhere = further_cases(task, options.seed);
  const std::vector<Edit> edits =
      enumerate_edits(*task.solution, edit_options(task, all->one().num_registers));
  const std::vector<Size> drawn = drawn_sizes(task, GraderOptions{}.seed);
  const std::set<std::string> tiles = parameters_of_tiles(task);
  std::mt19937_64 generator(options.seed);
  for (std::size_t i = generator() % options.every; i < edits.size(); i += options.every) {
    if (options.progress) options.progress(i, edits.size());
    auto applied = apply(*task.solution, edits[i]);
    if (!applied) continue;
    const auto program = std::make_shared<const toy::Program>(std::move(*applied));
    const Verdict verdict = grader.grade(*program->source);
    if (verdict.passed() || verdict.findings.empty()) continue;
    const std::vector<Claim>& claims = verdict.findings.front().claims;
    report.mutants += claims.empty() ? 0 : 1;
    const Size* const least = size_in(verdict.findings.front(), task, drawn);
    for (const Claim& claim : claims) {
      ++report.remarks;
      std::size_t decided = 0;
      for (const SizedCases& sized : elsewhere) {
        if (decided == kWantedSizes) break;
        if (least != nullptr && !is_as_large(sized.size, *least, tiles)) continue;
        const Truth truth = truth_of(claim, task, program, sized);
        if (truth == Truth::kUndecided) continue;
        ++decided;
        if (truth == Truth::kFalse) report.wrong.push_back({edits[i], claim, sized.size});
      }
      report.decided += decided > 0 ? 1 : 0;
      report.decided_twice += decided == kWantedSizes ? 1 : 0;
    }
  }
  return report;
}

}  // namespace flashlab::exercises
