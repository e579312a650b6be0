// The generated code of every program, run in the emulation, beside the machine's own run.
#include <cmath>
#include <cstddef>
#include <vector>

#include "attention_cuda/emulation/emulation.hpp"
#include "generate/plan/plan.hpp"
#include "tests/catch_shim.hpp"
#include "tests/generate/cases/cases.hpp"
#include "tests/generate/generated_run.hpp"
#include "toymachine/count/counters.hpp"

namespace flashlab::test {
namespace {

/// Equal bits, except that NaN (never written) has many, and that zeros have a sign: the machine
/// leaves a sum out that begins with 0, and -0 + 0 is 0. With additions in one step, whose order is
/// not fixed, the numbers may differ by roundings.
void require_equal(const std::vector<double>& got, const std::vector<double>& expected,
                   bool exact) {
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(expected[i]) ? std::isnan(got[i]) : got[i] == expected[i]) continue;
    INFO("element " << i << ": " << got[i] << ", expected " << expected[i]);
    REQUIRE_FALSE(exact);
    REQUIRE(std::abs(got[i] - expected[i]) <= 1e-5 * (1 + std::abs(expected[i])));
  }
}

}  // namespace

TEST_CASE("generated code computes what the machine computes, and moves the bytes it counts",
          "[generated]") {
  std::size_t number = 0, random_grids = 0, drawn = 0;
  for (const GenerateCase& one : generate_cases()) {
    INFO(one.program << " " << one.setting);
    const auto reference = reference_run(*one.bound);
    const auto plan = generate::plan(*one.bound, one.target());
    REQUIRE(reference);
    REQUIRE(plan);
    if (one.program.starts_with("drawn_")) ++drawn;
    if (one.program.starts_with("grid_") && plan->launches[0].blocks > 1) ++random_grids;
    cuda::emulation::set_schedule_seed(++number);
    cuda::emulation::reset_statistics();
    const std::vector<double> result = run_generated(one, reference->before);
    require_equal(result, reference->after, !has_updates(*one.bound));
    const toy::Counters counters = toy::count(*one.bound, reference->execution.executions, {});
    const cuda::emulation::Statistics moved = cuda::emulation::statistics();
    CHECK(toy::Count(static_cast<long>(moved.l2_loaded_bytes)) ==
          counters.bytes_loaded + repeated_bytes(*plan));
    CHECK(toy::Count(static_cast<long>(moved.l2_stored_bytes)) == counters.bytes_stored);
    CHECK(toy::Count(static_cast<long>(2 * moved.atomic_bytes)) == counters.bytes_updated);
  }
  cuda::emulation::set_schedule_seed(1);
  CHECK(number > 350 + drawn);
  CHECK(drawn > 20 * 40);
  CHECK(random_grids > 20);
}

}  // namespace flashlab::test
