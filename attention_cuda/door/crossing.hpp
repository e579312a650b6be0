// What crosses the door between a command and the GPU library: the library's functions, their
// results, and the text by which both sides know that they mean the same structures. A folder that
// has more to ask of the library has an entrance of its own (compare/rows/gpu_measurements.hpp).
//
// Runtime  each side may have its own C++ runtime: exceptions cross as Outcomes
#pragma once

#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "attention_cuda/door/door.hpp"
#include "system/fields.hpp"

namespace flashlab::cuda::door {

/// The result of a call into the library.
struct Outcome {
  enum class Kind : std::uint8_t { kGood, kProblem, kCuda, kNoMemory, kOther };
  Kind kind = Kind::kGood;
  // kProblem: field, value, what was expected. kCuda: call, error, message. Others: the message.
  std::vector<std::string> texts;
};

/// The library's side: runs the work, and converts its exception.
template <class Work>
Outcome outcome_of(const Work& work) noexcept {
  using Kind = Outcome::Kind;
  try {
    work();
    return {};
  } catch (const ProblemError& error) {
    return {Kind::kProblem, {error.field, error.value, error.expected}};
  } catch (const CudaError& error) {
    return {Kind::kCuda, {error.call, error.error, error.what()}};
  } catch (const std::bad_alloc& error) {
    return {Kind::kNoMemory, {error.what()}};
  } catch (const std::exception& error) {
    return {Kind::kOther, {error.what()}};
  }
}

/// The command's side: throws the exception again.
void raise(const Outcome& outcome);

/// The library's side of the calls in door.hpp. Each sets `result` or returns an error.
class GpuLibrary {
 public:
  virtual Outcome current_gpu(GpuInfo& result) = 0;
  virtual Outcome run(const GpuCall& call, const ForwardTensors& host, GpuRun& result) = 0;
  virtual Outcome run(const GpuCall& call, const BackwardTensors& host, GpuRun& result) = 0;
  virtual Outcome sample(const GpuCall& call, int repeat, std::uint64_t seed,
                         SampledCall& result) = 0;
  virtual Outcome sample_kernels(const GpuCall& call, int repeat, std::uint64_t seed,
                                 SampledKernels& result) = 0;

 protected:
  ~GpuLibrary() = default;
};

/// Raised with each change that no structure shows: a virtual function, the values of an enum, what
/// a field means.
inline constexpr int kInterfaceNumber = 1;

/// What both sides must agree on: the version, the number above, and a fingerprint of structures.
/// Each library computes its own.
std::string interface_text(std::uint64_t fields);

/// An entrance of the library: a C function that returns null if `interface` differs from its own.
using Entrance = void* (*)(const char* interface);
inline constexpr const char* kGpuLibraryEntrance = "flashlab_gpu_library";
std::string gpu_library_interface();

/// Opens the library, the first time, and returns what its entrance returns. Throws
/// GpuLibraryMissing.
void* enter(const char* entrance, const std::string& interface);

}  // namespace flashlab::cuda::door

FLASHLAB_FIELDS(flashlab::TensorView, data, dtype, shape, strides);
FLASHLAB_FIELDS(flashlab::ForwardTensors, Q, K, V, O, lse);
FLASHLAB_FIELDS(flashlab::BackwardTensors, Q, K, V, O, lse, dO, dQ, dK, dV);
FLASHLAB_FIELDS(flashlab::ForwardState, m, l, O);
FLASHLAB_FIELDS(flashlab::AttentionProblem, batch, num_heads, num_kv_heads, seqlen_q, seqlen_k,
                head_dim, dtype, mask, softmax_scale, key_lengths, window_left, window_right,
                cu_seqlens_q, cu_seqlens_k, query_offset);
FLASHLAB_FIELDS(flashlab::Shards, sharding, num_ranks);
FLASHLAB_FIELDS(flashlab::RankProcess, rank, num_ranks, local_rank, address, port);
FLASHLAB_FIELDS(flashlab::RankOptions, transfers, timeout, process, stops_kernels);
FLASHLAB_FIELDS(flashlab::cuda::ExecutionOptions, stream, products, workspace, workspace_bytes,
                device_key_lengths, device_cu_seqlens_q, device_cu_seqlens_k, num_sequences,
                num_splits, round_statistics, deterministic, continues_dQ, keeps_dQ, first_query,
                kernel, observer, memory_is_checked, stop_flag, state_in, state_out);
FLASHLAB_FIELDS(flashlab::cuda::GpuInfo, name, compute_capability, num_multiprocessors,
                memory_bytes, l2_bytes, shared_memory_per_block_bytes, driver_version,
                runtime_version);
FLASHLAB_FIELDS(flashlab::cuda::GpusProgress, kernels, tensor_bytes, workspace_bytes, num_done,
                num_runs);
FLASHLAB_FIELDS(flashlab::cuda::Samples, ms);
FLASHLAB_FIELDS(flashlab::cuda::KernelTotal, kernel, num_calls, ms);
FLASHLAB_FIELDS(flashlab::cuda::door::GpuCall, variant, problem, execution, shards, ranks,
                on_progress);
FLASHLAB_FIELDS(flashlab::cuda::door::GpuRun, ms, workspace_bytes, kernel);
FLASHLAB_FIELDS(flashlab::cuda::door::SampledCall, samples, workspace_bytes, kernel);
FLASHLAB_FIELDS(flashlab::cuda::door::SampledKernels, launches, kernel);
FLASHLAB_FIELDS(flashlab::cuda::door::Outcome, kind, texts);
