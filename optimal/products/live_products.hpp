// The live sets of programs for a matrix product.
//
// A live program has one chain of MACs for each output, and the chain's sum is in one place: a
// register, or (spilled) DRAM. So a live set is given by the terms that are done, the inputs that
// will be used before they are loaded again, the outputs that are stored and the sums that are
// spilled. Any set of at most k values fits k registers, as lifetimes in a straight line are
// intervals. Pinned operands: at most two inputs, in R0 and R1. At a MAC both are factors, so that
// a sum can be there only from the MAC that makes it to its store, with no MAC between: the newest
// sum. Where it is does not change until then; without spills only sums are stored meanwhile, and
// it is there only when it has to be. A reload may need the register that it would take elsewhere,
// so that with spills both ways are kept open for as long as both can be.
#pragma once

#include <cstdint>
#include <vector>

#include "optimal/problem/matrix_product.hpp"
#include "optimal/products/symmetry.hpp"
#include "optimal/search/live_states.hpp"

namespace flashlab::optimal::detail {

/// A state, from its lowest bit: terms done; inputs live; outputs stored; if there are spills,
/// outputs whose sum is spilled; if pinned, the output whose sum is in R0 or R1 ("early"); if both,
/// the output whose sum may be there or elsewhere.
class LiveProducts final : public LiveSpace {
 public:
  /// Errors: std::invalid_argument when a state does not fit 64 bits.
  LiveProducts(const MatrixProduct& product, const ProductMachine& machine);

  State initial() const override { return 0; }
  bool is_goal(State state) const override { return (state & all_stored_) == all_stored_; }
  /// Products and stores that are left; inputs that are needed and not live, and spilled sums are
  /// loaded at least once.
  std::int64_t bound(State state) const override;
  void steps(State state, std::vector<LiveStep>& result) override;
  void without_one(State state, std::vector<State>& result) override;
  State representative(State state) override;

  // What a state can be put together from.
  State input(int input) const { return input_bit(input); }
  State finished(int output) const { return terms_of(output) | stored_bit(output); }
  /// `terms`: bit p for a_ip b_pj.
  State sum(int output, std::uint64_t terms) const { return terms << output * product_.inner; }
  /// Only under pinned operands: in R0 or R1.
  State sum_for_factor(int output, std::uint64_t terms) const {
    return sum(output, terms) | early_bit(output);
  }
  /// Only with spills: in DRAM, though it may be finished not where it belongs.
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
  /// How many of each kind there is room for; of sums beside those in R0 and R1.
  bool room_beside_factors(State state) const;
  bool room_for_factors(State state) const;
  /// The state with the newest sum's place settled as far as it must be, where there is one.
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
  std::vector<BitPermutation> exchanges_;          // that generate the symmetries
};

}  // namespace flashlab::optimal::detail
