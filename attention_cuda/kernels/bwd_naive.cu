// bwd-naive: the gradients step by step; every step is a kernel that reads and writes global memory.
//
//   S = Q K^T                          this and the other four products: by the library
//   P = exp(softmax_scale S - lse)     0 for hidden pairs
//   dV = P^T dO
//   dP = dO V^T
//   delta = rowsum(dO o O)
//   dS = P o (dP - delta)              0 for hidden pairs
//   dQ = softmax_scale dS K
//   dK = softmax_scale dS^T Q
//
// Shapes     attention/problem.hpp;  all fp32
//            P (before it S), dP, dS  [batch, num_heads, seqlen_q, seqlen_k]
//            delta                    [batch, num_heads, seqlen_q]
//            The query heads of a kv head are contiguous, so a product processes all their queries
//            at once and sums dK and dV over the heads
// Grid       one block per row
// Traffic    S: 1 store, 1 load; P: 1 store, 2 loads; dP: 1 store, 1 load; dS: 1 store, 2 loads
// Copies     Q, K, V, dO are copied through the workspace, with zeros in rows of queries that see
//            nothing and of keys that no query sees; the gradients are copied from it
// Workspace  3 batch num_heads seqlen_q seqlen_k elements, the copies, 32 MiB
// NaN        a NaN or infinity in other rows of Q, K, dO affects its column of dK, dQ, dV: the
//            library also multiplies it by hidden weights, which are 0
// Against    none: the gradients as derived, one operation per kernel
// Source     toy-model notes; two-option algorithm; toymachine/programs/bwd_naive.toy
#include <cuda_runtime.h>

#include <cmath>
#include <string>

#include "attention_cuda/detail/library_product.hpp"
#include "attention_cuda/detail/workspace.hpp"
#include "attention_cuda/device/delta.cuh"
#include "attention_cuda/device/launch.cuh"
#include "attention_cuda/device/places.cuh"
#include "attention_cuda/device/stored_scores.cuh"
#include "attention_cuda/kernels/kernel_table.hpp"
#include "attention_cuda/registry.hpp"

namespace flashlab::cuda {
namespace {

struct WeighedKeys {
  int begin, end;

