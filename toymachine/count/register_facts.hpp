// The facts about the shapes of registers at one point of a program, the oldest first. Each fact is
// about one write, or about the writes of a loop. Private to shape inference.
#pragma once

#include <cstddef>
#include <vector>

#include "toymachine/count/dimension.hpp"
#include "toymachine/count/knowledge.hpp"

namespace flashlab::toy::detail {

/// Register `index` was given one of `shapes`, for all values of the variables in `over`. For
/// example, R[c] written in a loop over c is a single fact.
struct RegisterFact {
  Polynomial index;
  std::vector<NestLoop> over;     // numbers quantified_atom(0), quantified_atom(1), …
  std::vector<TileShape> shapes;  // without repetition; empty: unknown
  bool certain = true;            // false: it may not have been written
  std::vector<Polynomial> needs;  // conditions on parameters under which `certain` holds
  std::vector<Polynomial> given;  // >= 0 if it was written
  bool or_unknown = false;        // where `needs` does not hold, the shape is unknown

  bool operator==(const RegisterFact& other) const = default;
};

using RegisterFacts = std::vector<RegisterFact>;

/// Adds a newer fact, and drops an older one that it replaces.
void add_fact(RegisterFacts& facts, RegisterFact fact);
void add_facts(RegisterFacts& facts, const RegisterFacts& newer);

/// Adds the shapes that are missing; too many shapes become unknown.
void unite(std::vector<TileShape>& shapes, const std::vector<TileShape>& more);

/// Returns the shapes that the register can have; empty: unknown. With `narrow`, adopts conditions
/// on the parameters that leave fewer shapes.
std::vector<TileShape> shapes_of(const Polynomial& index, const RegisterFacts& facts, bool narrow,
                                 Knowledge& knowledge);

/// Returns the writes of all iterations of `loop`, given those of one iteration. `next` is the
/// variable's value after the last iteration; null: not known.
RegisterFacts of_all_iterations(RegisterFacts writes, const NestLoop& loop, const Polynomial* next,
                                Knowledge& knowledge);

/// Returns the writes of the iteration in which the variable has this value.
RegisterFacts of_iteration(RegisterFacts writes, const Atom& variable, const Polynomial& value);

}  // namespace flashlab::toy::detail
