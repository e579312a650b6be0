#include "toymachine/count/path_sums.hpp"

#include <algorithm>
#include <utility>

#include "toymachine/count/nest_components.hpp"
#include "toymachine/count/strip_mining.hpp"

namespace flashlab::toy::detail {
namespace {

/// A formula beyond these limits would help nobody.
constexpr std::size_t kMostPathSums = 64;
constexpr std::size_t kComponentBudget = 120;  // for loops that depend on each other

/// Merges terms with the same conditions: full tiles and the last one are added up.
std::vector<Piece> without_repetition(const std::vector<Piece>& pieces) {
  std::vector<Piece> result;
  for (const Piece& piece : pieces) {
    const auto same = std::find_if(result.begin(), result.end(), [&](const Piece& other) {
      return other.conditions == piece.conditions;
    });
    if (same == result.end()) {
      result.push_back(piece);
    } else {
      same->value += piece.value;
    }
  }
  return result;
}

}  // namespace

std::optional<std::vector<Piece>> PathSums::iterations(const std::vector<NestLoop>& path) {
  std::vector<Piece> product{{{}, 1}};
  for (const auto& component : components(without_strip_mining(path))) {
    obstacle_loop_ = component.innermost;
    const auto* factor = component_sum(component.key, component.loops);
    if (!factor) return std::nullopt;
    std::vector<Piece> next;
    for (const Piece& left : product) {
      for (const Piece& right : *factor) {
        Piece& piece = next.emplace_back(left);
        piece.conditions.insert(piece.conditions.end(), right.conditions.begin(),
                                right.conditions.end());
        piece.value *= right.value;
      }
    }
    product = std::move(next);
    if (product.size() <= kMostPathSums) continue;
    obstacle_ = Obstacle::Kind::kTooLong;
    obstacle_loop_ = path.back().number;
    return std::nullopt;
  }
  return product;
}

const std::vector<Piece>* PathSums::component_sum(const std::string& key,
                                                  const std::vector<NestLoop>& loops) {
  const auto [place, is_new] = components_.try_emplace(key);
  if (!is_new) return &place->second;
  const auto sums = iteration_space(loops);
  if (!sums) {
    obstacle_ = Obstacle::Kind::kTooLong;
    return nullptr;
  }
  std::vector<Piece> pieces;
  std::size_t budget = std::min(kComponentBudget, budget_);
  budget_ -= budget;
  for (const LatticeSum& sum : *sums) {
    obstacle_ = add_lattice_sum(sum, known_, budget, pieces).kind;
    if (obstacle_ != Obstacle::Kind::kNone) return nullptr;
  }
  budget_ += budget;
  place->second = without_repetition(pieces);
  return &place->second;
}

}  // namespace flashlab::toy::detail
