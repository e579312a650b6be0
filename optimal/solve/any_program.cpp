#include "optimal/solve/any_program.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <stdexcept>
#include <unordered_map>
#include <utility>
#include <vector>

#include "optimal/problem/sampled_values.hpp"
#include "optimal/search/search.hpp"
#include "optimal/solve/wanted_results.hpp"
#include "toymachine/execute/call_instruction.hpp"

namespace flashlab::optimal {
namespace {

using detail::applied;
using detail::Sampled;
using detail::SampledValues;
using detail::SamplePoints;
using detail::Wanted;
using detail::wanted_of;

constexpr int kMostRegisters = 8, kMostOutputs = 16;
constexpr int kFree = -1;
constexpr std::size_t kBytesOfAnyState = 48;  // in the table

/// A row of the instruction table that makes a value from registers.
struct Operation {
  std::size_t row = 0, reads = 0;
  std::int64_t cost = 0;
  bool commutes = false;  // its first two operands
  bool is_exponential = false;
};

/// One instruction without its destination.
struct Instruction {
  const std::string* loads = nullptr;  // of a load: the cell
  const Operation* operation = nullptr;
  std::array<std::size_t, toy::kMaxOperands> operands{};  // registers

  std::string text() const {
    if (loads != nullptr) return "LOAD " + *loads;
    std::string result(toy::instruction_set()[operation->row].mnemonic);
    for (std::size_t i = 0; i < operation->reads; ++i) {
      result += (i == 0 ? " R" : ", R") + std::to_string(operands[i]);
    }
    return result;
  }
};

struct AnyState {
  std::array<int, kMostRegisters> held;  // values by register; kFree
  unsigned unused = 0;                   // one bit per register: value not read yet
  unsigned stored = 0;                   // one bit per output

  AnyState() { held.fill(kFree); }
};

class AnySearch {
 public:
  AnySearch(const Wanted& wanted, const SamplePoints& points, const AnyMachine& machine,
            const SolveLimits& limits)
      : wanted_(wanted), points_(points), machine_(machine), values_(points), limits_{limits} {
    load_ = scalar_cycles(machine.costs, "LOAD");
    store_ = scalar_cycles(machine.costs, "STORE");
    add_operations();
    for (const Sampled& input : points.inputs()) {
      inputs_.push_back(index_of(input));
      input_outputs_ |= outputs_of(inputs_.back());
    }
    for (const Sampled& output : wanted.results) {
      results_.push_back(index_of(output));
      output_depends_.push_back(points.depends_on(output));
    }
  }

  AnyAnswer search(std::int64_t most_cycles) {
    AnyAnswer answer;
    for (std::int64_t cycles = 0; cycles <= most_cycles; ++cycles) {
      const bool is_found = from(AnyState{}, cycles);
      if (is_over_) break;
      if (is_found) {
        answer.program = text();
        break;
      }
      answer.excluded_cycles = cycles;
    }
    answer.states = visited_;
    answer.seconds = limits_.seconds();
    return answer;
  }

 private:
  void add_operations() {
    const auto table = toy::instruction_set();
    for (std::size_t row = 0; row < table.size(); ++row) {
      const toy::InstructionSpec& spec = table[row];
      const bool is_copy = spec.flop_kind == toy::FlopKind::kNone;  // MOV
      if (!spec.in(machine_.level) || spec.is_load() || spec.is_store() || is_copy) continue;
      const auto kinds = spec.kinds();
      const std::size_t reads = static_cast<std::size_t>(
          std::count_if(kinds.begin(), kinds.end(), toy::is_register_read));
      operations_.push_back({row, reads, scalar_cycles(machine_.costs, spec.mnemonic),
                             reads > 1 && commutes(row, reads),
                             spec.flop_kind == toy::FlopKind::kExponential});
      if (operations_.back().cost == 0) throw std::invalid_argument("an instruction is free");
      most_reads_ = std::max(most_reads_, reads);
    }
    least_cost_ =
        std::min_element(operations_.begin(), operations_.end(), [](const auto& a, const auto& b) {
          return a.cost < b.cost;
        })->cost;
  }

