#include "cli/grading/grade_options.hpp"

#include <algorithm>
#include <thread>

#include "cli/grading/kept_seed.hpp"
#include "cli/options/flags.hpp"
#include "cli/terminal/failure.hpp"
#include "text/visible.hpp"

namespace flashlab::cli {
namespace {

constexpr const char* kReportGroup = "Reports";
constexpr const char* kSafetyGroup = "Safety";

}  // namespace

std::int64_t parse_memory_limit(const std::string& text) {
  constexpr std::int64_t kLeast = std::int64_t{16} << 20, kMost = std::int64_t{64} << 30;
  const auto size = parse_size(text);
  if (size && *size >= kLeast && *size <= kMost) return *size;
  throw request_failure("--memory-limit " + in_quotes(text) + " is not a valid size",
                        "16MiB to 64GiB");
}

std::vector<std::pair<const char*, const std::string*>> GradeOptions::report_files() const {
  return {{"--json", &json},
          {"--csv", &csv},
          {"--junit", &junit},
          {"--html", &html},
          {"--gradescope", &gradescope}};
}

void GradeOptions::check() const {
  if (files.empty() == all_folder.empty()) {
    throw request_failure(
        files.empty() ? "there is nothing to grade" : "both files and --all are given",
        "FILE ..., - for standard input, or --all DIR");
  }
  if (files.size() > 1 && std::find(files.begin(), files.end(), "-") != files.end()) {
    throw request_failure("standard input (-) is one submission", "- alone, or files");
  }
  if (resume && all_folder.empty()) {
    throw request_failure("--resume continues the grading of a class", "--all DIR as well");
  }
  if (resume && !device.empty()) {
    throw request_failure("--resume with --device", "one of them: measured times are not kept");
  }
  if (!memory_limit.empty()) parse_memory_limit(memory_limit);
  check_seed();
  check_reports();
}

void GradeOptions::check_seed() const {
  if (!seed.empty() && !secret.empty()) {
    throw request_failure("--seed and --secret", "one of them: a secret makes the seed");
  }
  if (!seed.empty() && !draws_seed() && !parse_seed(seed)) {
    throw request_failure(
        "--seed " + in_quotes(seed) + " is not a seed",
        "0 to " + std::to_string(INT64_MAX) + ", the same in hexadecimal after 0x, or new");
  }
}

void GradeOptions::check_reports() const {
  if (add_bom && csv.empty()) throw request_failure("--add-bom is about --csv", "--csv FILE");
  if (gradescope == "-" && !single()) {
    throw request_failure("--gradescope - holds one submission's results", "a folder");
  }
}

bool GradeOptions::writes_standard_output() const {
  const auto all = report_files();
  return std::any_of(all.begin(), all.end(), [](const auto& one) { return *one.second == "-"; });
}

void GradeOptions::add_reports_to(CLI::App& command) {
  const auto file = [&](const char* flag, std::string& value, const char* what,
                        const char* type = "FILE") {
    add_option(command, flag, value, what)
        .file(FileRole::kOutput)
        .type_name(type)
        .group(kReportGroup);
  };
  file("--json", json, "everything, for programs; - writes to standard output");
  file("--csv", csv,
       "one line per student, for spreadsheets; a cell that would be computed begins with "
       "an apostrophe");
  add_flag(command, "--add-bom", add_bom,
           "begin the CSV with a byte order mark, without which Excel on Windows misreads names")
      .group(kReportGroup);
  file("--junit", junit, "JUnit XML, for CI servers");
  file("--html", html, "one page with histogram and findings");
  file("--gradescope", gradescope,
       "Gradescope's results.json; for several submissions a folder with one file each",
       "FILE|DIR");
  add_flag(command, "--hide-costs", hide_costs,
           "in Gradescope's results, costs only after grades are published, and no "
           "leaderboard")
      .group(kReportGroup);
  file("--best", best,
       "a file that keeps the best costs ever submitted, from one grading to the next");
  add_option(command, "--names", names, "real, pseudonym or none")
      .one_of({"real", "pseudonym", "none"})
      .type_name("WHICH")
      .group(kReportGroup);
}

void GradeOptions::add_safety_to(CLI::App& command) {
  add_option(command, "--time-limit", time_limit,
             "processor time for each submission (what the exercise allows)")
      .between(0.001, 3600.0)
      .type_name("SECONDS")
      .group(kSafetyGroup);
  add_option(command, "--memory-limit", memory_limit, "memory for each submission (256MiB)")
      .type_name("SIZE")
      .group(kSafetyGroup);
  add_flag(command, "--resume", resume,
           "take over the results of an interrupted grading of this class")
      .group(kSafetyGroup);
  add_flag(command, "--in-process", in_process,
           "no worker processes: a submission that crashes the grader ends it")
      .group(kSafetyGroup);
}

void GradeOptions::add_to(CLI::App& command) {
  jobs = std::max(1U, std::thread::hardware_concurrency());
  add_option(command, "exercise", id,
             "an exercise's name, number or folder, or a folder with an assignment.toml")
      .required()
      .file(FileRole::kInput)
      .type_name("ID");
  add_option(command, "files", files,
             "submissions: files, a student's folder, or - for standard input")
      .file(FileRole::kInput)
      .type_name("FILE ...");
  add_option(command, "--all", all_folder, "a folder with a file or a folder for each student")
      .file(FileRole::kInput)
      .type_name("DIR");
  add_option(command, "-j,--jobs", jobs, "submissions graded at once (one per processor)")
      .between(1, 1024)
      .type_name("K");
  add_option(command, "--device", device,
             "cuda: measure right submissions of an exercise about speed on this computer's GPU; "
             "otherwise their times are predicted")
      .one_of({"cuda"});
  add_option(
      command, "--seed", seed,
      "seed of the inputs, or new; keep it secret from the students (a class: the one that is "
      "kept with it, or drawn; one submission: that of `exercises check`)")
      .type_name("N");
  add_option(command, "--secret", secret,
             "a file whose text makes the seed: for an autograder that grades one submission at a "
             "time")
      .file(FileRole::kInput)
      .type_name("FILE");
  add_flag(command, "--fail-on-wrong", fail_on_wrong, "exit code 1 when a submission is not right");
  add_flag(command, "-q,--quiet", quiet, "no table, no notes, no progress");
  exercises.add_to(command);
  add_reports_to(command);
  add_safety_to(command);
  terminal.add_to(command);
}

}  // namespace flashlab::cli
