// Grades a class with hostile submissions by the command itself, and checks what they can harm.
//
//   hostile_class: 10 000 submissions, a third of them hostile; three crash a worker. Every other
//     grade must equal the grade of that submission in a class without the hostile ones.
//   hostile_class --students 300 --kills 20: kill -9 at random moments. Then --resume must give
//     the same bytes.
//   hostile_class --alone 1000: grades hostile submissions one by one. Prints the maximum
//     processor time and memory of one, including the command's start.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <random>
#include <thread>

#include "exercises/bench/class_maker.hpp"
#include "exercises/bench/hostile_maker.hpp"
#include "exercises/grader/exercise/catalogue.hpp"
#include "toymachine/bench/measurement_context.hpp"

namespace {

namespace fs = std::filesystem;
namespace exercises = flashlab::exercises;
using flashlab::bench::json;

[[noreturn]] void fail(const std::string& what) {
  std::cerr << "hostile_class: " << what << "\n";
  std::exit(1);
}

struct Options {
  std::string exercise = "08_online_softmax", json_file;
  std::size_t students = 10'000, jobs = 2;
  double hostile = 1.0 / 3, wrong = 0.3;
  std::string time_limit = "0.2";
  int kills = 0, alone = 0;
  std::uint64_t seed = 20'241;
};

/// A temporary folder. Removes it at the end of the scope.
class Folder {
 public:
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "flashlab-hostile-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) fail("no temporary folder can be made");
    path_ = pattern;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string path(const std::string& name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

std::string solution_of(const Options& options) {
  for (const auto& source : exercises::builtin_exercises()) {
    if (source.id == options.exercise) return source.files.at("solution.toy");
  }
  fail("there is no exercise '" + options.exercise + "'");
}

/// "class": all submissions; "harmless": those that are not hostile (hostile names are "h…").
void make_classes(const Options& options, const Folder& folder) {
  flashlab::bench::ClassMaker maker(solution_of(options), options.seed);
  flashlab::bench::HostileMaker hostile(options.seed);
  fs::create_directory(folder.path("class"));
  fs::create_directory(folder.path("harmless"));
  const auto write = [&](const std::string& name, const std::string& text, bool harmless) {
    std::ofstream(folder.path("class/" + name), std::ios::binary) << text;
    if (harmless) std::ofstream(folder.path("harmless/" + name), std::ios::binary) << text;
  };
  // With kill -9, the only hostile submissions are the three that crash a worker, see command().
  const auto num_hostile =
      options.kills > 0
          ? 3
          : static_cast<std::size_t>(options.hostile * static_cast<double>(options.students));
  for (std::size_t i = 0; i < options.students; ++i) {
    const std::string number = std::to_string(100'000 + i);
    if (i < num_hostile) {
      static constexpr const char* kCrashes[] = {"crash", "abort", "exit"};
      write("h" + number + ".toy", i < 3 ? hostile.crash(kCrashes[i]) : hostile.next(), false);
    } else if (static_cast<double>(i - num_hostile) <
               options.wrong * static_cast<double>(options.students - num_hostile)) {
      write("e" + number + ".toy", maker.edited(), true);
    } else {
      write("r" + number + ".toy", maker.right(), true);
    }
  }
}

/// Gradings that are killed and resumed have no --time-limit: near a limit, a text may get a
/// different verdict each time.
std::vector<std::string> command(const Options& options, const Folder& folder,
                                 const std::string& class_name, const std::string& report) {
  std::vector<std::string> words = {FLASHLAB_BINARY, "grade", options.exercise, "--quiet"};
  const auto add = [&](const char* flag, std::string value) {
    words.emplace_back(flag);
    words.push_back(std::move(value));
  };
  add("--all", folder.path(class_name));
  add("--jobs", std::to_string(options.jobs));
  add("--seed", "1");  // of all classes, because rows of different ones are compared
  if (options.kills == 0) add("--time-limit", options.time_limit);
  add("--json", folder.path(report + ".json"));
  add("--csv", folder.path(report + ".csv"));
  add("--junit", folder.path(report + ".xml"));
  add("--html", folder.path(report + ".html"));
  return words;
}

pid_t start(std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  if (child < 0) fail("no process can be started");
  return child;
}

double finish(const std::vector<std::string>& words) {
  return flashlab::bench::seconds([&] {
    int status = 0;
    const pid_t child = start(words);
    if (waitpid(child, &status, 0) != child || status != 0) fail("the command failed");
  });
}

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::map<std::string, json> rows(const Folder& folder, const std::string& report) {
  std::map<std::string, json> all;
  const json parsed = json::parse(content(folder.path(report + ".json")));
  for (const json& student : parsed.at("students")) {
    all[student["name"]] = student;
  }
  return all;
}

json measure_class(const Options& options, const Folder& folder) {
  const double with = finish(command(options, folder, "class", "class"));
  const double without = finish(command(options, folder, "harmless", "harmless"));
  const auto all = rows(folder, "class"), harmless = rows(folder, "harmless");
  if (all.size() != options.students) {
    fail(std::to_string(all.size()) + " rows instead of " + std::to_string(options.students));
  }
  std::map<std::string, std::size_t> outcomes;
  for (const auto& [name, row] : all) {
    if (name[0] == 'h') ++outcomes[row["outcome"]];
  }
  for (const auto& [name, row] : harmless) {
    if (all.at(name) != row) fail(name + " has another row beside hostile submissions");
  }
  std::printf("%zu submissions, %zu of them hostile: %.1f s; %zu without them: %.1f s\n",
              options.students, all.size() - harmless.size(), with, harmless.size(), without);
  std::printf("every row of those that mean no harm is the same in both\n");
  for (const auto& [outcome, count] : outcomes) std::printf("%8zu %s\n", count, outcome.c_str());
  return {{"seconds", with}, {"seconds_without_hostile", without}, {"hostile_outcomes", outcomes}};
}

struct Usage {
  double seconds = 0, megabytes = 0;
};

/// Resources of the command and its worker.
Usage usage_of(const std::vector<std::string>& words) {
  const pid_t child = start(words);
  int status = 0;
  rusage usage{};
  if (wait4(child, &status, 0, &usage) != child || !WIFEXITED(status)) fail("the command failed");
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return {seconds(usage.ru_utime) + seconds(usage.ru_stime),
          static_cast<double>(usage.ru_maxrss) / 1024};  // kilobytes on Linux
}

json measure_alone(const Options& options, const Folder& folder) {
  flashlab::bench::HostileMaker hostile(options.seed);
  const auto graded = [&](const std::string& text) {
    const std::string file = folder.path("one.toy");
    std::ofstream(file, std::ios::binary) << text;
    return usage_of({FLASHLAB_BINARY, "grade", options.exercise, "--quiet", "--time-limit",
                     options.time_limit, file});
  };
  const Usage nothing = graded("nothing\n");
  Usage most;
  for (int i = 0; i < options.alone; ++i) {
    const Usage one = graded(hostile.next());
    most.seconds = std::max(most.seconds, one.seconds);
    most.megabytes = std::max(most.megabytes, one.megabytes);
  }
  std::printf(
      "%d hostile submissions one by one, at most %s s each: the most is %.3f s and %.1f MB "
      "(a submission without a program: %.3f s, %.1f MB)\n",
      options.alone, options.time_limit.c_str(), most.seconds, most.megabytes, nothing.seconds,
      nothing.megabytes);
  return {{"alone", options.alone},
          {"most_seconds", most.seconds},
          {"most_megabytes", most.megabytes},
          {"seconds_of_nothing", nothing.seconds},
          {"megabytes_of_nothing", nothing.megabytes}};
}

json measure_kills(const Options& options, const Folder& folder) {
  const double whole = finish(command(options, folder, "class", "whole"));
  std::mt19937_64 generator(options.seed);
  int killed = 0;
  for (int i = 0; i < options.kills; ++i) {
    const double share = static_cast<double>(generator() % 1000) / 1000;
    const pid_t child = start(command(options, folder, "class", "again"));
    std::this_thread::sleep_for(std::chrono::duration<double>(share * whole));
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    killed += WIFSIGNALED(status) ? 1 : 0;
    auto words = command(options, folder, "class", "again");
    words.emplace_back("--resume");
    finish(words);
    for (const char* ending : {".json", ".csv", ".xml", ".html"}) {
      if (content(folder.path(std::string("whole") + ending)) !=
          content(folder.path(std::string("again") + ending))) {
        fail("the reports differ after kill -9 number " + std::to_string(i + 1));
      }
    }
  }
  std::printf("%zu submissions: %d of %d gradings killed on the way, all reports the same bytes\n",
              options.students, killed, options.kills);
  return {{"kills", options.kills}, {"killed_on_the_way", killed}, {"seconds_whole", whole}};
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Grades a class of which a part means harm, with the command itself.");
  Options options;
  app.add_option("--exercise", options.exercise, "with x[n] and out[n]")->capture_default_str();
  app.add_option("--students", options.students)->capture_default_str();
  app.add_option("--hostile", options.hostile, "their share")->capture_default_str();
  app.add_option("--jobs", options.jobs)->capture_default_str();
  app.add_option("--time-limit", options.time_limit)->capture_default_str();
  app.add_option("--kills", options.kills, "the number of gradings to end with kill -9 and resume");
  app.add_option("--alone", options.alone, "the number of hostile ones to grade one by one");
  app.add_option("--seed", options.seed)->capture_default_str();
  app.add_option("--json", options.json_file,
                 "also write the figures and their context to this file");
  CLI11_PARSE(app, argc, argv);
  setenv("FLASHLAB_TEST_WORKER", "1", 1);
  const Folder folder;
  setenv("XDG_STATE_HOME", folder.path("state").c_str(), 1);
  if (options.alone == 0) make_classes(options, folder);
  const json figures = options.alone > 0   ? measure_alone(options, folder)
                       : options.kills > 0 ? measure_kills(options, folder)
                                           : measure_class(options, folder);
  if (!options.json_file.empty()) {
    json result = flashlab::bench::context(
        "hostile_class --students " + std::to_string(options.students) +
        (options.kills > 0 ? " --kills " + std::to_string(options.kills) : "") +
        (options.alone > 0 ? " --alone " + std::to_string(options.alone) : ""));
    result.update(figures);
    std::ofstream(options.json_file) << result.dump(1) << "\n";
  }
  return 0;
}
