// Text inside XML, HTML and SVG.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace flashlab {

/// The text as XML and HTML take it, between tags and in quoted attributes: & < > " ' as
/// references, everything else as visible() shows it, but line ends.
std::string markup_text(std::string_view text);

/// The same of a text that is cut, with an ellipsis, after `most_characters`.
std::string markup_start(std::string_view text, std::size_t most_characters);

/// Lower-case letters, digits, hyphens and underscores: fit for a file's name and an anchor.
std::string plain_name(std::string_view text);

}  // namespace flashlab
