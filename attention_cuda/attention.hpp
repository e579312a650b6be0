// Attention on NVIDIA GPUs: all variants under their common names.
//
// Tensors    are in device memory; otherwise as in attention/problem.hpp, but float64, head_dim
//            above 256 and lengths above 2^30 are rejected
// Stream     calls enqueue their work on the caller's stream and return; they never synchronise
// Memory     nothing is allocated: workspace_bytes() gives the memory needed besides the tensors
// NaN, inf   in V (in the backward pass also in Q, K, dO) may spread within a tile that is partly
//            hidden if tensor cores compute the products; keys after the key length never matter.
//            Packed sequences that meet in a tile are parts of it that are hidden from each other
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>

#include "attention/forward_state.hpp"
#include "attention/problem.hpp"
#include "attention/variants.hpp"

struct CUstream_st;

namespace flashlab::cuda {

/// A cudaStream_t.
using Stream = CUstream_st*;

/// How products are computed. Sums, softmax and lse are always fp32.
enum class Products : std::uint8_t {
  kNative,           // float: fp32 multiply-adds; bf16 and fp16: tensor cores
  kTensorFloat32,    // float on tensor cores, operands rounded to 11 bits
  kTensorFloat32x3,  // float on tensor cores, operands split in two: three tf32 products
  kFloat16x3         // the same with two scaled fp16 numbers: three fp16 products
};

/// Every one, in the order of the values.
inline constexpr std::array kAllProducts = {Products::kNative, Products::kTensorFloat32,
                                            Products::kTensorFloat32x3, Products::kFloat16x3};

/// Returns "native", "tf32", "tf32x3", "fp16x3": the values of --products.
std::string_view to_string(Products products);

/// Notified of each kernel of a call when it is enqueued, to time kernels separately.
class KernelObserver {
 public:
  virtual ~KernelObserver() = default;
  virtual void before(std::string_view kernel, Stream stream) = 0;
  virtual void after(std::string_view kernel, Stream stream) = 0;
};

/// Calls that sum dQ together may begin with each query tile of any kernel.
inline constexpr std::int64_t kQueriesOfSums = 128;

struct ExecutionOptions {
  Stream stream = nullptr;
  Products products = Products::kNative;
  void* workspace = nullptr;  // device memory, 256-byte aligned
  std::size_t workspace_bytes = 0;
  /// One per batch entry, in device memory, instead of AttentionOptions::key_lengths. Values
  /// outside 0 … seqlen_k are clamped.
  const std::int64_t* device_key_lengths = nullptr;
  /// The bounds of packed sequences in device memory, instead of AttentionOptions::cu_seqlens_q and
  /// cu_seqlens_k: num_sequences + 1 each. Tokens after the last bound belong to no sequence. Bounds
  /// outside 0 … seqlen_q (seqlen_k) are clamped.
  const std::int64_t* device_cu_seqlens_q = nullptr;
  const std::int64_t* device_cu_seqlens_k = nullptr;
  std::int64_t num_sequences = 0;  // of these
  int num_splits = 0;              // split-kv: parts of the keys; 0: enough to fill the GPU
  /// Rounds lse and delta to 16 bits before the backward pass reads them (an experiment: what
  /// is the cost of storing them in the tensors' type?). Only bwd-onepass and bwd-twopass with
  /// bf16 and fp16.
  bool round_statistics = false;
  /// bwd-onepass adds to dQ in a fixed order, so that equal calls give equal bits on one kind of GPU.
  /// All other variants do so anyway.
  bool deterministic = false;
  /// bwd-onepass in several calls, one after another, with the same queries and one workspace, which keeps delta and
  /// the sum of dQ in fp32 between them. Only the wgmma kernels.
  bool continues_dQ = false;  // the workspace is that of the call before
  bool keeps_dQ = false;      // dQ is not written: a further call follows
  /// In such calls: the queries before it see no key of the call. A multiple of kQueriesOfSums.
  std::int64_t first_query = 0;
  std::string_view kernel;  // stem of a kernel file, if several are possible; empty: the best
  KernelObserver* observer = nullptr;
  /// The caller knows that all memory is of the current device, and that outputs overlap nothing.
  bool memory_is_checked = false;
  /// In memory of the host that the device can read: once it is not 0, query tiles or K/V tiles that have
  /// not begun are left out, and results are not valid. Null: nothing can stop the call. Only
  /// flash2_wgmma_sm90, which then has a block for each query tile or pair, and bwd_onepass_wgmma_sm90.
  const int* stop_flag = nullptr;
  /// Only flash2, except fp16x3. Empty: the call sees the first keys.
  ForwardState state_in = {};
  /// Empty: O and lse are computed. Otherwise the state is stored instead, and they are not written.
  /// May be state_in.
  ForwardState state_out = {};

  bool has_state() const { return !state_in.empty() || !state_out.empty(); }
};

/// A failed call of CUDA or of one of its libraries.
class CudaError : public std::runtime_error {
 public:
  CudaError(std::string_view call, std::string_view error,
            std::source_location where = std::source_location::current());
  /// Makes an error that was caught elsewhere, with its message.
  CudaError(std::string_view call, std::string_view error, const std::string& message);
  const std::string call, error;
};

/// Returns the bytes of device memory that such a call needs in ExecutionOptions::workspace.
/// Errors  ProblemError: as the call itself
std::size_t workspace_bytes(std::string_view variant, const AttentionProblem& problem,
                            const ExecutionOptions& execution = {});

/// Computes O = softmax(softmax_scale Q K^T + mask) V and, if requested, lse.
///
/// Tensors  float, bf16 or fp16, lse float; the registry lists the types of each variant
/// Errors   ProblemError: argument, value, what was expected. CudaError: a launch that failed
/// Bits     reproducible on one kind of GPU
/// Cost     forward_flops(problem), more for three-pass
void attention_forward(std::string_view variant, const ForwardTensors& tensors,
                       const AttentionOptions& options = {},
                       const ExecutionOptions& execution = {});

/// Computes dQ, dK, dV from the results of the forward pass: P = exp(S - lse), delta =
/// rowsum(dO o O).
///
/// Bits  reproducible, except for bwd-onepass, which adds dQ in order of arrival
void attention_backward(std::string_view variant, const BackwardTensors& tensors,
                        const AttentionOptions& options = {},
                        const ExecutionOptions& execution = {});

}  // namespace flashlab::cuda
