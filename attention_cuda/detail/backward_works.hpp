// BlockWork of the backward kernels in fp32 and by mma.sync, for one pair of tiles.
#pragma once

#include "attention_cuda/block_work.hpp"
#include "attention_cuda/detail/backward_tile_shapes.hpp"
#include "attention_cuda/detail/launches.hpp"

namespace flashlab::cuda {

/// dK and dV, and dQ if it is added to global memory. P and dS go through shared memory.
BlockWork fp32_key_work(const BackwardFp32Shape& shape, bool with_dQ);
/// dQ. P and dS go through shared memory.
BlockWork fp32_query_work(const BackwardFp32Shape& shape);

/// dK and dV, and dQ if it is added to global memory. S^T and dP^T are the keys of a warp x a part
/// of the queries. dS^T goes through shared memory for dQ. If warps share keys, P^T and dS^T do, too.
BlockWork mma_key_work(const KeyTileShape& shape, bool with_dQ, const TilesRequest& request);
/// dQ. P and dS stay in registers.
BlockWork mma_query_work(const QueryTileShape& shape, const TilesRequest& request);

}  // namespace flashlab::cuda
