#include "generate/plan/element_types.hpp"

namespace flashlab::generate {

std::vector<KeptType> set_element_type(toy::BoundProgram& program, toy::ElementType type) {
  if (type == toy::ElementType::kFloat) return {};
  std::vector<bool> is_updated(program.arrays.size(), false);
  for (const toy::BoundInstruction& instruction : program.instructions) {
    for (const toy::BoundOperand& operand : instruction.operands) {
      if (operand.kind == toy::OperandKind::kMemoryUpdate) is_updated[operand.array] = true;
    }
  }
  std::vector<KeptType> kept;
  for (std::size_t a = 0; a < program.arrays.size(); ++a) {
    toy::BoundArray& array = program.arrays[a];
    if (array.element_type != toy::ElementType::kFloat) continue;
    if (array.role == toy::ArrayRole::kTemp) {
      kept.push_back({array.name, "a temporary"});
    } else if (array.extents.size() > 1 && array.extents.back() == 1) {
      kept.push_back({array.name, "one number per row"});
    } else if (is_updated[a]) {
      kept.push_back({array.name, "additions in one step"});
    } else {
      array.element_type = type;
    }
  }
  return kept;
}

std::string to_string(toy::ElementType type) {
  switch (type) {
    case toy::ElementType::kFloat:
      return "float";
    case toy::ElementType::kDouble:
      return "double";
    case toy::ElementType::kBf16:
      return "bf16";
    case toy::ElementType::kFp16:
      return "fp16";
  }
  return {};
}

}  // namespace flashlab::generate
