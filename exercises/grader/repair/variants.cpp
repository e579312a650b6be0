#include "exercises/grader/repair/variants.hpp"

#include <algorithm>
#include <utility>

#include "exercises/grader/submission/bind_line.hpp"
#include "toymachine/language/instruction_set.hpp"

namespace flashlab::exercises {
namespace {

using toy::BoundExpression;
using toy::BoundInstruction;
using toy::BoundLoop;
using toy::Node;
using toy::UnrolledProgram;

/// Restores a value at the end of the scope.
template <class Value>
class Restored {
 public:
  explicit Restored(Value& place) : place_(place), before_(place) {}
  ~Restored() { place_ = std::move(before_); }
  Restored(const Restored&) = delete;
  Restored& operator=(const Restored&) = delete;

 private:
  Value& place_;
  Value before_;
};

void add(BoundExpression& bound, int change) {
  if (change == 0) return;
  if (bound.op == BoundExpression::Op::kAffine) {
    bound.affine.constant += change;
    return;
  }
  BoundExpression difference, sum;
  difference.affine.constant = change;
  sum.op = BoundExpression::Op::kAdd;
  sum.args = {std::move(bound), std::move(difference)};
  bound = std::move(sum);
}

/// Inserts a node and adjusts the partners behind it.
void insert_node(std::vector<Node>& nodes, std::size_t at, const Node& node) {
  for (Node& other : nodes) {
    const bool loop = other.kind == Node::Kind::kLoopBegin || other.kind == Node::Kind::kLoopEnd;
    if (loop && other.partner >= at) ++other.partner;
  }
  nodes.insert(nodes.begin() + static_cast<std::ptrdiff_t>(at), node);
}

/// The position in `nodes` for something beside `edit`'s line. Splits a block if necessary.
std::size_t node_beside(std::vector<Node>& nodes, const Edit& edit) {
  for (std::size_t at = 0; at < nodes.size(); ++at) {
    Node& node = nodes[at];
    if (edit.loop != SIZE_MAX) {
      const auto wanted = edit.behind ? Node::Kind::kLoopEnd : Node::Kind::kLoopBegin;
      if (node.kind == wanted && node.loop == edit.loop) return at + (edit.behind ? 1 : 0);
    } else if (node.kind == Node::Kind::kBlock && edit.site >= node.first &&
               edit.site < node.last) {
      const auto cut = static_cast<std::uint32_t>(edit.site + (edit.behind ? 1 : 0));
      if (cut == node.first) return at;
      if (cut == node.last) return at + 1;
      Node rest = node;
      rest.first = node.last = cut;
      insert_node(nodes, at + 1, rest);
      return at + 1;
    }
  }
  return nodes.size();
}

}  // namespace

Variants::Variants(const toy::BoundProgram& bound, Bind bind, std::uint64_t max_steps)
    : bound_(bound), bind_(std::move(bind)), max_steps_(max_steps) {
  for (BoundInstruction& instruction : bound_.instructions) {
    for (toy::BoundOperand& operand : instruction.operands) operand.proven_in_range = false;
  }
  if (const auto* steps = unrolled()) original_ = *steps;
}

bool Variants::is_slow(const Edit& edit) const {
  return (edit.kind == EditKind::kSwap && edit.site == SIZE_MAX) ||
         (edit.kind == EditKind::kReplace && edit.instruction == nullptr);
}

const UnrolledProgram* Variants::make(const Edit& edit) {
  switch (edit.kind) {
    case EditKind::kDrop:
      return original_ ? without(static_cast<std::uint32_t>(edit.site)) : rebound(edit);
    case EditKind::kSwap:
      return original_ && !is_slow(edit) ? exchanged(static_cast<std::uint32_t>(edit.site))
                                         : rebound(edit);
    case EditKind::kBound:
    case EditKind::kStep:
      return with_loop(edit);
    case EditKind::kReplace:
      return is_slow(edit) ? rebound(edit) : replaced(edit);
    case EditKind::kInsert:
      return inserted(edit);
    default:
      return replaced(edit);
  }
}

const UnrolledProgram* Variants::unrolled() {
  auto result = toy::unroll(bound_, max_steps_);
  variant_ = std::move(result.value);
  return variant_ ? &*variant_ : nullptr;
}

const UnrolledProgram* Variants::rebound(const Edit& edit) {
  auto applied = apply(*bound_.program, edit);
  if (!applied) return nullptr;
  auto bound = bind_(std::make_shared<const toy::Program>(std::move(*applied)));
  if (!bound) return nullptr;
  variant_ = std::move(toy::unroll(*bound, max_steps_).value);
  return variant_ ? &*variant_ : nullptr;
}

/// Binds the edit's instruction. Appends its constant, if any, to the program's constants.
std::optional<BoundInstruction> Variants::bind(const Edit& edit, std::uint32_t loop) {
  auto line = bind_line(*edit.instruction, bound_, loop);
  if (!line) return std::nullopt;
  for (std::size_t i = 0; i < line->operands.size(); ++i) {
    toy::BoundOperand& operand = line->operands[i];
    if (operand.kind != toy::OperandKind::kConstant) continue;
    const auto value = constant_value(*operand.constant, bound_);
    if (!value) return std::nullopt;
    operand.index.constant = bound_.num_registers + std::ssize(bound_.constants);
    bound_.constants.push_back(*value);
  }
  return line;
}

const UnrolledProgram* Variants::replaced(const Edit& edit) {
  const Restored constants(bound_.constants);
  BoundInstruction& place = bound_.instructions[edit.site];
  auto line = bind(edit, place.loop);
  if (!line) return rebound(edit);
  const Restored instruction(place);
  line->site = place.site;
  line->pass = place.pass;
  place = std::move(*line);
  return unrolled();
}

const UnrolledProgram* Variants::inserted(const Edit& edit) {
  const Restored constants(bound_.constants);
  const std::uint32_t loop =
      edit.loop != SIZE_MAX ? bound_.loops[edit.loop].parent : bound_.instructions[edit.site].loop;
  auto line = bind(edit, loop);
  if (!line) return nullptr;
  const Restored nodes(bound_.nodes);
  const std::size_t at = node_beside(bound_.nodes, edit);
  Node block;
  block.first = static_cast<std::uint32_t>(bound_.instructions.size());
  block.last = block.first + 1;
  line->site = block.first;
  insert_node(bound_.nodes, at, block);
  bound_.instructions.push_back(std::move(*line));
  const UnrolledProgram* result = unrolled();
  bound_.instructions.pop_back();
  return result;
}

const UnrolledProgram* Variants::without(std::uint32_t site) {
  variant_ = *original_;
  std::erase_if(variant_->steps, [&](const toy::UnrolledStep& step) { return step.site == site; });
  return &*variant_;
}

/// Swaps each step of `site` with the next one: adjacent instructions of a block always execute one
/// after the other.
const UnrolledProgram* Variants::exchanged(std::uint32_t site) {
  variant_ = *original_;
  auto& steps = variant_->steps;
  for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
    if (steps[i].site != site) continue;
    std::swap(steps[i], steps[i + 1]);
    ++i;
  }
  return &*variant_;
}

const UnrolledProgram* Variants::with_loop(const Edit& edit) {
  BoundLoop& loop = bound_.loops[edit.loop];
  std::int64_t step = 0;
  if (__builtin_add_overflow(loop.step, edit.step_change, &step) || step < 1) return nullptr;
  const Restored restored(loop);
  add(loop.lower, edit.lower_change);
  add(loop.upper, edit.upper_change);
  loop.step = step;
  return unrolled();
}

}  // namespace flashlab::exercises
