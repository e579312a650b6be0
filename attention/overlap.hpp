// Whether two strided tensors share memory.
#pragma once

#include "attention/tensor.hpp"

namespace flashlab {

/// True unless it is certain that no byte belongs to both. Interleaved tensors (dQ, dK and dV side
/// by side in rows of one array) are told apart exactly; strides so odd that the search would not
/// end count as overlapping.
bool may_overlap(const TensorView& a, const TensorView& b);

/// Whether two elements of one tensor may lie in one place (a stride of 0, say).
bool may_overlap_itself(const TensorView& tensor);

}  // namespace flashlab
