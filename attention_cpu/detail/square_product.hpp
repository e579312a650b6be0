// The matrix product that measures a machine's speed.
#pragma once

#include <cstdint>

#include "attention_cpu/detail/build.hpp"

namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD {

void square_product(std::int64_t n, int num_threads, const float* A, const float* B, float* C);

}  // namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD
