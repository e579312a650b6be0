// The changes of a move, and everything that is done at once after it.
#include "optimal/products/product_states.hpp"

namespace flashlab::optimal::detail {

State ProductStates::apply(State state, const Move& move, Listener* listener) const {
  if (listener != nullptr) listener->move(move);
  if (move.lost_input != kNothing) state &= ~input_bit(move.lost_input);
  if (move.spilled != kNothing) state |= spill_bit(move.spilled);
  switch (move.kind) {
    case MoveKind::kLoad:
      state |= input_bit(move.item);
      break;
    case MoveKind::kReload:
      state &= ~spill_bit(move.item);
      break;
    case MoveKind::kStart:
    case MoveKind::kStartStored:
      state |= State{1} << move.item;
      if (product_.inner == 1) {
        if (listener != nullptr) listener->store(product_.output_of(move.item));
      } else if (move.kind == MoveKind::kStartStored) {
        state |= spill_bit(product_.output_of(move.item));
      }
  }
  return settle(state, listener);
}

State ProductStates::settle(State state, Listener* listener) const {
  for (State before = ~state; before != state;) {
    before = state;
    const State can = doable(state);
    for (int output = 0; output < num_outputs_ && can != 0; ++output) {
      const State all = terms_of_output(output), terms = can & all;
      if (terms == 0 || is_spilled(state, output)) continue;
      if ((state & all) != 0 || (terms == all && room_for_sum(use(state)))) {
        state = settle_output(state, output, terms, listener);
      }
    }
    const State useless = held(state) & ~needed_inputs(state);
    state &= ~useless;
    if (listener == nullptr) continue;
    for_each_bit(useless >> num_terms_, [&](int input) { listener->forget(input); });
  }
  return state;
}

State ProductStates::settle_output(State state, int output, State terms, Listener* listener) const {
  const State before = state & terms_of_output(output);
  state |= terms;
  if (listener == nullptr) return state;
  bool is_first = before == 0;
  for_each_bit(terms, [&](int term) {
    is_first ? listener->start(term) : listener->multiply_add(term);
    is_first = false;
  });
  if ((state & terms_of_output(output)) == terms_of_output(output)) listener->store(output);
  return state;
}

}  // namespace flashlab::optimal::detail
