// The names and types of a launch's values in the generated source.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "generate/plan/fragment_plan.hpp"
#include "generate/source/names.hpp"
#include "toymachine/bind/bound_program.hpp"

namespace flashlab::generate {

class FragmentNames {
 public:
  FragmentNames(const toy::BoundProgram& program, const FragmentPlan& plan, const Names& names);

  const std::string& value(std::size_t v) const { return values_[v]; }
  /// "S_copy": the value's copy in shared memory.
  std::string copy(std::size_t v) const { return values_[v] + "_copy"; }
  /// Returns a name that nothing else has.
  std::string unused(std::string name);

 private:
  std::set<std::string> taken_;
  std::vector<std::string> values_;
};

/// "Fragment<64, 128, 4>", "SharedTile<Bf16, 64, 64>", "Ring<SwizzledTile<Bf16, 64, 64>, 2>"
std::string type_text(const FragmentPlan& plan, const ValuePlace& place);
/// "SharedTile<Bf16, 64, 64>": of the place in shared memory of any value.
std::string shared_type_text(const FragmentPlan& plan, const ValuePlace& place);
/// "shared_at<Bf16>(9216)"; with a stage, "shared_at<Bf16>(9216 + 9216 * stage)".
std::string shared_at_text(const FragmentPlan& plan, const ValuePlace& place,
                           const std::string& stage);

}  // namespace flashlab::generate
