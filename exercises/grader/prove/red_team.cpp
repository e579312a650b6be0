#include "exercises/grader/prove/red_team.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <numeric>
#include <optional>
#include <random>
#include <thread>

#include "exercises/grader/exercise/cases.hpp"
#include "exercises/grader/judge/attempt.hpp"
#include "exercises/grader/submission/submission.hpp"

namespace flashlab::exercises {
namespace {

/// Sizes at which a right program is searched for a mistake, half of them as the exercise draws them.
constexpr int kTriedSizes = 60;

class Attack {
 public:
  Attack(std::shared_ptr<const Exercise> exercise, const RedTeamOptions& options)
      : exercise_(std::move(exercise)), task_(exercise_->program), options_(options) {
    choose();
    gains_.resize(chosen_.size());
    first_.resize(chosen_.size());
    equal_.assign(chosen_.size(), 0);
  }

  RedTeamReport run() {
    std::mt19937_64 seeds(options_.first_seed);
    for (std::size_t s = 0; s < options_.seeds; ++s) {
      GraderOptions options;
      // As large as a class's seed may be (grade --seed).
      options.seed = s == 0 ? options_.first_seed : seeds() >> 1;
      options.explain = false;
      const Grader grader(exercise_, options);
      if (s == 0) solution_ = grade(grader, task_.solution->source->text());
      next_ = 0;
      std::vector<std::thread> threads;
      for (std::size_t i = 1; i < options_.jobs; ++i) {
        threads.emplace_back([&] { work(grader, options.seed, s == 0); });
      }
      work(grader, options.seed, s == 0);
      for (std::thread& thread : threads) thread.join();
      if (error_) std::rethrow_exception(error_);
    }
    return report();
  }

 private:
  void choose() {
    std::array<std::size_t, kNumStrategyFamilies> seen{};
    for (Strategy& strategy : strategies(task_)) {
      if (seen[static_cast<std::size_t>(strategy.family)]++ % options_.every != 0) continue;
      chosen_.push_back(std::move(strategy));
    }
  }

  Verdict grade(const Grader& grader, const std::string& text) const {
    return grade_with(grader, exercise_->work_file(), text, options_.step);
  }

  void work(const Grader& grader, std::uint64_t seed, bool is_first) {
    for (std::size_t i = next_++; i < chosen_.size(); i = next_++) {
      try {
        if (is_first || depends_on_seed(first_[i])) {
          const Verdict verdict = grade(grader, chosen_[i].text);
          if (is_first) first_[i] = verdict;
          judge(i, verdict, seed);
        }
      } catch (...) {
        const std::lock_guard lock(mutex_);
        error_ = std::current_exception();
      }
      const std::lock_guard lock(mutex_);
      ++done_;
      if (options_.progress) options_.progress(done_, chosen_.size() * options_.seeds);
    }
  }

  /// What does not fit, or is wrong at a displayed size, is so with every seed.
  bool depends_on_seed(const Verdict& verdict) const {
    const std::size_t displayed = std::min(task_.sizes.size(), verdict.checks.size());
    return std::all_of(verdict.checks.begin(),
                       verdict.checks.begin() + static_cast<std::ptrdiff_t>(displayed),
                       [](const Check& check) { return check.passed; });
  }

  void judge(std::size_t i, const Verdict& verdict, std::uint64_t seed) {
    if (!verdict.passed() || equal_[i] != 0) return;
    const std::string why = gain_of(i, verdict);
    if (why.empty()) return;
    Gain& gain = gains_[i];
    if (gain.seeds++ == 0) {
      gain = {chosen_[i].family, chosen_[i].name, chosen_[i].text, seed, 1, verdict.points, why};
    }
  }

