// The generated code of level 1, whose tiles are in the threads' registers, in the emulation.
#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "attention_cuda/emulation/emulation.hpp"
#include "generate/plan/element_types.hpp"
#include "generate/plan/fragment_plan.hpp"
#include "generate/run/drawn_inputs.hpp"
#include "tests/catch_shim.hpp"
#include "tests/generate/generated_run.hpp"
#include "toymachine/count/counters.hpp"

namespace flashlab::test {
namespace {

/// Factors of products, P and dS among them, are rounded to 16 bits, and so are results. Errors of this many
/// roundings of an array's largest value are allowed.
constexpr double kAllowedRoundings = 8;

void require_close(const toy::BoundProgram& program, const std::vector<double>& got,
                   const std::vector<double>& expected, double unit) {
  for (const toy::BoundArray& array : program.arrays) {
    double largest = 0;
    for (std::int64_t i = 0; i < array.size; ++i) {
      const double value = expected[static_cast<std::size_t>(array.offset + i)];
      if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
    }
    for (std::int64_t i = 0; i < array.size; ++i) {
      const auto at = static_cast<std::size_t>(array.offset + i);
      if (std::isnan(expected[at]) ? std::isnan(got[at]) : got[at] == expected[at]) continue;
      INFO(array.element_name(i) << " is " << got[at] << ", expected " << expected[at]);
      REQUIRE(std::abs(got[at] - expected[at]) <= kAllowedRoundings * unit * largest);
    }
  }
}

/// What was computed and moved, beside the machine's results and counters.
void require_right(const GenerateCase& one, const generate::Plan& plan,
                   const ReferenceRun& reference) {
  cuda::emulation::reset_statistics();
  const std::vector<double> result = run_generated(one, reference.before);
  require_close(*one.bound, result, reference.after, generate::rounding_unit(*one.factors));
  const toy::Counters counters = toy::count(*one.bound, reference.execution.executions, {});
  const cuda::emulation::Statistics moved = cuda::emulation::statistics();
  CHECK(toy::Count(static_cast<long>(moved.l2_loaded_bytes)) ==
        counters.bytes_loaded + repeated_bytes(plan));
  CHECK(toy::Count(static_cast<long>(moved.l2_stored_bytes)) == counters.bytes_stored);
  CHECK(toy::Count(static_cast<long>(2 * moved.atomic_bytes)) == counters.bytes_updated);
}

}  // namespace

TEST_CASE("level 1 computes what the machine computes, and moves the bytes it counts",
          "[generated]") {
  std::size_t number = 0, with_copies = 0, turned = 0, prefetched = 0;
  std::set<std::string> programs;
  for (const GenerateCase& one : fragment_cases()) {
    INFO(one.program << " " << one.setting << " " << generate::to_string(*one.factors));
    const auto reference = reference_run(*one.bound);
    const auto plan = generate::plan(*one.bound, one.target());
    REQUIRE(reference);
    REQUIRE(plan);
    programs.insert(one.program);
    for (const generate::Launch& launch : plan->launches) {
      if (launch.fragments == nullptr) continue;
      for (const generate::ValuePlace& place : launch.fragments->places) {
        turned += place.is_turned ? 1 : 0;
        prefetched += place.prefetched_in ? 1 : 0;
        with_copies += place.where == generate::Where::kFragment && place.shared ? 1 : 0;
      }
    }
    cuda::emulation::set_schedule_seed(++number);
    require_right(one, *plan, *reference);
  }
  cuda::emulation::set_schedule_seed(1);
  CHECK(programs.size() > 35);
  CHECK(turned > 20);
  CHECK(with_copies > 20);
  CHECK(prefetched > 50);
}

TEST_CASE("level 2 computes what the machine computes, and moves the bytes it counts",
          "[generated]") {
  std::size_t number = 0;
  std::set<std::string> programs;
  for (const GenerateCase& one : warpgroup_cases()) {
    INFO(one.program << " " << one.setting << " " << generate::to_string(*one.factors));
    const auto reference = reference_run(*one.bound);
    const auto plan = generate::plan(*one.bound, one.target());
    REQUIRE(reference);
    REQUIRE(plan);
    programs.insert(one.program);
    cuda::emulation::set_schedule_seed(++number);
    require_right(one, *plan, *reference);
  }
  cuda::emulation::set_schedule_seed(1);
  CHECK(programs.size() > 5);
}

}  // namespace flashlab::test
