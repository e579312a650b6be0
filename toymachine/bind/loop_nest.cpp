#include "toymachine/bind/loop_nest.hpp"

#include <algorithm>
#include <limits>

#include "toymachine/bind/affine_builder.hpp"
#include "toymachine/bind/ranges.hpp"

namespace flashlab::toy {
namespace {

using detail::Int128;
using detail::Values;

bool has_operation(const Expression& e, std::initializer_list<ExpressionOp> ops) {
  if (std::find(ops.begin(), ops.end(), e.op) != ops.end()) return true;
  return std::any_of(e.args.begin(), e.args.end(),
                     [&](const ExpressionPtr& arg) { return has_operation(*arg, ops); });
}

/// "R0 to R3", "R0".
std::string from_to(const std::string& letter, std::int64_t first, std::int64_t last) {
  const std::string text = letter + std::to_string(first);
  return last == first ? text : text + " to " + letter + std::to_string(last);
}

std::string existing_text(std::int64_t num_registers) {
  return from_to("R", 0, num_registers - 1) + ": the machine has " + std::to_string(num_registers) +
         (num_registers == 1 ? " register" : " registers");
}

class Binder {
 public:
  Binder(std::shared_ptr<const Program> program, const Binding& binding)
      : program_(*program), binding_(binding) {
    bound_.program = std::move(program);
    bound_.limits = binding.limits;
    values_.program = &program_;
    values_.params.resize(program_.params.size());
    values_.consts.resize(program_.consts.size());
    values_.extents.resize(program_.arrays.size());
    values_.counts.resize(program_.arrays.size());
    bound_.loops.resize(program_.loop_vars.size());
    bound_.instructions.resize(program_.num_sites);
  }

  Result<BoundProgram> run() {
    early_registers();
    params();
    consts();
    arrays();
    late_registers();
    if (diagnostics_.empty()) named_registers();
    if (!diagnostics_.empty()) return std::move(diagnostics_);
    body(program_.body, kNoLoop, 0);
    if (!diagnostics_.empty()) return std::move(diagnostics_);
    count_registers();
    name_registers();
    check_operands();
    if (!diagnostics_.empty()) return std::move(diagnostics_);
    return std::move(bound_);
  }

 private:
  void error(const SourceSpan& span, std::string what, std::string expected,
             Fault fault = Fault::kProgram, std::string suggestion = {}) {
    diagnostics_.push_back({Severity::kError, fault, span, std::move(what), std::move(expected),
                            std::move(suggestion)});
  }

  // Declarations ------------------------------------------------------------------------------

  /// The number of registers is known before the parameters when it does not depend on them, so
  /// that a parameter may be derived from it (and --registers changes both).
  void early_registers() {
    if (binding_.registers) return set_registers(*binding_.registers, {});
    const bool early =
        program_.registers &&
        !has_operation(*program_.registers,
                       {ExpressionOp::kParam, ExpressionOp::kTiles, ExpressionOp::kExtent});
    if (early) evaluate_registers();
  }

  void late_registers() {
    if (!values_.registers && program_.registers && diagnostics_.empty()) evaluate_registers();
  }

  void evaluate_registers() {
    const auto value = detail::evaluate_integer(*program_.registers, values_, diagnostics_);
    if (value) set_registers(*value, program_.registers->span);
  }

  void set_registers(std::int64_t count, const SourceSpan& span) {
    if (count < 1) {
      return error(span, std::to_string(count) + " registers", "at least 1",
                   span.line > 0 ? Fault::kProgram : Fault::kRequest);
    }
    if (count > binding_.limits.max_registers) {
      return error(
          span, std::to_string(count) + " registers",
          "at most " + std::to_string(binding_.limits.max_registers) + " (--max-registers)",
          Fault::kLimit);
    }
    values_.registers = count;
    bound_.num_registers = count;
    bound_.registers_declared = true;
  }

