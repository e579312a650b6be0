// Compiled once for each instruction-set extension, each time into a separate namespace with
// the name FLASHLAB_LANES.
#include "toymachine/execute/lane_kernels.hpp"

#include <limits>
#include <tuple>
#include <utility>

#include "toymachine/execute/execute.hpp"

#ifndef FLASHLAB_LANES
#define FLASHLAB_LANES baseline
#endif

namespace flashlab::toy::detail::FLASHLAB_LANES {
namespace {

template <std::size_t Row>
inline constexpr auto& kRow = std::get<Row>(kInstructionRows);

template <std::size_t Row, class Value, std::size_t... I>
Value effect_of(const std::array<Value, kMaxReads>& in, std::index_sequence<I...>) {
  return kRow<Row>.effect(in[I]...);
}

template <std::size_t Row, class Value>
bool parallel(Value* __restrict__ out, const Value* const* in, std::size_t n) {
  constexpr std::size_t kReads = RowLayout<Row>::kNumReads;
  const Value* a = in[0];
  const Value* b = kReads > 1 ? in[1] : a;
  const Value* c = kReads > 2 ? in[2] : a;
  int illegal = 0;
  for (std::size_t t = 0; t < n; ++t) {
    const Value value =
        effect_of<Row, Value>({a[t], b[t], c[t]}, std::make_index_sequence<kReads>{});
    out[t] = value;
    illegal |= value < std::numeric_limits<Value>::infinity() ? 0 : 1;
  }
  return illegal == 0;
}

template <std::size_t Row, std::size_t Position, class Value>
bool chain(Value* out, const Value* const* in, std::size_t n) {
  constexpr std::size_t kReads = RowLayout<Row>::kNumReads;
  if constexpr (Position < kReads) {
    Value carried = out[-1];
    int illegal = 0;
    for (std::size_t t = 0; t < n; ++t) {
      std::array<Value, kMaxReads> values{};
      for (std::size_t i = 0; i < kReads; ++i) values[i] = i == Position ? carried : in[i][t];
      carried = effect_of<Row, Value>(values, std::make_index_sequence<kReads>{});
      out[t] = carried;
      illegal |= carried < std::numeric_limits<Value>::infinity() ? 0 : 1;
    }
    return illegal == 0;
  } else {
    return false;  // never requested
  }
}

template <std::size_t Row, class Value>
constexpr LaneKernel<Value> parallel_kernel() {
  if constexpr (runs_in_lanes(kRow<Row>.spec)) return &parallel<Row, Value>;
  return nullptr;
}

template <std::size_t Row, class Value>
constexpr std::array<ChainKernel<Value>, kMaxReads> chain_kernels() {
  if constexpr (runs_in_lanes(kRow<Row>.spec)) {
    return {&chain<Row, 0, Value>, &chain<Row, 1, Value>, &chain<Row, 2, Value>};
  }
  return {};
}

template <class Value, std::size_t... Row>
constexpr std::array<LaneKernel<Value>, kNumRows> parallel_table(std::index_sequence<Row...>) {
  return {parallel_kernel<Row, Value>()...};
}

template <class Value, std::size_t... Row>
constexpr std::array<std::array<ChainKernel<Value>, kMaxReads>, kNumRows> chain_table(
    std::index_sequence<Row...>) {
  return {chain_kernels<Row, Value>()...};
}

template <class Value>
constexpr auto kParallel = parallel_table<Value>(std::make_index_sequence<kNumRows>{});
template <class Value>
constexpr auto kChain = chain_table<Value>(std::make_index_sequence<kNumRows>{});

}  // namespace

extern const LaneKernels<float> kFloatKernels;
extern const LaneKernels<double> kDoubleKernels;
const LaneKernels<float> kFloatKernels{kParallel<float>.data(), kChain<float>.data()};
const LaneKernels<double> kDoubleKernels{kParallel<double>.data(), kChain<double>.data()};

}  // namespace flashlab::toy::detail::FLASHLAB_LANES
