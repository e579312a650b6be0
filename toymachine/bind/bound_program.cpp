#include "toymachine/bind/bound_program.hpp"

#include <algorithm>

#include "toymachine/bind/declarations.hpp"
#include "toymachine/bind/loop_nest.hpp"
#include "toymachine/bind/operands.hpp"
#include "toymachine/bind/ranges.hpp"
#include "toymachine/bind/wrapping.hpp"

namespace flashlab::toy {

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
      for (const BoundExpression& arg : args) sum = detail::wrapped_sum(sum, arg(loop_values));
      return sum;
    }
    case Op::kScale:
      return detail::wrapped_product(constant, args[0](loop_values));
  }
  return 0;
}

std::string BoundArray::element_name(std::int64_t element) const {
  std::string indices;
  for (std::size_t axis = extents.size(); axis-- > 0;) {
    indices = "[" + std::to_string(element % extents[axis]) + "]" + indices;
    element /= extents[axis];
  }
  return name + indices;
}

std::string MachineNumber::no_link_text(std::int64_t number) const {
  const std::string text = std::to_string(number);
  return number == rank ? "machine " + text + " has no link to itself"
                        : "there is no machine " + text;
}

std::string MachineNumber::links_text() const {
  if (ranks == 1) return "no message: there is only one machine";
  return "a machine from 0 to " + std::to_string(ranks - 1) + " other than " + std::to_string(rank);
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
  if (register_name == kUnnamed) {
    return detail::register_range_text("R", 0, num_registers - 1) + ": the machine has " +
           std::to_string(num_registers) + (num_registers == 1 ? " register" : " registers");
  }
  const NamedRegisters& named = named_registers[register_name];
  if (named.count == 0) return "no use of it: " + named.name + " names no register";
  return named.text(0) + (named.count == 1 ? "" : " to " + named.text(named.count - 1));
}

std::string BoundProgram::loops_text(std::uint32_t innermost,
                                     const std::int64_t* loop_values) const {
  std::string text;
  for (std::uint32_t loop = innermost; loop != kNoLoop; loop = loops[loop].parent) {
    const std::string value = loops[loop].var + " = " + std::to_string(loop_values[loop]);
    text = text.empty() ? value : value + ", " + text;
  }
  return text;
}

const BoundArray& BoundProgram::array_at(std::int64_t cell) const {
  return *std::find_if(arrays.begin(), arrays.end(), [&](const BoundArray& array) {
    return cell >= array.offset && cell < array.offset + array.size;
  });
}

std::string BoundProgram::cell_name(std::int64_t cell) const {
  const BoundArray& array = array_at(cell);
  return array.element_name(cell - array.offset);
}

std::string detail::register_range_text(const std::string& letter, std::int64_t first,
                                        std::int64_t last) {
  const std::string text = letter + std::to_string(first);
  return last == first ? text : text + " to " + letter + std::to_string(last);
}

std::vector<char> params_of_rank(const Program& program) {
  std::vector<char> result(program.params.size(), 0);
  if (!program.machines) return result;
  result[program.machines->rank] = 1;
  for (std::size_t i = 0; i < result.size(); ++i) {  // a default mentions only earlier ones
    const Expression* value = program.params[i].default_value.get();
    const auto follows = [&](std::size_t other) { return result[other] != 0; };
    if (value && detail::mentions_param(*value, follows)) result[i] = 1;
  }
  return result;
}

Result<BoundProgram> bind(std::shared_ptr<const Program> program, const Binding& binding) {
  const Program& source = *program;
  detail::BindingState state = {source, binding, {}, {}, {}};
  state.bound.program = std::move(program);
  state.bound.limits = binding.limits;
  state.bound.loops.resize(source.loop_vars.size());
  state.bound.instructions.resize(source.num_sites);
  state.values.program = &source;
  state.values.params.resize(source.params.size());
  state.values.consts.resize(source.consts.size());
  state.values.extents.resize(source.arrays.size());
  state.values.counts.resize(source.arrays.size());
  for (const auto step : {detail::bind_declarations, detail::bind_nest, detail::check_operands}) {
    step(state);
    if (!state.diagnostics.empty()) return std::move(state.diagnostics);
  }
  return std::move(state.bound);
}

}  // namespace flashlab::toy
