#include <algorithm>

#include "attention_cuda/detail/key_lengths.hpp"
#include "attention_cuda/detail/packed_sequences.hpp"
#include "attention_cuda/detail/tile_shapes.hpp"
#include "attention_cuda/device/arguments.cuh"
#include "attention_cuda/device/launch.cuh"
#include "attention_cuda/device/places.cuh"

namespace flashlab::cuda {
namespace {

/// The bounds of sequences along one axis. They may be anything: they are read clamped.
struct Bounds {
  const std::int64_t* cu_seqlens;  // [count + 1]
  int count, length;

  __device__ int at(int s) const {
    const std::int64_t bound = cu_seqlens[s];
    return static_cast<int>(bound < 0 ? 0 : bound > length ? length : bound);
  }
  /// Returns the last sequence that does not begin after an index.
  __device__ int containing(int index) const {
    int low = 0, high = count;
    while (high - low > 1) {
      const int middle = (low + high) / 2;
      (at(middle) <= index ? low : high) = middle;
    }
    return low;
  }
};

/// One thread for each query, then one for each key.
__global__ void __launch_bounds__(kRangeThreads)
    visible_ranges_kernel(Bounds queries, Bounds keys, MaskArguments mask, IndexRange* of_queries,
                          IndexRange* of_keys) {
  const std::int64_t index = std::int64_t{blockIdx.x} * kRangeThreads + threadIdx.x;
  const bool is_query = index < queries.length;
  if (!is_query && index - queries.length >= keys.length) return;
  const int i = static_cast<int>(is_query ? index : index - queries.length);
  const Bounds& bounds = is_query ? queries : keys;
  IndexRange* const to = is_query ? of_queries + i : of_keys + i;
  const Bounds& other = is_query ? keys : queries;
  // Before the first bound and after the last one: tokens of no sequence, which see nothing. Ends of ranges
  // do not decrease, and do not go beyond the last bound: nothing there is read.
  const int before = bounds.count < 1 ? 0 : other.at(0),
            after = bounds.count < 1 ? other.length : max(before, other.at(other.count));
  if (bounds.count < 1 || i >= bounds.at(bounds.count)) {
    *to = {after, after};
    return;
  }
  if (i < bounds.at(0)) {
    *to = {before, before};
    return;
  }

  const int s = bounds.containing(i);
  const int first_query = queries.at(s), num_queries = max(0, queries.at(s + 1) - first_query);
  const int first_key = keys.at(s), num_keys = max(0, keys.at(s + 1) - first_key);
  const VisibleKeys visible = mask.of_sequence(num_queries, num_keys);
  if (is_query) {
    *to = {first_key + visible.first_of_query(i - first_query),
           first_key + visible.of_query(i - first_query)};
  } else {
    const int key = i - first_key;
    *to = {first_query + min(visible.first_query(key), num_queries),
           first_query + min(visible.end_query(key), num_queries)};
  }
}

}  // namespace

PackedArrays take_packed_arrays(Workspace& workspace, const AttentionProblem& problem,
                                const ExecutionOptions& execution) {
  PackedArrays arrays;
  if (!is_packed(problem, execution)) return arrays;
  if (problem.is_packed()) {
    arrays.cu_seqlens_q = workspace.take<std::int64_t>(std::ssize(problem.cu_seqlens_q));
    arrays.cu_seqlens_k = workspace.take<std::int64_t>(std::ssize(problem.cu_seqlens_k));
  }
  arrays.of_queries = workspace.take<IndexRange>(problem.seqlen_q);
  arrays.of_keys = workspace.take<IndexRange>(problem.seqlen_k);
  return arrays;
}

VisibleRanges store_visible_ranges(const Call& call, const PackedArrays& arrays) {
  const AttentionProblem& problem = call.problem;
  const ExecutionOptions& execution = call.options;
  const auto bounds = [&](std::string_view name, const std::vector<std::int64_t>& on_host,
                          std::int64_t* copy, const std::int64_t* on_device, std::int64_t length) {
    if (problem.is_packed()) store_numbers(call, name, on_host, copy);
    const std::int64_t count =
        problem.is_packed() ? problem.num_sequences() : execution.num_sequences;
    return Bounds{problem.is_packed() ? copy : on_device, static_cast<int>(count),
                  static_cast<int>(length)};
  };
  const Bounds queries = bounds("store_cu_seqlens_q", problem.cu_seqlens_q, arrays.cu_seqlens_q,
                                execution.device_cu_seqlens_q, problem.seqlen_q),
               keys = bounds("store_cu_seqlens_k", problem.cu_seqlens_k, arrays.cu_seqlens_k,
                             execution.device_cu_seqlens_k, problem.seqlen_k);
  launch(call, "visible_ranges", visible_ranges_kernel,
         {ceil_div(problem.seqlen_q + problem.seqlen_k, kRangeThreads), kRangeThreads}, queries,
         keys, mask_arguments(call), arrays.of_queries, arrays.of_keys);
  return {arrays.of_queries, arrays.of_keys};
}

}  // namespace flashlab::cuda
