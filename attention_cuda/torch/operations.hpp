// The operations flashlab::attention_forward and flashlab::attention_backward of PyTorch.
//
//   attention_forward(Tensor Q, Tensor K, Tensor V, Tensor? key_lengths, Tensor? cu_seqlens_q,
//                     Tensor? cu_seqlens_k, float? softmax_scale, int[] options, int score)
//                     -> (Tensor, Tensor)                     O, lse
//   attention_backward(Tensor dO, Tensor Q, Tensor K, Tensor V, Tensor O, Tensor lse, …the same)
//                     -> (Tensor, Tensor, Tensor)             dQ, dK, dV
//
// Results  are dense, with heads inside of rows where Q (K, V) has them so. They and the workspace are
//          from PyTorch's allocator; the call is on its current stream of the tensors' device
// Errors   ValueError: argument, value, what was expected. RuntimeError: CUDA
#pragma once

#include <cstddef>

#include "attention_cuda/flashlab.h"

extern "C" {

/// Implements the operations, whose schemas flashlab_operations.py has defined, for tensors of a
/// dispatch key: "CUDA", or "CPU" for the emulation. Returns null, or one line that says what is missing.
FLASHLAB_API const char* flashlab_register_torch_operations(const char* dispatch_key);

}  // extern "C"

namespace flashlab::cuda {

/// The places of `options`. After them come key_lengths, cu_seqlens_q and cu_seqlens_k, if they are
/// lists. flashlab_operations.py writes them in this order.
enum TorchOption : std::size_t {
  kTorchMask,
  kTorchProducts,
  kTorchVariant,  // a kernel of it: an index of flashlab_get_kernel; -1: "auto"
  kTorchKernel,   // an index; -1: the best one
  kTorchFlags,    // TorchFlag
  kTorchWindowLeft,
  kTorchWindowRight,
  kTorchNumSplits,
  kTorchQueryOffset,
  kTorchNumKeyLengths,  // numbers of each list
  kTorchNumBoundsQ,
  kTorchNumBoundsK,
  kNumTorchOptions
};

enum TorchFlag : int {
  kTorchHasWindowLeft = 1,
  kTorchHasWindowRight = 2,
  kTorchDeterministic = 4,
  kTorchRoundStatistics = 8
};

}  // namespace flashlab::cuda