  __device__ bool contain(int j) const { return begin <= j && j < end; }
};

/// The keys with a weight for a query: none if its lse is -inf.
__device__ __forceinline__ WeighedKeys weighed_keys(const BackwardArguments<float>& arguments,
                                                    const Place& place, float lse) {
  if (lse == -INFINITY) return {0, 0};
  const VisibleKeys visible = arguments.mask.of_batch_entry(place.b, arguments.sizes);
  return {visible.first_of_query(place.part), visible.of_query(place.part)};
}

/// Copies one row of head_dim elements per block.
__global__ void __launch_bounds__(kRowThreads)
    bwd_naive_copy_queries_kernel(const BackwardArguments<float> arguments,
                                  DeviceTensor<const float> from, float* to) {
  const Place place = place_of(blockIdx.x, arguments.sizes.seqlen_q, arguments.sizes);
  const float lse = *arguments.lse.row(place.b, place.h, place.part);
  const WeighedKeys weighed = weighed_keys(arguments, place, lse);
  const bool is_there = weighed.begin < weighed.end;
  const float* const source = from.row(place.b, place.h, place.part);
  float* const target = to + static_cast<std::int64_t>(blockIdx.x) * arguments.sizes.head_dim;
  for (int c = static_cast<int>(threadIdx.x); c < arguments.sizes.head_dim; c += kRowThreads) {
    target[c] = is_there ? source[c * from.column_stride] : 0.f;
  }
}

__global__ void __launch_bounds__(kRowThreads)
    bwd_naive_copy_keys_kernel(const BackwardArguments<float> arguments,
                               DeviceTensor<const float> from, float* to) {
  const Sizes& sizes = arguments.sizes;
  const Place place = place_of_kv(blockIdx.x, sizes.seqlen_k, sizes);
  const VisibleKeys visible = arguments.mask.of_batch_entry(place.b, sizes);
  const bool is_there =
      visible.first_query(place.part) < min(visible.end_query(place.part), sizes.seqlen_q);
  const float* const source = from.row(place.b, place.h, place.part);
  float* const target = to + static_cast<std::int64_t>(blockIdx.x) * sizes.head_dim;
  for (int c = static_cast<int>(threadIdx.x); c < sizes.head_dim; c += kRowThreads) {
    target[c] = is_there ? source[c * from.column_stride] : 0.f;
  }
}

__global__ void __launch_bounds__(kRowThreads)
    bwd_naive_weights_kernel(const BackwardArguments<float> arguments, ScoreMatrix<float> P) {
  const Place place = place_of(blockIdx.x, arguments.sizes.seqlen_q, arguments.sizes);
  const float lse = *arguments.lse.row(place.b, place.h, place.part);
  const WeighedKeys weighed = weighed_keys(arguments, place, lse);
  float* const row = P.row(blockIdx.x);
  for (int j = static_cast<int>(threadIdx.x); j < P.num_keys; j += kRowThreads) {
    row[j] = weighed.contain(j) ? expf(fmaf(arguments.softmax_scale, row[j], -lse)) : 0.f;
  }
}

__global__ void __launch_bounds__(kRowThreads)
    bwd_naive_dS_kernel(const BackwardArguments<float> arguments, ScoreMatrix<const float> P,
                        ScoreMatrix<const float> dP, const float* delta, ScoreMatrix<float> dS) {
  const Place place = place_of(blockIdx.x, arguments.sizes.seqlen_q, arguments.sizes);
  const float lse = *arguments.lse.row(place.b, place.h, place.part);
  const WeighedKeys weighed = weighed_keys(arguments, place, lse);
  const float row_delta = delta[blockIdx.x];
  const float *const P_row = P.row(blockIdx.x), *const dP_row = dP.row(blockIdx.x);
  float* const row = dS.row(blockIdx.x);
  for (int j = static_cast<int>(threadIdx.x); j < dS.num_keys; j += kRowThreads) {
    row[j] = weighed.contain(j) ? P_row[j] * (dP_row[j] - row_delta) : 0.f;
  }
}

/// Stores a gradient from the product's result, or zeros if `from` is null. One row of head_dim
/// elements per block.
__global__ void __launch_bounds__(kRowThreads)
    bwd_naive_store_kernel(const float* from, DeviceTensor<float> to, int num_heads, int num_rows,
                           int head_dim) {
  const std::int64_t row = blockIdx.x, head = row / num_rows;
  float* const target = to.row(static_cast<int>(head / num_heads),
                               static_cast<int>(head % num_heads), row % num_rows);
  for (int c = static_cast<int>(threadIdx.x); c < head_dim; c += kRowThreads) {
    target[c * to.column_stride] = from == nullptr ? 0.f : from[row * head_dim + c];
  }
}

// ------------------------------------------------------------------------------------- launcher

struct NaiveArrays {
  float *P, *dP, *dS, *delta;  // [batch, num_heads, seqlen_q, seqlen_k]; delta without seqlen_k
  float *Q, *K, *V, *dO;       // copies, [batch, heads, rows, head_dim]
  float *dQ, *dK, *dV;         // the same
  std::byte* product_scratch;  // [kLibraryScratchBytes]
};

NaiveArrays take_naive_arrays(Workspace& workspace, const AttentionProblem& problem) {
  const std::int64_t rows = problem.batch * problem.num_heads * problem.seqlen_q,
                     pairs = rows * problem.seqlen_k, queries = rows * problem.head_dim,
                     keys =
                         problem.batch * problem.num_kv_heads * problem.seqlen_k * problem.head_dim;
  const auto take = [&workspace](std::int64_t count) { return workspace.take<float>(count); };
  return {.P = take(pairs),
          .dP = take(pairs),
          .dS = take(pairs),
          .delta = take(rows),
          .Q = take(queries),
          .K = take(keys),
          .V = take(keys),
          .dO = take(queries),
          .dQ = take(queries),
          .dK = take(keys),
          .dV = take(keys),
          .product_scratch = workspace.take<std::byte>(kLibraryScratchBytes)};
}

/// The launches of one call.
class Steps {
 public:
  explicit Steps(const BackwardCall& call)
      : call_(call),
        problem_(call.problem),
        arguments_(backward_arguments<float>(call)),
        queries_(problem_.heads_per_kv_head() * problem_.seqlen_q),
        keys_(problem_.seqlen_k) {
    Workspace workspace(call.workspace);
    arrays_ = take_naive_arrays(workspace, problem_);
  }