  /// Each name has its registers behind those of the name before it.
  void named_registers() {
    const std::int64_t most = binding_.limits.max_registers;
    std::int64_t next = 0;
    for (const RegisterDeclaration& declaration : program_.register_names) {
      NamedRegisters named = {declaration.name, next, 1, declaration.count != nullptr};
      if (named.indexed) {
        const auto count = detail::evaluate_integer(*declaration.count, values_, diagnostics_);
        if (!count) return;
        named.count = *count;
      }
      if (named.count < 0) {
        return error(declaration.count->span,
                     named.name + " names " + std::to_string(named.count) + " registers",
                     "0 or more");
      }
      if (named.count > most - next) {
        return error(declaration.span,
                     named.name + " names " + std::to_string(named.count) + " registers" +
                         (next > 0 ? " and the names before it " + std::to_string(next) : ""),
                     "at most " + std::to_string(most) + " (--max-registers)", Fault::kLimit);
      }
      next += named.count;
      if (values_.registers && next > *values_.registers) {
        return error(declaration.span, named.name + " names " + from_to("R", named.first, next - 1),
                     existing_text(*values_.registers));
      }
      bound_.named_registers.push_back(std::move(named));
    }
  }

  void params() {
    std::vector<std::string> names;
    for (const ParamDeclaration& param : program_.params) names.push_back(param.name);
    for (const auto& [name, value] : binding_.params) {
      if (std::find(names.begin(), names.end(), name) != names.end()) continue;
      std::string known;
      for (const std::string& n : names) known += (known.empty() ? "" : ", ") + n;
      error({}, "the program has no parameter '" + name + "'",
            known.empty() ? "no -D: this program has no parameters" : "one of " + known,
            Fault::kRequest, nearest(name, names).value_or(""));
    }
    for (std::size_t i = 0; i < program_.params.size(); ++i) param(i);
    for (const auto& value : values_.params) bound_.params.push_back(value.value_or(0));
  }

  void param(std::size_t i) {
    const ParamDeclaration& param = program_.params[i];
    const auto given = binding_.params.find(param.name);
    if (given != binding_.params.end()) {
      values_.params[i] = given->second;
    } else if (param.default_value) {
      values_.params[i] = detail::evaluate_integer(*param.default_value, values_, diagnostics_);
    } else {
      error(param.span, "the parameter '" + param.name + "' has no value",
            "-D " + param.name + "=… on the command line", Fault::kRequest);
    }
  }

  void consts() {
    for (std::size_t i = 0; i < program_.consts.size(); ++i) {
      if (!program_.consts[i].value) continue;
      values_.consts[i] = detail::evaluate(*program_.consts[i].value, values_, diagnostics_);
    }
    for (const auto& value : values_.consts) bound_.consts.push_back(value.value_or(Number{0.0}));
  }

  void arrays() {
    Int128 offset = 0;
    Int128 bytes = 0;
    for (std::size_t i = 0; i < program_.arrays.size(); ++i) {
      const ArrayDeclaration& declaration = program_.arrays[i];
      BoundArray array;
      array.name = declaration.name;
      array.role = declaration.role;
      array.element_type = declaration.element_type;
      array.extent_expressions = declaration.extents;
      array.span = declaration.span;
      const Int128 size = extents(declaration, array);
      tiles(declaration, array);
      array.offset = static_cast<std::int64_t>(offset);
      array.size = static_cast<std::int64_t>(size);
      offset += size;
      bytes += size * std::max<std::int64_t>(element_bytes(array.element_type), 8);
      if (bytes > detail::kLargestIndex) {
        return error(declaration.span, "the arrays up to '" + array.name + "' leave 61 bits",
                     "sizes whose product is below 2^61");
      }
      values_.extents[i] = array.extents;
      values_.counts[i] = array.counts;
      bound_.arrays.push_back(std::move(array));
    }
    bound_.dram_elements = static_cast<std::int64_t>(offset);
  }

