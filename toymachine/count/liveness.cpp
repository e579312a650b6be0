// The largest number of live registers, and of bytes in them: peak_registers() and
// peak_register_bytes() of counters.hpp.
//
// Walks the nest backwards with the set of registers whose value is still to be read. Repeating an
// iteration does not change the set as long as the iterations name the same registers. Three
// iterations therefore represent a whole loop: the first (its registers may still have other
// shapes), one in the middle, and the last. Only loops whose variable selects a register are
// unrolled. Every change of the set is logged. Read from its end, the log is an execution, on which
// the shapes are replayed.
#include <algorithm>
#include <vector>

#include "toymachine/bind/wrapping.hpp"
#include "toymachine/budget/budget.hpp"
#include "toymachine/count/counters.hpp"
#include "toymachine/execute/execute_tile.hpp"

namespace flashlab::toy {
namespace {

constexpr std::int64_t kMostLivenessVisits = 2'000'000;  // instructions visited before giving up

/// The start or end of a register's life, or an instruction.
struct LogEntry {
  std::int64_t reg = -1;  // -1: an instruction
  bool alive = false;     // before the entry; in the order of execution: after it
  std::uint32_t site = 0;
  std::array<std::int64_t, kMaxOperands> slots{};
  detail::Shape cell{1, 1};
};

class Liveness {
 public:
  /// With a log, for shapes, fewer visits are allowed, because the log takes memory.
  explicit Liveness(const BoundProgram& program, std::vector<LogEntry>* log = nullptr)
      : program_(program),
        log_(log),
        most_visits_(log ? kMostLivenessVisits / 10 : kMostLivenessVisits),
        unrolled_(program.loops.size(), false),
        iteration_(program.loops.size(), 0),
        live_(static_cast<std::size_t>(program.num_registers), 0) {
    for (const BoundInstruction& instruction : program.instructions) {
      for (const BoundOperand& operand : instruction.operands) {
        if (is_register(operand.kind)) mark(operand.index);
      }
    }
  }

  /// Returns false if the walk is too long, or if registers cannot be distinguished.
  bool run() {
    if (possible_) walk(0, program_.nodes.size());
    return possible_ && visits_ <= most_visits_;
  }
  std::int64_t peak() const { return peak_; }

 private:
  /// Writes a register number in terms of iteration numbers: replaces the innermost variable by its
  /// loop's lower bound plus the distance from it, until only constants remain.
  void mark(Affine index) {
    while (!index.terms.empty()) {
      const auto [loop, coefficient] = index.terms.back();
      unrolled_[loop] = true;
      if (!replace(index, loop, coefficient, 0)) {
        possible_ = false;
        return;
      }
    }
  }

  bool replace(Affine& index, std::uint32_t loop, std::int64_t coefficient,
               std::int64_t iteration) const {
    const BoundLoop& range = program_.loops[loop];
    if (range.lower.op != BoundExpression::Op::kAffine) return false;
    index.terms.pop_back();
    const std::int64_t value = detail::wrapped_sum(range.lower.affine.constant,
                                                   detail::wrapped_product(iteration, range.step));
    index.constant =
        detail::wrapped_sum(index.constant, detail::wrapped_product(coefficient, value));
    for (const auto& [outer, c] : range.lower.affine.terms) {
      add(index, outer, detail::wrapped_product(coefficient, c));
    }
    return true;
  }

  static void add(Affine& index, std::uint32_t loop, std::int64_t coefficient) {
    const auto at =
        std::lower_bound(index.terms.begin(), index.terms.end(), loop,
                         [](const auto& term, std::uint32_t l) { return term.first < l; });
    if (at == index.terms.end() || at->first != loop) {
      index.terms.insert(at, {loop, coefficient});
      return;
    }
    at->second = detail::wrapped_sum(at->second, coefficient);
    if (at->second == 0) index.terms.erase(at);
  }

  std::int64_t number(Affine index) const {
    while (!index.terms.empty()) {
      const auto [loop, coefficient] = index.terms.back();
      replace(index, loop, coefficient, iteration_[loop]);
    }
    return index.constant;
  }

  void walk(std::size_t first, std::size_t last) {
    for (std::size_t at = last; at-- > first && visits_ <= most_visits_;) {
      const Node& node = program_.nodes[at];
      if (node.kind == Node::Kind::kBlock) {
        for (std::uint32_t site = node.last; site-- > node.first;)
          visit(program_.instructions[site]);
      } else if (node.kind == Node::Kind::kLoopEnd) {
        loop(node.loop, node.partner + 1, at);
        at = node.partner;
      }
    }
  }

