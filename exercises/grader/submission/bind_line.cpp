#include "exercises/grader/submission/bind_line.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <variant>

namespace flashlab::exercises {
namespace {

using toy::Affine;

constexpr std::int64_t kLargestBound = std::int64_t{1}
                                       << 40;  // limits intermediate sums and products

std::optional<Affine> checked(Affine value) {
  const auto small = [](std::int64_t number) {
    return number > -kLargestBound && number < kLargestBound;
  };
  for (const auto& [loop, coefficient] : value.terms) {
    if (!small(coefficient)) return std::nullopt;
  }
  if (!small(value.constant)) return std::nullopt;
  return value;
}

/// Returns a + factor * b.
std::optional<Affine> combined(const Affine& a, const Affine& b, std::int64_t factor) {
  if (factor <= -(std::int64_t{1} << 22) || factor >= (std::int64_t{1} << 22)) return std::nullopt;
  Affine sum = a;
  sum.constant += factor * b.constant;
  for (const auto& [loop, coefficient] : b.terms) {
    const auto at = std::find_if(sum.terms.begin(), sum.terms.end(),
                                 [&, wanted = loop](const auto& t) { return t.first >= wanted; });
    if (at != sum.terms.end() && at->first == loop) {
      at->second += factor * coefficient;
      if (at->second == 0) sum.terms.erase(at);
    } else if (factor * coefficient != 0) {
      sum.terms.insert(at, {loop, factor * coefficient});
    }
  }
  return checked(std::move(sum));
}

class LineBinder {
 public:
  LineBinder(const toy::BoundProgram& program, std::uint32_t loop)
      : program_(program), loop_(loop) {}

  std::optional<toy::BoundInstruction> bind(const toy::InstructionStatement& line) const {
    toy::BoundInstruction bound;
    bound.row = static_cast<std::uint16_t>(line.row);
    bound.loop = loop_;
    bound.span = line.span;
    for (const toy::Operand& operand : line.operands) {
      auto one = bind(operand);
      if (!one) return std::nullopt;
      bound.operands.push_back(std::move(*one));
    }
    return bound;
  }

  std::optional<Affine> affine(const toy::Expression& e) const {
    switch (e.op) {
      case toy::ExpressionOp::kInteger:
        return checked(Affine{e.integer, {}});
      case toy::ExpressionOp::kParam:
      case toy::ExpressionOp::kConst:
      case toy::ExpressionOp::kRegisters:
        return named_number(e);
      case toy::ExpressionOp::kLoopVar:
        return loop_variable(e.name);
      case toy::ExpressionOp::kTiles:
      case toy::ExpressionOp::kExtent:
        return size_of(e);
      case toy::ExpressionOp::kNegate:
        if (const auto a = affine(*e.args[0])) return combined({}, *a, -1);
        return std::nullopt;
      case toy::ExpressionOp::kAdd:
      case toy::ExpressionOp::kSub:
      case toy::ExpressionOp::kMul:
        return arithmetic(e);
      default:
        return std::nullopt;
    }
  }

 private:
  std::optional<toy::BoundOperand> bind(const toy::Operand& operand) const {
    toy::BoundOperand bound;
    bound.kind = operand.kind;
    bound.transposed = operand.transposed;
    bound.span = operand.span;
    bound.constant = operand.value;
    if (operand.kind == toy::OperandKind::kConstant) return bound;  // its value: constant_value()
    if (toy::is_memory(operand.kind)) return bind_cell(operand, std::move(bound));
    const toy::Expression& e = operand.value ? *operand.value : *operand.register_index;
    auto index = affine(e);
    if (!index) return std::nullopt;
    bound.index = std::move(*index);
    bound.register_name = static_cast<std::uint32_t>(operand.register_name);
    if (!within_name(bound)) return std::nullopt;
    return bound;
  }

  /// Q[4] of `.reg Q[4]` is a register of another name. A variable index is checked in the run.
  bool within_name(const toy::BoundOperand& operand) const {
    if (operand.register_name == toy::kUnnamed || !operand.index.is_constant()) return true;
    const toy::Interval allowed = program_.allowed_registers(operand.register_name);
    return operand.index.constant >= allowed.low && operand.index.constant <= allowed.high;
  }

