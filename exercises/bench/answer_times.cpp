// Measures how long `flashlab grade ID FILE` takes to answer the sixty mistakes of
// tests/exercises/mistakes, from the start of the command and its worker to its end.
//
// Every answer is measured several times, in turns with the others. Wall time tells what a learner
// waits; processor time, of the command and its worker, depends less on what else runs.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>

#include "toymachine/bench/measurement_context.hpp"

namespace {

using flashlab::bench::json;

[[noreturn]] void fail(const std::string& what) {
  std::cerr << "answer_times: " << what << "\n";
  std::exit(1);
}

struct Answer {
  std::string file, exercise;  // the path below the mistakes' folder
  std::vector<double> milliseconds, processor_milliseconds;
};

std::vector<Answer> mistakes() {
  std::vector<Answer> all;
  for (const char* half : {"worked_on", "unseen"}) {
    std::ifstream file(std::string(FLASHLAB_MISTAKES) + "/" + half + "/mistakes.json");
    if (!file) fail(std::string("there is no list of the mistakes in ") + half);
    for (const json& entry : json::parse(file)) {
      all.push_back(
          {std::string(half) + "/" + entry["file"].get<std::string>(), entry["exercise"], {}, {}});
    }
  }
  return all;
}

double milliseconds_of(const timeval& time) {
  return 1e3 * static_cast<double>(time.tv_sec) + 1e-3 * static_cast<double>(time.tv_usec);
}

void measure(Answer& answer) {
  const std::string file = std::string(FLASHLAB_MISTAKES) + "/" + answer.file;
  rusage usage{};
  int status = 0;
  const double seconds = flashlab::bench::seconds([&] {
    const pid_t child = fork();
    if (child == 0) {
      const int nowhere = open("/dev/null", O_WRONLY);
      dup2(nowhere, STDOUT_FILENO);
      dup2(nowhere, STDERR_FILENO);
      execl(FLASHLAB_BINARY, "flashlab", "grade", answer.exercise.c_str(), file.c_str(), nullptr);
      _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &usage) != child) fail("the command cannot start");
  });
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    fail(answer.file + " was not answered");
  }
  answer.milliseconds.push_back(1e3 * seconds);
  answer.processor_milliseconds.push_back(milliseconds_of(usage.ru_utime) +
                                          milliseconds_of(usage.ru_stime));
}

double least(const std::vector<double>& values) {
  return *std::min_element(values.begin(), values.end());
}

/// The median and the largest of one number for each answer.
struct Summary {
  double middle = 0, most = 0;
};

template <class Number>
Summary summary(const std::vector<Answer>& answers, const Number& number) {
  std::vector<double> numbers;
  for (const Answer& answer : answers) numbers.push_back(number(answer));
  return {flashlab::bench::median(numbers), *std::max_element(numbers.begin(), numbers.end())};
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Times the answers to sixty wrong submissions.");
  int runs = 7;
  std::string json_file;
  app.add_option("--runs", runs, "of each")->check(CLI::Range(1, 1000))->capture_default_str();
  app.add_option("--json", json_file, "also write samples and context to this file");
  CLI11_PARSE(app, argc, argv);
  std::vector<Answer> answers = mistakes();
  const std::string load = flashlab::bench::command_output("cat /proc/loadavg");
  for (int run = 0; run < runs; ++run) {
    for (Answer& answer : answers) measure(answer);
  }
  using flashlab::bench::median;
  const Summary fastest = summary(answers, [](const Answer& a) { return least(a.milliseconds); });
  const Summary usual = summary(answers, [](const Answer& a) { return median(a.milliseconds); });
  const Summary work =
      summary(answers, [](const Answer& a) { return median(a.processor_milliseconds); });
  std::printf("%zu answers, %d runs of each; milliseconds      median answer   slowest answer\n",
              answers.size(), runs);
  const auto row = [](const char* what, const Summary& both) {
    std::printf("  %-44s%15.0f%17.0f\n", what, both.middle, both.most);
  };
  row("wall time, the fastest run of each", fastest);
  row("wall time, the median run of each", usual);
  row("processor time, the median run of each", work);
  row("bar", {60, 300});
  if (json_file.empty()) return 0;
  json result = flashlab::bench::context("answer_times --runs " + std::to_string(runs));
  result["processors"] = sysconf(_SC_NPROCESSORS_ONLN);
  result["load_before"] = load;
  for (const Answer& answer : answers) {
    result["answers"].push_back({{"file", answer.file},
                                 {"exercise", answer.exercise},
                                 {"milliseconds", answer.milliseconds},
                                 {"processor_milliseconds", answer.processor_milliseconds}});
  }
  std::ofstream(json_file) << result.dump(1) << "\n";
  return 0;
}