  void loop(std::uint32_t id, std::size_t first, std::size_t last) {
    const Interval trips = program_.loops[id].trips;
    if (program_.loops[id].values.empty()) return;
    const std::int64_t visited = unrolled_[id] ? trips.high : std::min<std::int64_t>(3, trips.high);
    for (std::int64_t i = visited; i-- > 0 && visits_ <= most_visits_;) {
      const bool may_not_run = unrolled_[id] ? i >= trips.low : trips.low == 0;
      const std::vector<char> skipped = may_not_run ? live_ : std::vector<char>();
      iteration_[id] = i;
      const std::int64_t before = visits_;
      walk(first, last);
      if (visits_ == before) ++visits_;  // loops that never run take time, too
      check_budget();
      if (!may_not_run) continue;
      for (std::size_t r = 0; r < live_.size(); ++r)
        set(static_cast<std::int64_t>(r), live_[r] | skipped[r]);
    }
  }

  void set(std::int64_t reg, bool alive) {
    if (reg < 0 || reg >= program_.num_registers) return;  // an error when it is executed
    char& now = live_[static_cast<std::size_t>(reg)];
    if (log_ && (now != 0) != alive) log_->push_back({reg, now != 0, 0, {}, {1, 1}});
    count_ += (alive ? 1 : 0) - now;
    now = alive ? 1 : 0;
  }

  void visit(const BoundInstruction& instruction) {
    ++visits_;
    for (const BoundOperand& operand : instruction.operands) {
      if (operand.kind != OperandKind::kDestination) continue;
      set(number(operand.index), true);  // occupied when written, read later or not
      peak_ = std::max(peak_, count_);
      set(number(operand.index), false);
    }
    if (log_) log_instruction(instruction);
    for (const BoundOperand& operand : instruction.operands) {
      if (is_register_read(operand.kind)) set(number(operand.index), true);
    }
    peak_ = std::max(peak_, count_);
  }

  void log_instruction(const BoundInstruction& instruction) {
    LogEntry entry;
    entry.site = instruction.site;
    for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
      const BoundOperand& operand = instruction.operands[i];
      if (is_memory(operand.kind)) {
        entry.cell = cell_here(operand, instruction.loop);
      } else if (operand.kind == OperandKind::kConstant) {
        entry.slots[i] = operand.index.constant;
      } else if (is_register(operand.kind)) {
        entry.slots[i] = number(operand.index);
        possible_ = possible_ && entry.slots[i] >= 0 && entry.slots[i] < program_.num_registers;
      }
    }
    log_->push_back(entry);
  }

  /// Returns the tile's shape in the current iterations. If an iteration represents others and the
  /// program does not execute it itself, the shape is that of the largest tile.
  detail::Shape cell_here(const BoundOperand& operand, std::uint32_t innermost) const {
    std::vector<std::int64_t> values(program_.loops.size());
    std::vector<std::uint32_t> around;
    for (std::uint32_t l = innermost; l != kNoLoop; l = program_.loops[l].parent) {
      around.insert(around.begin(), l);
    }
    for (const std::uint32_t l : around) {
      const BoundLoop& loop = program_.loops[l];
      const std::int64_t passed = detail::wrapped_product(iteration_[l], loop.step);
      values[l] =
          std::min(detail::wrapped_sum(loop.lower(values.data()), passed), loop.values.high);
    }
    const BoundArray& array = program_.arrays[operand.array];
    detail::Shape shape = detail::cell_shape(array, operand, values.data());
    const std::size_t rank = array.extents.size();
    if (shape.cols < 1) shape.cols = std::min(array.tile[rank - 1], array.extents[rank - 1]);
    if (shape.rows < 1) shape.rows = std::min(array.tile[rank - 2], array.extents[rank - 2]);
    return shape;
  }

