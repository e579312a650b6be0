// Text files that the build compiled into a library (cmake/EmbedText.cmake).
#pragma once

#include <span>
#include <string_view>

namespace flashlab {

struct EmbeddedFile {
  std::string_view name;  // without folders
  std::string_view text;
};

/// The text of the file with this name; empty if there is none.
inline std::string_view file_text(std::span<const EmbeddedFile> files, std::string_view name) {
  for (const EmbeddedFile& file : files) {
    if (file.name == name) return file.text;
  }
  return {};
}

}  // namespace flashlab
