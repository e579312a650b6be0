#include "optimal/problem/operation_order.hpp"

#include <algorithm>
#include <cstddef>

#include "optimal/search/index.hpp"

namespace flashlab::optimal::detail {
namespace {

using toy::OperandKind;
using toy::UnrolledStep;

constexpr std::size_t kSeats = 3;

/// What the analysis needs to know about a row of the instruction table.
struct RowFacts {
  std::array<std::int8_t, toy::kMaxOperands> register_reads{};        // 1: read from a register
  std::int8_t destination = -1, memory_read = -1, memory_write = -1;  // positions
  bool is_copy = false, has_factors = false;
};

RowFacts facts_of(const toy::InstructionSpec& spec) {
  RowFacts facts;
  const auto kinds = spec.kinds();
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const auto position = static_cast<std::int8_t>(i);
    if (toy::is_register_read(kinds[i])) facts.register_reads[i] = 1;
    if (kinds[i] == OperandKind::kDestination) facts.destination = position;
    if (toy::is_memory(kinds[i]) && toy::is_read(kinds[i])) facts.memory_read = position;
    if (toy::is_memory_write(kinds[i])) facts.memory_write = position;
    facts.has_factors = facts.has_factors || kinds[i] == OperandKind::kFactor;
  }
  facts.is_copy = spec.flop_kind == toy::FlopKind::kNone && kinds.size() == 2 &&
                  facts.register_reads[0] != 0 && facts.destination == 1;
  return facts;
}

const std::vector<RowFacts>& row_facts() {
  static const std::vector<RowFacts> all = [] {
    std::vector<RowFacts> facts;
    for (const toy::InstructionSpec& spec : toy::instruction_set()) facts.push_back(facts_of(spec));
    return facts;
  }();
  return all;
}

/// The events from which, and until which, a copy of a value is in DRAM.
struct Window {
  std::int32_t from = kNone, until = kLasting;
};

/// The registers of one kind of seat that hold a value, at the current step.
struct Stay {
  std::int32_t registers = 0;  // number that hold it
  bool lost = true;            // no register held it at some time since the last use
  std::int32_t lost_at = kNone, lost_register = kNone;  // the last such time
  std::int32_t first_lost_at = kNone;                   // the first one
  std::int32_t regained_at = kNone;                     // the load that ended the last one
  std::int32_t last_use = kNone;                        // event
};

class OrderMaker {
 public:
  OrderMaker(const toy::BoundProgram& bound, const toy::UnrolledProgram& unrolled,
             toy::OperandRule rule)
      : bound_(bound),
        unrolled_(unrolled),
        steps_(unrolled.steps),
        facts_(row_facts()),
        pinned_(rule == toy::OperandRule::kPinned) {}

  OperationOrder run() {
    find_live_steps();
    if (order_.unknown.empty()) name_values();
    if (order_.unknown.empty()) find_windows();
    if (order_.unknown.empty()) find_gaps();
    return std::move(order_);
  }

 private:
  const RowFacts& facts(std::size_t step) const { return facts_[steps_[step].row]; }
  bool is_load(std::size_t s) const {
    return facts(s).memory_read >= 0 && facts(s).memory_write < 0;
  }
  std::int32_t line(std::size_t s) const {
    return static_cast<std::int32_t>(bound_.instructions[steps_[s].site].span.line);
  }
  /// Marks the steps that an output's last value depends on, going backwards from the end.
  void find_live_steps() {
    live_.assign(steps_.size(), 0);
    std::vector<char> register_wanted(num_slots_, 0);
    std::vector<char> cell_wanted(at(unrolled_.dram_elements), 0);
    for (const toy::BoundArray& array : bound_.arrays) {
      if (array.role != toy::ArrayRole::kOutput) continue;
      const auto first = cell_wanted.begin() + array.offset;
      std::fill(first, first + array.size, char{1});
    }
    for (std::size_t s = steps_.size(); s-- > 0;) {
      const RowFacts& row = facts(s);
      const UnrolledStep& step = steps_[s];
      char& wanted = row.memory_write >= 0 ? cell_wanted[at(step.slots[at(row.memory_write)])]
                                           : register_wanted[at(step.slots[at(row.destination)])];
      if (wanted == 0) continue;
      wanted = 0;
      live_[s] = 1;
      if (row.memory_read >= 0) cell_wanted[at(step.slots[at(row.memory_read)])] = 1;
      for (std::size_t i = 0; i < toy::kMaxOperands; ++i) {
        if (row.register_reads[i] != 0) register_wanted[at(step.slots[i])] = 1;
      }
    }
  }

