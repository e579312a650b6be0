// Text inside XML and HTML.
#pragma once

#include <string>
#include <string_view>

namespace flashlab::exercises {

/// The text as XML and HTML take it, between tags and in quoted attributes: & < > " ' as
/// references, everything else as visible() shows it, but line ends.
std::string markup_text(std::string_view text);

}  // namespace flashlab::exercises
