// Lets the interpreter pause when the value of a register passes a test. Loops still run in strips:
// a strip in which a test passes is refused, and its iterations run step by step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "toymachine/execute/strip_runner.hpp"
#include "toymachine/execute/tile.hpp"
#include "toymachine/replay/paged_memory.hpp"
#include "toymachine/replay/value_test.hpp"

namespace flashlab::toy::detail {

/// A test of a register: where it is made, or at the step that makes it true.
struct WatchedTest {
  std::int64_t register_number = 0;
  ValueTest test;
  std::optional<std::uint32_t> before_site;  // none: pauses after the step that makes it true
  std::size_t id = 0;                        // the caller's
};

template <class Number>
bool passes_test(const ValueTest& test, Number value) {
  return test(value);
}
/// For a tile: whether it holds for some element.
template <class Element>
bool passes_test(const ValueTest& test, const Tile<Element>& tile) {
  for (std::int64_t row = 0; row < tile.shape().rows; ++row) {
    if (count_holding(test, tile.data() + row * tile.stride(), tile.shape().cols) > 0) return true;
  }
  return false;
}

/// An observer of the interpreter. It also tells the memory which cells change.
template <class Value>
class RegisterWatch {
 public:
  static constexpr bool kPerStep = false;
  static constexpr bool kWatches = true;

  using Memory = PagedMemory<typename ValueTraits<Value>::Cell>;
  RegisterWatch(const BoundProgram& program, Memory& memory)
      : program_(program), memory_(memory), checks_(program.instructions.size(), 0) {}

  void set(std::vector<WatchedTest> tests) {
    tests_ = std::move(tests);
    held_.assign(tests_.size(), false);
    for (const BoundInstruction& instruction : program_.instructions) {
      checks_[instruction.site] = 0;
      for (const WatchedTest& test : tests_) {
        if (test.before_site) {
          if (*test.before_site == instruction.site) checks_[instruction.site] |= kBefore;
        } else if (may_write(instruction, test.register_number)) {
          checks_[instruction.site] |= kAfter;
        }
      }
    }
  }

  /// Call before the run goes on. `skips`: `next_site`, the next instruction, is not tested, because
  /// the run paused there.
  void begin(const Value* registers, std::uint32_t next_site, bool skips) {
    passed_.reset();
    skips_ = skips && next_site < checks_.size() && (checks_[next_site] & kBefore) != 0;
    for (std::size_t i = 0; i < tests_.size(); ++i) held_[i] = holds_now(tests_[i], registers);
  }
  /// Returns the id of the test that paused the run.
  std::optional<std::size_t> passed() const { return passed_; }
  bool is_empty() const { return tests_.empty(); }

  // For the interpreter -------------------------------------------------------------------------

  void stores(std::int64_t first, std::int64_t count) { memory_.mark(first, count); }

  bool stops_before(std::uint32_t site, const Value* registers) {
    if (!(checks_[site] & kBefore)) return false;
    if (std::exchange(skips_, false)) return false;
    for (const WatchedTest& test : tests_) {
      if (test.before_site == site && holds_now(test, registers)) {
        passed_ = test.id;
        return true;
      }
    }
    return false;
  }

  bool stops_after(std::uint32_t site, const Value* registers) {
    if (!(checks_[site] & kAfter)) return false;
    bool stops = false;
    for (std::size_t i = 0; i < tests_.size(); ++i) {
      if (tests_[i].before_site) continue;
      const bool now = holds_now(tests_[i], registers);
      if (now && !held_[i]) {
        passed_ = tests_[i].id;
        stops = true;
      }
      held_[i] = now;
    }
    return stops;
  }

  /// Whether no test passes in the strip of this many iterations.
  bool accepts(const StripRunner<Value>& strips, std::size_t lanes, const Value* registers) {
    const auto n = static_cast<std::int64_t>(lanes);
    for (std::size_t i = 0; i < tests_.size(); ++i) {
      const bool accepted = tests_[i].before_site
                                ? never_holds_at_site(tests_[i], strips, n, registers)
                                : never_begins(i, strips, n);
      if (!accepted) return false;
    }
    skips_ = false;
    for (std::size_t i = 0; i < tests_.size(); ++i) {
      if (const Value* last = last_write(tests_[i], strips)) held_[i] = tests_[i].test(last[n - 1]);
    }
    return true;
  }

 private:
  static constexpr char kBefore = 1, kAfter = 2;

  bool holds_now(const WatchedTest& test, const Value* registers) const {
    return passes_test(test.test, registers[test.register_number]);
  }

  /// Returns the results of the body's last instruction that writes the register; null if none does.
  const Value* last_write(const WatchedTest& test, const StripRunner<Value>& strips) const {
    for (const StripPlan::Written& written : strips.plan().written) {
      if (written.reg == test.register_number) return strips.results(written.writer);
    }
    return nullptr;
  }

  /// The value at the instruction is the result of the last write before it: in the body before the
  /// instruction, or otherwise at the end of the previous iteration.
  bool never_holds_at_site(const WatchedTest& test, const StripRunner<Value>& strips,
                           std::int64_t lanes, const Value* registers) const {
    const auto& body = strips.plan().body;
    const Value* same = nullptr;
    const Value* previous = nullptr;
    bool is_inside = false;
    for (std::size_t entry = 0; entry < body.size(); ++entry) {
      const BoundInstruction& instruction = program_.instructions[body[entry].instruction];
      is_inside = is_inside || test.before_site == instruction.site;
      if (!may_write(instruction, test.register_number)) continue;
      (is_inside ? previous : same) = strips.results(entry);
    }
    if (!is_inside) return true;
    if (same != nullptr) return count_holding(test.test, same, lanes) == 0;
    if (holds_now(test, registers)) return false;
    return previous == nullptr || count_holding(test.test, previous, lanes - 1) == 0;
  }

  /// Whether no step of the strip makes the test true.
  bool never_begins(std::size_t i, const StripRunner<Value>& strips, std::int64_t lanes) const {
    const WatchedTest& test = tests_[i];
    bool some = held_[i], all = held_[i];
    std::vector<const Value*> writers;
    const auto& body = strips.plan().body;
    for (std::size_t entry = 0; entry < body.size(); ++entry) {
      if (!may_write(program_.instructions[body[entry].instruction], test.register_number))
        continue;
      const std::int64_t holding = count_holding(test.test, strips.results(entry), lanes);
      some = some || holding > 0;
      all = all && holding == lanes;
      writers.push_back(strips.results(entry));
    }
    if (!some || all) return true;
    bool held = held_[i];
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      for (const Value* writer : writers) {
        const bool now = test.test(writer[lane]);
        if (now && !held) return false;
        held = now;
      }
    }
    return true;
  }

  static bool may_write(const BoundInstruction& instruction, std::int64_t number) {
    for (const BoundOperand& operand : instruction.operands) {
      if (operand.kind != OperandKind::kDestination) continue;
      return !operand.index.is_constant() || operand.index.constant == number;
    }
    return false;
  }

  const BoundProgram& program_;
  Memory& memory_;
  std::vector<WatchedTest> tests_;
  std::vector<bool> held_;    // by test: after the last step that could change it
  std::vector<char> checks_;  // by site
  std::optional<std::size_t> passed_;
  bool skips_ = false;
};

}  // namespace flashlab::toy::detail
