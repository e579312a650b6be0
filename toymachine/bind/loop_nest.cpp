#include "toymachine/bind/loop_nest.hpp"

#include <algorithm>

#include "toymachine/bind/affine_builder.hpp"
#include "toymachine/bind/operands.hpp"
#include "toymachine/bind/ranges.hpp"

namespace flashlab::toy::detail {
namespace {

class NestBinder : BindingStep {
 public:
  explicit NestBinder(BindingState& state) : BindingStep(state), state_(state) {}

  void body(const std::vector<Statement>& statements, std::uint32_t loop, std::uint32_t depth) {
    for (const Statement& statement : statements) {
      if (const auto* instruction = std::get_if<InstructionStatement>(&statement.node)) {
        add_instruction(*instruction, loop);
      } else if (const auto* name = std::get_if<NameStatement>(&statement.node)) {
        add_label(*name, loop);
      } else {
        add_loop(std::get<LoopStatement>(statement.node), loop, depth);
      }
    }
  }

 private:
  Node& add_node(Node::Kind kind) {
    bound_.nodes.emplace_back();
    bound_.nodes.back().kind = kind;
    return bound_.nodes.back();
  }

  void add_loop(const LoopStatement& statement, std::uint32_t parent, std::uint32_t depth) {
    const auto id = static_cast<std::uint32_t>(statement.loop);
    BoundLoop& loop = bound_.loops[id];
    loop.parent = parent;
    loop.depth = depth;
    loop.var = statement.var;
    loop.span = statement.span;
    loop.values = {0, -1};
    bind_range(statement, loop);
    const auto begin = static_cast<std::uint32_t>(bound_.nodes.size());
    add_node(Node::Kind::kLoopBegin).loop = id;
    body(statement.body, id, depth + 1);
    const auto end = static_cast<std::uint32_t>(bound_.nodes.size());
    Node& last = add_node(Node::Kind::kLoopEnd);
    last.loop = id;
    last.partner = begin;
    bound_.nodes[begin].partner = end;
  }

  void bind_range(const LoopStatement& statement, BoundLoop& loop) {
    auto lower = to_bound(*statement.lower, values_, diagnostics_);
    auto upper = to_bound(*statement.upper, values_, diagnostics_);
    const auto step = evaluate_integer(*statement.step, values_, diagnostics_);
    if (step && *step < 1) {
      error(statement.step->span, "the step is " + std::to_string(*step), "1 or more");
      return;
    }
    if (!lower || !upper || !step) return;
    loop.lower = std::move(*lower);
    loop.upper = std::move(*upper);
    loop.step = *step;
    const Ranges ranges(bound_.loops);
    if (!fits(loop.lower, ranges) || !fits(loop.upper, ranges)) {
      return error(statement.span, "the range of '" + loop.var + "' overflows 61 bits",
                   "bounds below 2^61");
    }
    const auto low = ranges.of(loop.lower);
    const auto high = ranges.of(loop.upper);
    const auto length = ranges.of_difference(loop.upper, loop.lower);
    const bool inside = loop.parent == kNoLoop || !bound_.loops[loop.parent].values.empty();
    loop.values = inside ? Interval{low->low, high->high - 1} : Interval{0, -1};
    if (length) {
      loop.trips.low = ceil_div(std::max<std::int64_t>(0, length->low), loop.step);
      loop.trips.high = ceil_div(std::max<std::int64_t>(0, length->high), loop.step);
    } else {
      loop.trips = {0, kLargestIndex};
    }
    if (loop.trips.high == 0) loop.values = {0, -1};
  }

  bool fits(const BoundExpression& bound, const Ranges& ranges) {
    if (!ranges.of(bound)) return false;
    return std::all_of(bound.args.begin(), bound.args.end(),
                       [&](const BoundExpression& arg) { return fits(arg, ranges); });
  }

  void add_label(const NameStatement& name, std::uint32_t loop) {
    auto index = to_affine(*name.register_index, values_, diagnostics_);
    if (!index) return;
    BoundLabel label;
    label.register_index = std::move(*index);
    label.register_name = static_cast<std::uint32_t>(name.register_name);
    label.loop = loop;
    label.statement = static_cast<std::uint32_t>(bound_.labels.size());
    label.name = &name;
    add_node(Node::Kind::kLabel).first = label.statement;
    bound_.labels.push_back(std::move(label));
  }

  void add_instruction(const InstructionStatement& statement, std::uint32_t loop) {
    BoundInstruction& instruction = bound_.instructions[statement.site];
    instruction.row = static_cast<std::uint16_t>(statement.row);
    instruction.site = static_cast<std::uint32_t>(statement.site);
    instruction.pass = static_cast<std::uint32_t>(statement.pass);
    instruction.loop = loop;
    instruction.span = statement.span;
    for (const Operand& operand : statement.operands) {
      if (auto value = bind_operand(state_, operand))
        instruction.operands.push_back(std::move(*value));
    }
    const bool extends = !bound_.nodes.empty() && bound_.nodes.back().kind == Node::Kind::kBlock &&
                         bound_.nodes.back().last == instruction.site &&
                         bound_.instructions[instruction.site - 1].pass == instruction.pass;
    if (!extends) add_node(Node::Kind::kBlock).first = instruction.site;
    bound_.nodes.back().last = instruction.site + 1;
  }

  BindingState& state_;
};

}  // namespace

void bind_nest(BindingState& state) { NestBinder(state).body(state.program.body, kNoLoop, 0); }

}  // namespace flashlab::toy::detail
