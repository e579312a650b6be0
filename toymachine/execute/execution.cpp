#include "toymachine/execute/execution.hpp"

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

}  // namespace flashlab::toy
