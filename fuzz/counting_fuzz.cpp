// Computes the counts and formulas of any program, or expects a message.
#include "fuzz/claims.hpp"
#include "toymachine/count/cost_formula.hpp"
#include "toymachine/count/counters.hpp"

using namespace flashlab;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::within_budget([&] {
    const auto program = fuzz::program_of(fuzz::text_of(data, size));
    if (program == nullptr) return;
    const auto bound = fuzz::bound_of(program);
    if (!bound) return;
    const auto counted = toy::count_executions(*bound);
    if (!fuzz::answered(counted, *program->source)) return;
    toy::count(*bound, *counted, toy::CostTable());
    toy::peak_dram_bytes(*bound, *counted);
  });
  return 0;
}
