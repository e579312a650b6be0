#include "exercises/grader/judge/dataflow.hpp"

namespace flashlab::exercises {
namespace {

const toy::InstructionSpec& spec_of(const toy::UnrolledStep& step) {
  return toy::instruction_set()[step.row];
}

std::int32_t operand_of(const toy::UnrolledStep& step, bool (*wanted)(toy::OperandKind)) {
  const auto kinds = spec_of(step).kinds();
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (wanted(kinds[i])) return step.slots[i];
  }
  return -1;
}

bool is_written(toy::OperandKind kind) {
  return kind == toy::OperandKind::kDestination || toy::is_memory_write(kind);
}

}  // namespace

std::int32_t written_register(const toy::UnrolledStep& step) {
  return operand_of(step,
                    [](toy::OperandKind kind) { return kind == toy::OperandKind::kDestination; });
}

std::int32_t written_element(const toy::UnrolledStep& step) {
  return operand_of(step, [](toy::OperandKind kind) { return toy::is_memory_write(kind); });
}

std::int32_t read_element(const toy::UnrolledStep& step) {
  return operand_of(
      step, [](toy::OperandKind kind) { return toy::is_memory(kind) && toy::is_read(kind); });
}

bool is_copy(const toy::UnrolledStep& step) {
  const toy::InstructionSpec& spec = spec_of(step);
  return spec.flop_kind == toy::FlopKind::kNone && spec.num_operands == 2 &&
         toy::is_register_read(spec.operands[0]) && toy::is_register(spec.operands[1]);
}

Dataflow::Dataflow(const toy::UnrolledProgram& program)
    : steps_(program.steps.size()),
      stored_by_(static_cast<std::size_t>(program.dram_elements), kNobody) {
  std::vector<std::int32_t> written_by(static_cast<std::size_t>(program.num_registers), kNobody);
  const auto holder = [&](toy::OperandKind kind, std::int32_t slot) -> std::int32_t* {
    if (toy::is_memory(kind)) return &stored_by_[static_cast<std::size_t>(slot)];
    const bool is_constant = slot >= program.num_registers;
    if (!toy::is_register(kind) || is_constant) return nullptr;
    return &written_by[static_cast<std::size_t>(slot)];
  };
  for (std::size_t s = 0; s < program.steps.size(); ++s) {
    const toy::UnrolledStep& step = program.steps[s];
    const auto kinds = spec_of(step).kinds();
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      const std::int32_t* source = holder(kinds[i], step.slots[i]);
      if (source == nullptr || !toy::is_read(kinds[i]) || *source == kNobody) continue;
      steps_[s].sources[i] = *source;
      steps_[static_cast<std::size_t>(*source)].used = true;
    }
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      if (!is_written(kinds[i])) continue;
      std::int32_t& writer = *holder(kinds[i], step.slots[i]);
      if (writer != kNobody) {
        steps_[static_cast<std::size_t>(writer)].overwritten_by = static_cast<std::int32_t>(s);
      }
      writer = static_cast<std::int32_t>(s);
    }
  }
}

std::int32_t Dataflow::last_store(std::int32_t element) const {
  return stored_by_[static_cast<std::size_t>(element)];
}

std::vector<char> Dataflow::slice(std::int32_t step) const {
  std::vector<char> in(steps_.size(), 0);
  if (step == kNobody) return in;
  in[static_cast<std::size_t>(step)] = 1;
  for (std::size_t s = static_cast<std::size_t>(step) + 1; s-- > 0;) {
    if (in[s] == 0) continue;
    for (const std::int32_t source : steps_[s].sources) {
      if (source != kNobody) in[static_cast<std::size_t>(source)] = 1;
    }
  }
  return in;
}

}  // namespace flashlab::exercises
