#include "toymachine/trace/trace_naming.hpp"

#include <algorithm>

#include "toymachine/bind/affine_builder.hpp"
#include "toymachine/bind/wrapping.hpp"

namespace flashlab::toy::detail {
namespace {

Values bound_values(const BoundProgram& program) {
  Values values;
  values.program = program.program.get();
  values.params.assign(program.params.begin(), program.params.end());
  values.consts.assign(program.consts.begin(), program.consts.end());
  for (const BoundArray& array : program.arrays) {
    values.extents.push_back(array.extents);
    values.counts.push_back(array.counts);
  }
  values.registers = program.num_registers;
  return values;
}

AxisNames parameter_axes(const BoundProgram& program) {
  AxisNames names;
  for (const BoundArray& array : program.arrays) {
    std::vector<AxisNames::Axis>& axes = names.arrays[array.name];
    for (std::size_t axis = 0; axis < array.extents.size(); ++axis) {
      const ExpressionPtr& extent = array.extent_expressions[axis];
      const bool is_param = extent && extent->op == ExpressionOp::kParam;
      const bool tiled = array.tile[axis] > 1;
      axes.push_back({is_param && !tiled ? extent->name : std::string(), array.counts[axis]});
    }
  }
  return names;
}

/// Returns "i", "2*i - j": the part of an index with letters.
std::string letters_text(const std::vector<std::pair<std::string, std::int64_t>>& terms) {
  std::string text;
  for (const auto& [var, coefficient] : terms) {
    if (coefficient < 0 || !text.empty()) text += coefficient < 0 ? "-" : "+";
    const std::int64_t size = coefficient < 0 ? -coefficient : coefficient;
    text += (size == 1 ? "" : std::to_string(size) + "*") + var;
  }
  return text;
}

}  // namespace

TraceNaming::TraceNaming(const BoundProgram& program, bool relative)
    : program_(program), letters_(program.loops.size(), false) {
  if (relative) axes_ = parameter_axes(program);
  const Values values = bound_values(program);
  for (const BoundLabel& label : program.labels) {
    std::vector<Diagnostic> ignored;
    std::vector<Affine> axes;
    for (const ExpressionPtr& subscript : label.name->subscripts) {
      auto affine = to_affine(*subscript, values, ignored);
      if (affine) axes.push_back(std::move(*affine));
    }
    if (axes.size() != label.name->subscripts.size()) axes.clear();
    label_axes_.push_back(std::move(axes));
  }
}

void TraceNaming::begin_generic(std::uint32_t loop) {
  letters_[loop] = true;
  generic_ = loop;
}

void TraceNaming::end_generic(std::uint32_t loop) {
  letters_[loop] = false;
  generic_ = kNoLoop;
}

Subscript TraceNaming::subscript(const Affine& index, const std::int64_t* loop_values) const {
  Subscript result;
  result.value = index(loop_values);
  std::int64_t rest = result.value;
  std::vector<std::pair<std::string, std::int64_t>> terms;
  for (const auto& [loop, coefficient] : index.terms) {
    if (!letters_[loop]) continue;
    terms.emplace_back(program_.loops[loop].var, coefficient);
    rest = detail::wrapped_sum(rest, detail::wrapped_product(-coefficient, loop_values[loop]));
    if (loop == generic_) result.generic = true;
  }
  if (terms.empty()) return result;
  result.text = letters_text(terms);
  if (rest != 0) result.text += (rest > 0 ? "+" : "") + std::to_string(rest);
  return result;
}

TraceCell TraceNaming::cell(const BoundOperand& operand, const std::int64_t* loop_values) const {
  TraceCell cell;
  cell.array = operand.array;
  cell.name.base = program_.arrays[operand.array].name;
  for (const Affine& axis : operand.axes) {
    cell.name.subscripts.push_back(subscript(axis, loop_values));
    cell.indices.push_back(cell.name.subscripts.back().value);
  }
  return cell;
}

SymbolName TraceNaming::label(const BoundLabel& label, const std::int64_t* loop_values) const {
  SymbolName name;
  name.base = label.name->label;
  while (!name.base.empty() && name.base.back() == '\'') {
    name.base.pop_back();
    ++name.primes;
  }
  const std::vector<Affine>& axes = label_axes_[label.statement];
  for (const Affine& axis : axes) name.subscripts.push_back(subscript(axis, loop_values));
  for (std::size_t i = axes.size(); i < label.name->subscripts.size(); ++i) {
    name.subscripts.push_back({0, to_string(*label.name->subscripts[i]), true});
  }
  return name;
}

void TraceNaming::describe(const Step& step, TraceRow& row) const {
  row.text = instruction(step);
  loops(step.instruction->loop, step.loop_values, row.loops);
}

/// Whether the step stands for all rounds of a loop around it.
bool TraceNaming::is_general(const Step& step) const {
  for (std::uint32_t loop = step.instruction->loop; loop != kNoLoop;
       loop = program_.loops[loop].parent) {
    if (letters_[loop] != 0) return true;
  }
  return false;
}

std::string TraceNaming::instruction(const Step& step) const {
  const InstructionSpec& spec = instruction_set()[step.instruction->row];
  std::string text(spec.mnemonic);
  for (std::size_t i = 0; i < step.instruction->operands.size(); ++i) {
    const BoundOperand& operand = step.instruction->operands[i];
    text += i == 0 ? " " : ", ";
    if (operand.kind == OperandKind::kConstant) {
      text += to_string(*operand.constant);
      continue;
    }
    if (operand.kind == OperandKind::kOffset) {
      text += is_general(step) && !operand.index.terms.empty() ? to_string(*operand.constant)
                                                               : std::to_string(step.operands[i]);
      continue;
    }
    if (!is_memory(operand.kind)) {
      text += program_.register_name(step.operands[i]) + (operand.transposed ? "^T" : "");
      continue;
    }
    const TraceCell target = cell(operand, step.loop_values);
    text += target.name.base;
    for (std::size_t axis = 0; axis < target.indices.size(); ++axis) {
      const std::string& letter = target.name.subscripts[axis].text;
      text +=
          "[" +
          (letter.empty() ? axes_.index(target.name.base, axis, target.indices[axis]) : letter) +
          "]";
    }
  }
  return text;
}

void TraceNaming::loops(std::uint32_t innermost, const std::int64_t* loop_values,
                        std::vector<TraceLoop>& result) const {
  result.clear();
  for (std::uint32_t loop = innermost; loop != kNoLoop; loop = program_.loops[loop].parent) {
    result.push_back({loop, loop_values[loop], letters_[loop] != 0});
  }
  std::reverse(result.begin(), result.end());
}

}  // namespace flashlab::toy::detail
