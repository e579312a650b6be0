// The registry of variants and what the CPU has of it.
#include <algorithm>

#include "tests/attention_cpu/running_variants.hpp"
#include "tests/catch_shim.hpp"

using namespace flashlab;
using namespace flashlab::test;

TEST_CASE("the CPU has every variant of the registry", "[registry]") {
  for (const VariantInfo& variant : variants()) {
    const std::vector<std::string_view> here = variants_here(variant.pass);
    INFO(variant.name);
    CHECK(std::find(here.begin(), here.end(), variant.name) != here.end());
  }
}

TEST_CASE("every build of the kernels has the same variants", "[registry]") {
  for (const cpu::InstructionSet set : cpu::instruction_sets()) {
    INFO(to_string(set));
    CHECK(variants_here(Pass::kForward, set) == variants_here(Pass::kForward));
    CHECK(variants_here(Pass::kBackward, set) == variants_here(Pass::kBackward));
  }
}
