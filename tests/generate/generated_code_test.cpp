// The generated code of every program, run in the emulation, beside the machine's own run.
#include "tests/generate/generated_code.hpp"

#include <bit>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "attention_cuda/emulation/emulation.hpp"
#include "generate/plan/plan.hpp"
#include "tests/catch_shim.hpp"
#include "tests/generate/cases/cases.hpp"
#include "toymachine/count/counters.hpp"

namespace flashlab::test {
namespace {

using RunFunction = void (*)(void* const*);

const std::map<std::string, RunFunction>& code_by_name() {
  static const auto kCode = [] {
    std::map<std::string, RunFunction> result;
    for (const GeneratedCode& code : generated_code()) result[code.identifier] = code.run;
    return result;
  }();
  return kCode;
}

/// Runs the generated code on the arrays of the reference run.
std::vector<float> run_generated(const GenerateCase& one, std::vector<float> dram) {
  std::vector<void*> arrays;
  for (const toy::BoundArray& array : one.bound->arrays)
    arrays.push_back(dram.data() + array.offset);
  const auto code = code_by_name().find(identifier_of(one));
  REQUIRE(code != code_by_name().end());
  code->second(arrays.data());
  return dram;
}

bool has_updates(const toy::BoundProgram& program) {
  for (const toy::BoundInstruction& instruction : program.instructions) {
    if (toy::instruction_set()[instruction.row].is_update()) return true;
  }
  return false;
}

/// Equal bits, except that NaN (never written) has many, and that zeros have a sign: the machine
/// leaves a sum out that begins with 0, and -0 + 0 is 0. With additions in one step, whose order is
/// not fixed, the numbers may differ by roundings.
void require_equal(const std::vector<float>& got, const std::vector<float>& expected, bool exact) {
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(expected[i]) ? std::isnan(got[i]) : got[i] == expected[i]) continue;
    INFO("element " << i << ": " << got[i] << ", expected " << expected[i]);
    REQUIRE_FALSE(exact);
    REQUIRE(std::abs(got[i] - expected[i]) <= 1e-5F * (1 + std::abs(expected[i])));
  }
}

/// The bytes that blocks after the first load again, before the loop that is the grid.
toy::Count repeated_bytes(const generate::Plan& plan) {
  toy::Count bytes = 0;
  for (const generate::Launch& launch : plan.launches) {
    for (const generate::RepeatedLoad& load : launch.repeated) {
      bytes += toy::Count(static_cast<long>(load.bytes)) * static_cast<long>(launch.blocks - 1);
    }
  }
  return bytes;
}

}  // namespace

TEST_CASE("generated code computes what the machine computes, and moves the bytes it counts",
          "[generated]") {
  std::size_t number = 0;
  for (const GenerateCase& one : generate_cases()) {
    INFO(one.program << " " << one.setting);
    const auto reference = reference_run(*one.bound);
    const auto plan = generate::plan(*one.bound, {});
    REQUIRE(reference);
    REQUIRE(plan);
    cuda::emulation::set_schedule_seed(++number);
    cuda::emulation::reset_statistics();
    const std::vector<float> result = run_generated(one, reference->before);
    require_equal(result, reference->after, !has_updates(*one.bound));
    const toy::Counters counters = toy::count(*one.bound, reference->execution.executions, {});
    const cuda::emulation::Statistics moved = cuda::emulation::statistics();
    CHECK(toy::Count(static_cast<long>(moved.l2_loaded_bytes)) ==
          counters.bytes_loaded + repeated_bytes(*plan));
    CHECK(toy::Count(static_cast<long>(moved.l2_stored_bytes)) == counters.bytes_stored);
    CHECK(toy::Count(static_cast<long>(2 * moved.atomic_bytes)) == counters.bytes_updated);
  }
  cuda::emulation::set_schedule_seed(1);
  CHECK(number > 250);
}

}  // namespace flashlab::test
