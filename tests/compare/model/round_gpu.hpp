// A GPU and a block with round numbers.
#pragma once

#include "compare/model/unit_cycles.hpp"
#include "tests/catch_shim.hpp"

namespace flashlab::compare {

inline auto within_rounding(double value) { return Catch::Matchers::WithinAbs(value, 1e-9); }

/// A GPU whose units do round numbers of things per clock.
inline gpu::GpuSpec round_gpu() {
  gpu::GpuSpec gpu;
  gpu.num_sms = 10;
  gpu.boost_clock_hz = 2e9;
  gpu.tensor_boost_clock_hz = 1.6e9;
  gpu.shared_memory_per_sm_bytes = 200 << 10;
  gpu.flops_per_s = {{"bf16", 4096 * 10 * 1.6e9}};
  gpu.exps_per_clock_per_sm = 16;
  gpu.additions_per_clock_per_sm = 128;
  gpu.shared_bytes_per_clock_per_sm = 128;
  gpu.instructions_per_clock_per_sm = 4;
  gpu.mma_share = 0.5;
  gpu.arithmetic_clocks = 1.25;
  gpu.constant_clocks = 6;
  gpu.latency = {30, 40, 200, 20, 10, 50, 300, 400, 5};
  return gpu;
}

inline constexpr ElementFacts kBf16 = {2, 1, 2048};

/// One product [64, 64] of depth 32 by four warps of 16 rows, without scores.
inline cuda::BlockWork one_product(cuda::Operand a, cuda::Operand b) {
  cuda::BlockWork work;
  work.num_warps = 4;
  work.products = {{64, 64, 32, 16, 64, a, b}};
  return work;
}

}  // namespace flashlab::compare
