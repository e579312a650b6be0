// Where a sensible program for a matrix product can be, and what it can do next.
//
// A cheapest program may be taken to have only live instructions: leave out what no output depends
// on. Then each output is one chain of MACs over all of its terms, and its sum so far is in one
// place: nowhere, a register, or (spilled) its cell in DRAM. So all programs have the same number
// of MACs, and without spills of stores: only the loads, spills and reloads are searched for.
// What is done at once (settle), each because it takes no register and keeps every continuation:
// - A term whose factors are held and whose sum is in a register. A later MAC for it is left out of
//   the continuation; the order of a sum's terms is free, and the sum's register is taken already.
// - The store of a finished sum: the continuation's own is left out, and a register is free
// earlier.
// - An output that can be made from what is held, while a register is free: it is free again after.
// - An input that no term needs any more is forgotten.
// What is never done: a value is loaded that is held; a value is overwritten while a register is
// free (the continuation that misses it is one of those that have it).
// Pinned operands: factors live in R0 and R1 and nowhere else, as no instruction moves a register;
// sums elsewhere, as a sum in R0 or R1 stops all MACs until it is stored. Which of the two holds
// which factor does not matter: a product's factors commute.
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
  kStart,        // an output's sum: its first term
  kStartStored,  // the same into a factor's register and from there to DRAM: only when pinned
  kReload,       // a spilled sum
};

/// One step of the search: an instruction, and the store before or after it that a spill is.
struct Move {
  MoveKind kind = MoveKind::kLoad;
  int item = 0;               // the input, the term or the output
  int lost_input = kNothing;  // overwritten
  int spilled = kNothing;     // an output whose sum is stored, and its register taken
};

/// Hears what a move does, instruction by instruction: the writer of programs.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual void move(const Move& move) = 0;
  virtual void start(int term) = 0;         // an output's sum, in a free register
  virtual void multiply_add(int term) = 0;  // to its sum
  virtual void store(int output) = 0;       // a finished one; its register is free
  virtual void forget(int input) = 0;       // its register is free
};

/// A state, from its lowest bit: terms done; inputs held; outputs whose sum is spilled. One that is
/// finished is spilled only where a program was given so: it lies elsewhere than in its cell.
class ProductStates {
 public:
  /// Whether a state of the product is at most 64 bits.
  static bool fits(const MatrixProduct& product, const ProductMachine& machine);
  /// The cycles in which costs are counted; `differences`: what those of several starts differ by.
  static std::int64_t unit(const ProductMachine& machine, std::int64_t differences = 0);
  /// Whether a program's cost fits 30 bits: LOAD and STORE are few units, and what one start costs
  /// more than another, at most `most_more` cycles, is not too many.
  static bool can_add_up(const ProductMachine& machine, std::int64_t differences = 0,
                         std::int64_t most_more = 0);
  ProductStates(const MatrixProduct& product, const ProductMachine& machine,
                std::int64_t differences = 0);

  State initial() const { return 0; }
  int terms_left(State state) const { return std::popcount(all_terms_ & ~state); }
  bool is_goal(State state) const { return terms_left(state) == 0 && (state & all_spills_) == 0; }

  /// The cost that programs differ in, in a unit of its own: loads; with spills, the cycles of
  /// loads, spills and reloads over the common divisor of a load's and a store's.
  std::int64_t cost(const Move& move) const;
  std::int64_t to_cycles(std::int64_t cost) const;
  std::int64_t unit() const { return unit_; }

  /// At most the cost of what remains. Inputs that are needed and not held are loaded, spilled sums
  /// are loaded, each at least once. A move lowers it by at most the move's cost (consistent).
  std::int64_t bound(State state) const;

  /// Whether no live program goes on: without spills, a sum's next product needs the sums that
  /// there are and two factors in registers at once. A settled state's sums all need a next
  /// product.
  bool is_dead_end(State state) const {
    return !machine_.allow_spills && std::popcount(sums_in_registers(state)) > most_sums_;
  }

  /// Appends the moves from a settled state.
  void moves(State state, std::vector<Move>& result) const;

  /// The state after a move and all that is done at once then.
  State apply(State state, const Move& move, Listener* listener = nullptr) const;

  /// The state after all that is done at once.
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
  /// The outputs whose sum is in a register, as a set of output numbers.
  std::uint64_t sums_in_registers(State state) const;

 private:
  struct Use {
    int inputs = 0, sums = 0;  // registers taken
  };
  Use use(State state) const;
  bool room_for_input(const Use& use) const;
  bool room_for_sum(const Use& use) const;
  /// The remaining terms whose factors are both held.
  State doable(State state) const;
  State needed_inputs(State state) const;
  void add_loads(State state, std::vector<Move>& result) const;
  void add_sums(State state, std::vector<Move>& result) const;
  void add_starts(State state, State terms, std::vector<Move>& result) const;
  /// The move with every victim that makes room.
  void add_over_inputs(State state, Move move, std::vector<Move>& result) const;
  void add_over_sums(State state, Move move, std::vector<Move>& result) const;
  bool pinned() const { return machine_.operand_rule == toy::OperandRule::kPinned; }

  State settle_output(State state, int output, State terms, Listener* listener) const;

  MatrixProduct product_;
  ProductMachine machine_;
  int most_sums_ = 0;  // beside two factors
  int num_terms_ = 0, num_inputs_ = 0, num_outputs_ = 0;
  std::int64_t load_cost_ = 1, store_cost_ = 0, unit_ = 1;  // the unit in cycles
  State all_terms_ = 0, all_inputs_ = 0, all_spills_ = 0;
  std::vector<State> output_terms_, input_terms_;  // by output; by input: the terms that need it
};

/// Visits the positions of the bits of a set, from the lowest.
template <class Visit>
void for_each_bit(std::uint64_t set, Visit&& visit) {
  for (; set != 0; set &= set - 1) visit(std::countr_zero(set));
}

}  // namespace flashlab::optimal::detail
