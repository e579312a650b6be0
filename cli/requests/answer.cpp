// `flashlab answer`: the JSON interface as a process, one request per line.
#include <cmath>
#include <iostream>
#include <memory>
#include <string>

#include "cli/options/commands.hpp"
#include "cli/options/flags.hpp"
#include "cli/requests/flashlab_call.h"
#include "cli/terminal/failure.hpp"

namespace flashlab::cli {
namespace {

struct AnswerFlags {
  double max_seconds = 0;  // 0: the interface's limit
  std::string max_memory;
  std::int64_t max_steps = 0;
};

flashlab_limits call_limits(const AnswerFlags& options) {
  constexpr double kMilliseconds = 1e3;
  flashlab_limits limits{};
  limits.milliseconds = std::llround(std::ceil(options.max_seconds * kMilliseconds));
  limits.steps = options.max_steps;
  if (!options.max_memory.empty()) {
    const auto bytes = parse_size(options.max_memory);
    if (!bytes || *bytes == 0) {
      throw request_failure("--max-memory " + in_quotes(options.max_memory) + " is not a size",
                            "bytes such as 100000000 or 100MB");
    }
    limits.bytes = *bytes;
  }
  return limits;
}

int answer_lines(const AnswerFlags& options) {
  const flashlab_limits limits = call_limits(options);
  for (std::string line; std::getline(std::cin, line);) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const std::unique_ptr<char, decltype(&flashlab_free)> answer(
        flashlab_call(line.data(), line.size(), &limits), &flashlab_free);
    if (!answer) throw std::bad_alloc();
    std::cout << answer.get() << "\n" << std::flush;
  }
  return kExitGood;
}

}  // namespace

CommandAction add_answer(CLI::App& app) {
  auto options = std::make_shared<AnswerFlags>();
  CLI::App& command = add_command(
      app, "answer", "Answer JSON requests from other programs, one per line",
      "  echo '{\"request\": \"run\", \"program\": \"softmax_online\"}' | flashlab answer\n"
      "  flashlab answer --max-seconds 2 < requests.jsonl > answers.jsonl\n");
  add_option(command, "--max-seconds", options->max_seconds, "processor time of a request (10)")
      .between(0.001, 1e6)
      .type_name("SECONDS");
  add_option(command, "--max-memory", options->max_memory, "memory of a request (1GiB)")
      .type_name("SIZE");
  add_option(command, "--max-steps", options->max_steps, "steps of a run (10 000 000 000)")
      .between(std::int64_t{1}, std::int64_t{1} << 60)
      .type_name("N");
  return [options] { return answer_lines(*options); };
}

}  // namespace flashlab::cli
