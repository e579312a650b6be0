// Counts the runs of the body of nested loops whose bounds contain only numbers and loop variables.
// Private to counting.
#pragma once

#include <gmpxx.h>

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "toymachine/count/iteration_space.hpp"

namespace flashlab::toy::detail {

/// Sums in closed form. The same loops are often around many instructions, and are
/// summed only once.
class PathCounter {
 public:
  /// `budget` is the work for all paths together (see add_lattice_sum).
  explicit PathCounter(std::size_t budget) : budget_(budget) {}

  /// Returns the iterations of the path, outermost loop first; nothing if the sum is too long.
  std::optional<mpz_class> iterations(const std::vector<NestLoop>& path);

 private:
  std::optional<mpz_class> lattice_count(const std::vector<NestLoop>& loops);

  std::size_t budget_;
  std::map<std::string, std::optional<mpz_class>> components_;
};

}  // namespace flashlab::toy::detail