  /// Names the value that each step writes; collects the events and the values that they read.
  void name_values() {
    std::vector<std::int32_t> registers(num_slots_, kNone);
    std::vector<std::int32_t> cells(at(unrolled_.dram_elements), kNone);
    written_.assign(steps_.size(), kNone);
    order_.in_order.assign(steps_.size(), 0);
    for (const toy::BoundArray& array : bound_.arrays) {
      if (array.role != toy::ArrayRole::kInput) continue;
      for (std::int64_t i = 0; i < array.size; ++i) {
        const auto cell = static_cast<std::int32_t>(array.offset + i);
        cells[at(cell)] = new_value(cell);
      }
    }
    for (std::size_t s = 0; s < steps_.size() && order_.unknown.empty(); ++s) {
      const RowFacts& row = facts(s);
      const UnrolledStep& step = steps_[s];
      std::int32_t value = kNone;
      if (is_load(s)) {
        value = cells[at(step.slots[at(row.memory_read)])];
      } else if (row.is_copy || (row.memory_write >= 0 && row.memory_read < 0)) {
        value = registers[at(step.slots[0])];
      } else {
        value = new_value(kNone);
      }
      if (value == kNone) return refuse(s, "reads a value that no step wrote");
      if (live_[s] != 0 && !is_load(s) && !row.is_copy && !add_event(s, registers, value)) return;
      written_[s] = value;
      (row.memory_write >= 0 ? cells[at(step.slots[at(row.memory_write)])]
                             : registers[at(step.slots[at(row.destination)])]) = value;
    }
  }

  std::int32_t new_value(std::int32_t cell) {
    order_.input_cells.push_back(cell);
    return order_.num_values++;
  }

  bool add_event(std::size_t s, const std::vector<std::int32_t>& registers, std::int32_t written) {
    const RowFacts& row = facts(s);
    OrderEvent event;
    event.step = static_cast<std::uint32_t>(s);
    for (std::size_t i = 0; i < toy::kMaxOperands; ++i) {
      if (row.register_reads[i] == 0) continue;
      event.values[i] = registers[at(steps_[s].slots[i])];
      if (event.values[i] == kNone) refuse(s, "reads a value that no step wrote");
    }
    if (row.memory_write >= 0) {
      event.cell = steps_[s].slots[at(row.memory_write)];
      event.cell_value = written;
    } else {
      event.result = written;
    }
    event.has_factors = row.has_factors;
    event.products_before = num_products_;
    if (row.has_factors) ++num_products_;
    order_.in_order[s] = 1;
    order_.events.push_back(event);
    return order_.unknown.empty();
  }

  void refuse(std::size_t s, const std::string& what) {
    order_.unknown = "line " + std::to_string(line(s)) + " " + what;
  }

  /// Finds when DRAM holds which value. Only events count, because a store that no output needs
  /// is not made.
  void find_windows() {
    struct Copy {
      std::int32_t value = kNone;
      std::size_t window = 0;
    };
    windows_.assign(at(order_.num_values), {});
    std::vector<Copy> cells(at(unrolled_.dram_elements));
    for (std::int32_t e = 0; e < num_events(); ++e) {
      const OrderEvent& event = order_.events[at(e)];
      if (event.cell == kNone) continue;
      Copy& copy = cells[at(event.cell)];
      if (copy.value != kNone) windows_[at(copy.value)][copy.window].until = e;
      copy = {event.cell_value, windows_[at(event.cell_value)].size()};
      windows_[at(event.cell_value)].push_back({e, kLasting});
    }
    for (std::vector<Window>& windows : windows_) {  // the furthest end so far
      for (std::size_t i = 1; i < windows.size(); ++i) {
        windows[i].until = std::max(windows[i].until, windows[i - 1].until);
      }
    }
    next_window_.assign(at(order_.num_values), 0);
  }

  std::int32_t num_events() const { return static_cast<std::int32_t>(order_.events.size()); }

