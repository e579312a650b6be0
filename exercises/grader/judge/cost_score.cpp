#include "exercises/grader/judge/cost_score.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <string>

#include "exercises/grader/exercise/count_keys.hpp"

namespace flashlab::exercises {

toy::Count value_at(const toy::Polynomial& formula, const Size& size) {
  const auto value = toy::evaluate(formula, [&](const std::string& symbol) {
    const auto found = size.find(symbol);
    return found == size.end() ? std::nullopt : std::optional<mpz_class>(found->second);
  });
  if (!value) throw std::runtime_error("a formula in [cost] uses a parameter without a size");
  mpz_class rounded;
  mpz_fdiv_q(rounded.get_mpz_t(), value->get_num().get_mpz_t(), value->get_den().get_mpz_t());
  return rounded;
}

double cost_share(const CostLine& line) {
  if (line.value <= line.full) return 1;
  if (line.value >= line.naive) return 0;
  const toy::Count saved = line.naive - line.value, possible = line.naive - line.full;
  return std::min(saved.get_d() / possible.get_d(), std::nextafter(1.0, 0.0));
}

bool CostScore::full() const {
  return std::all_of(lines.begin(), lines.end(),
                     [](const CostLine& line) { return line.share >= 1; });
}

std::map<std::string, toy::Count> count_naive(const ProgramTask& task, const SizedCases& sized) {
  std::map<std::string, toy::Count> counts;
  if (task.cost.naive == nullptr) return counts;
  ProgramTask unlimited = task;
  unlimited.registers.clear();
  unlimited.temporaries = true;
  unlimited.most_temporary.reset();
  unlimited.most_register_bytes.reset();
  Attempt naive = count_attempt(unlimited, task.cost.naive, sized);
  if (naive.bound && naive.refusal.empty()) {
    for (const auto& [key, formula] : task.cost.full) {
      counts[key] = count_of(key, naive.counters, *naive.bound);
    }
    return counts;
  }
  const std::string size = to_string(sized.size);
  throw std::runtime_error("the naive program cannot be counted" +
                           (size.empty() ? "" : " at " + size) + "\n" +
                           toy::format(naive.refusal, *task.cost.naive->source));
}

std::map<std::string, toy::Count> count_solution(const ProgramTask& task, const SizedCases& sized) {
  std::map<std::string, toy::Count> counts;
  if (task.cost.most_of_solution.empty()) return counts;
  const Attempt solution = count_attempt(task, task.solution, sized);
  if (!solution.bound || !solution.refusal.empty()) {
    throw std::runtime_error("the solution cannot be counted at " + to_string(sized.size) + "\n" +
                             toy::format(solution.refusal, *task.solution->source));
  }
  for (const std::string& key : task.cost.most_of_solution) {
    counts[key] = count_of(key, solution.counters, *solution.bound);
  }
  return counts;
}

CostScore score_cost(const ProgramTask& task, const Attempt& attempt) {
  CostScore score;
  const Size& size = attempt.sized->size;
  std::map<std::string, toy::Count> counted_here;
  if (attempt.sized->naive.empty()) counted_here = count_naive(task, *attempt.sized);
  const auto& naive = attempt.sized->naive.empty() ? counted_here : attempt.sized->naive;
  const auto count = [](const std::string& key, const Attempt& of) {
    return count_of(key, of.counters, *of.bound);
  };
  for (const auto& [key, formula] : task.cost.full) {
    CostLine line{key, count(key, attempt), value_at(formula, size), {}, {}};
    line.naive = 2 * line.full;
    if (!naive.empty()) line.naive = std::max(line.full, naive.at(key));
    line.share = cost_share(line);
    score.lines.push_back(std::move(line));
  }
  for (const auto& [key, formula] : task.cost.most) {
    Excess excess{key, count(key, attempt), value_at(formula, size)};
    if (excess.value > excess.most) score.excesses.push_back(std::move(excess));
  }
  const auto solution = attempt.sized->solution.empty() ? count_solution(task, *attempt.sized)
                                                        : attempt.sized->solution;
  for (const auto& [key, most] : solution) {
    Excess excess{key, count(key, attempt), most};
    if (excess.value > excess.most) score.excesses.push_back(std::move(excess));
  }
  return score;
}

}  // namespace flashlab::exercises