  static bool commutes(std::size_t row, std::size_t reads) {
    const std::array<double, 3> forth{1.375, -0.625, 2.5}, back{-0.625, 1.375, 2.5};
    return toy::effect_on_numbers(row, {forth.data(), reads}) ==
           toy::effect_on_numbers(row, {back.data(), reads});
  }

  int index_of(const Sampled& value) {
    const int result = values_.index_of(value);
    if (static_cast<std::size_t>(result) == depends_.size()) describe(value);
    return result;
  }
  void describe(const Sampled& value) {
    depends_.push_back(points_.depends_on(value));
    unsigned outputs = 0;
    for (std::size_t i = 0; i < wanted_.results.size(); ++i) {
      if (points_.is_same(value, wanted_.results[i])) outputs |= 1U << i;
    }
    outputs_.push_back(outputs);
  }
  unsigned outputs_of(int value) const { return outputs_[static_cast<std::size_t>(value)]; }
  std::size_t registers() const { return static_cast<std::size_t>(machine_.registers); }

  /// Lower bounds on what remains, and the most operations that the budget allows.
  struct Left {
    std::int64_t cycles = 0;
    int outputs = 0;  // that still need an operation
    std::int64_t most_operations = 0;
  };
  Left left_of(const AnyState& state, std::int64_t budget) const {
    unsigned depends = 0, held_outputs = 0, needed = 0;
    for (std::size_t r = 0; r < registers(); ++r) {
      if (state.held[r] == kFree) continue;
      depends |= depends_[static_cast<std::size_t>(state.held[r])];
      held_outputs |= outputs_of(state.held[r]);
    }
    for (std::size_t i = 0; i < wanted_.results.size(); ++i) {
      if ((state.stored >> i & 1) == 0) needed |= output_depends_[i];
    }
    Left left;
    // A value that depends on an input needs a load: of this input, or of a stored output.
    std::int64_t loads = std::popcount(needed & ~depends);
    if (state.stored != 0) loads = std::min<std::int64_t>(loads, 1);
    const unsigned all = (1U << wanted_.results.size()) - 1;
    const std::int64_t stores = std::popcount(all & ~state.stored);
    left.outputs = std::popcount(all & ~(state.stored | held_outputs | input_outputs_));
    // Every value is used. An operation reads at most `most_reads_` values, and makes one.
    const std::int64_t unused = std::popcount(state.unused) + loads - stores;
    const auto fewer = static_cast<std::int64_t>(most_reads_) - 1;
    std::int64_t operations =
        unused <= 0 ? 0 : (unused + fewer - 1) / std::max<std::int64_t>(fewer, 1);
    operations = std::max<std::int64_t>(operations, left.outputs);
    const std::int64_t rest = loads * load_ + stores * store_;
    left.cycles = rest + operations * least_cost_;
    left.most_operations = (budget - rest) / least_cost_;
    return left;
  }

  std::uint64_t key(const AnyState& state) const {
    std::array<std::uint64_t, kMostRegisters> places{};
    for (std::size_t r = 0; r < registers(); ++r) {
      if (state.held[r] == kFree) continue;
      places[r] = static_cast<std::uint64_t>(state.held[r] + 1) << 1 | (state.unused >> r & 1);
    }
    std::sort(places.begin(), places.end());
    std::uint64_t result = state.stored;
    for (const std::uint64_t place : places) result = detail::mixed_bits(result ^ place);
    return result;
  }

