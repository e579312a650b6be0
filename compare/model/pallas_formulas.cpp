#include "compare/model/pallas_formulas.hpp"

#include <algorithm>

namespace flashlab::compare {
namespace {

bool is_backward(std::string_view variant) { return variant.starts_with("bwd-"); }

/// Variants that store their T x T matrices in DRAM.
bool stores_scores(std::string_view variant) {
  return variant == "naive" || variant == "fused-softmax" || variant == "bwd-naive";
}

/// In units of B H T^2 D.
std::int64_t backward_factor(std::string_view variant) {
  if (variant == "bwd-naive") return 8;
  return variant == "bwd-onepass" ? 10 : 14;
}

}  // namespace

std::int64_t pallas_flops(std::string_view variant, const PallasShape& s) {
  const std::int64_t scores = s.B * s.H * s.T * s.T;
  if (is_backward(variant)) return backward_factor(variant) * scores * s.D;
  return 4 * scores * s.D + 5 * scores;
}

PallasBytes pallas_bytes(std::string_view variant, const PallasShape& s, std::int64_t block_q) {
  const std::int64_t rows = s.B * s.H * s.T, matrix = rows * s.D, scores = rows * s.T;
  const std::int64_t matrices = is_backward(variant) ? 8 : 4;  // Q K V O; also dO dQ dK dV
  PallasBytes bytes;
  bytes.formula = (matrices * matrix + (stores_scores(variant) ? scores : rows)) * s.b;
  bytes.prose = bytes.formula;
  if (variant == "naive" || variant == "fused-softmax") {
    bytes.prose = (matrices * matrix + 5 * scores) * s.b;
  } else if (!is_backward(variant) && block_q > 0) {
    const std::int64_t num_q_tiles = (s.T + block_q - 1) / block_q;
    bytes.prose = (2 * matrix + 2 * matrix * num_q_tiles + rows) * s.b;
  }
  return bytes;
}

PallasSharedMemory pallas_shared_memory(std::int64_t head_dim) {
  constexpr std::int64_t kNarrow = 2, kWide = 4, kStatistics = 5;
  const std::int64_t tile = kPallasBlock * head_dim;
  PallasSharedMemory memory;
  memory.Q = memory.K = memory.V = tile * kNarrow;
  memory.O = tile * kWide;
  memory.S = kPallasBlock * kPallasBlock * kWide;
  memory.statistics = kStatistics * kPallasBlock * kWide;
  memory.second_stage = memory.K + memory.V;
  return memory;
}

std::optional<double> pallas_ms(std::string_view variant, const PallasShape& shape,
                                const MachineModel& data_sheet, std::string_view dtype,
                                std::string_view products) {
  const bool knows = data_sheet.dram_copy.has_value() && !data_sheet.products.empty();
  if (!knows) return std::nullopt;
  const double flops = static_cast<double>(pallas_flops(variant, shape));
  const double bytes = static_cast<double>(pallas_bytes(variant, shape, 0).formula);
  return 1e3 * std::max(flops / data_sheet.product_rate(dtype, products).per_s,
                        bytes / data_sheet.dram_copy->per_s);
}

}  // namespace flashlab::compare
