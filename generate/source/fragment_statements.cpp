#include "generate/source/fragment_statements.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "generate/source/expressions.hpp"

namespace flashlab::generate {

using toy::Operation;

std::size_t FragmentStatements::cell_operand(std::size_t at) const {
  std::size_t i = 0;
  while (!toy::is_memory(instruction(at).operands[i].kind)) ++i;
  return i;
}

std::string FragmentStatements::cell(std::size_t at) const {
  toy::BoundOperand operand = instruction(at).operands[cell_operand(at)];
  operand.axes = plan_.steps[at].axes[cell_operand(at)];
  std::string text = cell_text(program_, operand, kernel_.names());
  if (tile_length(array(at), operand.axes, 0).is_always_whole() &&
      tile_length(array(at), operand.axes, 1).is_always_whole()) {
    const toy::BoundArray& all = array(at);
    const std::size_t rank = all.extents.size();
    const bool is_tiled =
        all.tile[rank - 1] <= all.extents[rank - 1] && all.tile[rank - 2] <= all.extents[rank - 2];
    if (is_tiled) text.replace(text.find(".tile("), 6, ".whole_tile(");
  }
  return text;
}

const toy::BoundArray& FragmentStatements::array(std::size_t at) const {
  return program_.arrays[instruction(at).operands[cell_operand(at)].array];
}

std::int64_t FragmentStatements::whole_elements(const toy::BoundArray& array,
                                                std::size_t axis_from_last) {
  const std::size_t axis = array.extents.size() - 1 - axis_from_last;
  const std::int64_t all =
      std::gcd(array.extents[axis], std::min(array.tile[axis], array.extents[axis]));
  return std::gcd(all, std::int64_t{8});
}

void FragmentStatements::order_of_dram(std::size_t at) {
  const std::size_t array = instruction(at).operands[cell_operand(at)].array;
  bool loads = false, stores = false, differ = false;
  std::optional<std::size_t> writer;
  for (std::size_t other = 0; other < plan_.steps.size(); ++other) {
    if (plan_.steps[other].kind != Step::Kind::kInstruction) continue;
    for (const toy::BoundOperand& operand : instruction(other).operands) {
      if (!toy::is_memory(operand.kind) || operand.array != array) continue;
      const bool writes = toy::is_memory_write(operand.kind);
      (writes ? stores : loads) = true;
      if (!writes) continue;
      differ = differ || (writer && !is_written_alike(*writer, other));
      writer = other;
    }
  }
  if (differ || (loads && stores)) line(barrier());
}

std::size_t FragmentStatements::stored_value(std::size_t at) const {
  std::size_t source = 0;
  while (!toy::is_register_read(instruction(at).operands[source].kind)) ++source;
  return value_at(at, source);
}

bool FragmentStatements::is_written_alike(std::size_t a, std::size_t b) const {
  const ValuePlace &first = place(stored_value(a)), &second = place(stored_value(b));
  return plan_.steps[a].action == plan_.steps[b].action && first.where == second.where &&
         first.is_turned == second.is_turned && first.rows == second.rows &&
         first.cols == second.cols;
}

void FragmentStatements::copy_box(std::size_t at) {
  toy::BoundOperand operand = instruction(at).operands[cell_operand(at)];
  operand.axes = plan_.steps[at].axes[cell_operand(at)];
  const std::string text = cell_text(program_, operand, kernel_.names());
  line("load(" + names_.value(value_at(at, written_operand(instruction(at)))) + ", " +
       kernel_.names().array(operand.array) + "_boxes" + text.substr(text.find(".tile(")) + ");");
}

void FragmentStatements::copy(std::size_t v, const std::string& to) {
  std::size_t at = 0;
  for (const std::size_t d : plan_.values.values[v].definitions) {
    const std::size_t step = plan_.values.definitions[d].step;
    if (plan_.steps[step].action == Action::kLoad) at = step;
  }
  copy_from(at, v, to);
}

void FragmentStatements::copy_from(std::size_t at, std::size_t v, const std::string& to) {
  const std::string target = shared_type_text(plan_, place(v)) + "{" + to + "}";
  if (place(v).where == Where::kSharedColumn) {
    const bool by_fours = whole_elements(array(at), 1) % 4 == 0;
    line("copy_column<" + threads() + ", " + (by_fours ? "4" : "1") + ", " +
         std::to_string(place(v).rows) + ">(" + target + ", " + cell(at) + ");");
  } else {
    line("copy<" + threads() + ", " + std::to_string(whole_elements(array(at), 0)) + ">(" + target +
         ", " + cell(at) + ");");
  }
}

void FragmentStatements::statement(std::size_t at) {
  const Step& step = plan_.steps[at];
  if (step.action == Action::kStore || step.action == Action::kUpdate) {
    store(at);
    return;
  }
  if (step.action == Action::kLoad) {
    load(at);
  } else if (step.is_product()) {
    product(at);
  } else if (step.reduces()) {
    reduction(at);
  } else {
    elementwise(at);
  }
  const std::int64_t written = plan_.values.operands[at][written_operand(instruction(at))];
  has_copy_.erase(static_cast<std::size_t>(written));
}

void FragmentStatements::load(std::size_t at) {
  const std::size_t v = value_at(at, written_operand(instruction(at)));
  if (place(v).ring) {
    line("wait_for(" + names_.value(v) + ");");
    return;
  }
  if (place(v).prefetched_in) {
    line("// has come: the loop begins with the copy for its next iteration");
    return;
  }
  order_of_dram(at);
  if (place(v).where == Where::kFragment) {
    const bool whole = whole_elements(array(at), 0) % 2 == 0;
    line("load<" + std::string(whole ? "true" : "false") + ">(" + names_.value(v) + ", " +
         cell(at) + ");");
    return;
  }
  line(access_.before_write(v));
  copy_from(at, v, names_.value(v) + ".data");
  access_.copied(v);
}

void FragmentStatements::store(std::size_t at) {
  std::size_t source = 0;
  while (!toy::is_register_read(instruction(at).operands[source].kind)) ++source;
  const std::size_t v = value_at(at, source);
  std::string function = plan_.steps[at].action == Action::kStore ? "store" : "add_to";
  if (place(v).where == Where::kFragment) {
    const bool narrow = toy::is_narrow(array(at).element_type);
    const bool whole = whole_elements(array(at), 0) % (narrow ? 4 : 2) == 0;
    function += whole ? "<true>" : "<false>";
  } else if (plan_.has_warpgroups && place(v).where != Where::kRowValues) {
    function += "_by<" + threads() + ">";  // not by all threads of the block
  }
  const std::string text = operand(at, source, false);
  order_of_dram(at);
  line(function + "(" + cell(at) + ", " + text + ");");
}

void FragmentStatements::reduction(std::size_t at) {
  const Operation operation = plan_.steps[at].operation;
  const std::size_t v = value_at(at, 0);
  clear_beyond(v, operation == Operation::kRowSum ? "0.0f" : "minus_infinity()");
  line("set_" + std::string(toy::spec_of(operation).function) + "(" +
       names_.value(value_at(at, written_operand(instruction(at)))) + ", " + names_.value(v) +
       ");");
}

void FragmentStatements::clear_beyond(std::size_t v, const std::string& number) {
  const Value& value = plan_.values.values[v];
  const TileLength& length = place(v).is_turned ? value.rows : value.cols;
  if (length.is_always_whole() && length.size() == place(v).cols) return;
  line("fill_beyond(" + names_.value(v) + ", " + length_text(length) + ", " + number + ");");
}

std::string FragmentStatements::length_text(const TileLength& length) const {
  if (length.is_always_whole()) return std::to_string(length.size());
  return "length_of_tile(" + std::to_string(length.extent) + ", " + std::to_string(length.tile) +
         ", " + text_of(length.index, kernel_.names()) + ")";
}

void FragmentStatements::product(std::size_t at) {
  const std::size_t target = value_at(at, written_operand(instruction(at)));
  const bool is_turned = place(target).is_turned;
  bool adds = plan_.steps[at].action == Action::kProductAndSum;
  if (adds && value_at(at, 2) != target) {
    line("set(" + names_.value(target) + ", " + operand(at, 2, is_turned) + ");");
  }
  // (A B)^T = B^T A^T
  const std::string left = factor(at, is_turned ? 1 : 0, is_turned, true);
  const std::string right = factor(at, is_turned ? 0 : 1, is_turned, false);
  line(std::string(adds ? "add_" : "set_") +
       (plan_.has_warpgroups ? "warpgroup_product<" : "product<") +
       (plan_.factors == toy::ElementType::kBf16 ? "Bf16" : "Fp16") + ">(" + names_.value(target) +
       ", " + left + ", " + right + ");");
}

std::string FragmentStatements::factor(std::size_t at, std::size_t operand, bool target_is_turned,
                                       bool is_left) {
  const std::size_t v = value_at(at, operand);
  const bool turned = instruction(at).operands[operand].transposed != target_is_turned;
  const auto maybe_turned = [&](const std::string& name, bool is_needed) {
    return is_needed ? "turned(" + name + ")" : name;
  };
  if (place(v).where == Where::kSharedTile) {
    line(access_.before_read(v));
    return maybe_turned(names_.value(v), turned);
  }
  if (is_left && turned == place(v).is_turned) {
    clear_beyond(v, "0.0f");
    return names_.value(v);
  }
  put_copy(v);
  return maybe_turned(names_.copy(v), turned != place(v).is_turned);
}

void FragmentStatements::put_copy(std::size_t v) {
  if (!has_copy_.contains(v)) {
    line(access_.before_write(v));
    std::string lengths;
    if (place(v).where == Where::kFragment) {
      const Value& value = plan_.values.values[v];
      const std::string rows = length_text(value.rows), cols = length_text(value.cols);
      lengths = place(v).is_turned ? ", " + cols + ", " + rows : ", " + rows + ", " + cols;
    }
    line("put(" + names_.copy(v) + ", " + names_.value(v) + lengths + ");");
    access_.written(v);
    has_copy_.insert(v);
  }
  line(access_.before_read(v));
}

std::optional<double> FragmentStatements::constant(std::size_t at, std::size_t i) const {
  const toy::BoundOperand& operand = instruction(at).operands[i];
  if (operand.kind != toy::OperandKind::kConstant) return std::nullopt;
  const std::int64_t number = operand.index.constant - program_.num_registers;
  return program_.constants[static_cast<std::size_t>(number)];
}

std::string FragmentStatements::operand(std::size_t at, std::size_t i, bool is_turned) {
  if (const auto number = constant(at, i)) {
    return "scalar(" + number_text(*number, toy::ElementType::kFloat) + ")";
  }
  const std::size_t v = value_at(at, i);
  switch (place(v).where) {
    case Where::kNumber:
    case Where::kFragment:
      return names_.value(v);
    case Where::kRowValues:
      if (!is_turned) return names_.value(v);
      put_copy(v);
      return "turned(" + names_.copy(v) + ")";
    case Where::kSharedColumn:
    case Where::kSharedTile:
      break;
  }
  line(access_.before_read(v));
  return is_turned ? "turned(" + names_.value(v) + ")" : names_.value(v);
}

void FragmentStatements::elementwise(std::size_t at) {
  const Step& step = plan_.steps[at];
  const std::size_t target = value_at(at, written_operand(instruction(at)));
  const std::string& name = names_.value(target);
  const bool is_turned = place(target).is_turned;
  if (place(target).where == Where::kSharedTile) {
    scale(at, target);
    return;
  }
  if (is_difference_of_next(at)) {
    line("// with the next line");
    return;
  }
  if (step.masks() && toy::is_place(step.operation)) {
    line("set_places<" +
         std::string(step.operation == Operation::kColumnNumber ? "true" : "false") + ">(" + name +
         ", " + text_of(instruction(at).operands[1].index, kernel_.names()) + ");");
    return;
  }
  if (step.masks()) {
    if (value_at(at, 0) != target) line("set(" + name + ", " + operand(at, 0, is_turned) + ");");
    line("mask<" + std::string(step.operation == Operation::kMaskedLeft ? "true" : "false") + ">(" +
         name + ", " + text_of(instruction(at).operands[1].index, kernel_.names()) + ", " +
         text_of(instruction(at).operands[2].index, kernel_.names()) + ");");
    return;
  }
  const std::string text = expression(at, is_turned);
  line("set(" + name + ", " + text + ");");
}

std::string FragmentStatements::expression(std::size_t at, bool is_turned) {
  const Step& step = plan_.steps[at];
  const auto argument = [&](std::size_t i) { return operand(at, i, is_turned); };
  const auto both = [&](const std::string& sign) {
    const std::string first = argument(0);
    return first + sign + argument(1);
  };
  if (step.action == Action::kFill) {
    return argument(0);
  }
  if (step.action != Action::kOperation) return argument(0);
  if (step.operation == Operation::kExponential) {
    if (at > 0 && is_difference_of_next(at - 1)) {
      const std::string first = operand(at - 1, 0, is_turned);
      const std::string function = is_exactly_needed(at) ? "" : "fast_";
      return function + "exponential_of_difference(" + first + ", " +
             operand(at - 1, 1, is_turned) + ")";
    }
    return "fast_exponential(" + argument(0) + ")";
  }
  const toy::OperationSpec& spec = toy::spec_of(step.operation);
  const std::string name(spec.function);
  if (spec.arity == 1) return name + "(" + argument(0) + ")";
  if (spec.arity == 3) {
    const std::string first_two = both(", ");
    return name + "(" + first_two + ", " + argument(2) + ")";
  }
  if (!toy::is_sign(step.operation)) return name + "(" + both(", ") + ")";
  const bool by_rows = step.operation == Operation::kOver && !is_turned && !constant(at, 1) &&
                       place(value_at(at, 1)).where == Where::kRowValues;
  return by_rows ? "fast_quotient(" + both(", ") + ")" : both(" " + name + " ");
}

bool FragmentStatements::is_exactly_needed(std::size_t exponential) const {
  constexpr double kLarge = 1024;
  const std::size_t target = value_at(exponential, written_operand(instruction(exponential)));
  if (place(target).where != Where::kFragment) return true;
  return std::any_of(plan_.steps.begin(), plan_.steps.end(), [&](const Step& step) {
    if (step.kind != Step::Kind::kInstruction) return false;
    const auto at = static_cast<std::size_t>(&step - plan_.steps.data());
    for (std::size_t i = 0; i < instruction(at).operands.size(); ++i) {
      const auto number = constant(at, i);
      if (number && std::isfinite(*number) && std::abs(*number) > kLarge) return true;
    }
    return false;
  });
}

bool FragmentStatements::is_difference_of_next(std::size_t at) const {
  if (plan_.steps[at].kind != Step::Kind::kInstruction ||
      !plan_.steps[at].does(Operation::kMinus) || !plan_.values.only_for_next[at] ||
      constant(at, 0) || constant(at, 1)) {
    return false;
  }
  const Step& next = plan_.steps[at + 1];
  if (next.kind != Step::Kind::kInstruction || !next.does(Operation::kExponential)) return false;
  const std::size_t target = value_at(at + 1, written_operand(instruction(at + 1)));
  const std::size_t result = value_at(at, written_operand(instruction(at)));
  return plan_.values.values[value_at(at, 1)].shape != Shape::kMatrix &&
         place(target).is_turned == place(result).is_turned &&
         place(target).where == place(result).where;
}

void FragmentStatements::scale(std::size_t at, std::size_t target) {
  line(access_.before_write(target));
  const std::size_t number = value_at(at, 0) == target ? 1 : 0;
  const auto known = constant(at, number);
  line("scale<" + threads() + ">(" + names_.value(target) + ", " +
       (known ? number_text(*known, toy::ElementType::kFloat)
              : names_.value(value_at(at, number)) + ".value") +
       ");");
  access_.written(target);
  // Here and not before the first read: that may be in a loop, where each iteration would wait.
  if (plan_.has_warpgroups) line(access_.before_read(target));
}

}  // namespace flashlab::generate
