// The live sets of programs for a matrix product.
//
// A live program has one chain of MACs for each output, and the chain's sum is in one place: a
// register, or (spilled) DRAM. A live set is therefore given by the terms that are done, the inputs
// that will be used before they are loaded again, the outputs that are stored, and the sums that
// are spilled. At most k live values always fit into k registers, because live ranges in
// straight-line code are intervals.
//
// Under pinned operands, at most two inputs are live, in R0 and R1. At a MAC both registers hold
// factors. A sum can be in R0 or R1 only between the MAC that makes it and its store, with no MAC
// in between; only the newest sum can be there. It stays where it is until its store. Without
// spills, only a MAC brings another sum into a register. So the newest sum is in R0 or R1 only if
// no other register is free. With spills, a reload may need the other register. The newest sum's
// place is then left undecided for as long as both places are possible.
#pragma once

#include <cstdint>
#include <vector>

#include "optimal/problem/matrix_product.hpp"
#include "optimal/products/symmetry.hpp"
#include "optimal/search/live_states.hpp"

namespace flashlab::optimal::detail {

/// A state, from its lowest bit: terms done; live inputs; stored outputs; with spills, outputs
/// whose sum is spilled; under pinned operands, outputs whose sum is in R0 or R1 (early_bit: such a
/// sum is stored before the next MAC); with spills and pinned operands, outputs whose sum is in R0
/// or R1 or in another register, which is not decided yet (undecided_bit).
class LiveProducts final : public LiveSpace {
 public:
  /// Errors: std::invalid_argument if a state does not fit 64 bits.
  LiveProducts(const MatrixProduct& product, const ProductMachine& machine);

  State initial() const override { return 0; }
  bool is_goal(State state) const override { return (state & all_stored_) == all_stored_; }
  /// Counts the remaining products and stores, and one load for each needed input that is not live
  /// and for each spilled sum.
  std::int64_t bound(State state) const override;
  void steps(State state, std::vector<LiveStep>& result) override;
  void without_one(State state, std::vector<State>& result) override;
  State representative(State state) override;

  // The parts of which a state is put together.
  State input(int input) const { return input_bit(input); }
  State finished(int output) const { return terms_of(output) | stored_bit(output); }
  /// `terms`: bit p for a_ip b_pj.
  State sum(int output, std::uint64_t terms) const { return terms << output * product_.inner; }
  /// Only under pinned operands: the sum is in R0 or R1.
  State sum_for_factor(int output, std::uint64_t terms) const {
    return sum(output, terms) | early_bit(output);
  }
  /// Only with spills: the sum is in DRAM. A finished sum may be there, in another cell
  /// than its own.
  State sum_in_dram(int output, std::uint64_t terms) const {
    return sum(output, terms) | spilled_bit(output);
  }

 private:
  State term_bit(int term) const { return State{1} << term; }
  State input_bit(int input) const { return State{1} << (first_input_ + input); }
  State stored_bit(int output) const { return State{1} << (first_stored_ + output); }
  State spilled_bit(int output) const { return State{1} << (first_spilled_ + output); }
  State early_bit(int output) const { return State{1} << (first_early_ + output); }
  State undecided_bit(int output) const { return State{1} << (first_undecided_ + output); }
  State terms_of(int output) const { return output_terms_[static_cast<std::size_t>(output)]; }
  bool is_spilled(State state, int output) const {
    return machine_.allow_spills && (state & spilled_bit(output)) != 0;
  }
  bool is_needed(State state, int input) const {
    return (input_terms_[static_cast<std::size_t>(input)] & ~state) != 0;
  }
  int live_sums(State state) const;
  int live_inputs(State state) const;
  /// Whether the registers suffice, for the sums outside R0 and R1 and for the contents of
  /// R0 and R1.
  bool room_beside_factors(State state) const;
  bool room_for_factors(State state) const;
  /// Decides the newest sum's place as far as necessary. Returns false if there is no place.
  bool settle(State& state) const;
  void push(State next, std::int64_t cost, std::vector<LiveStep>& result) const;
  void loads(State state, std::vector<LiveStep>& result) const;
  void stores(State state, std::vector<LiveStep>& result) const;
  void multiply(State state, int term, std::vector<LiveStep>& result) const;
  void add_symmetries();

  MatrixProduct product_;
  ProductMachine machine_;
  bool pinned_ = false;
  int first_input_ = 0, first_stored_ = 0, first_spilled_ = 0, first_early_ = 0,
      first_undecided_ = 0, num_bits_ = 0;
  State all_terms_ = 0, all_stored_ = 0, all_spilled_ = 0, all_early_ = 0, all_undecided_ = 0;
  std::vector<State> output_terms_, input_terms_;  // by output; by input: the terms that need it
  std::vector<BitPermutation> exchanges_;          // generate the symmetries
};

}  // namespace flashlab::optimal::detail
