// The work of programs on tiles, found without running them: which shape each register has at each
// instruction, as a formula in the loops around it. Private to counting.
#pragma once

#include <vector>

#include "toymachine/count/inequalities.hpp"
#include "toymachine/count/shape_nest.hpp"
#include "toymachine/count/tile_work.hpp"
#include "toymachine/language/source.hpp"

namespace flashlab::toy::detail {

struct InferredWork {
  WorkTerms terms;
  /// Beside the domain, what the parameters must satisfy: these are >= 0.
  std::vector<Polynomial> assumptions;
};

/// The diagnostic says where a shape could not be told, and why. `domain` is what is known of the
/// parameters. Right for programs that run without error.
Result<InferredWork> infer_work(const ShapeNest& nest, const Inequalities& domain);

}  // namespace flashlab::toy::detail
