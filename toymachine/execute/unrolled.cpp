#include "toymachine/execute/unrolled.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "toymachine/budget/budget.hpp"
#include "toymachine/execute/run_errors.hpp"

namespace flashlab::toy {
namespace {

constexpr std::int64_t kLargestSlot = std::numeric_limits<std::int32_t>::max();

/// Visits the nest's nodes with the values of the loops.
class Unroller {
 public:
  Unroller(const BoundProgram& program, std::uint64_t max_steps)
      : program_(program),
        max_steps_(max_steps),
        max_iterations_(max_steps > (kMost - 1000) / 16 ? kMost : 16 * max_steps + 1000),
        loop_values_(program.loops.size(), 0),
        loop_ends_(program.loops.size(), 0) {}

  Result<UnrolledProgram> unroll() {
    walk();
    if (error_) return std::move(*error_);
    result_.num_registers = static_cast<std::int32_t>(program_.num_registers);
    result_.constants = program_.constants;
    result_.dram_elements = static_cast<std::int32_t>(program_.dram_elements);
    return std::move(result_);
  }

  /// Returns the values at the last step allowed; that step does not fail.
  std::vector<std::int64_t> last_loop_values() {
    stop_at_last_ = true;
    walk();
    return std::move(loop_values_);
  }

 private:
  static constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

  void walk() {
    const auto num_nodes = static_cast<std::uint32_t>(program_.nodes.size());
    for (std::uint32_t at = 0; at < num_nodes && !ended();) at = follow(at, program_.nodes[at]);
  }

  bool ended() const { return error_ || (stop_at_last_ && result_.steps.size() == max_steps_); }

  /// Returns the node after this one.
  std::uint32_t follow(std::uint32_t at, const Node& node) {
    switch (node.kind) {
      case Node::Kind::kBlock:
        for (std::uint32_t site = node.first; site < node.last && !ended(); ++site) step(site);
        return at + 1;
      case Node::Kind::kLoopBegin:
        return begin_loop(at, node);
      case Node::Kind::kLoopEnd:
        return end_loop(at, node);
      case Node::Kind::kLabel:
        return at + 1;
    }
    return at + 1;
  }

  std::uint32_t begin_loop(std::uint32_t at, const Node& node) {
    const BoundLoop& loop = program_.loops[node.loop];
    const std::int64_t first = loop.lower(loop_values_.data());
    if (!count_iteration()) return at;
    const std::int64_t end = loop.upper(loop_values_.data());
    if (first >= end) return node.partner + 1;
    loop_values_[node.loop] = first;
    loop_ends_[node.loop] = end;
    return at + 1;
  }

  std::uint32_t end_loop(std::uint32_t at, const Node& node) {
    const std::int64_t step = program_.loops[node.loop].step;
    std::int64_t& value = loop_values_[node.loop];
    // value + step may not fit, and in a changed program neither may the difference.
    const std::uint64_t left =
        static_cast<std::uint64_t>(loop_ends_[node.loop]) - static_cast<std::uint64_t>(value);
    if (left <= static_cast<std::uint64_t>(step)) return at + 1;
    if (!count_iteration()) return at;
    value += step;
    return node.partner + 1;
  }

  /// An empty loop executes no step, so iterations have a budget of their own.
  bool count_iteration() {
    check_budget();
    if (++iterations_ <= max_iterations_) return true;
    stop_at_limit("the loops make more than " + std::to_string(max_iterations_) + " iterations");
    return false;
  }

  void stop_at_limit(const std::string& wanted) {
    Limits limits;
    limits.max_steps = static_cast<std::int64_t>(
        std::min<std::uint64_t>(max_steps_, std::numeric_limits<std::int64_t>::max()));
    error_ = detail::steps_error(limits, wanted);
  }

  void step(std::uint32_t site) {
    if (result_.steps.size() >= max_steps_) {
      return stop_at_limit("the program takes more than " + std::to_string(max_steps_) + " steps");
    }
    check_budget();
    const BoundInstruction& instruction = program_.instructions[site];
    UnrolledStep step;
    step.site = site;
    step.row = instruction.row;
    for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
      const BoundOperand& operand = instruction.operands[i];
      const std::int64_t slot = operand.index(loop_values_.data());
      if (!operand.proven_in_range && !in_range(operand, slot)) {
        error_ = detail::range_error(
            {&program_, &instruction, result_.steps.size() + 1, loop_values_.data()}, i);
        return;
      }
      if (slot > kLargestSlot || slot < -kLargestSlot) return refuse(operand, slot);
      step.slots[i] = static_cast<std::int32_t>(slot);
    }
    result_.steps.push_back(step);
  }

  bool in_range(const BoundOperand& operand, std::int64_t slot) const {
    const auto between = [](std::int64_t value, std::int64_t size) {
      return value >= 0 && value < size;
    };
    if (operand.kind == OperandKind::kOffset || operand.kind == OperandKind::kConstant) return true;
    if (is_machine(operand.kind)) return true;  // links are the caller's
    if (is_register(operand.kind)) {
      const Interval allowed = program_.allowed_registers(operand.register_name);
      return slot >= allowed.low && slot <= allowed.high;
    }
    const BoundArray& array = program_.arrays[operand.array];
    for (std::size_t axis = 0; axis < operand.axes.size(); ++axis) {
      if (!between(operand.axes[axis](loop_values_.data()), array.counts[axis])) return false;
    }
    return true;
  }

  void refuse(const BoundOperand& operand, std::int64_t slot) {
    error_ = Diagnostic{Severity::kError,
                        Fault::kLimit,
                        operand.span,
                        "the operand's number is " + std::to_string(slot),
                        "at most " + std::to_string(kLargestSlot) + " in magnitude",
                        {}};
  }

  const BoundProgram& program_;
  std::uint64_t max_steps_, max_iterations_;
  std::uint64_t iterations_ = 0;
  std::vector<std::int64_t> loop_values_, loop_ends_;
  UnrolledProgram result_;
  std::optional<Diagnostic> error_;
  bool stop_at_last_ = false;
};

/// Returns an error for programs that a straight line of scalars cannot represent.
std::optional<Diagnostic> refused(const BoundProgram& program) {
  const auto refusal = [](const BoundArray& array, Fault fault, const std::string& what,
                          std::string expected) {
    return Diagnostic{Severity::kError,    fault, array.span, array.name + " has " + what,
                      std::move(expected), {}};
  };
  for (const BoundArray& array : program.arrays) {
    for (std::size_t axis = 0; axis < array.tile.size(); ++axis) {
      if (array.tile[axis] == 1 || array.extents[axis] <= 1) continue;
      return refusal(array, Fault::kRequest, "tiles of more than one element",
                     "parameters at which every tile is 1 x 1");
    }
    if (is_narrow(array.element_type)) {
      return refusal(array, Fault::kRequest, "elements of a narrow type",
                     "elements of type float or double");
    }
    if (array.size > kLargestSlot || array.offset > kLargestSlot - array.size) {
      return refusal(array, Fault::kLimit, std::to_string(array.size) + " elements",
                     "arrays of at most " + std::to_string(kLargestSlot) + " elements together");
    }
  }
  return std::nullopt;
}

}  // namespace

Result<UnrolledProgram> unroll(const BoundProgram& program, std::uint64_t max_steps) {
  if (auto error = refused(program)) return std::move(*error);
  return Unroller(program, max_steps).unroll();
}

std::vector<std::int64_t> loop_values_at(const BoundProgram& program, std::size_t step) {
  return Unroller(program, step + 1).last_loop_values();
}

}  // namespace flashlab::toy