  void run() const {
    const NaiveArrays& a = arrays_;
    copy("Q", bwd_naive_copy_queries_kernel, query_rows(), arguments_.Q, a.Q);
    copy("K", bwd_naive_copy_keys_kernel, key_rows(), arguments_.K, a.K);
    copy("V", bwd_naive_copy_keys_kernel, key_rows(), arguments_.V, a.V);
    copy("dO", bwd_naive_copy_queries_kernel, query_rows(), arguments_.dO, a.dO);
    const std::int64_t d = problem_.head_dim;
    const float scale = arguments_.softmax_scale;
    const int num_keys = static_cast<int>(keys_);
    const ScoreMatrix<float> P = {a.P, num_keys}, dS = {a.dS, num_keys};
    const ScoreMatrix<const float> const_P = {a.P, num_keys}, dP = {a.dP, num_keys};

    product("S = Q K^T", {queries_, keys_, d, 0}, rows(a.Q, queries_), columns(a.K, keys_),
            pairs(a.P));
    launch_rows("bwd_naive_weights_kernel", bwd_naive_weights_kernel, arguments_, P);
    product("dV = P^T dO", {keys_, d, queries_, 0}, transposed_pairs(a.P), rows(a.dO, queries_),
            gradient(a.dV, keys_));
    product("dP = dO V^T", {queries_, keys_, d, 0}, rows(a.dO, queries_), columns(a.V, keys_),
            pairs(a.dP));
    launch_delta(call_, arguments_, a.delta);
    launch_rows("bwd_naive_dS_kernel", bwd_naive_dS_kernel, arguments_, const_P, dP, a.delta, dS);
    product("dQ = scale dS K", {queries_, d, keys_, 0, scale},
            {a.dS, keys_, queries_ * keys_, false}, rows(a.K, keys_), gradient(a.dQ, queries_));
    product("dK = scale dS^T Q", {keys_, d, queries_, 0, scale}, transposed_pairs(a.dS),
            rows(a.Q, queries_), gradient(a.dK, keys_));

    store("dQ", query_rows(), keys_, a.dQ, arguments_.dQ, problem_.num_heads, problem_.seqlen_q);
    store("dK", key_rows(), queries_, a.dK, arguments_.dK, problem_.num_kv_heads, keys_);
    store("dV", key_rows(), queries_, a.dV, arguments_.dV, problem_.num_kv_heads, keys_);
  }

 private:
  /// [count, head_dim] for each kv head.
  ProductOperand rows(const float* data, std::int64_t count) const {
    return {data, problem_.head_dim, count * problem_.head_dim, false};
  }
  ProductOperand columns(const float* data, std::int64_t count) const {
    return {data, problem_.head_dim, count * problem_.head_dim, true};
  }
  ProductOperand transposed_pairs(const float* data) const {
    return {data, keys_, queries_ * keys_, true};
  }
  ProductResult pairs(float* data) const { return {data, keys_, queries_ * keys_}; }

  ProductResult gradient(float* data, std::int64_t count) const {
    return {data, problem_.head_dim, count * problem_.head_dim};
  }
  std::int64_t query_rows() const {
    return problem_.batch * problem_.num_heads * problem_.seqlen_q;
  }
  std::int64_t key_rows() const { return problem_.batch * problem_.num_kv_heads * keys_; }

  /// If the depth is 0, the gradient stays for store(), which writes zeros: the library requires a
  /// depth of at least 1.
  void product(std::string_view name, ProductShape shape, const ProductOperand& A,
               const ProductOperand& B, const ProductResult& C) const {
    if (shape.depth == 0) return;
    shape.batch = problem_.batch * problem_.num_kv_heads;
    library_product(call_, name, {problem_.dtype, call_.options.products}, shape, A, B, C,
                    arrays_.product_scratch);
  }

  template <class Kernel>
  void copy(std::string_view name, Kernel* kernel, std::int64_t num_rows,
            const DeviceTensor<const float>& from, float* to) const {
    launch(call_, "bwd_naive copies " + std::string(name), kernel, {num_rows, kRowThreads},
           arguments_, from, to);
  }

  void store(std::string_view name, std::int64_t num_rows, std::int64_t depth, const float* from,
             const DeviceTensor<float>& to, std::int64_t num_heads,
             std::int64_t rows_per_head) const {
    launch(call_, "bwd_naive stores " + std::string(name), bwd_naive_store_kernel,
           {num_rows, kRowThreads}, depth == 0 ? nullptr : from, to, static_cast<int>(num_heads),
           static_cast<int>(rows_per_head), static_cast<int>(problem_.head_dim));
  }

  template <class... Parameters, class... Arguments>
  void launch_rows(std::string_view name, void (*kernel)(Parameters...),
                   const Arguments&... arguments) const {
    launch(call_, name, kernel, {query_rows(), kRowThreads}, arguments...);
  }

  const BackwardCall& call_;
  const AttentionProblem& problem_;
  const BackwardArguments<float> arguments_;
  const std::int64_t queries_, keys_;  // per kv head
  NaiveArrays arrays_;
};

std::size_t bwd_naive_bytes(const AttentionProblem& problem, const ExecutionOptions&) {
  Workspace workspace;
  take_naive_arrays(workspace, problem);
  return workspace.bytes();
}

void launch_bwd_naive(const BackwardCall& call) { Steps(call).run(); }

}  // namespace

extern const KernelRow bwd_naive;
const KernelRow bwd_naive = {listed("bwd_naive"), nullptr, launch_bwd_naive, bwd_naive_bytes};

}  // namespace flashlab::cuda
