#include "toymachine/count/path_counter.hpp"

#include "toymachine/count/lattice_sum.hpp"
#include "toymachine/count/nest_components.hpp"
#include "toymachine/count/strip_mining.hpp"

namespace flashlab::toy::detail {

std::optional<mpz_class> PathCounter::iterations(const std::vector<NestLoop>& path) {
  mpz_class product = 1;
  for (const NestComponent& component : components(without_strip_mining(path))) {
    if (product == 0) break;
    const auto [place, is_new] = components_.try_emplace(component.key);
    if (is_new) place->second = lattice_count(component.loops);
    if (!place->second) return std::nullopt;
    product *= *place->second;
  }
  return product;
}

std::optional<mpz_class> PathCounter::lattice_count(const std::vector<NestLoop>& loops) {
  const auto sums = iteration_space(loops);
  if (!sums) return std::nullopt;
  std::vector<Piece> terms;
  for (const LatticeSum& part : *sums) {
    const auto obstacle = add_lattice_sum(part, {}, budget_, terms);
    if (obstacle.kind != Obstacle::Kind::kNone) return std::nullopt;
  }
  mpq_class total = 0;
  for (const Piece& term : terms) total += term.value.constant_term();
  return total.get_num();
}

}  // namespace flashlab::toy::detail
