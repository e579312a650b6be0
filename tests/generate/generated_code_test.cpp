// The generated code of every program, run in the emulation, beside the machine's own run.
#include "tests/generate/generated_code.hpp"

#include <cmath>
#include <cstddef>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "attention_cuda/emulation/emulation.hpp"
#include "generate/plan/plan.hpp"
#include "tests/attention_cpu/half_formats.hpp"
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

/// An array as it is in the GPU's memory.
std::vector<std::byte> stored(const toy::BoundArray& array, const double* values) {
  std::vector<std::byte> bytes;
  const auto add = [&](const auto& number) {
    const auto* first = reinterpret_cast<const std::byte*>(&number);
    bytes.insert(bytes.end(), first, first + sizeof(number));
  };
  for (std::int64_t i = 0; i < array.size; ++i) {
    const bool bf16 = array.element_type == toy::ElementType::kBf16;
    if (array.element_type == toy::ElementType::kFloat) {
      add(static_cast<float>(values[i]));
    } else if (array.element_type == toy::ElementType::kDouble) {
      add(values[i]);
    } else {
      add(nearest(values[i], bf16 ? kBFloat16Format : kFloat16Format));
    }
  }
  return bytes;
}

template <class Number>
Number number_at(const std::vector<std::byte>& bytes, std::size_t i) {
  Number number;
  std::memcpy(&number, bytes.data() + i * sizeof(number), sizeof(number));
  return number;
}

double element_at(const toy::BoundArray& array, const std::vector<std::byte>& bytes,
                  std::size_t i) {
  switch (array.element_type) {
    case toy::ElementType::kFloat:
      return number_at<float>(bytes, i);
    case toy::ElementType::kDouble:
      return number_at<double>(bytes, i);
    case toy::ElementType::kBf16:
      return value_of(number_at<std::uint16_t>(bytes, i), kBFloat16Format);
    case toy::ElementType::kFp16:
      return value_of(number_at<std::uint16_t>(bytes, i), kFloat16Format);
  }
  return 0;
}

/// Runs the generated code on the arrays of the reference run.
std::vector<double> run_generated(const GenerateCase& one, std::vector<double> dram) {
  const auto code = code_by_name().find(identifier_of(one));
  REQUIRE(code != code_by_name().end());
  std::vector<std::vector<std::byte>> memory;
  for (const toy::BoundArray& array : one.bound->arrays) {
    memory.push_back(stored(array, dram.data() + array.offset));
  }
  std::vector<void*> arrays;
  for (std::vector<std::byte>& bytes : memory) arrays.push_back(bytes.data());
  code->second(arrays.data());
  for (std::size_t a = 0; a < memory.size(); ++a) {
    const toy::BoundArray& array = one.bound->arrays[a];
    for (std::int64_t i = 0; i < array.size; ++i) {
      dram[static_cast<std::size_t>(array.offset + i)] =
          element_at(array, memory[a], static_cast<std::size_t>(i));
    }
  }
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
  std::size_t number = 0, random_grids = 0;
  for (const GenerateCase& one : generate_cases()) {
    INFO(one.program << " " << one.setting);
    const auto reference = reference_run(*one.bound);
    const auto plan = generate::plan(*one.bound, {});
    REQUIRE(reference);
    REQUIRE(plan);
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
  CHECK(number > 350);
  CHECK(random_grids > 20);
}

}  // namespace flashlab::test