  /// Why the points are too many; empty: they are not.
  std::string gain_of(std::size_t i, const Verdict& verdict) {
    if (chosen_[i].rule == StrategyRule::kNotCheaper) return cheaper(verdict);
    if (chosen_[i].rule == StrategyRule::kLosesPoints) {
      if (verdict.points < solution_.points || (task_.speed && !options_.step)) return "";
      const std::string less = cheaper(verdict);
      return less.empty() ? "it costs more and keeps all points" : less;
    }
    if (gains_[i].seeds > 0) return gains_[i].why;
    const std::string wrong = mistake(chosen_[i]);
    if (wrong.empty()) equal_[i] = 1;
    return wrong;
  }

  /// Names a counter below the solution's; empty: there is none.
  static std::string cheaper(const Verdict& verdict) {
    for (const CostLine& line : verdict.costs) {
      if (line.value < line.solution) {
        return line.value.get_str() + " " + line.key + ", the solution " + line.solution.get_str();
      }
    }
    return "";
  }

  /// Searches a program that passed for a size at which it is wrong.
  std::string mistake(const Strategy& strategy) const {
    Refusal refusal;
    const toy::SourceText text(exercise_->work_file(), strategy.text);
    const auto program = read_submission(task_, text, refusal);
    if (program == nullptr) return "";
    std::mt19937_64 generator(1);
    for (int i = 0; i < kTriedSizes; ++i) {
      const std::uint64_t seed = generator();
      std::vector<Size> sizes = drawn_sizes(task_, seed);
      if (i % 2 == 0 || sizes.empty()) sizes = task_.sizes;
      // Small sizes are tried often, and each of the large ones now and then.
      if (i % 20 == 0) sizes = counted_sizes(task_, seed);
      if (i == 1 && task_.speed) sizes = {task_.speed->size};
      for (const Size& size : sizes) {
        const SizedCases sized = cases_at(task_, size, {Family::kRandom}, seed, 0);
        const Attempt one = attempt(task_, program, sized, nullptr);
        if (one.passed()) continue;
        // Inputs on which even the solution is too far off say nothing.
        if (attempt(task_, task_.solution, sized, nullptr).passed()) {
          return "wrong at " + to_string(size);
        }
      }
    }
    return "";
  }

  RedTeamReport report() {
    RedTeamReport report{exercise_->id, {}, {}};
    for (std::size_t i = 0; i < chosen_.size(); ++i) {
      FamilyCounts& counts = report.families[static_cast<std::size_t>(chosen_[i].family)];
      ++counts.strategies;
      if (gains_[i].seeds > 0) {
        ++counts.gains;
      } else if (first_[i].outcome == Outcome::kLimit || first_[i].outcome == Outcome::kRejected) {
        ++counts.refused;
      } else if (!first_[i].passed()) {
        ++counts.wrong;
      } else if (first_[i].points < solution_.points) {
        ++counts.costly;
      } else {
        ++counts.equal;
      }
      const auto excuse = task_.excused.find(std::string(to_string(chosen_[i].family)));
      if (excuse != task_.excused.end()) counts.excused = excuse->second;
      if (gains_[i].seeds > 0 && excuse == task_.excused.end()) {
        report.gains.push_back(std::move(gains_[i]));
      }
    }
    return report;
  }

  std::shared_ptr<const Exercise> exercise_;
  const ProgramTask& task_;
  const RedTeamOptions& options_;
  std::vector<Strategy> chosen_;
  std::vector<Gain> gains_;     // by strategy
  std::vector<Verdict> first_;  // with the first seed
  std::vector<char> equal_;     // right at all sizes that were tried; not bool: threads write them
  Verdict solution_;
  std::atomic<std::size_t> next_ = 0;
  std::mutex mutex_;
  std::size_t done_ = 0;
  std::exception_ptr error_;
};

}  // namespace

std::size_t RedTeamReport::strategies() const {
  return std::accumulate(
      families.begin(), families.end(), std::size_t{0},
      [](std::size_t sum, const FamilyCounts& counts) { return sum + counts.strategies; });
}

RedTeamReport attack(const std::shared_ptr<const Exercise>& exercise,
                     const RedTeamOptions& options) {
  if (exercise->kind != Kind::kProgram || exercise->demo) return {exercise->id, {}, {}};
  return Attack(exercise, options).run();
}

}  // namespace flashlab::exercises
