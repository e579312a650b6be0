// Converts 16-bit floats to float and back.
#pragma once

#include <bit>
#include <cstdint>

#include "attention/tensor.hpp"
#include "attention_cpu/detail/build.hpp"

namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD {

void load_floats(const void* from, DataType dtype, std::int64_t stride, std::int64_t count,
                 float* to);
void store_floats(const float* from, std::int64_t count, void* to, DataType dtype,
                  std::int64_t stride);

}  // namespace flashlab::cpu::detail::FLASHLAB_CPU_BUILD
