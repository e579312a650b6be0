// Whether a text is well-formed XML, as far as our own pictures use XML: elements, attributes,
// text, references; no comments, declarations or CDATA.
#pragma once

#include <string>
#include <string_view>

namespace flashlab::test {

/// What is wrong, with what stands there; empty: nothing.
std::string xml_error(std::string_view text);

/// How often `part` stands in `text`.
std::size_t count_of(std::string_view text, std::string_view part);

}  // namespace flashlab::test
