// How often the bodies of nested loops run, as conditional polynomials. Private to cost formulas.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "toymachine/count/formula.hpp"
#include "toymachine/count/inequalities.hpp"
#include "toymachine/count/iteration_space.hpp"
#include "toymachine/count/lattice_sum.hpp"

namespace flashlab::toy::detail {

/// The same loops are often around many instructions: each is summed once.
class PathSums {
 public:
  /// `known` is what is known of the parameters.
  explicit PathSums(Inequalities known) : known_(std::move(known)) {}

  /// The iterations of the path, the outermost loop first: the sum of the pieces whose conditions
  /// hold. Nothing: obstacle() says why.
  std::optional<std::vector<Piece>> iterations(const std::vector<NestLoop>& path);

  Obstacle::Kind obstacle() const { return obstacle_; }
  /// The number of the innermost loop among those that have no sum.
  std::size_t obstacle_loop() const { return obstacle_loop_; }

 private:
  const std::vector<Piece>* component_sum(const std::string& key,
                                          const std::vector<NestLoop>& loops);

  /// Work (see add_lattice_sum), in all.
  static constexpr std::size_t kBudget = 500;

  Inequalities known_;
  std::size_t budget_ = kBudget;
  std::map<std::string, std::vector<Piece>> components_;
  Obstacle::Kind obstacle_ = Obstacle::Kind::kNone;
  std::size_t obstacle_loop_ = 0;
};

}  // namespace flashlab::toy::detail
