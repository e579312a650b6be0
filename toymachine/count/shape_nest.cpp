#include "toymachine/count/shape_nest.hpp"

#include <algorithm>
#include <utility>

#include "toymachine/count/inequalities.hpp"
#include "toymachine/count/nest_ranges.hpp"

namespace flashlab::toy::detail {
namespace {

using Op = NestExpression::Op;

// Parameters bound ------------------------------------------------------------------------------

Polynomial polynomial_of(const Affine& affine) {
  Polynomial result = mpz_class(affine.constant);
  for (const auto& [loop, coefficient] : affine.terms) {
    result += Polynomial(loop_atom(loop)) * mpz_class(coefficient);
  }
  return result;
}

Op op_of(BoundExpression::Op op) {
  switch (op) {
    case BoundExpression::Op::kAffine:
      return Op::kPolynomial;
    case BoundExpression::Op::kMin:
      return Op::kMin;
    case BoundExpression::Op::kMax:
      return Op::kMax;
    case BoundExpression::Op::kCeilDiv:
      return Op::kCeilDiv;
    case BoundExpression::Op::kFloorDiv:
      return Op::kFloorDiv;
    case BoundExpression::Op::kAdd:
      return Op::kAdd;
    case BoundExpression::Op::kScale:
      return Op::kScale;
  }
  return Op::kPolynomial;
}

NestExpression nest_expression(const BoundExpression& bound) {
  if (is_number(bound)) return leaf(mpz_class(bound(nullptr)));
  NestExpression result;
  result.op = op_of(bound.op);
  result.polynomial = bound.op == BoundExpression::Op::kAffine
                          ? polynomial_of(bound.affine)
                          : Polynomial(mpz_class(bound.constant));
  for (const BoundExpression& arg : bound.args) result.args.push_back(nest_expression(arg));
  return result;
}

TileShape cell_of(const BoundArray& array, const BoundOperand& operand) {
  const auto along = [&](std::size_t axis) {
    return Dimension(mpz_class(array.extents[axis]), mpz_class(array.tile[axis]),
                     polynomial_of(operand.axes[axis]));
  };
  const std::size_t rank = array.extents.size();
  TileShape shape{Dimension(1), Dimension(1)};
  if (array.tile[rank - 1] > 1) shape.cols = along(rank - 1);
  if (rank > 1 && array.tile[rank - 2] > 1) shape.rows = along(rank - 2);
  return shape;
}

class BoundReader {
 public:
  explicit BoundReader(const BoundProgram& program) : program_(program) {}

  ShapeNest nodes(std::size_t first, std::size_t last) const {
    ShapeNest nest;
    for (std::size_t n = first; n < last; ++n) {
      const Node& node = program_.nodes[n];
      if (node.kind == Node::Kind::kBlock) {
        for (std::uint32_t site = node.first; site < node.last; ++site) {
          nest.push_back({instruction(program_.instructions[site])});
        }
      } else if (node.kind == Node::Kind::kLoopBegin) {
        nest.push_back({ShapeLoop{nest_loop(program_, node.loop), program_.loops[node.loop].span,
                                  nodes(n + 1, node.partner)}});
        n = node.partner;
      }
    }
    return nest;
  }

 private:
  ShapeInstruction instruction(const BoundInstruction& bound) const {
    ShapeInstruction result{bound.row, bound.site, {}, bound.span};
    for (const BoundOperand& operand : bound.operands) {
      ShapeOperand& own = result.operands.emplace_back();
      own.kind = operand.kind;
      own.transposed = operand.transposed;
      own.span = operand.span;
      if (is_register(operand.kind)) own.register_index = polynomial_of(operand.index);
      if (is_memory(operand.kind)) own.cell = cell_of(program_.arrays[operand.array], operand);
    }
    return result;
  }

  const BoundProgram& program_;
};

// Parameters not bound --------------------------------------------------------------------------

class SymbolicReader {
 public:
  SymbolicReader(const Program& program, SymbolicExpressions& expressions)
      : program_(program), expressions_(expressions) {}

  ShapeNest statements(const std::vector<Statement>& body) {
    ShapeNest nest;
    for (const Statement& statement : body) {
      if (const auto* instruction = std::get_if<InstructionStatement>(&statement.node)) {
        nest.push_back({read(*instruction)});
      } else if (const auto* loop = std::get_if<LoopStatement>(&statement.node)) {
        const auto lower = expressions_.bound(*loop->lower);
        const auto upper = expressions_.bound(*loop->upper);
        const auto step = expressions_.polynomial(*loop->step);
        if (!lower || !upper || !step) return nest;
        nest.push_back(
            {ShapeLoop{{loop->loop, *lower, *upper, *step}, loop->span, statements(loop->body)}});
      }
    }
    return nest;
  }

 private:
  ShapeInstruction read(const InstructionStatement& statement) {
    ShapeInstruction result{statement.row, statement.site, {}, statement.span};
    for (const Operand& operand : statement.operands) {
      ShapeOperand& own = result.operands.emplace_back();
      own.kind = operand.kind;
      own.transposed = operand.transposed;
      own.span = operand.span;
      if (is_register(operand.kind)) own.register_index = polynomial(*operand.register_index);
      if (is_memory(operand.kind)) own.cell = cell(program_.arrays[operand.array], operand);
    }
    return result;
  }

  TileShape cell(const ArrayDeclaration& array, const Operand& operand) {
    const std::size_t rank = array.extents.size();
    TileShape shape{Dimension(1), Dimension(1)};
    shape.cols = along(array, operand, rank - 1);
    if (rank > 1) shape.rows = along(array, operand, rank - 2);
    return shape;
  }

  Dimension along(const ArrayDeclaration& array, const Operand& operand, std::size_t axis) {
    const Expression* tile = array.tile_along(axis);
    if (!tile) return Dimension(1);
    return {polynomial(*array.extents[axis]), polynomial(*tile),
            polynomial(*operand.indices[axis])};
  }

  Polynomial polynomial(const Expression& expression) {
    return expressions_.polynomial(expression).value_or(Polynomial());
  }

  const Program& program_;
  SymbolicExpressions& expressions_;
};

}  // namespace

bool is_number(const BoundExpression& bound) {
  return bound.affine.is_constant() && std::all_of(bound.args.begin(), bound.args.end(), is_number);
}

ShapeNest with(ShapeNest nest, const Atom& variable, const Polynomial& value) {
  for (ShapeStatement& statement : nest) {
    if (auto* loop = std::get_if<ShapeLoop>(&statement.node)) {
      substitute_in(loop->range, variable, value);
      loop->body = with(std::move(loop->body), variable, value);
      continue;
    }
    for (ShapeOperand& operand : std::get<ShapeInstruction>(statement.node).operands) {
      operand.register_index = substitute(operand.register_index, variable, value);
      operand.cell = with(operand.cell, variable, value);
    }
  }
  return nest;
}

NestLoop nest_loop(const BoundProgram& program, std::uint32_t loop) {
  const BoundLoop& bound = program.loops[loop];
  return {loop, nest_expression(bound.lower), nest_expression(bound.upper), mpz_class(bound.step)};
}

ShapeNest shape_nest(const BoundProgram& program) {
  return BoundReader(program).nodes(0, program.nodes.size());
}

ShapeNest shape_nest(const Program& program, SymbolicExpressions& expressions) {
  return SymbolicReader(program, expressions).statements(program.body);
}

}  // namespace flashlab::toy::detail
