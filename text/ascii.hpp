// Spells text in ASCII, for terminals that can show nothing else.
#pragma once

#include <string>
#include <string_view>

namespace flashlab {

/// Returns the text in ASCII: "10³⁸ ≤ x₁ → é" as "10^38 <= x_1 -> e". Powers and subscripts, Greek
/// letters, arrows, signs of mathematics and the lines of tables have spellings; accents are dropped. A
/// character without a spelling becomes `?`.
std::string in_ascii(std::string_view text);

}  // namespace flashlab
