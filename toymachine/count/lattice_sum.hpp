// Sums over the whole-valued points of a region, variable by variable. Private to counting.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "toymachine/count/formula.hpp"
#include "toymachine/count/inequalities.hpp"
#include "toymachine/count/iteration_space.hpp"
#include "toymachine/count/polynomial/polynomial.hpp"

namespace flashlab::toy::detail {

/// The reason why a sum has no closed form here.
struct Obstacle {
  enum class Kind {
    kNone,
    kTooLong,    // more cases than the budget allows
    kEntangled,  // a variable is multiplied by a parameter and linked to another variable
  };
  Kind kind = Kind::kNone;
  Polynomial constraint;  // kEntangled: it is >= 0 in the region
};

/// Adds the sum to `terms`: each term counts where its conditions, on parameters only, hold.
/// `domain` holds the known facts about the parameters. `budget` is the number of variables that
/// may still be summed over, and is decreased.
Obstacle add_lattice_sum(const LatticeSum& sum, const Inequalities& domain, std::size_t& budget,
                         std::vector<Piece>& terms);

}  // namespace flashlab::toy::detail
