#include "cli/exercises/loading.hpp"
#include "cli/options/flags.hpp"

namespace flashlab::cli {

void ExerciseOptions::add_to(CLI::App& command) {
  add_option(command, "--exercises", folders,
             "a folder with exercises of your own; may be repeated")
      .file(FileRole::kInput)
      .type_name("DIR")
      .allow_extra_args(false);
}

}  // namespace flashlab::cli
