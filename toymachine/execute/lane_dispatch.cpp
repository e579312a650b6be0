// Selects the build of the lane kernels, and contains the rings, which no vector unit can speed up.
#include <array>
#include <limits>
#include <tuple>
#include <utility>

#include "toymachine/execute/lane_kernels.hpp"
#include "toymachine/execute/vector_extension.hpp"
#include "toymachine/language/instruction_table.hpp"

namespace flashlab::toy::detail {

namespace baseline {
extern const LaneKernels<float> kFloatKernels;
extern const LaneKernels<double> kDoubleKernels;
}  // namespace baseline
namespace avx2 {
extern const LaneKernels<float> kFloatKernels;
extern const LaneKernels<double> kDoubleKernels;
}  // namespace avx2
namespace avx512 {
extern const LaneKernels<float> kFloatKernels;
extern const LaneKernels<double> kDoubleKernels;
}  // namespace avx512

namespace {

template <std::size_t Row>
constexpr std::size_t num_register_reads() {
  std::size_t count = 0;
  if (!runs_in_lanes(std::get<Row>(kInstructionRows).spec)) return 0;
  for (std::size_t i = 0; i < std::get<Row>(kInstructionRows).spec.num_operands; ++i) {
    const OperandKind kind = std::get<Row>(kInstructionRows).spec.operands[i];
    count += is_read(kind) && !is_memory(kind) ? 1U : 0U;
  }
  return count;
}

template <std::size_t Row, std::size_t Position, class Value, std::size_t... I>
Value apply_with(Value carried, const Value* const* in, std::size_t t, std::index_sequence<I...>) {
  return std::get<Row>(kInstructionRows).effect((I == Position ? carried : in[I][t])...);
}

/// Whether input `Position` of row `Row` exists; the inputs of all rows are numbered 3 *
/// Row + Position.
template <std::size_t Input>
inline constexpr bool kExists = Input % kMaxReads < num_register_reads<Input / kMaxReads>();

template <std::size_t First, std::size_t Second, class Value>
bool ring(Value* first, Value* second, const Value* const* in, std::size_t n) {
  constexpr std::size_t kFirstRow = First / kMaxReads;
  constexpr std::size_t kSecondRow = Second / kMaxReads;
  Value carried = second[-1];
  int illegal = 0;
  for (std::size_t t = 0; t < n; ++t) {
    const Value inner = apply_with<kFirstRow, First % kMaxReads>(
        carried, in, t, std::make_index_sequence<num_register_reads<kFirstRow>()>{});
    carried = apply_with<kSecondRow, Second % kMaxReads>(
        inner, in + kMaxReads, t, std::make_index_sequence<num_register_reads<kSecondRow>()>{});
    first[t] = inner;
    second[t] = carried;
    illegal |= inner < std::numeric_limits<Value>::infinity() ? 0 : 1;
    illegal |= carried < std::numeric_limits<Value>::infinity() ? 0 : 1;
  }
  return illegal == 0;
}

constexpr std::size_t kInputs = kNumRows * kMaxReads;

template <class Value, std::size_t Pair>
constexpr RingKernel<Value> ring_entry() {
  constexpr std::size_t kFirst = Pair / kInputs;
  constexpr std::size_t kSecond = Pair % kInputs;
  if constexpr (kExists<kFirst> && kExists<kSecond>) {
    return &ring<kFirst, kSecond, Value>;
  } else {
    return nullptr;
  }
}

template <class Value, std::size_t... Pair>
constexpr std::array<RingKernel<Value>, kInputs * kInputs> ring_table(
    std::index_sequence<Pair...>) {
  return {ring_entry<Value, Pair>()...};
}

template <class Value>
constexpr auto kRings = ring_table<Value>(std::make_index_sequence<kInputs * kInputs>{});

}  // namespace

template <>
const LaneKernels<float>& lane_kernels<float>() {
  return FLASHLAB_FASTEST(kFloatKernels);
}

template <>
const LaneKernels<double>& lane_kernels<double>() {
  return FLASHLAB_FASTEST(kDoubleKernels);
}

template <class Value>
RingKernel<Value> ring_kernel(std::size_t first_row, std::size_t first_position,
                              std::size_t second_row, std::size_t second_position) {
  const std::size_t first = first_row * kMaxReads + first_position;
  const std::size_t second = second_row * kMaxReads + second_position;
  return kRings<Value>[first * kInputs + second];
}
template RingKernel<float> ring_kernel<float>(std::size_t, std::size_t, std::size_t, std::size_t);
template RingKernel<double> ring_kernel<double>(std::size_t, std::size_t, std::size_t, std::size_t);

}  // namespace flashlab::toy::detail
