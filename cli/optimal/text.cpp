#include "cli/optimal/text.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/terminal/json.hpp"
#include "cli/terminal/plot.hpp"
#include "cli/terminal/text_table.hpp"
#include "text/numbers.hpp"
#include "text/visible.hpp"
#include "text/width.hpp"

namespace flashlab::cli {
namespace {

std::string counted_grouped(std::int64_t value, const std::string& one) {
  return grouped_number(value) + " " + one + (value == 1 ? "" : "s");
}

std::string operations_name(const OptimalRequest& request) {
  return request.computation.product() != nullptr ? "product" : "operation";
}

std::string bounds_words(const optimal::Answer& answer, const OptimalOptions& options) {
  const std::string least = grouped_number(answer.lower_cycles);
  if (!answer.program) return "at least " + least + " cycles, no program found, not proved";
  return "between " + least + " and " + grouped_number(answer.program->cycles) +
         " cycles (program " + (options.witness.empty() ? "below" : "written") + "), not proved";
}

std::string work_words(const optimal::Answer& answer, const OptimalOptions& options) {
  return grouped_number(answer.states) + " states reached" +
         (options.times ? " in " + fixed_text(answer.seconds, 3) + " s" : "");
}

/// The word in a cell of the table.
std::string verdict_word(optimal::Verdict verdict) {
  switch (verdict) {
    case optimal::Verdict::kOptimal:
      return "optimal";
    case optimal::Verdict::kInfeasible:
      return "impossible";
    case optimal::Verdict::kBounded:
      break;
  }
  return "not proved";
}

/// "20", "60..70", "60.." without a program, "-" if none exists.
std::string cycles_cell(const optimal::Answer& answer) {
  if (answer.verdict == optimal::Verdict::kInfeasible) return "-";
  if (answer.verdict == optimal::Verdict::kOptimal) return grouped_number(answer.lower_cycles);
  return grouped_number(answer.lower_cycles) + ".." +
         (answer.program ? grouped_number(answer.program->cycles) : "");
}

std::string loads_cell(const optimal::Answer& answer) {
  return answer.program ? grouped_number(answer.program->loads) : "-";
}

/// The command that repeats the request.
std::string command_text(const OptimalRequest& request, const OptimalOptions& options) {
  std::string text = "flashlab optimal " + request.computation.name + " --registers ";
  for (const int registers : request.registers) {
    text += (registers == request.registers.front() ? "" : ",") + std::to_string(registers);
  }
  if (request.computation.product() != nullptr) {
    text += " --operands " +
            (request.rules.size() > 1 ? std::string("both") : rule_name(request.rules.front()));
  }
  if (options.spills) text += " --spills";
  if (options.scratch) text += " --scratch " + std::to_string(*options.scratch);
  if (options.count) text += " --count";
  if (!options.costs.empty()) text += " --cost " + options.costs;
  return text + " --most-seconds " + short_number(options.most_seconds) + " --json";
}

/// "2 304", or "4.466e31" for long numbers; --json has all digits.
std::string programs_count_text(const mpz_class& count) {
  const std::string digits = count.get_str();
  if (digits.size() <= 15) return grouped(digits);
  return digits.substr(0, 1) + "." + digits.substr(1, 3) + "e" + std::to_string(digits.size() - 1);
}

/// "2 304", "?" if counting reached a limit, "-" if nothing is proved or no program exists.
std::string count_cell(const Solved& solved) {
  if (solved.answer.verdict != optimal::Verdict::kOptimal) return "-";
  return solved.count ? programs_count_text(solved.count->programs) : "?";
}

/// "; 2 304 optimal programs, 36 up to symmetry".
std::string count_words(const Solved& solved, const OptimalOptions& options) {
  if (!options.count || solved.answer.verdict != optimal::Verdict::kOptimal) return {};
  if (!solved.count) return "; the optimal programs are too many to count within the limits";
  const auto& [programs, symmetries, up_to_symmetry, states, seconds] = *solved.count;
  const std::string all = programs == 1 ? " optimal program" : " optimal programs";
  const std::string rest =
      symmetries == 1 ? "" : ", " + programs_count_text(up_to_symmetry) + " up to symmetry";
  return "; " + programs_count_text(programs) + all + rest;
}

/// What may be stored besides results, and where.
std::string stores_text(const OptimalRequest& request) {
  if (request.scratch_cells == 0) return "only results are stored";
  if (request.scratch_in_outputs) return "cells of results may hold other values first";
  return counted_grouped(request.scratch_cells, "cell") + " of DRAM for values in between";
}

/// Explains the verdicts that occur in the table, after an empty line.
std::string verdicts_legend(const std::vector<Solved>& all, const OptimalOptions& options,
                            const Terminal& terminal) {
  const auto any = [&](optimal::Verdict verdict) {
    return std::any_of(all.begin(), all.end(),
                       [&](const Solved& solved) { return solved.answer.verdict == verdict; });
  };
  std::string text;
  if (any(optimal::Verdict::kOptimal))
    text += "optimal: it is proved that no program takes fewer cycles. ";
  if (any(optimal::Verdict::kInfeasible))
    text += "impossible: it is proved that there is no program. ";
  if (any(optimal::Verdict::kBounded)) {
    text +=
        "not proved: the search ended early, and the table shows at least..at most. A program is "
        "known for the upper bound and the loads. ";
  }
  if (options.count && any(optimal::Verdict::kOptimal)) {
    text += "programs: how many optimal ones differ in more than the names of registers. ";
    const auto is_uncounted = [](const Solved& solved) { return count_cell(solved) == "?"; };
    if (std::any_of(all.begin(), all.end(), is_uncounted)) {
      text += "?: too many to count within the limits. ";
    }
  }
  if (text.empty()) return text;
  text.pop_back();
  std::string lines = "\n";
  for (const std::string& line : wrap(text, terminal.width)) lines += line + "\n";
  return lines;
}

/// The results of one rule, by ascending registers.
std::vector<const Solved*> of_rule(const std::vector<Solved>& all, toy::OperandRule rule) {
  std::vector<const Solved*> result;
  for (const Solved& solved : all) {
    if (solved.rule == rule) result.push_back(&solved);
  }
  return result;
}

}  // namespace

std::string verdict_sentence(const Solved& solved, const OptimalRequest& request,
                             const OptimalOptions& options) {
  const optimal::Answer& answer = solved.answer;
  std::string text;
  if (answer.verdict == optimal::Verdict::kInfeasible) {
    text = "proved impossible with " + counted_grouped(solved.registers, "register");
  } else if (answer.verdict == optimal::Verdict::kOptimal) {
    text = counted_grouped(answer.lower_cycles, "cycle") + ", proved optimal";
  } else {
    text = bounds_words(answer, options);
  }
  if (answer.program) {
    text += ": " + counted_grouped(answer.program->loads, "load") + ", " +
            counted_grouped(answer.program->stores, "store") + ", " +
            counted_grouped(answer.program->products, operations_name(request));
  }
  return text + count_words(solved, options) + "; " + work_words(answer, options);
}

std::string program_sentence(const Solved& solved, const OptimalRequest& request) {
  if (!request.program_cycles || solved.answer.verdict == optimal::Verdict::kInfeasible) return {};
  const toy::Count own = *request.program_cycles;
  const toy::Count more = own - toy::Count(static_cast<long>(solved.answer.lower_cycles));
  std::string text = "The program itself takes " + grouped(own.get_str()) + " cycles";
  if (solved.answer.verdict == optimal::Verdict::kOptimal) {
    text += more == 0  ? ": it is optimal"
            : more < 0 ? ", on another machine"
                       : ", " + grouped(more.get_str()) + " more than the best";
  }
  return text + ".";
}

std::string optimal_heading(const OptimalRequest& request, const OptimalOptions& options,
                            const Terminal& terminal) {
  std::string text =
      styled(request.computation.name + ": " + request.computation.title, Style::kBold, terminal) +
      "\n";
  if (request.registers.size() == 1)
    text += counted_grouped(request.registers.front(), "register") + ", ";
  if (request.computation.product() != nullptr) {
    text += "operands ";
    for (const toy::OperandRule rule : request.rules) {
      text += (rule == request.rules.front() ? "" : " and ") + rule_name(rule);
    }
    text += options.spills ? ", partial sums may be stored" : ", only results are stored";
  } else {
    text += stores_text(request);
  }
  if (request.most_loads) {
    text += ", at most " + counted_grouped(std::int64_t{*request.most_loads}, "load");
  }
  if (!options.costs.empty()) text += "; cycles " + printable(options.costs);
  text += "\n";
  if (!request.says_allowed) return text;
  for (const std::string& line :
       wrap("The proof is about programs in which " + request.computation.allowed + ".",
            terminal.width)) {
    text += line + "\n";
  }
  return text;
}

std::string frontier_table(const std::vector<Solved>& all, const OptimalRequest& request,
                           const OptimalOptions& options, const Terminal& terminal) {
  std::vector<Column> columns{{"registers", Align::kRight}};
  for (const toy::OperandRule rule : request.rules) {
    const bool named = request.rules.size() > 1;
    columns.push_back({named ? rule_name(rule) + ": cycles" : "cycles", Align::kRight});
    columns.push_back({"loads", Align::kRight});
    columns.push_back({"verdict"});
    if (options.count) columns.push_back({"programs", Align::kRight});
    if (options.times) columns.push_back({"seconds", Align::kRight});
  }
  TextTable table(std::move(columns));
  for (const int registers : request.registers) {
    std::vector<std::string> cells{std::to_string(registers)};
    for (const Solved& solved : all) {
      if (solved.registers != registers) continue;
      cells.push_back(cycles_cell(solved.answer));
      cells.push_back(loads_cell(solved.answer));
      cells.push_back(verdict_word(solved.answer.verdict));
      if (options.count) cells.push_back(count_cell(solved));
      if (options.times) cells.push_back(fixed_text(solved.answer.seconds, 3));
    }
    if (cells.size() > 1) table.row(std::move(cells));
  }
  return table.to_string(terminal) + verdicts_legend(all, options, terminal);
}

std::string frontier_plot(const std::vector<Solved>& all, const OptimalRequest& request,
                          const Terminal& terminal) {
  std::vector<Series> series;
  std::size_t most_points = 0;
  for (const toy::OperandRule rule : request.rules) {
    Series line{request.rules.size() > 1 ? rule_name(rule) : "cycles", {}};
    for (const Solved* solved : of_rule(all, rule)) {
      if (!solved->answer.program) continue;
      line.points.emplace_back(solved->registers,
                               static_cast<double>(solved->answer.program->cycles));
    }
    most_points = std::max(most_points, line.points.size());
    series.push_back(std::move(line));
  }
  if (most_points < 2) return {};
  PlotOptions options;
  options.x_label = "registers";
  return "cycles\n" + plot(series, options, terminal);
}

nlohmann::ordered_json optimal_json(const std::vector<Solved>& all, const OptimalRequest& request,
                                    const OptimalOptions& options) {
  Json points = Json::array();
  for (const auto& [registers, rule, answer, count] : all) {
    Json point{{"registers", registers}};
    if (request.computation.product() != nullptr) point["operands"] = rule_name(rule);
    const bool is_proved = answer.verdict != optimal::Verdict::kBounded;
    point["verdict"] = is_proved ? verdict_word(answer.verdict) : "bounded";
    const bool feasible = answer.verdict != optimal::Verdict::kInfeasible;
    point["at_least_cycles"] = feasible ? Json(answer.lower_cycles) : Json();
    point["at_most_cycles"] = answer.program ? Json(answer.program->cycles) : Json();
    point["loads"] = answer.program ? Json(answer.program->loads) : Json();
    point["stores"] = answer.program ? Json(answer.program->stores) : Json();
    point[operations_name(request) + "s"] =
        answer.program ? Json(answer.program->products) : Json();
    if (options.count) {  // as strings of digits: they may exceed a double
      point["optimal_programs"] = count ? Json(count->programs.get_str()) : Json();
      point["optimal_programs_up_to_symmetry"] =
          count ? Json(count->up_to_symmetry.get_str()) : Json();
    }
    point["states"] = answer.states;
    point["seconds"] = answer.seconds;
    point["bytes"] = answer.bytes;
    point["program"] = answer.program ? Json(answer.program->text) : Json();
    points.push_back(std::move(point));
  }
  return {{"format", "flashlab-optimal"},
          {"version", 1},
          {"command", command_text(request, options)},
          {"computation", request.computation.name},
          {"spills", options.spills},
          {"scratch_cells", request.scratch_cells},
          {"scratch_in_outputs", request.scratch_in_outputs},
          {"cost", options.costs},
          {"program_cycles", request.program_cycles && request.program_cycles->fits_slong_p()
                                 ? Json(request.program_cycles->get_si())
                                 : Json()},
          {"points", std::move(points)}};
}

}  // namespace flashlab::cli
