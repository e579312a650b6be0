// Paths of files as URIs, which editors name files by.
#pragma once

#include <string>
#include <string_view>

namespace flashlab {

/// Returns "file:///a%20b.toy" for the absolute path "/a b.toy".
std::string file_uri(std::string_view path);

/// Returns the path of a URI of a file on this computer, and any other text as it is.
std::string path_of_uri(std::string_view uri);

}  // namespace flashlab
