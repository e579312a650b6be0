// Recognizes text that is not in UTF-8, as editors and shells of Windows write it.
#pragma once

#include <string_view>

namespace flashlab {

/// Returns "UTF-16" or "UTF-32" if the bytes are text in it: they begin with its byte order mark, or
/// bytes of 0 stand where its letters of English have them. Empty for all other texts.
std::string_view other_encoding(std::string_view bytes);

}  // namespace flashlab
