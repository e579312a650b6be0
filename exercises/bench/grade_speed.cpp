// Measures time and memory of `flashlab grade --all` for a large class: reading, grading and every
// report, by the command itself. The submissions are made from the exercise's solution
// (class_maker.hpp). All differ, so that no two can share a verdict.
//
// Checks that every unedited submission is right and earns the same points as the solution.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "exercises/bench/class_maker.hpp"
#include "exercises/grader/exercise/catalogue.hpp"
#include "toymachine/bench/measurement_context.hpp"

namespace {

namespace fs = std::filesystem;
namespace exercises = flashlab::exercises;
using flashlab::bench::json;

[[noreturn]] void fail(const std::string& what) {
  std::cerr << "grade_speed: " << what << "\n";
  std::exit(1);
}

struct Options {
  std::string exercise = "08_online_softmax", json_file;
  std::vector<std::string> folders;
  std::size_t students = 10'000, jobs = 2;
  double wrong = 0.3;
  int runs = 3;
  double most_seconds = 20, most_megabytes = 300;
};

/// A temporary folder. Removes it at the end of the scope.
class Folder {
 public:
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "flashlab-grading-XXXXXX").string();
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
  for (const auto& source : exercises::all_exercises(options.folders)) {
    if (source.id != options.exercise) continue;
    const auto file = source.files.find("solution.toy");
    if (file == source.files.end()) fail(options.exercise + " has no solution.toy");
    return file->second;
  }
  fail("there is no exercise '" + options.exercise + "' (`flashlab exercises list` shows them)");
}

/// Names show which submissions were edited: "e…" and "r…".
void make_class(const Options& options, const Folder& folder) {
  constexpr std::uint64_t kSeed = 20'240;
  flashlab::bench::ClassMaker maker(solution_of(options), kSeed);
  fs::create_directory(folder.path("class"));
  const auto edited =
      static_cast<std::size_t>(options.wrong * static_cast<double>(options.students));
  for (std::size_t i = 0; i < options.students; ++i) {
    const bool is_edited = i < edited;
    const std::string name = (is_edited ? "class/e" : "class/r") + std::to_string(i) + ".toy";
    std::ofstream(folder.path(name), std::ios::binary)
        << (is_edited ? maker.edited() : maker.right());
  }
}

struct Run {
  double seconds = 0, megabytes = 0;
};

Run grade(const Options& options, const Folder& folder) {
  std::vector<std::string> words{FLASHLAB_BINARY,  "grade",
                                 options.exercise, "--quiet",
                                 "--all",          folder.path("class"),
                                 "--jobs",         std::to_string(options.jobs)};
  for (const char* report : {"json", "csv", "junit", "html"}) {
    words.insert(words.end(), {std::string("--") + report, folder.path(report)});
  }
  for (const std::string& one : options.folders) words.insert(words.end(), {"--exercises", one});
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  Run run;
  run.seconds = flashlab::bench::seconds([&] {
    const pid_t child = fork();
    if (child == 0) {
      execv(arguments[0], arguments.data());
      _exit(127);
    }
    int status = 0;
    rusage usage{};
    if (child < 0 || wait4(child, &status, 0, &usage) != child || status != 0) {
      fail("the command failed");
    }
    run.megabytes = static_cast<double>(usage.ru_maxrss) / 1024;  // kilobytes on Linux
  });
  return run;
}

/// Returns the number of submissions by outcome. Ends the program if an unedited one is not right.
json check(const Options& options, const Folder& folder) {
  std::ifstream file(folder.path("json"));
  const json report = json::parse(file);
  if (report["students"].size() != options.students) fail("students are missing");
  const json* first = nullptr;
  for (const json& student : report["students"]) {
    const std::string name = student["name"];
    if (name[0] != 'r') continue;
    if (first == nullptr) first = &student;
    if (student["passed"] != true || student["points"] != (*first)["points"]) {
      fail(name + " is right and was not graded so: " + student.dump(1));
    }
  }
  return report["summary"]["outcomes"];
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Grades a large class with the command itself, every report included.");
  Options options;
  app.add_option("--exercise", options.exercise)->capture_default_str();
  app.add_option("--exercises", options.folders, "folders with exercises of your own");
  app.add_option("--students", options.students)->capture_default_str();
  app.add_option("--jobs", options.jobs)->capture_default_str();
  app.add_option("--wrong", options.wrong, "share with an edited line")->capture_default_str();
  app.add_option("--runs", options.runs)->check(CLI::Range(1, 100))->capture_default_str();
  app.add_option("--json", options.json_file, "also write samples and context to this file");
  CLI11_PARSE(app, argc, argv);
  const Folder folder;
  make_class(options, folder);
  std::vector<double> seconds, megabytes;
  for (int i = 0; i < options.runs; ++i) {
    const Run run = grade(options, folder);
    seconds.push_back(run.seconds);
    megabytes.push_back(run.megabytes);
  }
  const json outcomes = check(options, folder);
  const double middle = flashlab::bench::median(seconds);
  const double most = *std::max_element(megabytes.begin(), megabytes.end());
  std::printf("%zu submissions of %s, %zu threads, %d runs\n", options.students,
              options.exercise.c_str(), options.jobs, options.runs);
  std::printf("%10.2f s  median (bar: %.0f s)\n%10.1f MB most memory (bar: %.0f MB)\n", middle,
              options.most_seconds, most, options.most_megabytes);
  for (const auto& [outcome, students] : outcomes.items()) {
    std::printf("%10lld %s\n", students.get<long long>(), outcome.c_str());
  }
  if (!options.json_file.empty()) {
    json result = flashlab::bench::context("grade_speed --exercise " + options.exercise +
                                           " --students " + std::to_string(options.students) +
                                           " --jobs " + std::to_string(options.jobs));
    result["seconds"] = seconds;
    result["megabytes"] = megabytes;
    result["outcomes"] = outcomes;
    std::ofstream(options.json_file) << result.dump(1) << "\n";
  }
  return 0;
}
