#include "exercises/grader/prove/mutants.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "exercises/grader/judge/equality.hpp"
#include "exercises/grader/repair/repair.hpp"
#include "exercises/grader/submission/statement_lines.hpp"
#include "exercises/grader/submission/submission.hpp"
#include "toymachine/bind/bound_program.hpp"

namespace flashlab::exercises {
namespace {

bool is_costlier(const Verdict& verdict) {
  return std::any_of(verdict.costs.begin(), verdict.costs.end(),
                     [](const CostLine& line) { return line.value > line.solution; });
}

class Tester {
 public:
  Tester(const std::shared_ptr<const Exercise>& exercise, const MutantOptions& options)
      : task_(exercise->program), options_(options), grader_(exercise, options.grader) {}

  std::vector<Mutant> run() {
    for (Edit& edit : edits()) {
      Mutant mutant;
      mutant.edit = std::move(edit);
      mutants_.push_back(std::move(mutant));
    }
    keep_.assign(mutants_.size(), 0);
    std::vector<std::thread> threads;
    for (std::size_t i = 1; i < options_.jobs; ++i) threads.emplace_back([this] { work(); });
    work();
    for (std::thread& thread : threads) thread.join();
    if (error_) std::rethrow_exception(error_);
    std::vector<Mutant> kept;
    for (std::size_t i = 0; i < mutants_.size(); ++i) {
      if (keep_[i] != 0) kept.push_back(std::move(mutants_[i]));
    }
    return kept;
  }

 private:
  std::vector<Edit> edits() const {
    const auto all = bind_machines(task_, task_.solution, task_.sizes.front());
    if (!all) return {};
    return enumerate_edits(*task_.solution, edit_options(task_, all->one().num_registers));
  }

  void work() {
    for (std::size_t i = next_++; i < mutants_.size(); i = next_++) {
      try {
        keep_[i] = test(mutants_[i]) ? 1 : 0;
      } catch (...) {
        const std::lock_guard lock(mutex_);
        error_ = std::current_exception();
      }
      const std::lock_guard lock(mutex_);
      ++done_;
      if (options_.progress) options_.progress(done_, mutants_.size());
    }
  }

  /// Returns false if the edited program does not assemble.
  bool test(Mutant& mutant) const {
    auto applied = apply(*task_.solution, mutant.edit);
    if (!applied) return false;
    const auto program = std::make_shared<const toy::Program>(std::move(*applied));
    const Verdict verdict = grader_.grade(*program->source);
    if (!verdict.passed()) {
      if (!verdict.findings.empty()) mutant.named_line = verdict.findings.front().line;
      mutant.named_right = is_place_of(mutant.edit, mutant.named_line, *task_.solution);
      return true;
    }
    const Proof proof = prove_equal(task_, program);
    mutant.fate = proof == Proof::kSameFloats          ? Fate::kSameFloats
                  : proof == Proof::kSameForms         ? Fate::kSameForms
                  : is_explained(mutant.edit, program) ? Fate::kExplained
                  : is_costlier(verdict)               ? Fate::kCostlier
                                                       : Fate::kSurvivor;
    return true;
  }

  bool is_explained(const Edit& edit, const std::shared_ptr<const toy::Program>& program) const {
    const auto names = [&](const Equivalent& entry) {
      return entry.line == edit.line && entry.change == edit.what;
    };
    return std::any_of(task_.equivalents.begin(), task_.equivalents.end(), names) &&
           same_on_paper(task_, program);
  }

  const ProgramTask& task_;
  const MutantOptions& options_;
  const Grader grader_;
  std::vector<Mutant> mutants_;
  std::vector<char> keep_;  // not bool: threads write adjacent elements
  std::atomic<std::size_t> next_ = 0;
  std::mutex mutex_;
  std::size_t done_ = 0;
  std::exception_ptr error_;
};

}  // namespace

std::string_view to_string(Fate fate) {
  constexpr std::array<std::string_view, kNumFates> kNames{"rejected",  "same_floats", "same_forms",
                                                           "explained", "costlier",    "survivor"};
  return kNames[static_cast<std::size_t>(fate)];
}

std::size_t MutantReport::count(Fate fate) const {
  return static_cast<std::size_t>(std::count_if(
      mutants.begin(), mutants.end(), [&](const Mutant& mutant) { return mutant.fate == fate; }));
}

std::size_t MutantReport::named_right() const {
  return static_cast<std::size_t>(std::count_if(
      mutants.begin(), mutants.end(), [](const Mutant& mutant) { return mutant.named_right; }));
}

MutantReport test_mutants(const std::shared_ptr<const Exercise>& exercise,
                          const MutantOptions& options) {
  MutantReport report{exercise->id, {}};
  if (exercise->kind == Kind::kProgram) report.mutants = Tester(exercise, options).run();
  return report;
}

bool is_place_of(const Edit& edit, std::uint32_t line, const toy::Program& program) {
  if (line == 0) return false;
  if (line == edit.line || line == edit.other_line) return true;
  if (edit.kind != EditKind::kDrop) return false;
  return line == next_statement(*program.source, edit.line, -1) ||
         line == next_statement(*program.source, edit.line, 1);
}

}  // namespace flashlab::exercises