  std::optional<toy::BoundOperand> bind_cell(const toy::Operand& operand,
                                             toy::BoundOperand bound) const {
    bound.array = static_cast<std::uint32_t>(operand.array);
    const toy::BoundArray& array = program_.arrays[operand.array];
    std::optional<Affine> element = Affine{array.offset, {}};
    std::int64_t stride = 1;
    for (std::size_t axis = operand.indices.size(); axis-- > 0;) {
      auto index = affine(*operand.indices[axis]);
      std::int64_t factor = 0;  // the tile of an axis of one element may be of any size
      if (__builtin_mul_overflow(stride, array.tile[axis], &factor)) return std::nullopt;
      if (index) element = combined(*element, *index, factor);
      if (!index || !element) return std::nullopt;
      bound.axes.insert(bound.axes.begin(), std::move(*index));
      stride *= std::max<std::int64_t>(1, array.extents[axis]);
    }
    bound.index = std::move(*element);
    return bound;
  }

  std::optional<Affine> arithmetic(const toy::Expression& e) const {
    const auto a = affine(*e.args[0]), b = affine(*e.args[1]);
    if (!a || !b) return std::nullopt;
    if (e.op != toy::ExpressionOp::kMul)
      return combined(*a, *b, e.op == toy::ExpressionOp::kAdd ? 1 : -1);
    if (a->is_constant()) return combined({}, *b, a->constant);
    return b->is_constant() ? combined({}, *a, b->constant) : std::nullopt;
  }

  std::optional<Affine> named_number(const toy::Expression& e) const {
    if (e.op == toy::ExpressionOp::kRegisters) return checked(Affine{program_.num_registers, {}});
    const toy::Program& source = *program_.program;
    for (std::size_t i = 0; i < source.params.size(); ++i) {
      if (e.op == toy::ExpressionOp::kParam && source.params[i].name == e.name) {
        return checked(Affine{program_.params[i], {}});
      }
    }
    for (std::size_t i = 0; i < source.consts.size(); ++i) {
      if (e.op != toy::ExpressionOp::kConst || source.consts[i].name != e.name) continue;
      const auto* number = std::get_if<std::int64_t>(&program_.consts[i]);
      return number != nullptr ? checked(Affine{*number, {}}) : std::nullopt;
    }
    return std::nullopt;
  }

  std::optional<Affine> loop_variable(const std::string& name) const {
    for (std::uint32_t loop = loop_; loop != toy::kNoLoop; loop = program_.loops[loop].parent) {
      if (program_.loops[loop].var == name) return Affine{0, {{loop, 1}}};
    }
    return std::nullopt;
  }

  std::optional<Affine> size_of(const toy::Expression& e) const {
    const auto axis = e.args.empty() ? Affine{} : affine(*e.args[0]);
    if (!axis || !axis->is_constant()) return std::nullopt;
    for (const toy::BoundArray& array : program_.arrays) {
      if (array.name != e.name) continue;
      const auto& sizes = e.op == toy::ExpressionOp::kTiles ? array.counts : array.extents;
      if (axis->constant < 0 || axis->constant >= std::ssize(sizes)) return std::nullopt;
      return checked(Affine{sizes[static_cast<std::size_t>(axis->constant)], {}});
    }
    return std::nullopt;
  }

  const toy::BoundProgram& program_;
  std::uint32_t loop_;
};

}  // namespace

std::optional<toy::BoundInstruction> bind_line(const toy::InstructionStatement& line,
                                               const toy::BoundProgram& program,
                                               std::uint32_t loop) {
  return LineBinder(program, loop).bind(line);
}

std::optional<double> constant_value(const toy::Expression& e, const toy::BoundProgram& program) {
  if (e.op == toy::ExpressionOp::kInfinity) return std::numeric_limits<double>::infinity();
  if (e.op == toy::ExpressionOp::kReal) return e.real;
  if (e.op == toy::ExpressionOp::kNegate) {
    const auto value = constant_value(*e.args[0], program);
    return value ? std::optional(-*value) : std::nullopt;
  }
  if (e.op == toy::ExpressionOp::kConst) {
    const auto& consts = program.program->consts;
    for (std::size_t i = 0; i < consts.size(); ++i) {
      if (consts[i].name != e.name) continue;
      return std::visit([](auto number) { return static_cast<double>(number); }, program.consts[i]);
    }
    return std::nullopt;
  }
  const auto whole = LineBinder(program, toy::kNoLoop).affine(e);
  if (!whole || !whole->is_constant()) return std::nullopt;
  return static_cast<double>(whole->constant);
}

}  // namespace flashlab::exercises
