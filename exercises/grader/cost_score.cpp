#include "exercises/grader/cost_score.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "exercises/grader/count_keys.hpp"

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
  if (line.full <= 0) return 0;  // what is to be avoided has no second best
  return std::max(0.0, 2 - line.value.get_d() / line.full.get_d());
}

CostScore score_cost(const Cost& cost, const Size& size, const toy::Counters& counters,
                     const toy::BoundProgram& bound) {
  CostScore score;
  double total = 0;
  for (const auto& [key, formula] : cost.full) {
    CostLine line{key, count_of(key, counters, bound), value_at(formula, size), {}};
    score.full = score.full && line.value <= line.full;
    total += cost_share(line);
    score.lines.push_back(std::move(line));
  }
  if (!cost.full.empty()) score.share = total / static_cast<double>(cost.full.size());
  for (const auto& [key, formula] : cost.most) {
    score.accepted = score.accepted && count_of(key, counters, bound) <= value_at(formula, size);
  }
  return score;
}

}  // namespace flashlab::exercises
