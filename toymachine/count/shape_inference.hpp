// Finds the work of programs on tiles without running them: the shape of each register at each
// instruction, as a formula in the loops around it. Private to counting.
#pragma once

#include <vector>

#include "toymachine/count/inequalities.hpp"
#include "toymachine/count/shape_nest.hpp"
#include "toymachine/count/tile_terms.hpp"
#include "toymachine/language/source.hpp"

namespace flashlab::toy::detail {

struct InferredWork {
  WorkTerms terms;
  /// Conditions on the parameters besides the domain: these are >= 0.
  std::vector<Polynomial> assumptions;
};

/// The diagnostic gives the place and reason if a shape could not be found. `domain` holds the
/// known facts about the parameters. The result is correct for programs that run without error.
/// `machines`: the loop over the machines that all run this nest, each from empty registers.
Result<InferredWork> infer_work(const ShapeNest& nest, const Inequalities& domain,
                                const NestLoop* machines = nullptr);

}  // namespace flashlab::toy::detail
