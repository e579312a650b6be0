#include "toymachine/execute/strip_plan.hpp"

#include <algorithm>
#include <map>

#include "toymachine/execute/lane_kernels.hpp"

namespace flashlab::toy::detail {
namespace {

/// Tarjan's strongly connected components; a component is finished after all those that
/// it depends on.
class Components {
 public:
  explicit Components(const std::vector<std::vector<std::uint32_t>>& depends_on)
      : depends_on_(depends_on),
        order_(depends_on.size(), 0),
        low_(depends_on.size(), 0),
        on_stack_(depends_on.size(), false) {}

  std::vector<std::vector<std::uint32_t>> run() {
    for (std::uint32_t v = 0; v < depends_on_.size(); ++v) {
      if (order_[v] == 0) visit(v);
    }
    return std::move(components_);
  }

 private:
  void visit(std::uint32_t v) {
    order_[v] = low_[v] = ++counter_;
    stack_.push_back(v);
    on_stack_[v] = true;
    for (const std::uint32_t w : depends_on_[v]) {
      if (order_[w] == 0) {
        visit(w);
        low_[v] = std::min(low_[v], low_[w]);
      } else if (on_stack_[w]) {
        low_[v] = std::min(low_[v], order_[w]);
      }
    }
    if (low_[v] != order_[v]) return;
    std::vector<std::uint32_t> component;
    std::uint32_t w = 0;
    do {
      w = stack_.back();
      stack_.pop_back();
      on_stack_[w] = false;
      component.push_back(w);
    } while (w != v);
    std::sort(component.begin(), component.end());
    components_.push_back(std::move(component));
  }

  const std::vector<std::vector<std::uint32_t>>& depends_on_;
  std::vector<std::uint32_t> order_, low_;
  std::vector<bool> on_stack_;
  std::vector<std::uint32_t> stack_;
  std::vector<std::vector<std::uint32_t>> components_;
  std::uint32_t counter_ = 0;
};

constexpr std::size_t kLongestBody = 64;  // so that the lanes fit into the first-level cache

class Planner {
 public:
  Planner(const BoundProgram& program, std::uint32_t first, std::uint32_t last)
      : program_(program), first_(first), last_(last) {}

  std::optional<StripPlan> run() {
    if (last_ - first_ > kLongestBody || !collect()) return std::nullopt;
    for (std::uint32_t i = 0; i < plan_.body.size(); ++i) connect(i);
    for (const auto& [reg, writer] : last_writer_) {
      plan_.written.push_back({reg, writer, carried_.contains(reg)});
    }
    order();
    return std::move(plan_);
  }

 private:
  const BoundInstruction& at(std::uint32_t i) const { return program_.instructions[first_ + i]; }

  /// Collects instructions and last writers; returns false if the loop cannot run in strips.
  bool collect() {
    std::map<std::uint32_t, int> loaded, stored;
    for (std::uint32_t i = 0; i < last_ - first_; ++i) {
      StripInstruction entry;
      entry.instruction = first_ + i;
      for (std::uint32_t o = 0; o < at(i).operands.size(); ++o) {
        const BoundOperand& operand = at(i).operands[o];
        if (is_register(operand.kind) && !operand.index.is_constant()) return false;
        if (!runs_in_lanes(operand.kind)) return false;
        if (operand.kind == OperandKind::kDestination) last_writer_[operand.index.constant] = i;
        if (!is_memory(operand.kind)) continue;
        entry.memory_operand = o;
        entry.is_load = operand.kind == OperandKind::kMemorySource;
        entry.is_store = !entry.is_load;
        if (entry.is_store && is_narrow(program_.arrays[operand.array].element_type)) return false;
        ++(entry.is_load ? loaded : stored)[operand.array];
      }
      plan_.body.push_back(std::move(entry));
    }
    return std::all_of(stored.begin(), stored.end(), [&](const auto& entry) {
      return entry.second == 1 && loaded.count(entry.first) == 0;
    });
  }

  void connect(std::uint32_t i) {
    for (const BoundOperand& operand : at(i).operands) {
      if (is_read(operand.kind) && !is_memory(operand.kind)) {
        plan_.body[i].reads.push_back(source(operand.index.constant));
      }
    }
    for (const BoundOperand& operand : at(i).operands) {
      if (operand.kind == OperandKind::kDestination) writer_so_far_[operand.index.constant] = i;
    }
  }

  LaneSource source(std::int64_t reg) {
    const auto here = writer_so_far_.find(reg);
    if (here != writer_so_far_.end()) return {LaneSource::Kind::kSameLane, here->second};
    const auto later = last_writer_.find(reg);
    if (later != last_writer_.end()) {
      carried_[reg] = true;
      return {LaneSource::Kind::kPreviousLane, later->second};
    }
    const auto found = std::find(plan_.invariants.begin(), plan_.invariants.end(), reg);
    const auto index = static_cast<std::uint32_t>(found - plan_.invariants.begin());
    if (found == plan_.invariants.end()) plan_.invariants.push_back(reg);
    return {LaneSource::Kind::kInvariant, index};
  }

  void order() {
    std::vector<std::vector<std::uint32_t>> depends_on(plan_.body.size());
    for (std::uint32_t i = 0; i < plan_.body.size(); ++i) {
      for (const LaneSource& read : plan_.body[i].reads) {
        if (read.kind != LaneSource::Kind::kInvariant) depends_on[i].push_back(read.index);
      }
    }
    for (auto& group : Components(depends_on).run()) {
      if (plan_.body[group[0]].is_store) {
        plan_.stores.push_back(group[0]);
      } else {
        plan_.groups.push_back(std::move(group));
      }
    }
  }

  const BoundProgram& program_;
  std::uint32_t first_, last_;  // instructions of the body
  StripPlan plan_;
  std::map<std::int64_t, std::uint32_t> last_writer_, writer_so_far_;
  std::map<std::int64_t, bool> carried_;
};

}  // namespace

std::optional<StripPlan> make_strip_plan(const BoundProgram& program, std::uint32_t begin_node) {
  std::uint32_t first = UINT32_MAX;
  std::uint32_t last = 0;
  for (std::uint32_t at = begin_node + 1; at < program.nodes[begin_node].partner; ++at) {
    const Node& node = program.nodes[at];
    if (node.kind == Node::Kind::kLabel) continue;  // costs nothing and changes nothing
    if (node.kind != Node::Kind::kBlock) return std::nullopt;
    first = std::min(first, node.first);
    last = node.last;
  }
  if (last == 0) return std::nullopt;
  return Planner(program, first, last).run();
}

}  // namespace flashlab::toy::detail