  const BoundProgram& program_;
  std::vector<LogEntry>* log_;
  std::int64_t most_visits_;
  std::vector<char> unrolled_;           // by loop
  std::vector<std::int64_t> iteration_;  // by loop
  std::vector<char> live_;               // by register
  std::int64_t count_ = 0;
  std::int64_t peak_ = 0;
  std::int64_t visits_ = 0;
  bool possible_ = true;
};

/// Replays the log as an execution: the live registers and their sizes.
class LifeWalk {
 public:
  LifeWalk(const BoundProgram& program, const std::vector<LogEntry>& log)
      : log_(log),
        bytes_per_element_(register_element_bytes(program)),
        num_registers_(program.num_registers),
        slots_(program.instructions.size()) {
    const auto count = static_cast<std::size_t>(program.num_registers);
    shapes_.assign(count, {0, 0});
    for (std::size_t i = 0; i < program.constants.size(); ++i) shapes_.push_back({1, 1});
    alive_.assign(count, 0);
    writer_.assign(count, 0);
    for (const BoundInstruction& instruction : program.instructions) {
      slots_[instruction.site].prepare(program, instruction);
      rows_.push_back(instruction.row);
      targets_.push_back(destination(instruction));
    }
  }

  /// Returns the first entry, in the order of execution, after which most bytes are alive. Returns
  /// nothing if shapes do not match (a run reports where).
  std::optional<std::size_t> find_peak() {
    std::size_t best = 0;
    for (std::size_t at = 0; at < log_.size(); ++at) {
      if (!step(at)) return std::nullopt;
      if (bytes_ <= peak_) continue;
      peak_ = bytes_;
      best = at;
    }
    return best;
  }

  RegisterBytes at(std::size_t last, const BoundProgram& program) {
    for (std::size_t i = 0; i <= last; ++i) step(i);
    RegisterBytes result{bytes_, present_, {}};
    for (std::int64_t reg = 0; reg < num_registers_; ++reg) {
      const auto r = static_cast<std::size_t>(reg);
      if (!alive_[r]) continue;
      result.holders.push_back({reg, shapes_[r].rows, shapes_[r].cols, bytes_of(r),
                                program.instructions[writer_[r]].span});
    }
    return result;
  }

 private:
  static std::size_t destination(const BoundInstruction& instruction) {
    for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
      if (instruction.operands[i].kind == OperandKind::kDestination) return i;
    }
    return kMaxOperands;
  }

  std::int64_t bytes_of(std::size_t reg) const {
    return shapes_[reg].rows * shapes_[reg].cols * bytes_per_element_;
  }

  bool step(std::size_t at) {
    const LogEntry& entry = log_[log_.size() - 1 - at];
    if (entry.reg < 0) return execute(entry);
    const auto reg = static_cast<std::size_t>(entry.reg);
    bytes_ += entry.alive ? bytes_of(reg) : -bytes_of(reg);
    alive_[reg] = entry.alive ? 1 : 0;
    return true;
  }

  bool execute(const LogEntry& entry) {
    detail::Slots<detail::Shape>& slots = slots_[entry.site];
    slots.at = entry.slots;
    slots.cell = entry.cell;
    present_ = entry.site;
    const std::size_t target = targets_[entry.site];
    if (target < kMaxOperands) writer_[static_cast<std::size_t>(entry.slots[target])] = entry.site;
    const auto status =
        detail::kExecute<detail::Shape>[rows_[entry.site]](slots, shapes_.data(), nullptr);
    return status == detail::Status::kOk || status == detail::Status::kLink;
  }

  const std::vector<LogEntry>& log_;
  std::int64_t bytes_per_element_;
  std::int64_t num_registers_;
  std::vector<detail::Slots<detail::Shape>> slots_;  // by site
  std::vector<std::size_t> rows_, targets_;          // by site
  std::vector<detail::Shape> shapes_;
  std::vector<char> alive_;
  std::vector<std::uint32_t> writer_;  // by register: site
  std::int64_t bytes_ = 0, peak_ = 0;
  std::uint32_t present_ = 0;
};

}  // namespace

std::int64_t peak_registers(const BoundProgram& program) {
  Liveness liveness(program);
  return liveness.run() ? liveness.peak() : program.num_registers;
}

std::int64_t register_element_bytes(const BoundProgram& program) {
  std::int64_t bytes = element_bytes(ElementType::kFloat);
  for (const BoundArray& array : program.arrays) {
    bytes = std::max(bytes, element_bytes(array.element_type));
  }
  return bytes;
}

std::optional<RegisterBytes> peak_register_bytes(const BoundProgram& program) {
  std::vector<LogEntry> log;
  Liveness liveness(program, &log);
  if (!liveness.run()) return std::nullopt;
  if (log.empty()) return RegisterBytes{};  // no instruction is ever executed
  const auto peak = LifeWalk(program, log).find_peak();
  if (!peak) return std::nullopt;
  return LifeWalk(program, log).at(*peak, program);
}

}  // namespace flashlab::toy