  /// Returns the event until which DRAM holds the value. Must be called for events in order.
  std::int32_t held_until(std::int32_t value, std::int32_t event) {
    if (order_.input_cells[at(value)] != kNone) return kLasting;
    const std::vector<Window>& windows = windows_[at(value)];
    std::size_t& next = next_window_[at(value)];
    while (next < windows.size() && windows[next].from <= event) ++next;
    return next == 0 ? kNone : windows[next - 1].until;
  }

  /// Runs the program on values, and records where each value is between its uses.
  void find_gaps() {
    registers_.assign(at(unrolled_.num_registers), kNone);
    stays_.assign(at(order_.num_values) * kSeats, {});
    needed_.assign(steps_.size(), 0);
    if (pinned_) check_pinned();
    std::int32_t event = 0;
    for (std::size_t s = 0; s < steps_.size() && order_.unknown.empty(); ++s) {
      if (is_load(s)) note_holder(s);
      if (order_.in_order[s] != 0) use_operands(event);
      if (facts(s).destination >= 0) write(s);
      if (order_.in_order[s] != 0) end_event(event++);
    }
    if (!order_.unknown.empty()) return;
    for (const Gap& gap : order_.gaps) {
      if (gap.load != kNone) needed_[at(gap.load)] = 1;
    }
    for (std::size_t s = 0; s < steps_.size(); ++s) {
      if (!is_load(s) || needed_[s] != 0) continue;
      order_.spare_loads.push_back({static_cast<std::uint32_t>(s), holder_[s]});
    }
  }

  Stay& stay(std::int32_t value, Seat seat) {
    return stays_[at(value) * kSeats + static_cast<std::size_t>(seat)];
  }

  Seat seat_of(const OrderEvent& event, std::size_t position) const {
    if (!pinned_ || !event.has_factors || position > 1) return Seat::kAny;
    return position == 0 ? Seat::kFirst : Seat::kSecond;
  }

  void use_operands(std::int32_t e) {
    const OrderEvent& event = order_.events[at(e)];
    for (std::size_t i = 0; i < toy::kMaxOperands; ++i) {
      const std::int32_t value = event.values[i];
      if (value == kNone) continue;
      const Seat seat = seat_of(event, i);
      Stay& now = stay(value, seat);
      if (now.last_use == e && i > 0 && used_before(event, i)) continue;  // e.g. R1, R1
      add_gap(value, seat, e, now);
      now.last_use = e;
      now.lost = false;
    }
  }

  bool used_before(const OrderEvent& event, std::size_t position) const {
    for (std::size_t i = 0; i < position; ++i) {
      if (event.values[i] == event.values[position] &&
          seat_of(event, i) == seat_of(event, position)) {
        return true;
      }
    }
    return false;
  }

  void add_gap(std::int32_t value, Seat seat, std::int32_t e, const Stay& now) {
    Gap gap;
    gap.value = value;
    gap.seat = seat;
    gap.from = now.last_use;
    gap.to = e;
    // A value that comes to DRAM without having been in a register (an update's result) is there
    // from the start of its window. A value without an earlier use is looked up just before the
    // event that reads it.
    gap.until = held_until(value, gap.from == kNone ? e - 1 : gap.from);
    const bool may_go_early = gap.from != kNone && gap.until > gap.from && gap.until < e;
    const auto deadline =
        may_go_early ? static_cast<std::int32_t>(order_.events[at(gap.until)].step) : kLasting;
    gap.kept = gap.from != kNone && (!now.lost || now.first_lost_at >= deadline);
    if (now.lost || gap.from == kNone) {
      gap.load = now.regained_at;
      gap.lost_at = now.lost_at;
      gap.lost_register = now.lost_register;
    }
    order_.gaps.push_back(gap);
  }

  void end_event(std::int32_t e) {
    const std::int32_t result = order_.events[at(e)].result;
    if (result != kNone) stay(result, Seat::kAny).last_use = e;
  }

  /// Records the register that already holds what step s loads, if the value can be
  /// used from there.
  void note_holder(std::size_t s) {
    if (holder_.empty()) holder_.assign(steps_.size(), kNone);
    const std::int32_t value = written_[s], target = steps_[s].slots[at(facts(s).destination)];
    if (pinned_ && target < 2) {
      if (registers_[at(target)] == value) holder_[s] = target;
      return;
    }
    if (stay(value, Seat::kAny).registers == 0) return;
    const auto found = std::find(registers_.begin(), registers_.end(), value);
    holder_[s] = static_cast<std::int32_t>(found - registers_.begin());
  }

