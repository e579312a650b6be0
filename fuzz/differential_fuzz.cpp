// Checks that a program's counted cost equals its cost in a run.
#include <span>
#include <vector>

#include "fuzz/claims.hpp"
#include "toymachine/count/counters.hpp"
#include "toymachine/execute/dram.hpp"
#include "toymachine/run/interpreter.hpp"

using namespace flashlab;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::within_budget([&] {
    const auto program = fuzz::program_of(fuzz::text_of(data, size));
    if (program == nullptr) return;
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