  Int128 extents(const ArrayDeclaration& declaration, BoundArray& array) {
    Int128 size = 1;
    Int128 stride = 1;
    for (const ExpressionPtr& extent : declaration.extents) {
      const auto value = detail::evaluate_integer(*extent, values_, diagnostics_);
      if (value && *value < 0) {
        error(extent->span, "the size of '" + declaration.name + "' is " + std::to_string(*value),
              "0 or more");
      }
      array.extents.push_back(std::max<std::int64_t>(0, value.value_or(0)));
      size = std::min<Int128>(size * array.extents.back(), detail::kLargestIndex);
      stride = std::min<Int128>(stride * std::max<std::int64_t>(1, array.extents.back()),
                                detail::kLargestIndex);
    }
    if (stride >= detail::kLargestIndex) {  // an axis of size 0 does not excuse the others
      error(declaration.span, "the sizes of '" + declaration.name + "' leave 61 bits",
            "sizes whose product is below 2^61");
    }
    return size;
  }

  void tiles(const ArrayDeclaration& declaration, BoundArray& array) {
    for (std::size_t axis = 0; axis < array.extents.size(); ++axis) {
      const Expression* tile = declaration.tile_along(axis);
      auto size = tile ? detail::evaluate_integer(*tile, values_, diagnostics_) : 1;
      if (size && *size < 1) {
        error(tile->span, "the tile of '" + declaration.name + "' is " + std::to_string(*size),
              "1 or more");
        size.reset();
      }
      array.tile.push_back(size.value_or(1));
      array.counts.push_back(detail::ceil_div(array.extents[axis], array.tile.back()));
      bound_.tiled |= array.tile.back() > 1 && array.extents[axis] > 1;
    }
  }

  // The nest ----------------------------------------------------------------------------------

  void body(const std::vector<Statement>& statements, std::uint32_t loop, std::uint32_t depth) {
    for (const Statement& statement : statements) {
      if (const auto* instruction = std::get_if<InstructionStatement>(&statement.node)) {
        add_instruction(*instruction, loop);
      } else if (const auto* name = std::get_if<NameStatement>(&statement.node)) {
        add_label(*name, loop);
      } else {
        add_loop(std::get<LoopStatement>(statement.node), loop, depth);
      }
    }
  }

  Node& add_node(Node::Kind kind) {
    bound_.nodes.emplace_back();
    bound_.nodes.back().kind = kind;
    return bound_.nodes.back();
  }

  void add_loop(const LoopStatement& statement, std::uint32_t parent, std::uint32_t depth) {
    const auto id = static_cast<std::uint32_t>(statement.loop);
    BoundLoop& loop = bound_.loops[id];
    loop.parent = parent;
    loop.depth = depth;
    loop.var = statement.var;
    loop.span = statement.span;
    loop.values = {0, -1};
    bind_range(statement, loop);
    const auto begin = static_cast<std::uint32_t>(bound_.nodes.size());
    add_node(Node::Kind::kLoopBegin).loop = id;
    body(statement.body, id, depth + 1);
    const auto end = static_cast<std::uint32_t>(bound_.nodes.size());
    Node& last = add_node(Node::Kind::kLoopEnd);
    last.loop = id;
    last.partner = begin;
    bound_.nodes[begin].partner = end;
  }

  void bind_range(const LoopStatement& statement, BoundLoop& loop) {
    auto lower = detail::to_bound(*statement.lower, values_, diagnostics_);
    auto upper = detail::to_bound(*statement.upper, values_, diagnostics_);
    const auto step = detail::evaluate_integer(*statement.step, values_, diagnostics_);
    if (step && *step < 1) {
      error(statement.step->span, "the step is " + std::to_string(*step), "1 or more");
      return;
    }
    if (!lower || !upper || !step) return;
    loop.lower = std::move(*lower);
    loop.upper = std::move(*upper);
    loop.step = *step;
    const detail::Ranges ranges(bound_.loops);
    if (!fits(loop.lower, ranges) || !fits(loop.upper, ranges)) {
      return error(statement.span, "the range of '" + loop.var + "' leaves 61 bits",
                   "bounds below 2^61");
    }
    const auto low = ranges.of(loop.lower);
    const auto high = ranges.of(loop.upper);
    const auto length = ranges.of_difference(loop.upper, loop.lower);
    const bool inside = loop.parent == kNoLoop || !bound_.loops[loop.parent].values.empty();
    loop.values = inside ? Interval{low->low, high->high - 1} : Interval{0, -1};
    if (length) {
      loop.trips.low = detail::ceil_div(std::max<std::int64_t>(0, length->low), loop.step);
      loop.trips.high = detail::ceil_div(std::max<std::int64_t>(0, length->high), loop.step);
    } else {
      loop.trips = {0, detail::kLargestIndex};
    }
    if (loop.trips.high == 0) loop.values = {0, -1};
  }

