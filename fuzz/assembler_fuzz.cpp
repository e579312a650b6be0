// Any text is answered: assembled, bound and run within limits, or refused with a message. Beside
// crashes, looks for three lies: a program that changes when it is printed and read again, counts
// by formula that differ from an executed run, and a refusal without a reason.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "toymachine/assembler.hpp"
#include "toymachine/counters.hpp"
#include "toymachine/dram.hpp"
#include "toymachine/interpreter.hpp"
#include "toymachine/loop_nest.hpp"

using namespace flashlab::toy;

namespace {

/// Small enough that one input takes milliseconds under the sanitizers.
Limits small_limits() {
  Limits limits;
  limits.max_source_bytes = 1 << 16;
  limits.max_nesting = 16;
  limits.max_steps = 100'000;
  limits.max_array_bytes = 1 << 20;
  limits.max_registers = 1 << 10;
  return limits;
}

void expect(bool good, const char* claim, const std::string& details) {
  if (good) return;
  std::cerr << "not true: " << claim << '\n' << details << std::endl;
  std::abort();
}

/// Whether there is a value; if not, there must be a printable reason.
template <class Value>
bool answered(const Result<Value>& result, const SourceText& source) {
  if (result) return true;
  expect(!result.diagnostics.empty(), "a refusal has a reason", source.text());
  expect(!format(result.diagnostics, source).empty(), "a reason can be printed", source.text());
  return false;
}

void check_round_trip(const Program& program) {
  const std::string printed = disassemble(program);
  const auto source = std::make_shared<const SourceText>("printed", printed);
  const auto again = assemble(source, Limits{});
  expect(static_cast<bool>(again), "a printed program assembles",
         printed + "\n" + format(again.diagnostics, *source));
  expect(disassemble(*again) == printed, "printing is stable",
         printed + "\n" + disassemble(*again));
}

void check_run(const BoundProgram& bound, const SourceText& source) {
  const auto image = initial_dram(bound, {});
  if (!answered(image, source)) return;
  std::vector<float> dram(image->begin(), image->end());
  const auto execution = run(bound, std::span<float>(dram));
  const auto counted = count_executions(bound);
  if (!answered(execution, source) || !answered(counted, source)) return;
  expect(execution->executions == *counted, "counts without a run are those of the run",
         source.text());
  count(bound, *counted, CostTable());
  peak_registers(bound);
  peak_dram_bytes(bound, *counted);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto source = std::make_shared<const SourceText>(
      "fuzz.toy", std::string(reinterpret_cast<const char*>(data), size));
  auto assembled = assemble(source, small_limits());
  if (!answered(assembled, *source)) return 0;
  const auto program = std::make_shared<const Program>(std::move(*assembled));
  check_round_trip(*program);

  Binding binding;
  binding.limits = small_limits();
  for (const ParamDeclaration& param : program->params) {
    if (param.default_value == nullptr) binding.params[param.name] = 3;
  }
  const auto bound = bind(program, binding);
  if (answered(bound, *source)) check_run(*bound, *source);
  return 0;
}
