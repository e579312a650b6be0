// The programs and score functions that are part of the machine, by name.
#pragma once

#include <span>
#include <string_view>

#include "text/embedded_file.hpp"

namespace flashlab::toy {

/// Files of toymachine/programs/: "flash2.toy".
std::span<const EmbeddedFile> library_programs();
/// Files of toymachine/scores/: "soft_cap.toy".
std::span<const EmbeddedFile> library_scores();
/// Returns the file of that name, with or without ".toy"; null if there is none.
const EmbeddedFile* find_in_library(std::span<const EmbeddedFile> files, std::string_view name);

}  // namespace flashlab::toy
