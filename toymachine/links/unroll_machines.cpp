#include "toymachine/links/unroll_machines.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "toymachine/budget/budget.hpp"

namespace flashlab::toy {
namespace {

/// The row that copies from DRAM to a register, or back.
std::uint16_t row_of(OperandKind from, OperandKind to) {
  const auto rows = instruction_set();
  const auto is_it = [&](const InstructionSpec& spec) {
    return spec.num_operands == 2 && spec.operands[0] == from && spec.operands[1] == to;
  };
  return static_cast<std::uint16_t>(std::find_if(rows.begin(), rows.end(), is_it) - rows.begin());
}

Diagnostic link_error(const Machines& machines) {
  Diagnostic error;
  error.fault = Fault::kRequest;
  error.span = machines.first().program->machines->span;
  error.what = "the machines cannot be put into one order";
  error.expected = "messages that arrive: a run says where they do not";
  return error;
}

class MachinesUnroller {
 public:
  MachinesUnroller(const Machines& machines, std::uint64_t max_steps)
      : machines_(machines), max_steps_(max_steps) {}

  Result<UnrolledProgram> run() {
    if (auto error = prepare()) return std::move(*error);
    std::deque<std::size_t> ready;
    for (std::size_t rank = 0; rank < parts_.size(); ++rank) ready.push_back(rank);
    // A machine that waits is tried again when another one has gone on.
    for (std::size_t idle = 0; !ready.empty() && idle < ready.size();) {
      check_budget();
      const std::size_t rank = ready.front();
      ready.pop_front();
      const std::size_t before = parts_[rank].next;
      while (step(rank)) {
      }
      if (is_wrong_) return link_error(machines_);
      idle = parts_[rank].next > before ? 0 : idle + 1;
      if (parts_[rank].next < parts_[rank].program.steps.size()) ready.push_back(rank);
    }
    if (!ready.empty() || num_in_links_ > 0) return link_error(machines_);
    return std::move(result_);
  }

 private:
  struct Part {
    UnrolledProgram program;
    std::size_t next = 0;
    std::vector<std::int32_t> cells;  // of the joined arrays, by the machine's own
    std::int32_t first_register = 0, first_constant = 0;
  };
  struct Link {
    std::int32_t place = 0;  // its register
    bool is_full = false;
    ElementType type = ElementType::kFloat;
  };

  /// Numbers of registers and cells have 31 bits.
  std::optional<Diagnostic> size_error() const {
    constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max() / 2;
    std::int64_t registers = 0;
    for (const BoundProgram& program : machines_.programs) registers += program.num_registers;
    if (registers <= kMost && machines_.joined.dram_elements <= kMost) return std::nullopt;
    Diagnostic error = link_error(machines_);
    error.fault = Fault::kLimit;
    error.expected = "at most " + std::to_string(kMost) + " registers and elements of all machines";
    return error;
  }

  std::optional<Diagnostic> prepare() {
    if (auto error = size_error()) return error;
    std::uint64_t left = max_steps_;
    for (const BoundProgram& program : machines_.programs) {
      auto unrolled = unroll(program, left);
      if (!unrolled) return unrolled.diagnostics.front();
      left -= unrolled->steps.size();
      Part& part = parts_.emplace_back();
      part.program = std::move(*unrolled);
      part.first_register = num_registers_;
      num_registers_ += part.program.num_registers;
      part.cells = joined_cells(program, parts_.size() - 1);
    }
    num_links_ = count_links();
    result_.num_registers = num_registers_ + num_links_;
    result_.dram_elements = static_cast<std::int32_t>(machines_.joined.dram_elements);
    for (Part& part : parts_) {
      part.first_constant =
          result_.num_registers + static_cast<std::int32_t>(result_.constants.size());
      result_.constants.insert(result_.constants.end(), part.program.constants.begin(),
                               part.program.constants.end());
    }
    return std::nullopt;
  }

