// The rate that attention is held against, and the conversions that a caller may use.
#include "attention_cpu/product_rate.hpp"

#include <atomic>
#include <bit>
#include <cmath>
#include <vector>

#include "attention_cpu/half.hpp"
#include "tests/catch_shim.hpp"

namespace flashlab::cpu {
namespace {

ExecutionOptions on(InstructionSet set, int num_threads) {
  ExecutionOptions execution;
  execution.instruction_set = set;
  execution.num_threads = num_threads;
  return execution;
}

TEST_CASE("a product's rate is measured in every build, with more threads than rows too") {
  for (const InstructionSet set : instruction_sets()) {
    for (const std::int64_t n : {1, 7, 100}) {
      CAPTURE(to_string(set), n);
      const double rate = product_flops_per_s(n, on(set, 3));
      CHECK(std::isfinite(rate));
      CHECK(rate > 0);
    }
  }
}

TEST_CASE("a product of no size, of too large a size or on no threads is refused") {
  CHECK_THROWS_WITH(product_flops_per_s(0), "n: 0: expected 1 to 32768");
  CHECK_THROWS_WITH(product_flops_per_s(32769), "n: 32769: expected 1 to 32768");
  CHECK_THROWS_WITH(product_flops_per_s(8, on(best_instruction_set(), -1)),
                    "num_threads: -1: expected 0 or more");
}

TEST_CASE("a product that is cancelled says so") {
  const std::atomic<bool> cancelled = true;
  ExecutionOptions execution;
  execution.cancelled = &cancelled;
  CHECK_THROWS_AS(product_flops_per_s(8, execution), Cancelled);
}

TEST_CASE("floats go to 16 bits and back, rounded to even") {
  const std::vector<float> values = {1.0F, -2.5F, 65536.0F, 1.0F + 0x1p-8F, 1.0F + 0x1p-11F};
  std::vector<std::uint16_t> stored(values.size());
  std::vector<float> back(values.size());
  const auto round_trip = [&](DataType dtype) {
    store_floats(values.data(), std::ssize(values), stored.data(), dtype);
    load_floats(stored.data(), dtype, std::ssize(values), back.data());
    return back;
  };
  CHECK(round_trip(DataType::kBFloat16) == std::vector<float>{1.0F, -2.5F, 65536.0F, 1.0F, 1.0F});
  CHECK(round_trip(DataType::kFloat16) ==
        std::vector<float>{1.0F, -2.5F, INFINITY, 1.0F + 0x1p-8F, 1.0F});
  CHECK_THROWS_WITH(round_trip(DataType::kFloat64), "dtype: double: expected bf16, fp16 or float");
}

}  // namespace
}  // namespace flashlab::cpu