  bool fits(const BoundExpression& bound, const detail::Ranges& ranges) {
    if (!ranges.of(bound)) return false;
    return std::all_of(bound.args.begin(), bound.args.end(),
                       [&](const BoundExpression& arg) { return fits(arg, ranges); });
  }

  void add_label(const NameStatement& name, std::uint32_t loop) {
    auto index = detail::to_affine(*name.register_index, values_, diagnostics_);
    if (!index) return;
    BoundLabel label;
    label.register_index = std::move(*index);
    label.register_name = static_cast<std::uint32_t>(name.register_name);
    label.loop = loop;
    label.statement = static_cast<std::uint32_t>(bound_.labels.size());
    label.name = &name;
    add_node(Node::Kind::kLabel).first = label.statement;
    bound_.labels.push_back(std::move(label));
  }

  void add_instruction(const InstructionStatement& statement, std::uint32_t loop) {
    BoundInstruction& instruction = bound_.instructions[statement.site];
    instruction.row = static_cast<std::uint16_t>(statement.row);
    instruction.site = static_cast<std::uint32_t>(statement.site);
    instruction.pass = static_cast<std::uint32_t>(statement.pass);
    instruction.loop = loop;
    instruction.span = statement.span;
    for (const Operand& operand : statement.operands) {
      if (auto value = bind_operand(operand)) instruction.operands.push_back(std::move(*value));
    }
    const bool extends = !bound_.nodes.empty() && bound_.nodes.back().kind == Node::Kind::kBlock &&
                         bound_.nodes.back().last == instruction.site;
    if (!extends) add_node(Node::Kind::kBlock).first = instruction.site;
    bound_.nodes.back().last = instruction.site + 1;
  }

  std::optional<BoundOperand> bind_operand(const Operand& operand) {
    BoundOperand result;
    result.kind = operand.kind;
    result.transposed = operand.transposed;
    result.span = operand.span;
    if (operand.kind == OperandKind::kConstant) return bind_constant(operand, result);
    if (operand.kind == OperandKind::kOffset) return bind_offset(operand, result);
    if (!is_memory(operand.kind)) {
      auto index = detail::to_affine(*operand.register_index, values_, diagnostics_);
      if (!index) return std::nullopt;
      result.index = std::move(*index);
      result.register_name = static_cast<std::uint32_t>(operand.register_name);
      return in_range(result) ? std::optional(std::move(result)) : std::nullopt;
    }
    result.array = static_cast<std::uint32_t>(operand.array);
    const BoundArray& array = bound_.arrays[operand.array];
    std::optional<Affine> element = Affine{array.offset, {}};
    std::int64_t stride = 1;
    for (std::size_t axis = operand.indices.size(); axis-- > 0;) {
      auto index = detail::to_affine(*operand.indices[axis], values_, diagnostics_);
      if (!index) return std::nullopt;
      if (element) element = add_axis(*element, *index, array.tile[axis], stride);
      result.axes.insert(result.axes.begin(), std::move(*index));
      stride *= std::max<std::int64_t>(1, array.extents[axis]);
    }
    if (!element) {
      overflow(operand.span);
      return std::nullopt;
    }
    result.index = std::move(*element);
    return in_range(result) ? std::optional(std::move(result)) : std::nullopt;
  }

  static std::optional<Affine> add_axis(const Affine& element, const Affine& index,
                                        std::int64_t tile, std::int64_t stride) {
    const Int128 factor = Int128{tile} * stride;
    if (factor > detail::kLargestIndex) return std::nullopt;
    return detail::add(element, index, static_cast<std::int64_t>(factor));
  }

