// The most registers alive at once: peak_registers() of counters.hpp.
//
// Walks the nest backwards with the set of registers whose value is still to be read. What one
// iteration does to the set is idempotent as long as the iterations name the same registers, so two
// iterations stand for all of a loop; only loops whose variable picks a register are unrolled.
#include <algorithm>
#include <vector>

#include "toymachine/counters.hpp"

namespace flashlab::toy {
namespace {

constexpr std::int64_t kMostVisits = 2'000'000;  // instructions visited before giving up

class Liveness {
 public:
  explicit Liveness(const BoundProgram& program)
      : program_(program),
        unrolled_(program.loops.size(), false),
        iteration_(program.loops.size(), 0),
        live_(static_cast<std::size_t>(program.num_registers), 0) {
    for (const BoundInstruction& instruction : program.instructions) {
      for (const BoundOperand& operand : instruction.operands) {
        if (is_register(operand.kind)) mark(operand.index);
      }
    }
  }

  std::int64_t peak() {
    if (possible_) walk(0, program_.nodes.size());
    if (!possible_ || visits_ > kMostVisits) return program_.num_registers;
    return peak_;
  }

 private:
  /// A register number in terms of iteration numbers: the innermost variable is replaced by where
  /// its loop begins plus how far it has got, until only outer constants remain.
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
    index.constant += coefficient * (range.lower.affine.constant + iteration * range.step);
    for (const auto& [outer, c] : range.lower.affine.terms) add(index, outer, coefficient * c);
    return true;
  }

  static void add(Affine& index, std::uint32_t loop, std::int64_t coefficient) {
    const auto at =
        std::lower_bound(index.terms.begin(), index.terms.end(), loop,
                         [](const auto& term, std::uint32_t l) { return term.first < l; });
    if (at == index.terms.end() || at->first != loop) {
      index.terms.insert(at, {loop, coefficient});
    } else if ((at->second += coefficient) == 0) {
      index.terms.erase(at);
    }
  }

  std::int64_t number(Affine index) const {
    while (!index.terms.empty()) {
      const auto [loop, coefficient] = index.terms.back();
      replace(index, loop, coefficient, iteration_[loop]);
    }
    return index.constant;
  }

  void walk(std::size_t first, std::size_t last) {
    for (std::size_t at = last; at-- > first && visits_ <= kMostVisits;) {
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
    const std::int64_t visited = unrolled_[id] ? trips.high : std::min<std::int64_t>(2, trips.high);
    for (std::int64_t i = visited; i-- > 0 && visits_ <= kMostVisits;) {
      const bool may_not_run = unrolled_[id] ? i >= trips.low : trips.low == 0;
      const std::vector<char> skipped = may_not_run ? live_ : std::vector<char>();
      iteration_[id] = i;
      walk(first, last);
      if (!may_not_run) continue;
      for (std::size_t r = 0; r < live_.size(); ++r)
        set(static_cast<std::int64_t>(r), live_[r] | skipped[r]);
    }
  }

  void set(std::int64_t reg, bool alive) {
    if (reg < 0 || reg >= program_.num_registers) return;  // an error when it is executed
    char& now = live_[static_cast<std::size_t>(reg)];
    count_ += (alive ? 1 : 0) - now;
    now = alive ? 1 : 0;
  }

  void visit(const BoundInstruction& instruction) {
    ++visits_;
    for (const BoundOperand& operand : instruction.operands) {
      if (operand.kind != OperandKind::kDestination) continue;
      set(number(operand.index), true);  // occupied when it is written, read later or not
      peak_ = std::max(peak_, count_);
      set(number(operand.index), false);
    }
    for (const BoundOperand& operand : instruction.operands) {
      if (is_register_read(operand.kind)) set(number(operand.index), true);
    }
    peak_ = std::max(peak_, count_);
  }

  const BoundProgram& program_;
  std::vector<char> unrolled_;           // by loop
  std::vector<std::int64_t> iteration_;  // by loop
  std::vector<char> live_;               // by register
  std::int64_t count_ = 0;
  std::int64_t peak_ = 0;
  std::int64_t visits_ = 0;
  bool possible_ = true;
};

}  // namespace

std::int64_t peak_registers(const BoundProgram& program) { return Liveness(program).peak(); }

}  // namespace flashlab::toy