  std::vector<std::int32_t> joined_cells(const BoundProgram& program, std::size_t rank) const {
    std::vector<std::int32_t> cells(static_cast<std::size_t>(program.dram_elements));
    for (std::size_t i = 0; i < program.arrays.size(); ++i) {
      const BoundArray& own = program.arrays[i];
      const std::int64_t first =
          machines_.joined.arrays[i].offset + static_cast<std::int64_t>(rank) * own.size;
      for (std::int64_t k = 0; k < own.size; ++k) {
        cells[static_cast<std::size_t>(own.offset + k)] = static_cast<std::int32_t>(first + k);
      }
    }
    return cells;
  }

  /// Makes the links that messages use, each with a register after those of the machines.
  std::int32_t count_links() {
    for (std::size_t rank = 0; rank < parts_.size(); ++rank) {
      for (const UnrolledStep& step : parts_[rank].program.steps) {
        const InstructionSpec& spec = instruction_set()[step.row];
        if (!spec.is_send()) continue;
        const auto place = num_registers_ + static_cast<std::int32_t>(links_.size());
        links_.try_emplace({static_cast<std::int64_t>(rank), step.slots[1]}, Link{place});
      }
    }
    return static_cast<std::int32_t>(links_.size());
  }

  /// Appends the machine's next step; false if it has ended or waits.
  bool step(std::size_t rank) {
    Part& part = parts_[rank];
    if (is_wrong_ || part.next == part.program.steps.size()) return false;
    const UnrolledStep& own = part.program.steps[part.next];
    const InstructionSpec& spec = instruction_set()[own.row];
    UnrolledStep step = own;
    if (spec.is_link()) {
      if (!pass_message(rank, own, spec.is_send(), step)) return false;
    } else {
      for (std::size_t i = 0; i < spec.num_operands; ++i) {
        step.slots[i] = place_of(part, spec.operands[i], own.slots[i]);
      }
    }
    result_.steps.push_back(step);
    ++part.next;
    return true;
  }

  std::int32_t place_of(const Part& part, OperandKind kind, std::int32_t slot) const {
    if (is_memory(kind)) return part.cells[static_cast<std::size_t>(slot)];
    if (kind == OperandKind::kOffset) return slot;
    const std::int32_t own_registers = part.program.num_registers;
    return slot < own_registers ? part.first_register + slot
                                : part.first_constant + slot - own_registers;
  }

  bool wrong() {
    is_wrong_ = true;
    return false;
  }

  bool pass_message(std::size_t rank, const UnrolledStep& own, bool sends, UnrolledStep& step) {
    const std::size_t memory = sends ? 0 : 1;  // what is sent, to whom; from whom, where to
    const std::int64_t other = own.slots[1 - memory], self = static_cast<std::int64_t>(rank);
    const BoundProgram& program = machines_.programs[rank];
    if (!program.machine->has_link_to(other)) return wrong();
    const auto found = links_.find(sends ? std::pair{self, other} : std::pair{other, self});
    if (found == links_.end()) return false;  // nobody sends
    Link& link = found->second;
    if (link.is_full == sends) return false;
    const ElementType type =
        program.arrays[program.instructions[own.site].operands[memory].array].element_type;
    if (!sends && type != link.type) return wrong();
    link.is_full = sends;
    link.type = type;
    num_in_links_ += sends ? 1 : -1;
    const std::int32_t cell = parts_[rank].cells[static_cast<std::size_t>(own.slots[memory])];
    step.row = sends ? load_ : store_;
    step.slots = {};
    step.slots[0] = sends ? cell : link.place;
    step.slots[1] = sends ? link.place : cell;
    return true;
  }

  const Machines& machines_;
  const std::uint64_t max_steps_;
  const std::uint16_t load_ = row_of(OperandKind::kMemorySource, OperandKind::kDestination),
                      store_ = row_of(OperandKind::kSource, OperandKind::kMemoryDestination);
  std::vector<Part> parts_;
  std::map<std::pair<std::int64_t, std::int64_t>, Link> links_;  // by sender and receiver
  std::int32_t num_registers_ = 0, num_links_ = 0;
  std::int64_t num_in_links_ = 0;
  bool is_wrong_ = false;
  UnrolledProgram result_;
};

}  // namespace

Result<UnrolledProgram> unroll_machines(const Machines& machines, std::uint64_t max_steps) {
  if (!machines.several()) return unroll(machines.first(), max_steps);
  return MachinesUnroller(machines, max_steps).run();
}

}  // namespace flashlab::toy
