// The names of the algorithms. Toy programs, CPU, GPU, tests and reports use the same names.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace flashlab {

enum class Pass : std::uint8_t { kForward, kBackward };

std::string_view to_string(Pass pass);

struct VariantInfo {
  std::string_view name;
  Pass pass;
  std::string_view summary;  // one line
  std::string_view source;   // the paper or other source (docs/sources.md)
};

/// Returns every variant, forward ones first, in the order of the course.
std::span<const VariantInfo> variants();

/// Returns the variant of this name. Throws ProblemError with the list of names if there is none.
const VariantInfo& find_variant(std::string_view name);

}  // namespace flashlab
