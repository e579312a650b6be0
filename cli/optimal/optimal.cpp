// `flashlab optimal`: finds the cheapest program for a small computation, and proves it.
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/optimal/along.hpp"
#include "cli/optimal/options.hpp"
#include "cli/optimal/picture.hpp"
#include "cli/optimal/search.hpp"
#include "cli/optimal/text.hpp"
#include "cli/options/commands.hpp"
#include "cli/terminal/failure.hpp"
#include "cli/terminal/files.hpp"
#include "cli/terminal/plot.hpp"
#include "cli/terminal/terminal.hpp"
#include "text/width.hpp"

namespace flashlab::cli {
namespace {

std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal's handler sets it");

void on_interrupt(int) { interrupted = true; }

/// During its lifetime, the first Ctrl-C ends the search with the results so far; a second one
/// ends the command.
class EndedByInterrupt {
 public:
  EndedByInterrupt() {
    struct sigaction action {};
    action.sa_handler = on_interrupt;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, &before_);
  }
  ~EndedByInterrupt() { sigaction(SIGINT, &before_, nullptr); }
  EndedByInterrupt(const EndedByInterrupt&) = delete;
  EndedByInterrupt& operator=(const EndedByInterrupt&) = delete;

 private:
  struct sigaction before_ {};
};

/// One line on standard error. It is rewritten on a terminal.
class SearchLine {
 public:
  SearchLine() = default;
  ~SearchLine() {
    if (is_terminal_ && is_shown_) std::cerr << "\r\x1b[K";
  }
  SearchLine(const SearchLine&) = delete;
  SearchLine& operator=(const SearchLine&) = delete;

  void show(const std::string& machine, const optimal::Progress& progress) {
    const std::string most = progress.upper_cycles ? std::to_string(*progress.upper_cycles) : "?";
    std::cerr << (is_terminal_ ? "\r\x1b[K" : "") << "flashlab: " << machine << ": "
              << short_number(static_cast<double>(progress.states)) << " states, "
              << short_number(progress.states_per_s) << "/s, between " << progress.lower_cycles
              << " and " << most << " cycles" << seconds_words(progress.seconds_left)
              << (is_terminal_ ? "" : "\n") << std::flush;
    is_shown_ = true;
  }

 private:
  static std::string seconds_words(const std::optional<double>& seconds) {
    return seconds ? ", about " + short_number(std::ceil(*seconds)) + " s more" : "";
  }

  bool is_terminal_ = can_rewrite_lines(), is_shown_ = false;
};

/// Returns fewer results if the user interrupts.
std::vector<Solved> search_all(const OptimalRequest& request, const OptimalOptions& options) {
  const EndedByInterrupt guard;
  SearchLine line;
  return solve_all(
      request, options,
      {&interrupted, [&](const std::string& machine, const optimal::Progress& progress) {
         line.show(machine, progress);
       }});
}

void write_witness(const Solved& solved, const std::string& path) {
  if (!solved.answer.program) throw request_failure("--witness: there is no program to write");
  write_file(path, [&](std::ostream& out) { out << solved.answer.program->text; });
}

/// Prints a paragraph for each rule, and the programs.
void print_machines(const std::vector<Solved>& all, const OptimalRequest& request,
                    const OptimalOptions& options, const Terminal& terminal, std::ostream& out) {
  out << optimal_heading(request, options, terminal);
  for (const Solved& solved : all) {
    const std::string rule = request.rules.size() > 1 ? rule_name(solved.rule) + ": " : "";
    out << "\n";
    const std::string words = rule + verdict_sentence(solved, request, options) + ".";
    const std::string own = program_sentence(solved, request);
    for (const std::string& line : wrap(own.empty() ? words : words + " " + own, terminal.width)) {
      out << line << "\n";
    }
    if (solved.answer.program && options.witness.empty()) {
      out << "\n" << solved.answer.program->text;
    }
  }
}

int print_optimal(const OptimalOptions& options) {
  const OptimalRequest request = understand(options);
  if (!options.along.empty()) {
    const EndedByInterrupt guard;
    print_along(request, options, options.terminal.terminal(), interrupted);
    return interrupted ? kExitInterrupted : kExitGood;
  }
  const std::vector<Solved> all = search_all(request, options);
  if (all.empty()) return kExitInterrupted;
  const Terminal terminal = options.terminal.terminal();
  if (options.json) {
    std::cout << optimal_json(all, request, options).dump(2) << "\n";
  } else if (request.registers.size() == 1) {
    print_machines(all, request, options, terminal, options.witness == "-" ? std::cerr : std::cout);
  } else {
    std::cout << optimal_heading(request, options, terminal) << "\n"
              << frontier_table(all, request, options, terminal);
    const std::string drawing = options.no_plot ? "" : frontier_plot(all, request, terminal);
    if (!drawing.empty()) std::cout << "\n" << drawing;
  }
  if (!options.witness.empty()) write_witness(all.front(), options.witness);
  if (!options.svg.empty()) {
    const std::string picture = frontier_svg(all, request, options);
    write_file(options.svg, [&](std::ostream& out) { out << picture; });
  }
  return interrupted ? kExitInterrupted : kExitGood;
}

}  // namespace

CommandAction add_optimal(CLI::App& app) {
  auto options = std::make_shared<OptimalOptions>();
  CLI::App& command = add_command(
      app, "optimal", "The cheapest program there is, with the proof, or bounds",
      "  flashlab optimal 2x2x2\n"
      "  flashlab optimal 2x2x2 --operands both\n"
      "  flashlab optimal 2x3x2 --registers 6 --witness best.toy\n"
      "  flashlab optimal 2x2x2 --operands both --svg frontier.svg\n"
      "  flashlab optimal softmax:2 --registers 4\n"
      "  flashlab optimal attention:2 --registers 4..8\n"
      "  flashlab optimal my.toy -D n=3            what the file computes, on its machine\n"
      "  flashlab optimal --exercise 03            what an exercise asks for\n"
      "  flashlab optimal 3x3x3 --registers 7 --most-seconds 10 --cost LOAD=10\n");
  options->add_to(command);
  return [options] { return print_optimal(*options); };
}

}  // namespace flashlab::cli
