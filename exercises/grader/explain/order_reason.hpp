// Why a line must stand where it belongs.
#pragma once

#include <cstdint>
#include <string>

#include "toymachine/language/source.hpp"

namespace flashlab::exercises {

/// Where a line belongs: before or after another one, as the text has them.
struct RightPlace {
  std::uint32_t line = 0;
  bool is_behind = false;
};

/// " Line 31 reads S before line 38 has changed it.": which line between the two places needs the other order, with a space
/// before it. Of a mask, what it must stand before. Empty if no line says why, and if loops end or begin in between.
std::string order_reason(const toy::SourceText& text, std::uint32_t line, const RightPlace& place);

/// " MASK stands after EXP (line 37), so the weights of masked keys are not 0: only e^-inf is 0.", if the line is a mask
/// that belongs before the place.
std::string mask_reason(const toy::SourceText& text, std::uint32_t line, const RightPlace& place);

/// "The order is wrong at lines 3 and 4: …", of two lines that must be exchanged.
std::string swap_sentence(const toy::SourceText& text, std::uint32_t upper_line,
                          std::uint32_t lower_line);

}  // namespace flashlab::exercises
