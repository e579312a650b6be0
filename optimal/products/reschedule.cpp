// A schedule of loads as a program: each value has a register while it stays.
#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "optimal/problem/operation_order.hpp"
#include "optimal/products/load_schedule.hpp"
#include "optimal/products/placed_loads.hpp"
#include "optimal/search/index.hpp"
#include "text/numbers.hpp"

namespace flashlab::optimal {
namespace {

using detail::at;
using detail::Gap;
using detail::kNone;
using detail::OperationOrder;
using detail::OrderEvent;
using detail::PlacedLoads;
using detail::Seat;

constexpr std::array<const char*, 3> kRoles{".input", ".temp", ".output"};
constexpr std::array<const char*, 4> kTypes{"float", "double", "bf16", "fp16"};

class OrderWriter {
 public:
  OrderWriter(const toy::BoundProgram& bound, const toy::UnrolledProgram& unrolled,
              const ScheduleMachine& machine, const OperationOrder& order,
              const PlacedLoads& placed)
      : bound_(bound),
        unrolled_(unrolled),
        machine_(machine),
        order_(order),
        placed_(placed),
        is_pinned_(machine.operand_rule == toy::OperandRule::kPinned) {}

  std::string run() {
    head();
    index_gaps();
    cells_.assign(at(unrolled_.dram_elements), kNone);
    copies_ = order_.input_cells;
    for (std::size_t v = 0; v < copies_.size(); ++v) {
      if (copies_[v] != kNone) cells_[at(copies_[v])] = static_cast<std::int32_t>(v);
    }
    for (std::int32_t e = 0; at(e) < order_.events.size(); ++e) write_event(e);
    return std::move(text_);
  }

 private:
  void head() {
    const toy::Program& program = *bound_.program;
    text_ = ".isa " + std::string(toy::to_string(program.level));
    for (const std::size_t row : program.extra_instructions) {
      text_ += ", " + std::string(toy::instruction_set()[row].mnemonic);
    }
    text_ += is_pinned_ ? "\n.operands pinned\n" : "\n";
    if (machine_.registers) text_ += ".registers " + std::to_string(*machine_.registers) + "\n";
    for (const toy::BoundArray& array : bound_.arrays) {
      text_ += std::string(kRoles[static_cast<std::size_t>(array.role)]) + " " + array.name;
      for (const std::int64_t extent : array.extents) text_ += "[" + std::to_string(extent) + "]";
      text_ += " " + std::string(kTypes[static_cast<std::size_t>(array.element_type)]) + "\n";
    }
  }

  /// Records which gaps begin with a load before each event, and the gap after each gap.
  void index_gaps() {
    loads_before_.assign(order_.events.size(), {});
    gaps_to_.assign(order_.events.size(), {});
    next_.assign(order_.gaps.size(), kNone);
    std::vector<std::int32_t> last(3 * at(order_.num_values), kNone);
    for (std::size_t g = 0; g < order_.gaps.size(); ++g) {
      const Gap& gap = order_.gaps[g];
      const auto number = static_cast<std::int32_t>(g);
      std::int32_t& before = last[3 * at(gap.value) + static_cast<std::size_t>(gap.seat)];
      if (before != kNone) next_[at(before)] = number;
      before = number;
      gaps_to_[at(gap.to)].push_back(number);
      if (placed_.load_before[g] != kNone) {
        loads_before_[at(placed_.load_before[g])].push_back(number);
      }
    }
    where_.assign(3 * at(order_.num_values), kNone);
    if (machine_.registers) holds_.assign(static_cast<std::size_t>(*machine_.registers), kNone);
  }

  std::int32_t& where(std::int32_t value, Seat seat) {
    return where_[3 * at(value) + static_cast<std::size_t>(seat)];
  }

  void write_event(std::int32_t e) {
    const OrderEvent& event = order_.events[at(e)];
    for (const std::int32_t gap : loads_before_[at(e)]) write_load(order_.gaps[at(gap)]);
    std::array<std::int32_t, toy::kMaxOperands> registers{};
    for (std::size_t i = 0; i < toy::kMaxOperands; ++i) {
      if (event.values[i] == kNone) continue;
      registers[i] = where(event.values[i], seat_of(event, i));
    }
    for (const std::int32_t g : gaps_to_[at(e)]) release_after(g);
    std::int32_t target = kNone;
    if (event.result != kNone) {
      target = free_register(placed_.in_factor_seat[at(e)] != 0 ? 0 : first_free_seat());
      put(event.result, Seat::kAny, target);
    }
    write_instruction(event, registers, target);
    if (event.cell != kNone) {
      cells_[at(event.cell)] = event.cell_value;
      if (order_.input_cells[at(event.cell_value)] == kNone) {
        stored_in_.push_back({event.cell_value, event.cell});
        copies_[at(event.cell_value)] = event.cell;
      }
    }
  }