  void write(std::size_t s) {
    const std::int32_t target = steps_[s].slots[at(facts(s).destination)];
    const std::int32_t value = written_[s], before = registers_[at(target)];
    if (value == before) return;
    registers_[at(target)] = value;
    gain(value, Seat::kAny, s);
    if (before != kNone) lose(before, Seat::kAny, s, target);
    if (!pinned_ || target > 1) return;
    const Seat seat = target == 0 ? Seat::kFirst : Seat::kSecond;
    gain(value, seat, s);
    if (before != kNone) lose(before, seat, s, target);
  }

  void gain(std::int32_t value, Seat seat, std::size_t s) {
    Stay& now = stay(value, seat);
    if (now.registers++ > 0) return;
    now.regained_at = is_load(s) ? static_cast<std::int32_t>(s) : kNone;
    if (now.regained_at == kNone) now.lost = false;  // it was computed, not loaded
  }

  void lose(std::int32_t value, Seat seat, std::size_t s, std::int32_t from_register) {
    Stay& now = stay(value, seat);
    if (--now.registers > 0) return;
    if (!now.lost) now.first_lost_at = static_cast<std::int32_t>(s);
    now.lost = true;
    now.lost_at = static_cast<std::int32_t>(s);
    now.lost_register = from_register;
  }

  /// Checks that the order alone determines the seat that each value needs.
  void check_pinned() {
    enum Use : char { kUnused, kFactor, kOther, kStored };
    std::vector<char> uses(at(order_.num_values), kUnused);
    std::vector<std::int32_t> stored_in(at(order_.num_values), kNone);  // products before
    for (const OrderEvent& event : order_.events) {
      if (!event.has_factors && event.cell == kNone) {
        return refuse(event.step, "is neither a product nor a store, and operands are pinned");
      }
      for (std::size_t i = 0; i < toy::kMaxOperands; ++i) {
        const std::int32_t value = event.values[i];
        if (value == kNone) continue;
        const bool is_input = order_.input_cells[at(value)] != kNone;
        const bool is_factor = seat_of(event, i) != Seat::kAny;
        char& use = uses[at(value)];
        if (is_factor ? use > kFactor : use == kFactor) {
          return refuse(event.step,
                        "uses a value both as a factor and otherwise, and operands are pinned");
        }
        if (is_factor && !is_input) {
          return refuse(event.step, "uses a result as a factor, and operands are pinned");
        }
        if (event.cell != kNone && (is_input || event.cell_value != value)) {
          return refuse(event.step, "stores what was loaded, and operands are pinned");
        }
        if (use == kStored &&
            (event.has_factors || stored_in[at(value)] != event.products_before)) {
          return refuse(event.step,
                        "uses a sum again after it was stored, and operands are pinned");
        }
        if (event.cell != kNone) stored_in[at(value)] = event.products_before;
        use = is_factor ? kFactor : event.cell != kNone ? kStored : kOther;
      }
    }
  }

  const toy::BoundProgram& bound_;
  const toy::UnrolledProgram& unrolled_;
  const std::size_t num_slots_ = at(unrolled_.num_registers) + unrolled_.constants.size();
  const std::vector<UnrolledStep>& steps_;
  const std::vector<RowFacts>& facts_;
  const bool pinned_;
  OperationOrder order_;
  std::vector<char> live_, needed_;
  std::vector<std::int32_t> written_;  // value, by step
  std::int32_t num_products_ = 0;
  std::vector<std::vector<Window>> windows_;  // by value
  std::vector<std::size_t> next_window_;      // by value
  std::vector<std::int32_t> registers_;       // values
  std::vector<Stay> stays_;                   // by value and seat
  std::vector<std::int32_t> holder_;          // by step, loads only
};

}  // namespace

OperationOrder operation_order(const toy::BoundProgram& bound, const toy::UnrolledProgram& unrolled,
                               toy::OperandRule rule) {
  return OrderMaker(bound, unrolled, rule).run();
}

}  // namespace flashlab::optimal::detail
