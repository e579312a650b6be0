// What the Pallas post (docs/sources.md) counts on an RTX 4000 Ada: FLOPs, bytes, and its roofline
// from them. Square problems without a mask, b bytes an element everywhere.
#pragma once

#include <cstdint>
#include <optional>

#include "results/comparison.hpp"
#include "results/machine_model.hpp"

namespace flashlab::compare {

/// The sizes that the Pallas post knows: batch, heads, sequence length, head_dim.
struct PallasShape {
  std::int64_t B = 0, H = 0, T = 0, D = 0, b = 0;  // b: bytes of an element
};

/// forward 4BHT^2 D + 5BHT^2; backward 8 (P saved: bwd-naive), 10 (one recomputation: bwd-onepass)
/// or 14 (two: bwd-twopass) x BHT^2 D.
std::int64_t pallas_flops(std::string_view variant, const PallasShape& shape);

/// The bytes of the Pallas post's code, which counts the T x T matrix once for naive, and K and V
/// once for flash; and those of its prose: six steps that move that matrix five times (stored, read
/// twice by the softmax, stored, read), and K and V once for each tile of block_q queries.
PallasBytes pallas_bytes(std::string_view variant, const PallasShape& shape, std::int64_t block_q);

/// Milliseconds of the Pallas post's roofline: pallas_flops at the data sheet's tensor core rate,
/// or its code's bytes at the DRAM's, whichever takes longer. Nothing for a machine without these
/// rates.
std::optional<double> pallas_ms(std::string_view variant, const PallasShape& shape,
                                const MachineModel& data_sheet, std::string_view dtype,
                                std::string_view products);

}  // namespace flashlab::compare
