// `flashlab exercises start`: creates the learner's file.
#include "cli/exercises/start.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>

#include "cli/exercises/verbs.hpp"
#include "cli/options/commands.hpp"
#include "cli/options/flags.hpp"
#include "cli/terminal/failure.hpp"
#include "text/visible.hpp"

namespace flashlab::cli {
namespace {

struct StartFlags {
  ExerciseOptions exercises;
  std::string id, to;
};

Failure not_written(const std::string& file, int reason) {
  return request_failure("'" + printable(file) + "' cannot be written: " + std::strerror(reason));
}

std::string how_to_go_on(const exercises::Exercise& exercise, const std::string& file) {
  const std::string id = printable(exercise.id), name = printable(file);
  return "  go on with it: flashlab check " + id + " " + name + "\n" +
         "  or begin again elsewhere: flashlab start " + id + " --to FOLDER\n";
}

Failure is_there_already(const exercises::Exercise& exercise, const std::string& file) {
  return {kExitRequestWrong, "flashlab: error: '" + printable(file) +
                                 "' is there already and stays as it is\n" +
                                 how_to_go_on(exercise, file)};
}

/// Whether `next`, or an earlier `start`, wrote the file, or it is the learner's work: a file of this name in this
/// folder.
bool is_work_file(const exercises::Exercise& exercise, const std::string& file) {
  std::error_code code;
  return file == exercise.work_file() && std::filesystem::is_regular_file(file, code);
}

/// Writes a file that must not exist yet. Removes it again if writing fails.
void write_new(const exercises::Exercise& exercise, const std::string& file,
               std::string_view text) {
  const int target = open(file.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
  if (target < 0 && errno == EEXIST) throw is_there_already(exercise, file);
  if (target < 0) throw not_written(file, errno);
  int reason = 0;
  while (!text.empty() && reason == 0) {
    const ssize_t written = write(target, text.data(), text.size());
    if (written < 0 && errno != EINTR) reason = errno;
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
  if (close(target) != 0 && reason == 0) reason = errno;
  if (reason == 0) return;
  unlink(file.c_str());
  throw not_written(file, reason);
}

/// --to: a folder (created if its name ends in a slash) or a file.
std::string target_of(const exercises::Exercise& exercise, const std::string& to) {
  if (to.empty()) return exercise.work_file();
  std::error_code code;
  if (to.ends_with('/')) std::filesystem::create_directories(to, code);
  if (code) {
    throw request_failure("the folder '" + printable(to) + "' cannot be made: " + code.message());
  }
  return std::filesystem::is_directory(to, code)
             ? (std::filesystem::path(to) / exercise.work_file()).string()
             : to;
}

int start(const StartFlags& options) {
  Learner learner(options.exercises);
  const std::string id = options.id.empty() ? learner.next() : options.id;
  const ExercisePointer exercise = learner.find(id);
  const std::string file = target_of(*exercise, options.to);
  if (options.to.empty() && is_work_file(*exercise, file)) {
    std::cout << printable(file) << " is there already, and stays as it is\n"
              << how_to_go_on(*exercise, file);
    return kExitGood;
  }
  start_exercise(learner, *exercise, file);
  std::cout << "Wrote " << printable(file) << " for\n\n  " << printable(exercise->id) << ": "
            << printable(exercise->title) << "\n\n";
  if (exercise->demo) {
    std::cout << "This one is solved already. See that it is right:\n\n"
                 "  flashlab check\n";
  } else {
    std::cout << "  flashlab show      what to do\n"
                 "  flashlab check     is it right?\n"
                 "  flashlab watch     the same after every save\n"
                 "  flashlab hint      when you are stuck\n";
  }
  return kExitGood;
}

}  // namespace

void start_exercise(Learner& learner, const exercises::Exercise& exercise,
                    const std::string& file) {
  write_new(exercise, file, exercise.starter());
  std::error_code code;
  const std::filesystem::path path = std::filesystem::canonical(file, code);
  learner.remember([&](exercises::Progress& progress) {
    progress.entry(exercise.id).file = code ? file : path.string();
    progress.set_current(exercise.id);
  });
}

CommandAction add_exercises_start(CLI::App& exercises) {
  auto options = std::make_shared<StartFlags>();
  CLI::App& command =
      add_command(exercises, "start", "Create your own file to work in; never overwrite one",
                  "  flashlab exercises start             the next one, in this folder\n"
                  "  flashlab exercises start 2 --to work/\n");
  add_option(command, "id", options->id, "number or name of an exercise (the next one)")
      .type_name("ID");
  add_option(command, "--to", options->to, "a folder (made if it ends in /), or the file's name")
      .type_name("DIR|FILE");
  options->exercises.add_to(command);
  return [options] { return start(*options); };
}

}  // namespace flashlab::cli
