// Executes one instruction on many lanes. The kernels are made from the instruction table, three
// for each row: for the compiler's baseline, AVX2 and AVX-512. The processor decides at run time
// which are used. All give the same bits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "toymachine/language/instruction_set.hpp"

namespace flashlab::toy::detail {

inline constexpr std::size_t kMaxReads = 3;

/// Excludes offsets, which differ between lanes, and updates and messages, which must happen one
/// after another.
constexpr bool runs_in_lanes(OperandKind kind) {
  return kind != OperandKind::kOffset && kind != OperandKind::kMemoryUpdate && !is_machine(kind);
}
constexpr bool runs_in_lanes(const InstructionSpec& spec) {
  for (const OperandKind kind : spec.kinds()) {
    if (!runs_in_lanes(kind)) return false;
  }
  return true;
}

/// out[t] = effect(in[0][t], in[1][t], …) for t in [0, n). `out` overlaps no input. Returns true if
/// every result is legal: below +inf and not NaN.
template <class Value>
using LaneKernel = bool (*)(Value* out, const Value* const* in, std::size_t n);

/// The same lane by lane, where in[position][t] is out[t - 1]: a value carried from lane to lane.
/// out[-1] holds the first value.
template <class Value>
using ChainKernel = bool (*)(Value* out, const Value* const* in, std::size_t n);

/// Two instructions in a ring: at one position, the first reads the second's result of the previous
/// lane; at another, the second reads the first's result of the same lane. in[0..2] are the inputs
/// of the first, in[3..5] those of the second.
template <class Value>
using RingKernel = bool (*)(Value* first, Value* second, const Value* const* in, std::size_t n);

template <class Value>
struct LaneKernels {
  const LaneKernel<Value>* parallel;                       // by row
  const std::array<ChainKernel<Value>, kMaxReads>* chain;  // by row, then position
};

/// Returns the fastest kernels for this processor.
template <class Value>
const LaneKernels<Value>& lane_kernels();

/// Returns the kernel by (row, position) of both instructions; null if a row has no such input.
template <class Value>
RingKernel<Value> ring_kernel(std::size_t first_row, std::size_t first_position,
                              std::size_t second_row, std::size_t second_position);

}  // namespace flashlab::toy::detail
