// Whether two strided tensors share memory.
#pragma once

#include "attention/tensor.hpp"

namespace flashlab {

/// Returns false only if it is certain that the tensors share no byte. Handles interleaved tensors
/// exactly (dQ, dK and dV side by side in rows of one array). Strides for which the search would
/// take too long count as overlapping.
bool may_overlap(const TensorView& a, const TensorView& b);

/// Returns whether two elements of one tensor may have the same place (with a stride of
/// 0, for example).
bool may_overlap_itself(const TensorView& tensor);

}  // namespace flashlab
