// The names of the algorithms: the same in toy programs, on CPU and GPU, in tests and reports.
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
  std::string_view summary;  // what it is, in a line
  std::string_view source;   // the paper or the source (docs/sources.md) it is taken from
};

/// Every variant, forward ones first, in the order of the course.
std::span<const VariantInfo> variants();

/// Throws ProblemError, which lists the names, for any other one.
const VariantInfo& find_variant(std::string_view name);

}  // namespace flashlab
