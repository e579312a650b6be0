// The directives of the language: lines that begin with a dot.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace flashlab::toy::detail {

enum class Directive : std::uint8_t {
  kIsa,
  kOperands,
  kRegisters,
  kMachines,
  kReg,
  kParam,
  kConst,
  kInput,
  kTemp,
  kOutput,
  kPass,
  kName,
  kScore,
  kUse
};
inline constexpr std::array<std::pair<std::string_view, Directive>, 14> kDirectives{
    {{".isa", Directive::kIsa},
     {".operands", Directive::kOperands},
     {".registers", Directive::kRegisters},
     {".machines", Directive::kMachines},
     {".reg", Directive::kReg},
     {".param", Directive::kParam},
     {".const", Directive::kConst},
     {".input", Directive::kInput},
     {".temp", Directive::kTemp},
     {".output", Directive::kOutput},
     {".pass", Directive::kPass},
     {".name", Directive::kName},
     {".score", Directive::kScore},
     {".use", Directive::kUse}}};

inline std::optional<Directive> find_directive(std::string_view word) {
  for (const auto& [name, directive] : kDirectives) {
    if (name == word) return directive;
  }
  return std::nullopt;
}

inline bool is_declaration(Directive d) { return d < Directive::kPass; }

}  // namespace flashlab::toy::detail
