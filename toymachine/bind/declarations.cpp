#include "toymachine/bind/declarations.hpp"

#include <algorithm>
#include <set>

#include "text/lists.hpp"
#include "text/nearest.hpp"
#include "text/numbers.hpp"
#include "toymachine/bind/ranges.hpp"

namespace flashlab::toy::detail {
namespace {

bool has_operation(const Expression& e, std::initializer_list<ExpressionOp> ops) {
  if (std::find(ops.begin(), ops.end(), e.op) != ops.end()) return true;
  return std::any_of(e.args.begin(), e.args.end(),
                     [&](const ExpressionPtr& arg) { return has_operation(*arg, ops); });
}

class Declarations : BindingStep {
 public:
  using BindingStep::BindingStep;

  void bind() {
    early_registers();
    params();
    machines();
    if (!diagnostics_.empty()) return;
    consts();
    arrays();
    late_registers();
    if (diagnostics_.empty()) named_registers();
  }

 private:
  /// If the number of registers does not depend on parameters, it is set before them, so that a
  /// parameter may be derived from it (and --registers changes both).
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
    const auto value = evaluate_integer(*program_.registers, values_, diagnostics_);
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

  /// Each name has the registers after those of the previous name.
  void named_registers() {
    const std::int64_t most = binding_.limits.max_registers;
    std::int64_t next = 0;
    for (const RegisterDeclaration& declaration : program_.register_names) {
      NamedRegisters named = {declaration.name, next, 1, declaration.count != nullptr};
      if (named.indexed) {
        const auto count = evaluate_integer(*declaration.count, values_, diagnostics_);
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
        return error(declaration.span,
                     named.name + " names " + register_range_text("R", named.first, next - 1),
                     bound_.existing_registers(kUnnamed));
      }
      bound_.named_registers.push_back(std::move(named));
    }
  }

  void params() {
    std::vector<std::string> names;
    for (const ParamDeclaration& param : program_.params) names.push_back(param.name);
    for (const auto& [name, value] : binding_.reals) {
      if (std::find(names.begin(), names.end(), name) == names.end()) continue;
      error({}, "'" + short_text(value) + "' is not a value for the parameter '" + name + "'",
            "a whole number", Fault::kRequest);
    }
    std::set<std::string> given;
    for (const auto& [name, value] : binding_.params) given.insert(name);
    for (const auto& [name, value] : binding_.reals) given.insert(name);
    std::vector<std::string> known = names;
    for (const ConstDeclaration& constant : program_.consts) known.push_back(constant.name);
    for (const std::string& name : given) {
      if (std::find(known.begin(), known.end(), name) != known.end()) continue;
      error({}, "the program has no parameter '" + name + "'",
            names.empty() ? "no -D: this program has no parameters" : "one of " + joined(names),
            Fault::kRequest, nearest(name, known).value_or(""));
    }
    for (std::size_t i = 0; i < program_.params.size(); ++i) param(i);
    for (const auto& value : values_.params) bound_.params.push_back(value.value_or(0));
  }

  bool is_rank(std::size_t param) const {
    return program_.machines && param == program_.machines->rank;
  }

  void machines() {
    if (!program_.machines || !diagnostics_.empty()) return;
    const auto& [rank, ranks, span] = *program_.machines;
    const std::int64_t count = *values_.params[ranks], most = binding_.limits.max_machines;
    if (count < 1) return error(span, std::to_string(count) + " machines", "at least 1");
    if (count > most) {
      return error(span, std::to_string(count) + " machines",
                   "at most " + std::to_string(most) + " (--max-machines)", Fault::kLimit);
    }
    const std::int64_t number = binding_.machine.value_or(0);
    if (number < 0 || number >= count) {
      return error(span, "there is no machine " + std::to_string(number),
                   "0 to " + std::to_string(count - 1), Fault::kRequest);
    }
    bound_.machine = MachineNumber{number, count};
  }

  void param(std::size_t i) {
    const ParamDeclaration& param = program_.params[i];
    const auto given = binding_.params.find(param.name);
    if (is_rank(i)) {
      if (given != binding_.params.end()) {
        return error(program_.machines->span,
                     "'" + param.name + "' is the number that each machine has for itself",
                     "no -D " + param.name, Fault::kRequest);
      }
      if (!binding_.machine) {
        error(program_.machines->span, "this program runs on several machines",
              "flashlab run, cost, sweep, diff or timeline: they know links between machines",
              Fault::kRequest);
      }
      values_.params[i] = binding_.machine.value_or(0);
      return;
    }
    if (given != binding_.params.end() && program_.machines && params_of_rank(program_)[i]) {
      return error(param.span, "'" + param.name + "' follows from the machine's number",
                   "no -D " + param.name, Fault::kRequest);
    }
    if (given != binding_.params.end()) {
      values_.params[i] = given->second;
    } else if (param.default_value) {
      values_.params[i] = evaluate_integer(*param.default_value, values_, diagnostics_);
    } else {
      error(param.span, "the parameter '" + param.name + "' has no value",
            "-D " + param.name + "=… on the command line", Fault::kRequest);
    }
  }

  void consts() {
    for (std::size_t i = 0; i < program_.consts.size(); ++i) {
      const std::string& name = program_.consts[i].name;
      const auto whole = binding_.params.find(name);
      const auto real = binding_.reals.find(name);
      if (whole != binding_.params.end()) {
        values_.consts[i] = whole->second;
        continue;
      }
      if (real != binding_.reals.end()) {
        values_.consts[i] = real->second;
        continue;
      }
      if (!program_.consts[i].value) continue;
      values_.consts[i] = evaluate(*program_.consts[i].value, values_, diagnostics_);
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
      if (bytes > kLargestIndex) {
        return error(declaration.span, "the arrays up to '" + array.name + "' overflow 61 bits",
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
      const auto value = evaluate_integer(*extent, values_, diagnostics_);
      if (value && *value < 0) {
        error(extent->span, "the size of '" + declaration.name + "' is " + std::to_string(*value),
              "0 or more");
      }
      array.extents.push_back(std::max<std::int64_t>(0, value.value_or(0)));
      size = std::min<Int128>(size * array.extents.back(), kLargestIndex);
      stride =
          std::min<Int128>(stride * std::max<std::int64_t>(1, array.extents.back()), kLargestIndex);
    }
    if (stride >= kLargestIndex) {  // also reported if another axis has size 0
      error(declaration.span, "the sizes of '" + declaration.name + "' overflow 61 bits",
            "sizes whose product is below 2^61");
    }
    return size;
  }

  void tiles(const ArrayDeclaration& declaration, BoundArray& array) {
    for (std::size_t axis = 0; axis < array.extents.size(); ++axis) {
      const Expression* tile = declaration.tile_along(axis);
      auto size = tile ? evaluate_integer(*tile, values_, diagnostics_) : 1;
      if (size && *size < 1) {
        error(tile->span, "the tile of '" + declaration.name + "' is " + std::to_string(*size),
              "1 or more");
        size.reset();
      }
      array.tile.push_back(size.value_or(1));
      array.counts.push_back(ceil_div(array.extents[axis], array.tile.back()));
      bound_.tiled |= array.tile.back() > 1 && array.extents[axis] > 1;
    }
  }
};

}  // namespace

void bind_declarations(BindingState& state) { Declarations(state).bind(); }

}  // namespace flashlab::toy::detail
