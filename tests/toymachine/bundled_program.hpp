// Runs the programs of toymachine/programs/ for tests.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/catch_shim.hpp"
#include "tests/seed.hpp"
#include "tests/source_files.hpp"
#include "toymachine/bind/bound_program.hpp"
#include "toymachine/count/counters.hpp"
#include "toymachine/language/assembler.hpp"
#include "toymachine/run/interpreter.hpp"

namespace flashlab::test {

using Values = std::vector<double>;

constexpr double kFloatEpsilon = std::numeric_limits<float>::epsilon();

/// Uniform in [low, high), the same everywhere, and representable in float.
inline Values random_values(std::size_t count, unsigned seed, double low = -1, double high = 1) {
  std::mt19937_64 generator(test::seeded(seed));
  Values values(count);
  for (double& value : values) {
    const double unit = std::ldexp(static_cast<double>(generator() >> 11), -53);
    value = static_cast<float>(low + (high - low) * unit);
  }
  return values;
}

inline void require_near(const Values& got, const Values& expected, double tolerance) {
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    INFO("element " << i << ": " << got[i] << ", expected " << expected[i]);
    REQUIRE(std::abs(got[i] - expected[i]) <= tolerance);
  }
}

/// A bundled program with its parameters bound. Fails the test if it is wrong in itself.
inline toy::BoundProgram bundled(const std::string& name, const toy::Binding& binding = {}) {
  const fs::path path = kSourceRoot / "toymachine/programs" / (name + ".toy");
  const auto source = std::make_shared<const toy::SourceText>(name, read_source(path));
  auto program = toy::assemble(source);
  INFO(path << "\n" << toy::format(program.diagnostics, *source));
  REQUIRE(program);
  auto bound = toy::bind(std::make_shared<const toy::Program>(std::move(*program)), binding);
  INFO(toy::format(bound.diagnostics, *source));
  REQUIRE(bound);
  return std::move(*bound);
}

/// Whether a program needs several machines; tests of them are in links/.
inline bool has_machines(const fs::path& program) {
  return read_source(program).find("\n.machines ") != std::string::npos;
}

inline toy::Binding params(std::map<std::string, std::int64_t> values) {
  toy::Binding binding;
  binding.params = std::move(values);
  return binding;
}

struct Finished {
  std::map<std::string, Values> outputs;
  toy::Counters counters;
  std::vector<toy::Diagnostic> diagnostics;  // not empty: it stopped
};

/// Runs the program on `inputs` (row by row; every input array must be among them).
template <class Value>
Finished run_on(const toy::BoundProgram& program, const std::map<std::string, Values>& inputs,
                const toy::CostTable& costs = {}) {
  std::vector<Value> dram(static_cast<std::size_t>(program.dram_elements),
                          std::numeric_limits<Value>::quiet_NaN());
  for (const toy::BoundArray& array : program.arrays) {
    if (array.role != toy::ArrayRole::kInput) continue;
    const Values& values = inputs.at(array.name);
    REQUIRE(values.size() == static_cast<std::size_t>(array.size));
    for (std::size_t i = 0; i < values.size(); ++i) {
      dram[static_cast<std::size_t>(array.offset) + i] = static_cast<Value>(values[i]);
    }
  }
  const auto execution = toy::run(program, dram);
  Finished finished;
  finished.diagnostics = execution.diagnostics;
  if (!execution) return finished;
  finished.counters = toy::count(program, execution->executions, costs);
  for (const toy::BoundArray& array : program.arrays) {
    if (array.role != toy::ArrayRole::kOutput) continue;
    const auto first = dram.begin() + array.offset;
    finished.outputs[array.name] = Values(first, first + array.size);
  }
  return finished;
}

/// The same, and it must reach its end.
template <class Value>
Finished finish(const toy::BoundProgram& program, const std::map<std::string, Values>& inputs,
                const toy::CostTable& costs = {}) {
  Finished finished = run_on<Value>(program, inputs, costs);
  INFO(toy::format(finished.diagnostics, *program.program->source));
  REQUIRE(finished.diagnostics.empty());
  return finished;
}

/// The program stops at an instruction that begins with `instruction`, in step `step`.
template <class Value>
void require_stops(const std::string& name, const Values& x, const std::string& instruction,
                   const std::string& step) {
  const auto n = static_cast<std::int64_t>(x.size());
  const toy::BoundProgram program = bundled(name, params({{"n", n}}));
  const auto run = run_on<Value>(program, {{"x", x}});
  REQUIRE(run.diagnostics.size() == 1);
  const toy::Diagnostic& error = run.diagnostics[0];
  INFO(toy::format(error, *program.program->source));
  CHECK(error.fault == toy::Fault::kProgram);
  const std::string_view line = program.program->source->line(error.span.line);
  CHECK_THAT(std::string(line), contains(instruction));
  CHECK_THAT(error.what, contains("step " + step));
}

}  // namespace flashlab::test
