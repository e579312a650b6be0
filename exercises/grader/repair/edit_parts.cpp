#include "exercises/grader/repair/edit_parts.hpp"

#include <algorithm>
#include <utility>

#include "toymachine/language/instruction_set.hpp"

namespace flashlab::exercises {
namespace {

using toy::Expression;
using toy::ExpressionOp;
using toy::ExpressionPtr;
using toy::Operand;

ExpressionPtr make(ExpressionOp op, std::vector<ExpressionPtr> args) {
  Expression e;
  e.op = op;
  e.args = std::move(args);
  return std::make_shared<const Expression>(std::move(e));
}

/// Numbers in a text are not negative, so the smallest integer is a difference.
ExpressionPtr integer(std::int64_t value) {
  if (value == INT64_MIN) return make(ExpressionOp::kSub, {integer(value + 1), integer(1)});
  if (value < 0) return make(ExpressionOp::kNegate, {integer(-value)});
  Expression e;
  e.integer = value;
  return std::make_shared<const Expression>(std::move(e));
}

bool is_integer(const Expression& e) { return e.op == ExpressionOp::kInteger; }

/// Replaces every occurrence of the loop variable `from` in the expression by `to`.
ExpressionPtr substituted(const ExpressionPtr& e, const Expression& from, const ExpressionPtr& to) {
  if (e->op == ExpressionOp::kLoopVar && e->index == from.index) return to;
  if (e->args.empty()) return e;
  auto copy = std::make_shared<Expression>(*e);
  for (ExpressionPtr& arg : copy->args) arg = substituted(arg, from, to);
  return copy;
}

bool mentions(const Expression& e, const Expression& loop_var) {
  if (e.op == ExpressionOp::kLoopVar && e.index == loop_var.index) return true;
  return std::any_of(e.args.begin(), e.args.end(),
                     [&](const ExpressionPtr& arg) { return mentions(*arg, loop_var); });
}

/// Collects the alternatives for one operand.
class Alternatives {
 public:
  Alternatives(const toy::Program& program, const toy::InstructionStatement& instruction,
               std::size_t position, const LoopScope& scope, const EditOptions& options)
      : program_(program),
        instruction_(instruction),
        operand_(instruction.operands[position]),
        scope_(scope),
        options_(options) {}

  std::vector<OtherOperand> all() {
    if (toy::is_register(operand_.kind)) {
      registers();
      if (operand_.kind == toy::OperandKind::kFactor && is_tiled(program_)) toggle_transposition();
    } else if (toy::is_memory(operand_.kind)) {
      arrays();
      indices();
    } else if (operand_.kind == toy::OperandKind::kOffset) {
      for (const ExpressionPtr& value : other_indices(operand_.value, scope_)) {
        add(EditKind::kIndex).value = value;
      }
    } else {
      constants();
    }
    return std::move(found_);
  }

 private:
  Operand& add(EditKind kind) { return found_.emplace_back(OtherOperand{kind, operand_}).operand; }

  void registers() {
    if (!program_.register_names.empty()) {
      for (std::size_t name = 0; name < program_.register_names.size(); ++name) named(name);
    } else if (is_integer(*operand_.register_index)) {
      for (std::int64_t number = 0; number < options_.num_registers; ++number) {
        add(EditKind::kRegister).register_index = integer(number);
      }
    } else {
      for (const ExpressionPtr& index : other_indices(operand_.register_index, scope_)) {
        add(EditKind::kRegister).register_index = index;
      }
    }
  }

  void add_named(std::size_t name, const ExpressionPtr& index) {
    Operand& other = add(EditKind::kRegister);
    const Operand named = named_register(program_, name, index);
    other.register_name = name;
    other.name_index = named.name_index;
    other.register_index = named.register_index;
  }

  void named(std::size_t name) {
    if (program_.register_names[name].count == nullptr) return add_named(name, nullptr);
    const bool same = operand_.register_name == name;
    if (!same) return add_named(name, index_in_reach());
    for (const ExpressionPtr& index : other_indices(operand_.name_index, scope_)) {
      add_named(name, index);
    }
  }

  /// The index that this line uses on registers; otherwise the innermost loop's variable, or 0.
  ExpressionPtr index_in_reach() const {
    if (operand_.name_index) return operand_.name_index;
    for (const Operand& operand : instruction_.operands) {
      if (toy::is_register(operand.kind) && operand.name_index) return operand.name_index;
    }
    return scope_.empty() ? integer(0) : scope_.back();
  }

  void toggle_transposition() {
    Operand& other = add(EditKind::kTransposition);
    other.transposed = !other.transposed;
  }

  void arrays() {
    for (std::size_t array = 0; array < program_.arrays.size(); ++array) {
      const toy::ArrayDeclaration& declaration = program_.arrays[array];
      const bool writable = declaration.role != toy::ArrayRole::kInput;
      if (declaration.extents.size() != operand_.indices.size()) continue;
      if (toy::is_memory_write(operand_.kind) && !writable) continue;
      add(EditKind::kArray).array = array;
    }
  }

