#include "generate/plan/steps.hpp"

#include <stdexcept>
#include <string>
#include <utility>

#include "generate/plan/register_numbers.hpp"
#include "toymachine/execute/effect_tree.hpp"

namespace flashlab::generate {
namespace {

using toy::Operation;

constexpr std::size_t kMostSteps = 400;  // each becomes a statement, which takes time to compile

/// Sets what the step does.
void set_action(Step& step, const toy::BoundInstruction& instruction) {
  const toy::EffectTree effect = toy::effect_tree(instruction.row);
  const toy::OperandKind written = instruction.operands[written_operand(instruction)].kind;
  if (!effect.operation) {
    const toy::OperandKind source = instruction.operands[effect.operand].kind;
    step.action = written == toy::OperandKind::kMemoryDestination ? Action::kStore
                  : toy::is_memory(source)                        ? Action::kLoad
                  : source == toy::OperandKind::kConstant         ? Action::kFill
                                                                  : Action::kMove;
    return;
  }
  const bool adds_product =
      effect.operation == Operation::kPlus && effect.arguments[0].operation == Operation::kProduct;
  step.action = written == toy::OperandKind::kMemoryUpdate ? Action::kUpdate
                : adds_product                             ? Action::kProductAndSum
                                                           : Action::kOperation;
  step.operation = *effect.operation;
}

Step step_of(Step::Kind kind, std::uint32_t loop, std::int64_t value) {
  Step step;
  step.kind = kind;
  step.loop = loop;
  step.value = value;
  return step;
}

class StepWriter {
 public:
  StepWriter(const toy::BoundProgram& program, const Launch& launch)
      : program_(program), launch_(launch), numbers_(program), values_(program.loops.size()) {}

  std::optional<std::vector<Step>> run(Reason& why_not) {
    walk(launch_.first_node, launch_.last_node);
    if (why_not_) {
      why_not = std::move(*why_not_);
      return std::nullopt;
    }
    return std::move(steps_);
  }

 private:
  void walk(std::size_t first, std::size_t last) {
    for (std::size_t at = first; at < last && !why_not_; ++at) {
      const toy::Node& node = program_.nodes[at];
      if (node.kind == toy::Node::Kind::kBlock) {
        for (std::uint32_t site = node.first; site < node.last; ++site) {
          instruction(program_.instructions[site]);
        }
      } else if (node.kind == toy::Node::Kind::kLoopBegin) {
        const bool is_grid = launch_.grid_loop && at == launch_.grid_node;
        if (is_grid) {
          walk(at + 1, node.partner);
        } else if (!program_.loops[node.loop].values.empty()) {
          loop(node.loop, at + 1, node.partner);
        }
        at = node.partner;
      }
    }
  }

  /// The iterations that are written out: of loops that select registers, and a single one.
  std::optional<RegisterNumbers::Iterations> written_out(std::uint32_t id) const {
    const toy::BoundLoop& loop = program_.loops[id];
    const bool is_constant =
        loop.lower.op == toy::BoundExpression::Op::kAffine && loop.lower.affine.is_constant();
    if (is_constant && loop.trips.low == 1 && loop.trips.high == 1) {
      return RegisterNumbers::Iterations{loop.lower.affine.constant, 1, loop.step};
    }
    return numbers_.iterations(id);
  }

  void loop(std::uint32_t id, std::size_t first, std::size_t last) {
    if (const auto iterations = written_out(id)) {
      for (std::int64_t i = 0; i < iterations->count && !why_not_; ++i) {
        const std::int64_t value = iterations->first + i * iterations->step;
        numbers_.enter(id, value);
        values_[id] = value;
        add(step_of(Step::Kind::kValueBegin, id, value));
        walk(first, last);
        add(step_of(Step::Kind::kValueEnd, id, value));
      }
      values_[id].reset();
      numbers_.leave(id);
      return;
    }
    const std::size_t begin = steps_.size();
    add(step_of(Step::Kind::kLoopBegin, id, 0));
    steps_[begin].loops = loops_;
    loops_.push_back(begin);
    walk(first, last);
    loops_.pop_back();
    steps_[begin].partner = steps_.size();
    Step end = step_of(Step::Kind::kLoopEnd, id, 0);
    end.partner = begin;
    end.loops = loops_;
    add(std::move(end));
  }

  void instruction(const toy::BoundInstruction& instruction) {
    Step step = action_of(instruction);
    step.loops = loops_;
    for (const toy::BoundOperand& operand : instruction.operands) {
      std::int64_t number = -1;
      if (toy::is_register(operand.kind)) {
        const toy::Interval range = numbers_.of(operand);
        if (range.low != range.high) {
          give_up("line " + std::to_string(instruction.span.line) +
                      " selects a register by an index that is not known here",
                  operand.span);
          return;
        }
        number = range.low;
      }
      step.registers.push_back(number);
      step.axes.emplace_back();
      for (const toy::Affine& axis : operand.axes) step.axes.back().push_back(with_values(axis));
    }
    add(std::move(step));
  }

  /// The index with the values of loops that are written out.
  toy::Affine with_values(const toy::Affine& index) const {
    toy::Affine result{index.constant, {}};
    for (const auto& [loop, coefficient] : index.terms) {
      if (values_[loop]) {
        result.constant += coefficient * *values_[loop];
      } else {
        result.terms.emplace_back(loop, coefficient);
      }
    }
    return result;
  }

  void add(Step step) {
    steps_.push_back(std::move(step));
    if (steps_.size() > kMostSteps) {
      give_up("with loops over registers written out, it has more than " +
                  std::to_string(kMostSteps) + " statements",
              {});
    }
  }
  void give_up(std::string text, toy::SourceSpan span) {
    if (!why_not_) why_not_ = Reason{std::move(text), span};
  }

  const toy::BoundProgram& program_;
  const Launch& launch_;
  RegisterNumbers numbers_;
  std::vector<std::optional<std::int64_t>> values_;  // by loop, of those that are written out
  std::vector<std::size_t> loops_;
  std::vector<Step> steps_;
  std::optional<Reason> why_not_;
};

}  // namespace

std::optional<std::vector<Step>> steps_of(const toy::BoundProgram& program, const Launch& launch,
                                          Reason& why_not) {
  return StepWriter(program, launch).run(why_not);
}

Step action_of(const toy::BoundInstruction& instruction) {
  Step step;
  step.site = instruction.site;
  set_action(step, instruction);
  return step;
}

std::size_t written_operand(const toy::BoundInstruction& instruction) {
  for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
    const toy::OperandKind kind = instruction.operands[i].kind;
    if (kind == toy::OperandKind::kDestination || toy::is_memory_write(kind)) return i;
  }
  throw std::logic_error("an instruction that writes nothing");
}

}  // namespace flashlab::generate
