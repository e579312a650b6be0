// The shape of a row in the formulas of the Pallas post (docs/sources.md).
#pragma once

#include "compare/model/pallas_formulas.hpp"
#include "results/comparison.hpp"

namespace flashlab::cli {

compare::PallasShape pallas_shape(const compare::Row& row);

}  // namespace flashlab::cli
