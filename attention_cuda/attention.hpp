// Attention on NVIDIA GPUs: every variant under the name it has elsewhere.
//
// Tensors    lie in device memory; everything else is as attention/problem.hpp has it, but float64,
//            head_dim above 256 and lengths above 2^30 are refused
// Stream     calls put their work on the caller's stream and return: they never synchronise
// Memory     nothing is allocated: what a variant needs beside the tensors, workspace_bytes says
// NaN, inf   in V (in the backward pass also in Q, K, dO) may spread within a tile that is partly
//            hidden when tensor cores do the products; keys past the key length never matter
#pragma once

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>

#include "attention/problem.hpp"
#include "attention/variants.hpp"

struct CUstream_st;

namespace flashlab::cuda {

/// A cudaStream_t.
using Stream = CUstream_st*;

/// What multiplies. The sums, the softmax and lse are fp32 in each case.
enum class Products : std::uint8_t {
  kNative,          // float: fp32 multiply-adds; bf16 and fp16: tensor cores
  kTensorFloat32,   // float on tensor cores, operands rounded to 11 bits
  kTensorFloat32x3  // float on tensor cores, operands split in two: three products for each one
};

/// "native", "tf32", "tf32x3": the words of --products.
std::string_view to_string(Products products);

/// Told of each kernel of a call as it is put on the stream, for timing one by one.
class KernelObserver {
 public:
  virtual ~KernelObserver() = default;
  virtual void before(std::string_view kernel, Stream stream) = 0;
  virtual void after(std::string_view kernel, Stream stream) = 0;
};

struct ExecutionOptions {
  Stream stream = nullptr;
  Products products = Products::kNative;
  void* workspace = nullptr;  // device memory, 256-byte aligned
  std::size_t workspace_bytes = 0;
  /// One a batch entry, in device memory, instead of AttentionOptions::key_lengths; a value outside
  /// 0 … seqlen_k counts as the nearer end.
  const std::int64_t* device_key_lengths = nullptr;
  int num_splits = 0;  // split-kv: parts of the keys, 0: as many as fill the GPU
  /// lse and delta rounded to 16 bits before the backward pass reads them (an experiment: what does
  /// storing them in the tensors' type cost?). bwd-onepass and bwd-twopass, bf16 and fp16.
  bool round_statistics = false;
  std::string_view kernel;  // the stem of one kernel file, where several could run; empty: the best
  KernelObserver* observer = nullptr;
};

/// A call of CUDA, or of one of its libraries, that failed.
class CudaError : public std::runtime_error {
 public:
  CudaError(std::string_view call, std::string_view error,
            std::source_location where = std::source_location::current());
  /// One that was caught elsewhere, with its message.
  CudaError(std::string_view call, std::string_view error, const std::string& message);
  const std::string call, error;
};

/// Bytes of device memory that a call with these arguments needs in ExecutionOptions::workspace.
/// Errors  ProblemError: as the call itself
std::size_t workspace_bytes(std::string_view variant, const AttentionProblem& problem,
                            const ExecutionOptions& execution = {});

/// O = softmax(softmax_scale Q K^T + mask) V and, if wanted, lse.
///
/// Tensors  float, bf16 or fp16, lse float; the registry says which variant takes what
/// Errors   ProblemError: argument, value, what was expected. CudaError: a launch that failed
/// Bits     the same every time on one kind of GPU
/// Cost     forward_flops(problem), more for three-pass
void attention_forward(std::string_view variant, const ForwardTensors& tensors,
                       const AttentionOptions& options = {},
                       const ExecutionOptions& execution = {});

/// dQ, dK, dV from what the forward pass left: P = exp(S - lse), delta = rowsum(dO o O).
///
/// Bits  the same every time but for bwd-onepass, whose dQ is added up in the order of arrival
void attention_backward(std::string_view variant, const BackwardTensors& tensors,
                        const AttentionOptions& options = {},
                        const ExecutionOptions& execution = {});

}  // namespace flashlab::cuda