  /// Returns whether a program continues from the state within the budget. Its lines are then in
  /// `lines_`, the last line first.
  bool from(const AnyState& state, std::int64_t budget) {
    if (state.stored == (1U << wanted_.results.size()) - 1) return true;
    const Left left = left_of(state, budget);
    if (left.cycles > budget) return false;
    if (++visited_ % 4096 == 0 && limit_is_reached()) is_over_ = true;
    if (is_over_) return false;
    if (left.most_operations > left.outputs && pushed_ == 0) {  // most states are near the end
      const auto [place, is_new] = failed_.try_emplace(key(state), -1);
      if (place->second >= budget) return false;
      place->second = static_cast<std::int32_t>(budget);  // no path returns to a state
    }
    if (stores_result(state)) return store(state, budget);
    return loads(state, budget) || operate(state, budget, left);
  }

  bool limit_is_reached() const {
    return limits_.is_over() ||
           failed_.size() * kBytesOfAnyState + values_.size() * 2 * sizeof(Sampled) >
               limits_.asked.max_bytes;
  }

  bool stores_result(const AnyState& state) const {
    for (std::size_t r = 0; r < registers(); ++r) {
      if (state.held[r] != kFree && (outputs_of(state.held[r]) & ~state.stored) != 0) return true;
    }
    return false;
  }

  /// Stores a held result at once: a later store costs the same.
  bool store(const AnyState& state, std::int64_t budget) {
    for (std::size_t r = 0; r < registers(); ++r) {
      if (state.held[r] == kFree) continue;
      const unsigned outputs = outputs_of(state.held[r]) & ~state.stored;
      if (outputs == 0) continue;
      const auto output = static_cast<std::size_t>(std::countr_zero(outputs));
      AnyState next = state;
      next.stored |= 1U << output;
      next.unused &= ~(1U << r);
      if (!from(next, budget - store_)) return false;
      lines_.push_back("STORE " + name(r) + ", " + wanted_.outputs[output]);
      return true;
    }
    return false;
  }

  bool loads(const AnyState& state, std::int64_t budget) {
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (write(state, inputs_[i], budget - load_, {.loads = &wanted_.inputs[i]})) return true;
    }
    for (std::size_t i = 0; i < wanted_.results.size(); ++i) {
      if ((state.stored >> i & 1) == 0) continue;
      if (write(state, results_[i], budget - load_, {.loads = &wanted_.outputs[i]})) return true;
    }
    return false;
  }

  bool operate(const AnyState& state, std::int64_t budget, const Left& left) {
    for (const Operation& operation : operations_) {
      Instruction instruction{nullptr, &operation, {}};
      if (choose(state, budget, left, instruction, 0)) return true;
    }
    return false;
  }

  /// Chooses the operands from position `count` on.
  bool choose(const AnyState& state, std::int64_t budget, const Left& left,
              Instruction& instruction, std::size_t count) {
    const std::size_t reads = std::min(instruction.operation->reads, instruction.operands.size());
    if (count >= reads) return operate(state, budget, left, instruction);
    const bool is_other = count == 1 && instruction.operation->commutes;
    for (std::size_t r = is_other ? instruction.operands[0] : 0; r < registers(); ++r) {
      if (state.held[r] == kFree) continue;
      instruction.operands[count] = r;
      if (choose(state, budget, left, instruction, count + 1)) return true;
    }
    return false;
  }

  bool operate(const AnyState& state, std::int64_t budget, const Left& left,
               const Instruction& instruction) {
    const Operation& operation = *instruction.operation;
    std::array<const Sampled*, toy::kMaxOperands> read{};
    AnyState next = state;
    for (std::size_t i = 0; i < operation.reads; ++i) {
      const std::size_t r = instruction.operands[i];
      read[i] = &values_[state.held[r]];
      next.unused &= ~(1U << r);
    }
    const bool is_checked = operation.is_exponential && machine_.only_safe_exponents;
    if (is_checked && points_.is_positive_somewhere(*read[0])) return false;
    const Sampled result = applied(operation.row, {read.data(), operation.reads}, points_.size());
    if (!points_.is_legal(result)) return false;
    budget -= operation.cost;
    const int output = open_result(state, result);
    if (output >= 0)
      return write(next, results_[static_cast<std::size_t>(output)], budget, instruction);
    if (left.most_operations <= left.outputs) return false;
    if (left.most_operations > left.outputs + 1 && pushed_ == 0) {
      return write(next, index_of(result), budget, instruction);
    }
    // After this only results are made, so the value needs no lasting index.
    const int value = values_.push(result);
    ++pushed_;
    describe(result);
    const bool is_found = write(next, value, budget, instruction);
    values_.pop();
    --pushed_;
    depends_.pop_back();
    outputs_.pop_back();
    return is_found;
  }