  void indices() {
    for (std::size_t axis = 0; axis < operand_.indices.size(); ++axis) {
      for (const ExpressionPtr& index : other_indices(operand_.indices[axis], scope_)) {
        add(EditKind::kIndex).indices[axis] = index;
      }
      if (axis + 1 == operand_.indices.size()) continue;
      Operand& other = add(EditKind::kIndex);
      std::swap(other.indices[axis], other.indices[axis + 1]);
    }
  }

  void constants() {
    const ExpressionPtr infinity = make(ExpressionOp::kInfinity, {});
    for (const ExpressionPtr& value :
         {integer(0), integer(1), make(ExpressionOp::kNegate, {infinity})}) {
      add(EditKind::kConstant).value = value;
    }
    for (std::size_t i = 0; i < program_.consts.size(); ++i) {
      Expression e;
      e.op = ExpressionOp::kConst;
      e.index = i;
      e.name = program_.consts[i].name;
      add(EditKind::kConstant).value = std::make_shared<const Expression>(std::move(e));
    }
  }

  const toy::Program& program_;
  const toy::InstructionStatement& instruction_;
  const Operand& operand_;
  const LoopScope& scope_;
  const EditOptions& options_;
  std::vector<OtherOperand> found_;
};

std::string register_text(const Operand& operand, const toy::Program& program) {
  if (operand.register_name != toy::kNoName) {
    const std::string& name = program.register_names[operand.register_name].name;
    return operand.name_index ? name + "[" + to_string(*operand.name_index) + "]" : name;
  }
  const Expression& index = *operand.register_index;
  return is_integer(index) ? "R" + std::to_string(index.integer) : "R[" + to_string(index) + "]";
}

}  // namespace

bool is_tiled(const toy::Program& program) {
  return std::any_of(program.arrays.begin(), program.arrays.end(),
                     [](const toy::ArrayDeclaration& array) { return !array.tile.empty(); });
}

ExpressionPtr shifted(const ExpressionPtr& e, int change) {
  if (change == 0) return e;
  if (is_integer(*e)) {
    std::int64_t sum = 0;  // of the largest integer and 1 there is none
    return __builtin_add_overflow(e->integer, change, &sum) ? e : integer(sum);
  }
  const bool sum = e->op == ExpressionOp::kAdd || e->op == ExpressionOp::kSub;
  if (sum && is_integer(*e->args[1])) {
    const std::int64_t offset = e->args[1]->integer;
    std::int64_t total = e->op == ExpressionOp::kAdd ? offset : -offset;
    const bool overflows = __builtin_add_overflow(total, change, &total);
    if (overflows || total == INT64_MIN) return e;  // -total does not fit
    if (total == 0) return e->args[0];
    return total > 0 ? make(ExpressionOp::kAdd, {e->args[0], integer(total)})
                     : make(ExpressionOp::kSub, {e->args[0], integer(-total)});
  }
  return change > 0 ? make(ExpressionOp::kAdd, {e, integer(change)})
                    : make(ExpressionOp::kSub, {e, integer(-change)});
}

std::vector<ExpressionPtr> other_indices(const ExpressionPtr& e, const LoopScope& scope) {
  std::vector<ExpressionPtr> others{shifted(e, 1), shifted(e, -1)};
  for (const ExpressionPtr& from : scope) {
    if (!mentions(*e, *from)) continue;
    for (const ExpressionPtr& to : scope) {
      if (to->index != from->index) others.push_back(substituted(e, *from, to));
    }
  }
  if (is_integer(*e)) others.insert(others.end(), scope.begin(), scope.end());
  if (e->op == ExpressionOp::kLoopVar) others.push_back(integer(0));
  return others;
}

std::string operand_text(const Operand& operand, const toy::Program& program) {
  if (operand.value) return to_string(*operand.value);
  if (toy::is_register(operand.kind)) {
    return register_text(operand, program) + (operand.transposed ? "^T" : "");
  }
  std::string text = program.arrays[operand.array].name;
  for (const ExpressionPtr& index : operand.indices) text += "[" + to_string(*index) + "]";
  return text;
}

Operand named_register(const toy::Program& program, std::size_t name, const ExpressionPtr& index) {
  const toy::RegisterDeclaration& declaration = program.register_names[name];
  Operand operand;
  operand.register_name = name;
  operand.name_index = index;
  operand.register_index =
      index ? make(ExpressionOp::kAdd, {declaration.first, index}) : declaration.first;
  return operand;
}

std::uint32_t end_line(const toy::Program& program, const toy::LoopStatement& loop) {
  std::uint32_t line = loop.span.line;
  for (const toy::Statement& statement : loop.body) {
    if (const auto* inner = std::get_if<toy::LoopStatement>(&statement.node)) {
      line = end_line(program, *inner);
    } else {
      line = std::visit([](const auto& node) { return node.span.line; }, statement.node);
    }
  }
  while (++line <= program.source->num_lines()) {
    const std::string_view text = program.source->line(line);
    const std::size_t start = std::min(text.find_first_not_of(" \t"), text.size());
    if (text.substr(start).starts_with("end")) break;
  }
  return line;
}

std::vector<OtherOperand> other_operands(const toy::Program& program,
                                         const toy::InstructionStatement& instruction,
                                         std::size_t position, const LoopScope& scope,
                                         const EditOptions& options) {
  return Alternatives(program, instruction, position, scope, options).all();
}

}  // namespace flashlab::exercises
