// What is known of the shapes of registers at one point of a program: facts, the oldest first, each
// of one write or of the writes of a loop. Private to shape inference.
#pragma once

#include <cstddef>
#include <vector>

#include "toymachine/count/dimension.hpp"
#include "toymachine/count/knowledge.hpp"

namespace flashlab::toy::detail {

/// Register `index` was given one of `shapes`, for all values of the variables in `over`: the facts
/// of R[c] written in a loop over c are one.
struct RegisterFact {
  Polynomial index;
  std::vector<NestLoop> over;     // numbers quantified_atom(0), quantified_atom(1), …
  std::vector<TileShape> shapes;  // without repetition; empty: unknown
  bool certain = true;            // false: it may not have been written
  std::vector<Polynomial> needs;  // conditions on parameters under which `certain` is right
  std::vector<Polynomial> given;  // >= 0 if it was written at all
  bool or_unknown = false;        // where `needs` does not hold, the shape may be any

  bool operator==(const RegisterFact& other) const = default;
};

using RegisterFacts = std::vector<RegisterFact>;

/// Adds a newer fact, and drops an older one that it replaces.
void add_fact(RegisterFacts& facts, RegisterFact fact);
void add_facts(RegisterFacts& facts, const RegisterFacts& newer);

/// Adds those shapes that are not there yet; too many become unknown.
void unite(std::vector<TileShape>& shapes, const std::vector<TileShape>& more);

/// The shapes that the register can have; empty: unknown. With `narrow`, conditions on the
/// parameters are adopted that leave fewer of them.
std::vector<TileShape> shapes_of(const Polynomial& index, const RegisterFacts& facts, bool narrow,
                                 Knowledge& knowledge);

/// The writes of all iterations of `loop` from those of one, `writes`. `next` is the value of the
/// variable after the last iteration, null: not known.
RegisterFacts of_all_iterations(RegisterFacts writes, const NestLoop& loop, const Polynomial* next,
                                Knowledge& knowledge);

/// The writes of the iteration where the variable has this value.
RegisterFacts of_iteration(RegisterFacts writes, const Atom& variable, const Polynomial& value);

}  // namespace flashlab::toy::detail
