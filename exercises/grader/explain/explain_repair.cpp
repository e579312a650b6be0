#include "exercises/grader/explain/explain_repair.hpp"

#include <cstdint>
#include <string>

#include "exercises/grader/exercise/source_lines.hpp"
#include "exercises/grader/judge/dataflow.hpp"

namespace flashlab::exercises {
namespace {

/// The register that the edit's first line writes and its second line reads; -1: there is none.
std::int32_t overwritten_too_soon(const FailedAttempt& failed, const Edit& edit) {
  if (!failed.attempt.unrolled || !failed.attempt.bound) return -1;
  std::int32_t written = -1;
  for (const toy::UnrolledStep& step : failed.attempt.unrolled->steps) {
    const toy::BoundInstruction& instruction = failed.attempt.bound->instructions[step.site];
    if (instruction.span.line == edit.line) written = written_register(step);
    if (instruction.span.line != edit.other_line || written < 0) continue;
    const auto kinds = toy::instruction_set()[step.row].kinds();
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      if (toy::is_register_read(kinds[i]) && step.slots[i] == written) return written;
    }
  }
  return -1;
}

std::string swap_sentence(const FailedAttempt& failed, const Edit& edit) {
  const std::string upper = std::to_string(edit.line), lower = std::to_string(edit.other_line);
  const std::int32_t lost = overwritten_too_soon(failed, edit);
  if (lost < 0) return "The order is wrong at lines " + upper + " and " + lower + ".";
  return "Line " + upper + " overwrote " + failed.attempt.bound->register_name(lost) +
         ", whose old value line " + lower + " still needs.";
}

std::string repair_sentence(const FailedAttempt& failed, const Edit& edit) {
  const std::string line = std::to_string(edit.line);
  switch (edit.kind) {
    case EditKind::kInsert:
      return "Something is missing " + std::string(edit.behind ? "after" : "before") + " line " +
             line + ": one more line makes the program right.";
    case EditKind::kDrop:
      return "Line " + line + " is not needed: without it the program is right.";
    case EditKind::kSwap:
      return swap_sentence(failed, edit);
    default:
      return "Look at line " + line + ": one change there makes the program right.";
  }
}

}  // namespace

void point_at_repair(const FailedAttempt& failed, Finding& finding) {
  if (failed.failing == SIZE_MAX) return;
  const Repairs repairs = find_repairs(failed.task, failed.program, failed.sizes, failed.failing);
  if (repairs.line == 0) return;
  for (const Repair& repair : repairs.repairs) {
    const Edit& edit = repair.edit;
    if (edit.line != repairs.line && edit.other_line != repairs.line) continue;
    finding.details.push_back(repair_sentence(failed, edit));
    break;
  }
  if (finding.line == repairs.line) return;
  finding.line = repairs.line;
  finding.step = 0;
  append_source_line(finding, failed.text, finding.line);
}

}  // namespace flashlab::exercises
