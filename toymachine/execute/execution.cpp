#include "toymachine/execute/execution.hpp"

#include <cstddef>
#include <utility>

#include "toymachine/language/instruction_set.hpp"

namespace flashlab::toy {

Executions scalar_executions(const BoundProgram& program, std::vector<Count> times) {
  Executions executions{times, std::move(times)};
  for (const BoundInstruction& instruction : program.instructions) {
    const InstructionSpec& spec = instruction_set()[instruction.row];
    if (spec.flop_kind == FlopKind::kReduction) executions.work[instruction.site] = 0;
  }
  return executions;
}

void add_executions(Executions& sum, const Executions& more) {
  for (std::size_t site = 0; site < sum.times.size(); ++site) {
    sum.times[site] += more.times[site];
    sum.work[site] += more.work[site];
  }
}

}  // namespace flashlab::toy
