// The FLOPs, bytes and roofline of the Pallas post (docs/sources.md) for an RTX 4000 Ada. Square
// problems without a mask, b bytes per element everywhere.
#pragma once

#include <cstdint>
#include <optional>

#include "results/comparison.hpp"
#include "results/machine_model.hpp"

namespace flashlab::compare {

/// The sizes in the Pallas post: batch, heads, sequence length, head_dim.
struct PallasShape {
  std::int64_t B = 0, H = 0, T = 0, D = 0, b = 0;  // b: bytes per element
};

/// forward 4BHT^2 D + 5BHT^2; backward 8 (P saved: bwd-naive), 10 (one recomputation: bwd-onepass)
/// or 14 (two: bwd-twopass) x BHT^2 D.
std::int64_t pallas_flops(std::string_view variant, const PallasShape& shape);

/// Returns two counts of bytes. The post's code counts the T x T matrix once for naive, and K and V
/// once for flash. The post's text counts six steps that move that matrix five times (stored, read
/// twice by the softmax, stored, read), and K and V once for each tile of block_q queries.
PallasBytes pallas_bytes(std::string_view variant, const PallasShape& shape, std::int64_t block_q);

/// Shared memory of the post's forward kernel, with tiles of 64 x 64 in 16 bits: Q, K, V, S and O in
/// fp32, five statistics for each row; and one more copy of K and V for its second stage.
struct PallasSharedMemory {
  std::int64_t tile_bytes = 0, second_stage_bytes = 0;
};
PallasSharedMemory pallas_shared_memory(std::int64_t head_dim);

/// Returns the milliseconds of the post's roofline: pallas_flops at the data sheet's tensor core
/// rate, or the bytes of the post's code at the DRAM rate, whichever takes longer. Nothing for a
/// machine without these rates.
std::optional<double> pallas_ms(std::string_view variant, const PallasShape& shape,
                                const MachineModel& data_sheet, std::string_view dtype,
                                std::string_view products);

}  // namespace flashlab::compare
