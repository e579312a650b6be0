// The work of an instruction on tiles as the iterations of derived nests: the elements of a tile
// are additional innermost loops. Private to counting.
#pragma once

#include <gmpxx.h>

#include <cstddef>
#include <vector>

#include "toymachine/count/dimension.hpp"
#include "toymachine/language/instruction_set.hpp"

namespace flashlab::toy::detail {

/// `factor` times the iterations of the path, the outermost loop first, at one instruction.
struct WorkTerm {
  std::size_t site = 0;
  mpz_class factor = 1;
  std::vector<NestLoop> path;
  bool operator==(const WorkTerm& other) const = default;
};

/// Sums of terms without repetition: no two differ only in their factor.
using WorkTerms = std::vector<WorkTerm>;

void add_terms(WorkTerms& terms, const WorkTerms& more, const mpz_class& factor = 1);

/// Returns the work of one execution (see FlopKind); the shapes are the arguments of work().
WorkTerms work_terms(std::size_t site, FlopKind kind, const TileShape& first,
                     const TileShape& written);

/// Returns the terms inside one more loop.
WorkTerms inside(const NestLoop& loop, WorkTerms terms);
/// Returns the terms in which the variable has this value.
WorkTerms at_value(WorkTerms terms, const Atom& variable, const Polynomial& value);

}  // namespace flashlab::toy::detail
