// A loop nest as shape inference sees it: registers, cells and bounds as polynomials in the loops,
// and, in a program whose parameters are not bound, in the parameters. Private to counting.
#pragma once

#include <cstddef>
#include <variant>
#include <vector>

#include "toymachine/bind/loop_nest.hpp"
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

/// The nest where the variable has this value.
ShapeNest with(ShapeNest nest, const Atom& variable, const Polynomial& value);

/// No loop variable occurs in it.
bool is_number(const BoundExpression& bound);

/// Numbers for numbers: loop l is loop_atom(l).
NestLoop nest_loop(const BoundProgram& program, std::uint32_t loop);
ShapeNest shape_nest(const BoundProgram& program);

/// What cannot be told as polynomials is in the diagnostics of `expressions`.
ShapeNest shape_nest(const Program& program, SymbolicExpressions& expressions);

}  // namespace flashlab::toy::detail
