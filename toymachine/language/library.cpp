#include "toymachine/language/library.hpp"

#include "library_program_files.hpp"
#include "library_score_files.hpp"

namespace flashlab::toy {

std::span<const EmbeddedFile> library_programs() { return library_program_files; }
std::span<const EmbeddedFile> library_scores() { return library_score_files; }

const EmbeddedFile* find_in_library(std::span<const EmbeddedFile> files, std::string_view name) {
  constexpr std::string_view kEnding = ".toy";
  if (name.ends_with(kEnding)) name.remove_suffix(kEnding.size());
  for (const EmbeddedFile& file : files) {
    if (std::string_view(file.name).substr(0, std::string_view(file.name).rfind('.')) == name) {
      return &file;
    }
  }
  return nullptr;
}

}  // namespace flashlab::toy
