// Parts of an instruction as text in CUDA C++.
#pragma once

#include <optional>
#include <string>

#include "generate/plan/plan.hpp"
#include "generate/source/names.hpp"
#include "toymachine/bind/bound_program.hpp"

namespace flashlab::generate {

/// Returns "2 * i + j - 1".
std::string text_of(const toy::Affine& affine, const Names& names);

/// Returns a loop's bound: "smaller(2 * w + 2, 7)".
std::string text_of(const toy::BoundExpression& bound, const Names& names);

/// Returns a number as a literal of the type of registers.
std::string number_text(double value, toy::ElementType real);

/// Returns "q.tile(i, c)".
std::string cell_text(const toy::BoundProgram& program, const toy::BoundOperand& operand,
                      const Names& names);

/// Returns the statement that executes the instruction: "set(S, product(Q[c], transposed(K)) + S);".
/// With `factors`, products are on tensor cores. Precondition: needs_scratch() says whether `by_way_of_scratch`.
std::string statement_text(const toy::BoundProgram& program,
                           const toy::BoundInstruction& instruction, const Names& names,
                           toy::ElementType real, std::optional<toy::ElementType> factors,
                           bool by_way_of_scratch);

}  // namespace flashlab::generate
