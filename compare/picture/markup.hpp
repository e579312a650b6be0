// Text inside SVG and HTML.
#pragma once

#include <string>
#include <string_view>

namespace flashlab::compare {

/// The text as XML and HTML take it, between tags and in quoted attributes: & < > " ' as
/// references. Bytes that are no UTF-8, control characters (line ends too), characters that XML
/// forbids and those that turn the direction of writing stand there as U+FFFD.
std::string markup_text(std::string_view text);

/// The same of a text that is cut, with an ellipsis, after about `most_characters`.
std::string markup_start(std::string_view text, std::size_t most_characters);

/// Lower-case letters, digits, hyphens and underscores: fit for a file's name and an anchor.
std::string plain_name(std::string_view text);

}  // namespace flashlab::compare
