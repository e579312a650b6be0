// `flashlab optimal`: the cheapest program for a small computation, and the proof that it is.
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <iostream>
#include <memory>
#include <stdexcept>

#include "cli/commands.hpp"
#include "cli/failure.hpp"
#include "cli/files.hpp"
#include "cli/optimal_options.hpp"
#include "cli/optimal_text.hpp"
#include "cli/plot.hpp"

namespace flashlab::cli {
namespace {

std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal's handler sets it");

void on_interrupt(int) { interrupted = true; }

/// While it lives, the first Ctrl-C ends the search with what is known so far; a second one ends
/// the command.
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

/// One line on standard error, written anew each time where that is a terminal.
class ProgressLine {
 public:
  explicit ProgressLine(std::string machine) : machine_(std::move(machine)) {}
  ~ProgressLine() {
    if (is_terminal_ && is_shown_) std::cerr << "\r\x1b[K";
  }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(const optimal::Progress& progress) {
    const std::string most = progress.upper_cycles ? std::to_string(*progress.upper_cycles) : "?";
    std::cerr << (is_terminal_ ? "\r\x1b[K" : "") << machine_ << ": "
              << short_number(static_cast<double>(progress.states)) << " states, "
              << short_number(progress.states_per_s) << "/s, between " << progress.lower_cycles
              << " and " << most << " cycles" << (is_terminal_ ? "" : "\n") << std::flush;
    is_shown_ = true;
  }

 private:
  std::string machine_;
  bool is_terminal_ = isatty(STDERR_FILENO) != 0, is_shown_ = false;
};

Solved solve_one(const OptimalRequest& request, const OptimalOptions& options, int registers,
                 toy::OperandRule rule) {
  const bool is_product = request.computation.product() != nullptr;
  ProgressLine line("flashlab: " + std::to_string(registers) + " registers" +
                    (is_product ? ", operands " + rule_name(rule) : ""));
  optimal::SolveLimits limits;
  limits.max_bytes = request.most_bytes;
  limits.max_seconds = options.most_seconds;
  limits.cancel = &interrupted;
  limits.progress = [&](const optimal::Progress& progress) { line.show(progress); };
  try {
    if (const auto* product = request.computation.product()) {
      return {
          registers, rule,
          optimal::solve(*product,
                         {registers, rule, options.spills, optimal::product_costs(request.costs)},
                         limits)};
    }
    return {registers, rule,
            optimal::solve(std::get<optimal::ValueAlgebra>(request.computation.what), registers,
                           request.costs, limits)};
  } catch (const std::invalid_argument& error) {
    throw request_failure(request.computation.name + ": " + error.what());
  }
}

/// By registers, and then by rule; fewer when the user interrupts.
std::vector<Solved> solve_all(const OptimalRequest& request, const OptimalOptions& options) {
  const EndedByInterrupt guard;
  std::vector<Solved> all;
  for (const int registers : request.registers) {
    for (const toy::OperandRule rule : request.rules) {
      if (!interrupted) all.push_back(solve_one(request, options, registers, rule));
    }
  }
  return all;
}

void write_witness(const Solved& solved, const std::string& path) {
  if (!solved.answer.program) throw request_failure("--witness: there is no program to write");
  write_file(path, [&](std::ostream& out) { out << solved.answer.program->text; });
}

/// A paragraph for each rule, and the programs.
void print_machines(const std::vector<Solved>& all, const OptimalRequest& request,
                    const OptimalOptions& options, const Terminal& terminal, std::ostream& out) {
  out << optimal_heading(request, options, terminal);
  for (const Solved& solved : all) {
    const std::string rule = request.rules.size() > 1 ? rule_name(solved.rule) + ": " : "";
    out << "\n";
    for (const std::string& line :
         wrap(rule + verdict_sentence(solved, request, options) + ".", terminal.width)) {
      out << line << "\n";
    }
    if (solved.answer.program && options.witness.empty()) {
      out << "\n" << solved.answer.program->text;
    }
  }
}

int print_optimal(const OptimalOptions& options) {
  const OptimalRequest request = understand(options);
  const std::vector<Solved> all = solve_all(request, options);
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
  return interrupted ? kExitInterrupted : kExitGood;
}

}  // namespace

CommandAction add_optimal(CLI::App& app) {
  auto options = std::make_shared<OptimalOptions>();
  CLI::App& command =
      add_command(app, "optimal", "The cheapest program there is, with the proof, or bounds",
                  "  flashlab optimal 2x2x2\n"
                  "  flashlab optimal 2x2x2 --operands both\n"
                  "  flashlab optimal 2x3x2 --registers 6 --witness best.toy\n"
                  "  flashlab optimal softmax:2 --registers 4\n"
                  "  flashlab optimal 3x3x3 --registers 7 --most-seconds 10 --cost LOAD=10\n");
  options->add_to(command);
  return [options] { return print_optimal(*options); };
}

}  // namespace flashlab::cli
