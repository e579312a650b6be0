// Text that is not in UTF-8, as editors and shells of Windows write it, and what is left of UTF-16
// in JSON.
#pragma once

#include <string>
#include <string_view>

namespace flashlab {

/// Returns "UTF-16" or "UTF-32" if the bytes are text in it: they begin with its byte order mark, or
/// bytes of 0 stand where its letters of English have them. Empty for all other texts.
std::string_view other_encoding(std::string_view bytes);

/// Returns a JSON text of the same length in which each escape of half a character (\ud83d without
/// its other half) is that of U+FFFD. Editors count text in UTF-16 and can send one half; readers of
/// JSON refuse the whole text for it.
std::string without_half_characters(std::string json);

}  // namespace flashlab
