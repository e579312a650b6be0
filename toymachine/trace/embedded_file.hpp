// A text file that the build compiled into the library (cmake/EmbedText.cmake).
#pragma once

#include <string_view>

namespace flashlab {

struct EmbeddedFile {
  std::string_view name;  // without folders
  std::string_view text;
};

}  // namespace flashlab
