// The states that a reasonable program for a matrix product can be in, and its next moves.
//
// A cheapest program may be assumed to have live instructions only: instructions that no output
// depends on are left out. Each output is then one chain of MACs over all of its terms, and its
// partial sum is in at most one place: a register, or (spilled) its cell in DRAM. All programs
// therefore have the same number of MACs, and, without spills, of stores. The search only has to
// choose the loads, spills and reloads.
//
// The following is done at once (settle), because it takes no register and keeps
// every continuation possible:
// - The MAC for a term whose factors are held and whose sum is in a register. The continuation
//   then drops its own later MAC for this term: the order of a sum's terms is free, and the sum
//   has its register already.
// - The store of a finished sum. The continuation's own store is dropped, and a register
//   is free earlier.
// - Making an output from held values alone while a register is free. That register is free again
//   afterwards.
// - Forgetting an input that no remaining term needs.
// Two things are never done: loading a value that is held, and overwriting a value while a register
// is free. A state that still holds the value has every continuation of the state that does not.
//
// Under pinned operands, factors are only in R0 and R1, because no instruction moves a
// register. Sums are in other registers, because a sum in R0 or R1 blocks all MACs until it is
// stored. It does not matter which of the two registers holds which factor, because the factors
// of a product commute.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "optimal/problem/matrix_product.hpp"
#include "optimal/search/node_table.hpp"

namespace flashlab::optimal::detail {

inline constexpr int kNothing = -1;

enum class MoveKind : std::uint8_t {
  kLoad,         // an input
  kStart,        // starts an output's sum with its first term
  kStartStored,  // the same in a factor's register, then stored to DRAM; only when pinned
  kReload,       // a spilled sum
};

/// One step of the search: an instruction, and the store of a spill before or after it.
struct Move {
  MoveKind kind = MoveKind::kLoad;
  int item = 0;               // the input, the term or the output
  int lost_input = kNothing;  // the input that is overwritten
  int spilled = kNothing;     // the output whose sum is stored to free its register
};

/// Receives the instructions of a move one by one; implemented by the writer of programs.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual void move(const Move& move) = 0;
  virtual void start(int term) = 0;         // starts an output's sum in a free register
  virtual void multiply_add(int term) = 0;  // adds the term to its sum
  virtual void store(int output) = 0;       // stores a finished sum; its register is free
  virtual void forget(int input) = 0;       // its register is free
};

/// A state, from its lowest bit: terms done; inputs held; outputs whose sum is spilled. A finished
/// sum is spilled only if the search started with it in another cell than its own.
class ProductStates {
 public:
  /// Whether a state of the product fits 64 bits.
  static bool fits(const MatrixProduct& product, const ProductMachine& machine);
  /// The unit in which costs are counted, in cycles. `differences`: the common divisor of the
  /// differences between starts.
  static std::int64_t unit(const ProductMachine& machine, std::int64_t differences = 0);
  /// Whether the cost of every program fits 30 bits in units of unit(). `most_excess`: the cycles
  /// by which the most expensive start exceeds the cheapest.
  static bool costs_fit(const ProductMachine& machine, std::int64_t differences = 0,
                        std::int64_t most_excess = 0);
  ProductStates(const MatrixProduct& product, const ProductMachine& machine,
                std::int64_t differences = 0);

  State initial() const { return 0; }
  int terms_left(State state) const { return std::popcount(all_terms_ & ~state); }
  bool is_goal(State state) const { return terms_left(state) == 0 && (state & all_spills_) == 0; }

  /// The cost of the move's LOAD, if it has one, plus that of its STORE, if it spills a sum; in
  /// units of unit() cycles. The rest of a program's cost is the same for all programs, and
  /// to_cycles() adds it.
  std::int64_t cost(const Move& move) const;
  std::int64_t to_cycles(std::int64_t cost) const;
  std::int64_t unit() const { return unit_; }

  /// A lower bound on the remaining cost: one load for each needed input that is not held, and for
  /// each spilled sum. A move lowers it by at most the move's cost (consistent).
  std::int64_t bound(State state) const;

  /// Whether no live program can continue from a settled state. Without spills, a sum stays in a
  /// register until it is finished, and in a settled state no sum in a register is finished. The
  /// next product therefore needs registers for all these sums and for its two factors.
  bool is_dead_end(State state) const {
    return !machine_.allow_spills && std::popcount(sums_in_registers(state)) > most_sums_;
  }

  /// Appends the moves from a settled state.
  void moves(State state, std::vector<Move>& result) const;

  /// The state after a move, and after everything that is then done at once.
  State apply(State state, const Move& move, Listener* listener = nullptr) const;

  /// The state after everything that is done at once.
  State settle(State state, Listener* listener = nullptr) const;

  const MatrixProduct& product() const { return product_; }
  const ProductMachine& machine() const { return machine_; }
  State terms_of_output(int output) const { return output_terms_[static_cast<unsigned>(output)]; }
  State input_bit(int input) const { return State{1} << (num_terms_ + input); }
  State spill_bit(int output) const { return State{1} << (num_terms_ + num_inputs_ + output); }
  bool is_spilled(State state, int output) const {
    return all_spills_ != 0 && (state & spill_bit(output)) != 0;
  }
  State held(State state) const { return state & all_inputs_; }
  /// The set of the outputs whose sum is in a register.
  std::uint64_t sums_in_registers(State state) const;

 private:
  struct Use {
    int inputs = 0, sums = 0;  // registers used
  };
  Use use(State state) const;
  bool room_for_input(const Use& use) const;
  bool room_for_sum(const Use& use) const;
  /// The remaining terms with both factors held.
  State doable(State state) const;
  State needed_inputs(State state) const;
  void add_loads(State state, std::vector<Move>& result) const;
  void add_sums(State state, std::vector<Move>& result) const;
  void add_starts(State state, State terms, std::vector<Move>& result) const;
  /// Adds the move once for each value that it can overwrite.
  void add_over_inputs(State state, Move move, std::vector<Move>& result) const;
  void add_over_sums(State state, Move move, std::vector<Move>& result) const;
  bool pinned() const { return machine_.operand_rule == toy::OperandRule::kPinned; }

  State settle_output(State state, int output, State terms, Listener* listener) const;

  MatrixProduct product_;
  ProductMachine machine_;
  int most_sums_ = 0;  // beside the two factors
  int num_terms_ = 0, num_inputs_ = 0, num_outputs_ = 0;
  std::int64_t load_cost_ = 1, store_cost_ = 0, unit_ = 1;  // the unit in cycles
  State all_terms_ = 0, all_inputs_ = 0, all_spills_ = 0;
  std::vector<State> output_terms_, input_terms_;  // by output; by input: the terms that need it
};

/// Calls `visit` with the positions of the set's bits, from the lowest.
template <class Visit>
void for_each_bit(std::uint64_t set, Visit&& visit) {
  for (; set != 0; set &= set - 1) visit(std::countr_zero(set));
}

}  // namespace flashlab::optimal::detail
