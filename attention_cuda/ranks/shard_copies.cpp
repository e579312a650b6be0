#include "attention_cuda/ranks/shard_copies.hpp"

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "attention_cuda/device/launch.cuh"

namespace flashlab::cuda {
namespace {

/// Copies rows of all heads at once.
void copy_rows(const TensorView& from, std::int64_t from_row, const TensorView& to,
               std::int64_t to_row, std::int64_t num_rows, Stream stream) {
  const auto row_bytes = static_cast<std::size_t>(size_in_bytes(from.dtype) * from.strides[2]);
  const auto heads = static_cast<std::size_t>(from.shape[0] * from.shape[1]);
  const std::size_t width = row_bytes * static_cast<std::size_t>(num_rows);
  if (width == 0 || heads == 0) return;
  const auto place = [&](const TensorView& tensor, std::int64_t row) {
    return static_cast<std::byte*>(tensor.data) + row_bytes * static_cast<std::size_t>(row);
  };
  const auto pitch = [&](const TensorView& tensor) {
    return row_bytes * static_cast<std::size_t>(tensor.shape[2]);
  };
  check_cuda(cudaMemcpy2DAsync(place(to, to_row), pitch(to), place(from, from_row), pitch(from),
                               width, heads, cudaMemcpyDefault, stream),
             "cudaMemcpy2DAsync");
}

}  // namespace

void copy_to_shard(const Shards& shards, int rank, const TensorView& whole, const TensorView& shard,
                   Stream stream) {
  for (const ShardPiece& piece : shards.pieces(rank, whole.shape[2])) {
    copy_rows(whole, piece.first_token, shard, piece.first_row, piece.count, stream);
  }
}

void copy_from_shard(const Shards& shards, int rank, const TensorView& shard,
                     const TensorView& whole, Stream stream) {
  for (const ShardPiece& piece : shards.pieces(rank, whole.shape[2])) {
    copy_rows(shard, piece.first_row, whole, piece.first_token, piece.count, stream);
  }
}

}  // namespace flashlab::cuda
