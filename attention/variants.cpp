#include "attention/variants.hpp"

#include <algorithm>
#include <iterator>

#include "attention/problem.hpp"
#include "attention/variant_rows.hpp"

namespace flashlab {
namespace {

#define FLASHLAB_FORWARD(function, name, text, source) {name, Pass::kForward, text, source},
#define FLASHLAB_BACKWARD(function, name, text, source) {name, Pass::kBackward, text, source},
constexpr VariantInfo kVariants[] = {FLASHLAB_VARIANTS(FLASHLAB_FORWARD, FLASHLAB_BACKWARD)};
#undef FLASHLAB_FORWARD
#undef FLASHLAB_BACKWARD

}  // namespace

std::string_view to_string(Pass pass) { return pass == Pass::kForward ? "forward" : "backward"; }

std::span<const VariantInfo> variants() { return kVariants; }

const VariantInfo& find_variant(std::string_view name) {
  const auto found = std::find_if(std::begin(kVariants), std::end(kVariants),
                                  [&](const VariantInfo& variant) { return variant.name == name; });
  if (found != std::end(kVariants)) return *found;
  std::string names;
  for (const VariantInfo& variant : kVariants) {
    names += (names.empty() ? "" : ", ") + std::string(variant.name);
  }
  throw ProblemError("variant", name, "one of " + names);
}

}  // namespace flashlab
