// Builds an answer from a search that has ended.
#pragma once

#include "optimal/problem/answer.hpp"
#include "optimal/search/search.hpp"

namespace flashlab::optimal::detail {

/// Returns the answer of a search, still without its program.
template <class State>
Answer answer_of(const SearchSpace<State>& space, const Searched<State>& searched) {
  Answer answer;
  answer.states = searched.proof.states;
  answer.bytes = searched.proof.bytes;
  if (searched.proof.is_finished) {
    answer.verdict = searched.path ? Verdict::kOptimal : Verdict::kInfeasible;
  }
  if (answer.verdict != Verdict::kInfeasible) {
    answer.lower_cycles = space.to_cycles(searched.proof.lower);
  }
  if (searched.path) answer.upper_cycles = space.to_cycles(searched.path->cost);
  return answer;
}

}  // namespace flashlab::optimal::detail
