// The formulas of registers, for debuggers.
#include "toymachine/trace/register_symbols.hpp"

#include <chrono>

#include "tests/toymachine/bundled_program.hpp"
#include "toymachine/execute/dram.hpp"

namespace flashlab::test {
namespace {

toy::RegisterSymbols symbols_of(const toy::BoundProgram& program) {
  return {program, toy::InitialDram::make(program, {}).value.value(), false};
}

double milliseconds_since(std::chrono::steady_clock::time_point began) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began)
      .count();
}

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
  auto began = std::chrono::steady_clock::now();
  symbols.after(kLate);
  const double one = milliseconds_since(began);
  began = std::chrono::steady_clock::now();
  for (std::uint64_t step = kLate + 1; step <= kLate + 200; ++step) symbols.after(step);
  CHECK(milliseconds_since(began) < 40 * one);
}

}  // namespace flashlab::test
