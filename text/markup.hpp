// Text inside XML, HTML and SVG.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace flashlab {

/// Escapes text for XML and HTML, between tags and in quoted attributes: & < > " ' become
/// references. Line ends stay; everything else is as in visible().
std::string markup_text(std::string_view text);

/// Does the same, and cuts a text with an ellipsis after `most_characters`.
std::string markup_start(std::string_view text, std::size_t most_characters);

/// Returns the text with spaces that do not break a line around "=" and before "%".
std::string kept_together(std::string text);

/// Returns a name of lower-case letters, digits, hyphens and underscores, for files and anchors.
std::string plain_name(std::string_view text);

}  // namespace flashlab