  /// Returns the output, not stored yet, that has this value; -1 if there is none.
  int open_result(const AnyState& state, const Sampled& value) const {
    for (std::size_t i = 0; i < wanted_.results.size(); ++i) {
      if ((state.stored >> i & 1) != 0) continue;
      if (points_.is_same(value, wanted_.results[i])) return static_cast<int>(i);
    }
    return -1;
  }

  /// Writes the value to a free register, or if there is none, over a value that has been used.
  bool write(const AnyState& state, int value, std::int64_t budget,
             const Instruction& instruction) {
    const auto end = state.held.begin() + machine_.registers;
    if (std::find(state.held.begin(), end, value) != end) return false;
    const auto free = std::find(state.held.begin(), end, kFree);
    for (std::size_t r = 0; r < registers(); ++r) {
      const bool is_place = free != end ? free == state.held.begin() + static_cast<int>(r)
                                        : (state.unused >> r & 1) == 0;
      if (!is_place) continue;
      AnyState next = state;
      next.held[r] = value;
      next.unused |= 1U << r;
      if (!from(next, budget)) continue;
      lines_.push_back(instruction.text() + ", " + name(r));
      return true;
    }
    return false;
  }

  static std::string name(std::size_t r) { return "R" + std::to_string(r); }

  std::string text() {
    std::string result = ".isa " + std::string(toy::to_string(machine_.level)) + "\n.registers " +
                         std::to_string(machine_.registers) + "\n" + wanted_.header;
    for (auto line = lines_.rbegin(); line != lines_.rend(); ++line) result += *line + "\n";
    return result;
  }

  const Wanted& wanted_;
  const SamplePoints& points_;
  AnyMachine machine_;
  SampledValues values_;
  detail::SearchLimits limits_;
  std::int64_t load_ = 1, store_ = 1, least_cost_ = 1;
  std::vector<Operation> operations_;
  std::size_t most_reads_ = 1;
  std::vector<int> inputs_, results_;                       // values
  unsigned input_outputs_ = 0;                              // outputs that are inputs
  std::vector<unsigned> output_depends_;                    // by output: inputs it depends on
  std::vector<unsigned> depends_, outputs_;                 // by value: its inputs, its outputs
  std::unordered_map<std::uint64_t, std::int32_t> failed_;  // by state: the largest budget
  std::vector<std::string> lines_;
  std::uint64_t visited_ = 0;
  int pushed_ = 0;  // values without a lasting index
  bool is_over_ = false;
};

void check_any(const Wanted& wanted, const AnyMachine& machine) {
  if (machine.level == toy::Level::kAttention) {
    throw std::invalid_argument("there are too many constants to try");
  }
  if (machine.registers < 1 || machine.registers > kMostRegisters ||
      wanted.outputs.size() > static_cast<std::size_t>(kMostOutputs)) {
    throw std::invalid_argument("at most 8 registers and 16 outputs");
  }
}

}  // namespace

AnyAnswer any_program(const Computation& computation, const AnyMachine& machine,
                      std::int64_t most_cycles, const SolveLimits& limits) {
  return std::visit(
      [&](const auto& what) {
        Wanted wanted = wanted_of(what);
        check_any(wanted, machine);
        const SamplePoints points(wanted.inputs.size());
        add_results(what, points, wanted);
        return AnySearch(wanted, points, machine, limits).search(most_cycles);
      },
      computation.what);
}

}  // namespace flashlab::optimal
