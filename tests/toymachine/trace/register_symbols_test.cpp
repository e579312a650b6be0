// The formulas of registers, for debuggers.
#include "toymachine/trace/register_symbols.hpp"

#include <ctime>

#include "tests/toymachine/bundled_program.hpp"
#include "toymachine/execute/dram.hpp"

namespace flashlab::test {
namespace {

toy::RegisterSymbols symbols_of(const toy::BoundProgram& program) {
  return {program, toy::InitialDram::make(program, {}).value.value(), false};
}

/// Of this process, so that others on the machine do not count.
double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

}  // namespace

TEST_CASE("formulas after a step do not depend on the steps that were asked before", "[replay]") {
  const toy::BoundProgram program = bundled("softmax_online", params({{"n", 200}}));
  toy::RegisterSymbols stepping = symbols_of(program);
  for (const std::uint64_t step : {1, 511, 512, 513, 514, 512, 1024, 1025, 3, 1026, 0, 512}) {
    toy::RegisterSymbols fresh = symbols_of(program);
    INFO("step " << step);
    CHECK(stepping.after(step) == fresh.after(step));
  }
}

TEST_CASE("the formulas of 200 steps late in a run cost less than 40 traces up to them",
          "[replay]") {
  const toy::BoundProgram program = bundled("softmax_online", params({{"n", 1400}}));
  constexpr std::uint64_t kLate = 15'500;
  toy::RegisterSymbols symbols = symbols_of(program);
  const double start = processor_seconds();
  symbols.after(kLate);
  const double middle = processor_seconds();
  for (std::uint64_t step = kLate + 1; step <= kLate + 200; ++step) symbols.after(step);
  CHECK(processor_seconds() - middle < 40 * (middle - start));
}

}  // namespace flashlab::test
