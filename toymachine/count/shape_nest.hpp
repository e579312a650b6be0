// A loop nest as shape inference uses it: registers, cells and bounds as polynomials in the loops
// and, if the program's parameters are not bound, in the parameters. Private to counting.
#pragma once

#include <cstddef>
#include <variant>
#include <vector>

#include "toymachine/bind/bound_program.hpp"
#include "toymachine/count/dimension.hpp"
#include "toymachine/count/iteration_space.hpp"
#include "toymachine/count/symbolic_nest.hpp"
#include "toymachine/language/instruction_set.hpp"
#include "toymachine/language/program.hpp"
#include "toymachine/language/source.hpp"

namespace flashlab::toy::detail {

struct ShapeOperand {
  OperandKind kind = OperandKind::kSource;
  bool transposed = false;
  Polynomial register_index;  // of a register
  TileShape cell;             // of a cell
  SourceSpan span;
};

struct ShapeInstruction {
  std::size_t row = 0;
  std::size_t site = 0;
  std::vector<ShapeOperand> operands;
  SourceSpan span;
};

struct ShapeStatement;

struct ShapeLoop {
  NestLoop range;
  SourceSpan span;
  std::vector<ShapeStatement> body;
};

struct ShapeStatement {
  std::variant<ShapeInstruction, ShapeLoop> node;
};

using ShapeNest = std::vector<ShapeStatement>;

/// Returns the nest in which the variable has this value.
ShapeNest with(ShapeNest nest, const Atom& variable, const Polynomial& value);

/// Whether no loop variable occurs in the bound.
bool is_number(const BoundExpression& bound);

/// All other values are numbers; loop l is loop_atom(l).
NestLoop nest_loop(const BoundProgram& program, std::uint32_t loop);
ShapeNest shape_nest(const BoundProgram& program);

/// Parts that are no polynomials are reported in the diagnostics of `expressions`.
ShapeNest shape_nest(const Program& program, SymbolicExpressions& expressions);

}  // namespace flashlab::toy::detail
