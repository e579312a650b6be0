// Checks that a program's counted cost equals its cost in a run.
#include <memory>
#include <span>
#include <vector>

#include "fuzz/claims.hpp"
#include "toymachine/count/counters.hpp"
#include "toymachine/execute/dram.hpp"
#include "toymachine/links/machines.hpp"
#include "toymachine/run/interpreter.hpp"

using namespace flashlab;

namespace {

/// The same claim for a program on several machines.
void check_machines(const std::shared_ptr<const toy::Program>& program) {
  toy::CapacityBinding binding;
  binding.limits = fuzz::small_limits();
  const toy::SourceText& source = *program->source;
  const auto machines = toy::bind_machines(program, binding);
  if (!fuzz::answered(machines, source)) return;
  const auto image = toy::initial_dram(machines->joined, {});
  if (!fuzz::answered(image, source)) return;
  std::vector<float> dram(image->begin(), image->end());
  const auto execution = toy::run_machines(*machines, dram);
  const auto counted = toy::count_machines(*machines);
  if (!fuzz::answered(execution, source) || !fuzz::answered(counted, source)) return;
  fuzz::expect(execution->executions == *counted, "counts of all machines are those of the run",
               source.text());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::within_budget([&] {
    const auto program = fuzz::program_of(fuzz::text_of(data, size));
    if (program == nullptr) return;
    if (program->machines) return check_machines(program);
    const auto bound = fuzz::bound_of(program);
    if (!bound) return;
    const toy::SourceText& source = *program->source;
    const auto image = toy::initial_dram(*bound, {});
    if (!fuzz::answered(image, source)) return;
    std::vector<float> dram(image->begin(), image->end());
    const auto execution = toy::run(*bound, std::span<float>(dram));
    const auto counted = toy::count_executions(*bound);
    if (!fuzz::answered(execution, source) || !fuzz::answered(counted, source)) return;
    fuzz::expect(execution->executions == *counted, "counts without a run are those of the run",
                 source.text());
    toy::peak_registers(*bound);
  });
  return 0;
}