  std::optional<BoundOperand> bind_offset(const Operand& operand, BoundOperand result) {
    auto index = detail::to_affine(*operand.value, values_, diagnostics_);
    if (!index) return std::nullopt;
    result.index = std::move(*index);
    result.constant = operand.value;
    result.proven_in_range = true;
    return in_range(result) ? std::optional(std::move(result)) : std::nullopt;
  }

  std::optional<BoundOperand> bind_constant(const Operand& operand, BoundOperand result) {
    const Expression& expression = *operand.value;
    const auto number = detail::evaluate(expression, values_, diagnostics_);
    if (!number) return std::nullopt;
    const double value = std::visit([](auto v) { return static_cast<double>(v); }, *number);
    if (!(value < std::numeric_limits<double>::infinity())) {
      error(expression.span, "the constant is +inf or not a number", "a number, or -inf");
      return std::nullopt;
    }
    result.index.constant = static_cast<std::int64_t>(bound_.constants.size());
    result.proven_in_range = true;
    result.constant = operand.value;
    bound_.constants.push_back(value);
    return result;
  }

  void overflow(const SourceSpan& span) {
    error(span, "index arithmetic leaves 61 bits", "values below 2^61");
  }

  /// True when no index of the operand can leave 61 bits, so that 64-bit arithmetic is exact.
  bool in_range(const BoundOperand& operand) {
    const detail::Ranges ranges(bound_.loops);
    bool fits = ranges.of(operand.index).has_value();
    for (const Affine& axis : operand.axes) fits &= ranges.of(axis).has_value();
    if (!fits) overflow(operand.span);
    return fits;
  }

  // Checks that need the whole nest -----------------------------------------------------------

  /// Without a .registers line the machine has as many registers as the program names.
  void count_registers() {
    if (bound_.registers_declared) return;
    const detail::Ranges ranges(bound_.loops);
    std::int64_t most = 1;
    for (const BoundInstruction& instruction : bound_.instructions) {
      for (const BoundOperand& operand : instruction.operands) {
        if (is_register(operand.kind) && (operand.index.is_constant() || reached(instruction))) {
          most = std::max(most, ranges.of(operand.index)->high + 1);
        }
      }
    }
    if (most > binding_.limits.max_registers) {
      error({}, "the program names register R" + std::to_string(most - 1),
            "at most " + std::to_string(binding_.limits.max_registers) +
                " registers (--max-registers)",
            Fault::kLimit);
      most = 1;
    }
    bound_.num_registers = most;
  }

  bool reached(const BoundInstruction& instruction) const {
    return instruction.loop == kNoLoop || !bound_.loops[instruction.loop].values.empty();
  }

  bool certain(const BoundInstruction& instruction) const {
    for (std::uint32_t l = instruction.loop; l != kNoLoop; l = bound_.loops[l].parent) {
      if (bound_.loops[l].trips.low < 1) return false;
    }
    return true;
  }

  void check_operands() {
    const OperandRule rule = binding_.operand_rule.value_or(program_.operand_rule);
    for (BoundInstruction& instruction : bound_.instructions) {
      std::int64_t factor = 0;
      for (BoundOperand& operand : instruction.operands) {
        if (operand.kind == OperandKind::kConstant) {
          operand.index.constant += bound_.num_registers;
        } else if (is_memory(operand.kind)) {
          check_cell(instruction, operand);
        } else if (is_register(operand.kind)) {
          check_register(instruction, operand);
          if (operand.kind != OperandKind::kFactor) continue;
          if (rule == OperandRule::kPinned) check_pinned(operand, factor);
          ++factor;
        }
      }
    }
  }

  void check_pinned(const BoundOperand& operand, std::int64_t factor) {
    if (operand.index.is_constant() && operand.index.constant == factor) return;
    error(operand.span,
          "factor " + std::to_string(factor + 1) + " is not R" + std::to_string(factor),
          "R" + std::to_string(factor) + ": operands are pinned");
  }

