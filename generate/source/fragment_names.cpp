#include "generate/source/fragment_names.hpp"

#include <utility>

namespace flashlab::generate {
namespace {

std::string factor_text(const FragmentPlan& plan) {
  return plan.factors == toy::ElementType::kBf16 ? "Bf16" : "Fp16";
}

bool is_shared_column(const ValuePlace& place) {
  return place.where == Where::kSharedColumn || place.where == Where::kRowValues;
}

}  // namespace

FragmentNames::FragmentNames(const toy::BoundProgram& program, const FragmentPlan& plan,
                             const Names& names) {
  for (std::size_t a = 0; a < program.arrays.size(); ++a) {
    for (const char* const suffix : {"", "_data", "_map", "_boxes"}) {
      taken_.insert(names.array(a) + suffix);
    }
  }
  for (std::uint32_t loop = 0; loop < program.loops.size(); ++loop) taken_.insert(names.loop(loop));
  for (const Value& value : plan.values.values) {
    const Names::Variable& variable = names.variable(value.number);
    const bool is_single = !variable.indexed && variable.count == 1;
    const std::string index = is_single ? "" : std::to_string(value.number - variable.first);
    values_.push_back(unused(variable.name + index));
  }
}

std::string FragmentNames::unused(std::string name) {
  std::string found = name;
  for (int i = 2; taken_.contains(found) || taken_.contains(found + "_copy"); ++i) {
    found = name + "_" + std::to_string(i);
  }
  taken_.insert(found);
  taken_.insert(found + "_copy");
  return found;
}

std::string type_text(const FragmentPlan& plan, const ValuePlace& place) {
  const std::string rows = std::to_string(place.rows), warps = std::to_string(plan.warps);
  switch (place.where) {
    case Where::kNumber:
      return "Scalar<float>";
    case Where::kRowValues:
      return "RowValues<" + rows + ", " + warps + ">";
    case Where::kFragment:
      return "Fragment<" + rows + ", " + std::to_string(place.cols) + ", " + warps +
             (place.is_turned ? ", true>" : ">");
    case Where::kSharedColumn:
    case Where::kSharedTile:
      break;
  }
  const std::string shared = place.ring && is_shared_column(place) ? "LoadedColumn<" + rows + ">"
                                                                   : shared_type_text(plan, place);
  return place.ring ? "Ring<" + shared + ", " + std::to_string(place.shared->stages) + ">" : shared;
}

std::string shared_type_text(const FragmentPlan& plan, const ValuePlace& place) {
  if (is_shared_column(place)) return "SharedColumn";
  return (plan.has_warpgroups ? "SwizzledTile<" : "SharedTile<") + factor_text(plan) + ", " +
         std::to_string(place.rows) + ", " + std::to_string(place.cols) + ">";
}

std::string shared_at_text(const FragmentPlan& plan, const ValuePlace& place,
                           const std::string& stage) {
  const std::string type = is_shared_column(place) ? "float" : factor_text(plan);
  std::string at = std::to_string(place.shared->offset);
  if (!stage.empty()) at += " + " + std::to_string(place.shared->bytes) + " * " + stage;
  return "shared_at<" + type + ">(" + at + ")";
}

}  // namespace flashlab::generate
