// The runs of the bodies of nested loops, as conditional polynomials. Private to cost formulas.
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

/// The same loops are often around many instructions, and are summed only once.
class PathSums {
 public:
  /// `known` holds the known facts about the parameters.
  explicit PathSums(Inequalities known) : known_(std::move(known)) {}

  /// Returns the iterations of the path, outermost loop first: the sum of the pieces whose
  /// conditions hold. If it returns nothing, obstacle() has the reason.
  std::optional<std::vector<Piece>> iterations(const std::vector<NestLoop>& path);

  Obstacle::Kind obstacle() const { return obstacle_; }
  /// The number of the innermost of the loops that have no sum.
  std::size_t obstacle_loop() const { return obstacle_loop_; }

 private:
  const std::vector<Piece>* component_sum(const std::string& key,
                                          const std::vector<NestLoop>& loops);

  /// The total work (see add_lattice_sum).
  static constexpr std::size_t kBudget = 500;

  Inequalities known_;
  std::size_t budget_ = kBudget;
  std::map<std::string, std::vector<Piece>> components_;
  Obstacle::Kind obstacle_ = Obstacle::Kind::kNone;
  std::size_t obstacle_loop_ = 0;
};

}  // namespace flashlab::toy::detail