  void check_register(const BoundInstruction& instruction, BoundOperand& operand) {
    const Interval range = *detail::Ranges(bound_.loops).of(operand.index);
    const Interval allowed = bound_.allowed_registers(operand.register_name);
    operand.proven_in_range = range.low >= allowed.low && range.high <= allowed.high;
    const bool wrong =
        operand.index.is_constant() ||
        (certain(instruction) && (range.high < allowed.low || range.low > allowed.high));
    if (operand.proven_in_range || !wrong) return;
    error(operand.span, bound_.missing_register(range.low, operand.register_name),
          bound_.existing_registers(operand.register_name));
  }

  void check_cell(const BoundInstruction& instruction, BoundOperand& operand) {
    const BoundArray& array = bound_.arrays[operand.array];
    operand.proven_in_range = true;
    for (std::size_t axis = 0; axis < operand.axes.size(); ++axis) {
      const Interval range = *detail::Ranges(bound_.loops).of(operand.axes[axis]);
      if (range.low >= 0 && range.high < array.counts[axis]) continue;
      operand.proven_in_range = false;
      const bool never_right = range.high < 0 || range.low >= array.counts[axis];
      if (!certain(instruction) || !never_right) continue;
      const std::int64_t extent = array.counts[axis];
      error(operand.span,
            "index " + std::to_string(range.low) + " of axis " + std::to_string(axis) + " of '" +
                array.name + "' is out of range",
            extent == 0 ? "no access: this axis has size 0" : "0 to " + std::to_string(extent - 1));
      return;
    }
  }

  void name_registers() {
    for (const NamedRegisters& named : bound_.named_registers) {
      const std::int64_t end = std::min(named.first + named.count, bound_.num_registers);
      for (std::int64_t number = named.first; number < end; ++number) {
        bound_.register_names.resize(static_cast<std::size_t>(number) + 1);
        bound_.register_names.back() = named.text(number - named.first);
      }
    }
  }

  const Program& program_;
  const Binding& binding_;
  BoundProgram bound_;
  Values values_;
  std::vector<Diagnostic> diagnostics_;
};

}  // namespace

std::int64_t Affine::coefficient(std::uint32_t loop) const {
  for (const auto& [l, c] : terms) {
    if (l == loop) return c;
  }
  return 0;
}

std::int64_t BoundExpression::operator()(const std::int64_t* loop_values) const {
  switch (op) {
    case Op::kAffine:
      return affine(loop_values);
    case Op::kMin:
    case Op::kMax: {
      std::int64_t best = args[0](loop_values);
      for (std::size_t i = 1; i < args.size(); ++i) {
        const std::int64_t value = args[i](loop_values);
        best = op == Op::kMin ? std::min(best, value) : std::max(best, value);
      }
      return best;
    }
    case Op::kCeilDiv:
      return detail::ceil_div(args[0](loop_values), constant);
    case Op::kFloorDiv:
      return detail::floor_div(args[0](loop_values), constant);
    case Op::kAdd: {
      std::int64_t sum = 0;
      for (const BoundExpression& arg : args) sum += arg(loop_values);
      return sum;
    }
    case Op::kScale:
      return constant * args[0](loop_values);
  }
  return 0;
}

std::string BoundProgram::register_name(std::int64_t number) const {
  const bool named = number >= 0 && number < std::ssize(register_names) &&
                     !register_names[static_cast<std::size_t>(number)].empty();
  return named ? register_names[static_cast<std::size_t>(number)] : "R" + std::to_string(number);
}

std::string BoundProgram::missing_register(std::int64_t number, std::uint32_t register_name) const {
  if (register_name == kUnnamed) return "there is no register R" + std::to_string(number);
  const NamedRegisters& named = named_registers[register_name];
  return "there is no " + named.text(number - named.first);
}

std::string BoundProgram::existing_registers(std::uint32_t register_name) const {
  if (register_name == kUnnamed) return existing_text(num_registers);
  const NamedRegisters& named = named_registers[register_name];
  if (named.count == 0) return "no use of it: " + named.name + " names no register";
  return named.text(0) + (named.count == 1 ? "" : " to " + named.text(named.count - 1));
}

Result<BoundProgram> bind(std::shared_ptr<const Program> program, const Binding& binding) {
  return Binder(std::move(program), binding).run();
}

}  // namespace flashlab::toy