  Seat seat_of(const OrderEvent& event, std::size_t position) const {
    if (!is_pinned_ || !event.has_factors || position > 1) return Seat::kAny;
    return position == 0 ? Seat::kFirst : Seat::kSecond;
  }

  /// Pinned operands: R0 and R1 are for factors.
  std::int32_t first_free_seat() const { return is_pinned_ ? 2 : 0; }

  std::int32_t free_register(std::int32_t from) {
    std::int32_t r = from;
    while (at(r) < holds_.size() && holds_[at(r)] != kNone) ++r;
    if (at(r) == holds_.size()) holds_.push_back(kNone);
    return r;
  }

  void put(std::int32_t value, Seat seat, std::int32_t target) {
    holds_[at(target)] = value;
    where(value, seat) = target;
  }

  void release_after(std::int32_t g) {
    const std::int32_t next = next_[at(g)];
    if (next != kNone && placed_.load_before[at(next)] == kNone) return;
    const Gap& gap = order_.gaps[at(g)];
    holds_[at(where(gap.value, gap.seat))] = kNone;
  }

  void write_load(const Gap& gap) {
    std::int32_t target = gap.seat == Seat::kFirst ? 0 : 1;
    if (gap.seat == Seat::kAny) target = free_register(first_free_seat());
    if (at(target) >= holds_.size()) holds_.resize(at(target) + 1, kNone);
    put(gap.value, gap.seat, target);
    text_ +=
        "LOAD " + bound_.cell_name(cell_with(gap.value)) + ", R" + std::to_string(target) + "\n";
  }

  /// Returns a cell that holds the value now.
  std::int32_t cell_with(std::int32_t value) const {
    if (cells_[at(copies_[at(value)])] == value) return copies_[at(value)];
    const auto found = std::find_if(stored_in_.begin(), stored_in_.end(), [&](const auto& stored) {
      return stored.first == value && cells_[at(stored.second)] == value;
    });
    return found->second;
  }

  void write_instruction(const OrderEvent& event,
                         const std::array<std::int32_t, toy::kMaxOperands>& registers,
                         std::int32_t target) {
    const toy::UnrolledStep& step = unrolled_.steps[event.step];
    const toy::InstructionSpec& spec = toy::instruction_set()[step.row];
    const auto kinds = spec.kinds();
    text_ += spec.mnemonic;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      text_ += i == 0 ? " " : ", ";
      if (kinds[i] == toy::OperandKind::kDestination) {
        text_ += "R" + std::to_string(target);
      } else if (toy::is_register(kinds[i])) {
        text_ += "R" + std::to_string(registers[i]);
      } else if (toy::is_memory(kinds[i])) {
        text_ += bound_.cell_name(step.slots[i]);
      } else if (kinds[i] == toy::OperandKind::kConstant) {
        const std::size_t constant = at(step.slots[i] - unrolled_.num_registers);
        text_ += short_text(unrolled_.constants[constant], 17);
      } else {
        text_ += std::to_string(step.slots[i]);
      }
    }
    text_ += "\n";
  }

  const toy::BoundProgram& bound_;
  const toy::UnrolledProgram& unrolled_;
  const ScheduleMachine& machine_;
  const OperationOrder& order_;
  const PlacedLoads& placed_;
  const bool is_pinned_;
  std::string text_;
  std::vector<std::vector<std::int32_t>> loads_before_, gaps_to_;  // gaps, by event
  std::vector<std::int32_t> next_;                                 // gap, by gap
  std::vector<std::int32_t> where_;                                // register, by value and seat
  std::vector<std::int32_t> holds_;                                // value, by register
  std::vector<std::int32_t> cells_;                                // value, by cell
  std::vector<std::int32_t> copies_;  // cell, by value: the last one it was stored in
  std::vector<std::pair<std::int32_t, std::int32_t>> stored_in_;  // value and cell
};

}  // namespace

std::optional<std::string> rescheduled(const toy::BoundProgram& bound,
                                       const toy::UnrolledProgram& unrolled,
                                       const ScheduleMachine& machine) {
  const OperationOrder order = detail::operation_order(bound, unrolled, machine.operand_rule);
  if (!order.unknown.empty()) return std::nullopt;
  const PlacedLoads placed = detail::place_loads(order, machine.registers, machine.operand_rule);
  if (!placed.unknown.empty()) return std::nullopt;
  return OrderWriter(bound, unrolled, machine, order, placed).run();
}

}  // namespace flashlab::optimal
