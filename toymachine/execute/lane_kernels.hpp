// One instruction over many lanes. Made from the instruction table, for each row, three times over:
// for the compiler's baseline, AVX2 and AVX-512; the processor decides at run time. All give the
// same bits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "toymachine/language/instruction_set.hpp"

namespace flashlab::toy::detail {

inline constexpr std::size_t kMaxReads = 3;

/// Offsets differ from lane to lane, and updates of one cell must come one after the other.
constexpr bool runs_in_lanes(OperandKind kind) {
  return kind != OperandKind::kOffset && kind != OperandKind::kMemoryUpdate;
}
constexpr bool runs_in_lanes(const InstructionSpec& spec) {
  for (const OperandKind kind : spec.kinds()) {
    if (!runs_in_lanes(kind)) return false;
  }
  return true;
}

/// out[t] = effect(in[0][t], in[1][t], …) for t in [0, n). `out` overlaps no input. True when every
/// result is legal: below +inf and no NaN.
template <class Value>
using LaneKernel = bool (*)(Value* out, const Value* const* in, std::size_t n);

/// The same, one lane after the other, where in[position][t] is out[t - 1]: a value carried from
/// lane to lane. out[-1] holds the first one.
template <class Value>
using ChainKernel = bool (*)(Value* out, const Value* const* in, std::size_t n);

/// Two instructions in a ring: first reads second's result of the lane before at one position,
/// second reads first's result of this lane at another. in[0..2] are first's inputs, in[3..5]
/// second's.
template <class Value>
using RingKernel = bool (*)(Value* first, Value* second, const Value* const* in, std::size_t n);

template <class Value>
struct LaneKernels {
  const LaneKernel<Value>* parallel;                       // by row
  const std::array<ChainKernel<Value>, kMaxReads>* chain;  // by row, then position
};

/// The fastest kernels that this processor can run.
template <class Value>
const LaneKernels<Value>& lane_kernels();

/// By (row, position) of first and second; null when a row has no such input.
template <class Value>
RingKernel<Value> ring_kernel(std::size_t first_row, std::size_t first_position,
                              std::size_t second_row, std::size_t second_position);

}  // namespace flashlab::toy::detail
