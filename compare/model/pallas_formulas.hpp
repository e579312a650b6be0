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

/// The queries in a tile of the post's kernels, and the keys.
inline constexpr std::int64_t kPallasBlock = 64;

/// Shared memory of the post's forward kernel, with tiles of kPallasBlock: what its text lists, in
/// bytes.
struct PallasSharedMemory {
  std::int64_t Q = 0, K = 0, V = 0;  // 16 bits
  std::int64_t O = 0, S = 0;         // fp32
  std::int64_t statistics = 0;       // five for each row, fp32
  std::int64_t second_stage = 0;     // one more copy of K and V

  std::int64_t tile() const { return Q + K + V + O + S + statistics; }
  std::int64_t all() const { return tile() + second_stage; }
};
PallasSharedMemory pallas_shared_memory(std::int64_t head_dim);

/// Returns the milliseconds of the post's roofline: pallas_flops at the data sheet's tensor core
/// rate, or the bytes of the post's code at the DRAM rate, whichever takes longer. Nothing for a
/// machine without these rates.
std::optional<double> pallas_ms(std::string_view variant, const PallasShape& shape,
                                const MachineModel& data_sheet, std::string_view dtype,
                                std::string_view products);

}  // namespace flashlab::compare
