#include "cli/optimal/along.hpp"

#include <iostream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "cli/options/options.hpp"
#include "cli/terminal/failure.hpp"
#include "cli/terminal/json.hpp"
#include "cli/terminal/text_table.hpp"
#include "optimal/solve/along.hpp"
#include "text/lists.hpp"
#include "text/visible.hpp"
#include "text/width.hpp"
#include "toymachine/execute/unrolled.hpp"

namespace flashlab::cli {
namespace {

using optimal::Along;
using optimal::AlongStep;
using optimal::Remainder;

std::string cycles_words(std::int64_t value) {
  return grouped_number(value) + (value == 1 ? " cycle" : " cycles");
}

/// The program, its machine, and the result.
struct Judged {
  LoadedProgram loaded;
  toy::BoundProgram bound;
  optimal::AlongMachine machine;
  Along along;
};

std::uint32_t source_line(const Judged& judged, const AlongStep& step) {
  return judged.bound.instructions[step.site].span.line;
}

/// Returns "LOAD x[i], R0", without a comment.
std::string instruction_text(const Judged& judged, const AlongStep& step) {
  const std::string_view line = judged.loaded.source->line(source_line(judged, step));
  return printable(trimmed(line.substr(0, line.find(';'))));
}

/// Returns "i = 1, j = 0"; empty outside of loops.
std::string loops_text(const Judged& judged, std::size_t index) {
  const std::uint32_t site = judged.along.steps[index].site;
  const std::uint32_t loop = judged.bound.instructions[site].loop;
  if (loop == toy::kNoLoop) return {};
  return judged.bound.loops_text(loop, toy::loop_values_at(judged.bound, index).data());
}

Judged judge(const OptimalRequest& request, const OptimalOptions& options,
             const std::atomic<bool>& cancel) {
  Judged judged;
  judged.loaded = load_program(options.along, toy::Limits{});
  toy::CapacityBinding binding;
  binding.params = request.params;
  judged.machine.operand_rule = judged.loaded.program->operand_rule;
  if (!options.registers.empty()) binding.registers = request.registers.front();
  if (!options.operands.empty()) {
    binding.operand_rule = judged.machine.operand_rule = request.rules.front();
  }
  judged.bound = judged.loaded.bind(binding);
  if (judged.bound.num_registers < 1 || judged.bound.num_registers > kMostProductRegisters) {
    throw request_failure(
        options.along + " is for " + std::to_string(judged.bound.num_registers) + " registers",
        "1 to " + std::to_string(kMostProductRegisters) + ": .registers, or --registers");
  }
  judged.machine.registers = static_cast<int>(judged.bound.num_registers);
  judged.machine.allow_spills = options.spills;
  judged.machine.costs = request.costs;
  optimal::SolveLimits limits;
  limits.max_bytes = request.most_bytes;
  limits.max_seconds = options.most_seconds;
  limits.cancel = &cancel;
  try {
    judged.along = value_or_fail(
        optimal::judge_along(request.computation, judged.machine, judged.bound, limits),
        *judged.loaded.source);
  } catch (const std::invalid_argument& error) {
    throw request_failure(request.computation.name + ": " + error.what());
  }
  return judged;
}

/// Returns "7", ">= 5" if the search did not end, "-" if no program exists.
std::string remainder_cell(const Remainder& remainder, std::int64_t so_far) {
  if (!remainder.is_possible) return "-";
  return (remainder.is_proved ? "" : ">= ") + grouped_number(so_far + remainder.cycles);
}

std::string steps_table(const Judged& judged, const Terminal& terminal) {
  TextTable table({{"step", Align::kRight},
                   {"line", Align::kRight},
                   {"instruction"},
                   {"cycles", Align::kRight},
                   {"to go", Align::kRight},
                   {"total", Align::kRight},
                   {"", Align::kRight}});
  table.row({"0", "", "", "0", remainder_cell(judged.along.optimum, 0),
             remainder_cell(judged.along.optimum, 0), ""});
  for (std::size_t i = 0; i < judged.along.steps.size(); ++i) {
    const AlongStep& step = judged.along.steps[i];
    const std::string loops = loops_text(judged, i);
    table.row({std::to_string(i + 1), std::to_string(source_line(judged, step)),
               instruction_text(judged, step) + (loops.empty() ? "" : "  (" + loops + ")"),
               grouped_number(step.cycles), remainder_cell(step.remaining, 0),
               remainder_cell(step.remaining, step.cycles),
               step.lost_cycles == 0 ? "" : "+" + grouped_number(step.lost_cycles)});
  }
  return table.to_string(terminal);
}

std::string place(const Judged& judged, std::size_t index) {
  const std::string loops = loops_text(judged, index);
  return "step " + std::to_string(index + 1) + " (line " +
         std::to_string(source_line(judged, judged.along.steps[index])) +
         (loops.empty() ? "" : ", " + loops) + ")";
}

/// Returns one sentence for each step that increases the total.
std::vector<std::string> loss_sentences(const Judged& judged) {
  std::vector<std::string> result;
  for (std::size_t i = 0; i < judged.along.steps.size(); ++i) {
    const AlongStep& step = judged.along.steps[i];
    const std::string what = place(judged, i) + ", " + instruction_text(judged, step);
    if (step.lost_cycles != 0) {
      result.push_back("Lost in " + what + ": " + cycles_words(step.lost_cycles) +
                       ". No program that goes on from there takes less than " +
                       grouped_number(*step.total()) + ".");
    } else if (step.is_outside) {
      result.push_back("The total falls in " + what +
                       ": the proofs are about programs without such a step.");
    }
  }
  return result;
}

/// Says up to which step the optimum could be reached.
std::string reach_sentence(const Judged& judged) {
  const Along& along = judged.along;
  const Remainder& optimum = along.optimum;
  if (!optimum.is_possible) {
    return "It is proved that this machine has no program for the computation.";
  }
  if (!optimum.is_proved) {
    return "Not proved: every program takes at least " + cycles_words(optimum.cycles) +
           ", and the searches ended early (--most-seconds, --most-bytes).";
  }
  const std::string best = "the optimum, " + cycles_words(optimum.cycles) + ",";
  const auto reach = along.still_optimal();
  if (!reach) {
    return "The optimum is " + cycles_words(optimum.cycles) +
           "; how far it could still be reached is not proved: searches ended early.";
  }
  if (*reach == along.steps.size()) {
    if (along.is_finished) return "The program takes " + best + " and is optimal.";
    return "At every step so far " + best + " could still be reached.";
  }
  if (*reach == 0) return "With its first step the program loses " + best + " of this machine.";
  return "The last step from which " + best + " could still be reached is " +
         place(judged, *reach - 1) + ".";
}

/// Describes the program's total at its end.
std::string end_sentence(const Judged& judged) {
  const Along& along = judged.along;
  const std::int64_t cycles = along.steps.empty() ? 0 : along.steps.back().cycles;
  const Remainder& rest = along.steps.empty() ? along.optimum : along.steps.back().remaining;
  const std::string took = cycles_words(cycles);
  if (along.is_finished) {
    const bool is_above = along.optimum.is_proved && cycles > along.optimum.cycles;
    if (!is_above) return {};
    return "The program takes " + took + ", " + grouped_number(cycles - along.optimum.cycles) +
           " above the optimum.";
  }
  if (!rest.is_possible) return {};
  return "The program ends after " + took + " without all results: the cheapest completion takes " +
         (rest.is_proved ? "" : "at least ") + grouped_number(rest.cycles) + " more, " +
         grouped_number(cycles + rest.cycles) + " in all.";
}

std::vector<std::string> along_sentences(const Judged& judged) {
  std::vector<std::string> result = loss_sentences(judged);
  for (std::string sentence : {reach_sentence(judged), end_sentence(judged)}) {
    if (!sentence.empty()) result.push_back(std::move(sentence));
  }
  return result;
}

std::string heading(const Judged& judged, const OptimalRequest& request,
                    const OptimalOptions& options, const Terminal& terminal) {
  const bool is_product = request.computation.product() != nullptr;
  std::string text =
      styled(printable(options.along) + " as " + request.computation.name, Style::kBold, terminal) +
      "\n" + std::to_string(judged.machine.registers) +
      (judged.machine.registers == 1 ? " register" : " registers");
  if (is_product) text += ", operands " + rule_name(judged.machine.operand_rule);
  text += options.spills ? ", partial sums may be stored" : ", only results are stored";
  if (!options.costs.empty()) text += "; cycles " + printable(options.costs);
  return text + "\n";
}

void add_remainder(Json& json, const Remainder& remainder, std::int64_t so_far) {
  const auto cycles = [&](std::int64_t more) {
    return remainder.is_possible ? Json(more + remainder.cycles) : Json();
  };
  json["remaining_cycles"] = cycles(0);
  json["total_cycles"] = cycles(so_far);
  json["is_proved"] = remainder.is_proved;
}

Json json_of(const Judged& judged, const OptimalRequest& request, const OptimalOptions& options) {
  Json steps = Json::array();
  for (std::size_t i = 0; i < judged.along.steps.size(); ++i) {
    const AlongStep& step = judged.along.steps[i];
    Json json{{"step", i + 1},
              {"line", source_line(judged, step)},
              {"instruction", instruction_text(judged, step)},
              {"loops", loops_text(judged, i)},
              {"cycles", step.cycles}};
    add_remainder(json, step.remaining, step.cycles);
    json["lost_cycles"] = step.lost_cycles;
    json["is_outside"] = step.is_outside;
    steps.push_back(std::move(json));
  }
  const auto reach = judged.along.still_optimal();
  Json result{{"format", "flashlab-optimal-along"},
              {"version", 1},
              {"computation", request.computation.name},
              {"program", options.along},
              {"registers", judged.machine.registers},
              {"operands", rule_name(judged.machine.operand_rule)},
              {"spills", options.spills},
              {"cost", options.costs}};
  add_remainder(result, judged.along.optimum, 0);
  result["is_finished"] = judged.along.is_finished;
  result["optimum_reachable_through_step"] = reach ? Json(*reach) : Json();
  result["says"] = along_sentences(judged);
  result["steps"] = std::move(steps);
  return result;
}

}  // namespace

Json along_json(const OptimalRequest& request, const OptimalOptions& options,
                const std::atomic<bool>& cancel) {
  return json_of(judge(request, options, cancel), request, options);
}

void print_along(const OptimalRequest& request, const OptimalOptions& options,
                 const Terminal& terminal, const std::atomic<bool>& cancel) {
  if (options.json) {
    std::cout << along_json(request, options, cancel).dump(2) << "\n";
    return;
  }
  const Judged judged = judge(request, options, cancel);
  std::cout << heading(judged, request, options, terminal) << "\n"
            << steps_table(judged, terminal) << "\n";
  for (const std::string& sentence : along_sentences(judged)) {
    for (const std::string& line : wrap(sentence, terminal.width)) std::cout << line << "\n";
  }
}

}  // namespace flashlab::cli
