#include "cli/optimal_text.hpp"

#include <algorithm>
#include <cstdio>

#include "cli/plot.hpp"
#include "cli/text_table.hpp"

namespace flashlab::cli {
namespace {

using optimal::Answer;
using optimal::Verdict;

std::string number(std::uint64_t value) { return grouped(std::to_string(value)); }
std::string number(std::int64_t value) { return grouped(std::to_string(value)); }

std::string count(std::int64_t value, const std::string& one) {
  return number(value) + " " + one + (value == 1 ? "" : "s");
}

std::string size(int rows, int columns) {
  return std::to_string(rows) + " x " + std::to_string(columns);
}

std::string title(const Computation& computation) {
  const auto* product = computation.product();
  if (product == nullptr) return std::get<optimal::ValueAlgebra>(computation.what).title;
  return "The product of " + size(product->rows, product->inner) + " and " +
         size(product->inner, product->columns);
}

std::string seconds_text(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", seconds);
  return text;
}

std::string operations_name(const OptimalRequest& request) {
  return request.computation.product() != nullptr ? "product" : "operation";
}

std::string bounds_words(const Answer& answer, const OptimalOptions& options) {
  const std::string least = number(answer.lower_cycles);
  if (!answer.program) return "at least " + least + " cycles, no program found, not proved";
  return "between " + least + " and " + number(answer.program->cycles) + " cycles (program " +
         (options.witness.empty() ? "below" : "written") + "), not proved";
}

std::string work_words(const Answer& answer, const OptimalOptions& options) {
  return number(answer.states) + " states reached" +
         (options.times ? " in " + seconds_text(answer.seconds) + " s" : "");
}

/// The word of a table's cell.
std::string verdict_word(Verdict verdict) {
  switch (verdict) {
    case Verdict::kOptimal:
      return "optimal";
    case Verdict::kInfeasible:
      return "impossible";
    case Verdict::kBounded:
      break;
  }
  return "not proved";
}

/// "20", "60..70", "60.." without a program, "-" where there is none.
std::string cycles_cell(const Answer& answer) {
  if (answer.verdict == Verdict::kInfeasible) return "-";
  if (answer.verdict == Verdict::kOptimal) return number(answer.lower_cycles);
  return number(answer.lower_cycles) + ".." +
         (answer.program ? number(answer.program->cycles) : "");
}

std::string loads_cell(const Answer& answer) {
  return answer.program ? number(answer.program->loads) : "-";
}

/// What the verdicts that stand in the table mean, below an empty line.
std::string legend(const std::vector<Solved>& all, const Terminal& terminal) {
  const auto any = [&](Verdict verdict) {
    return std::any_of(all.begin(), all.end(),
                       [&](const Solved& solved) { return solved.answer.verdict == verdict; });
  };
  std::string text;
  if (any(Verdict::kOptimal)) text += "optimal: it is proved that no program takes fewer cycles. ";
  if (any(Verdict::kInfeasible)) text += "impossible: it is proved that there is no program. ";
  if (any(Verdict::kBounded)) {
    text +=
        "not proved: the search ended early, and what is known is at least..at most, the latter "
        "(and the loads) of a program. ";
  }
  if (text.empty()) return text;
  text.pop_back();
  std::string lines = "\n";
  for (const std::string& line : wrap(text, terminal.width)) lines += line + "\n";
  return lines;
}

/// Those of one rule, by ascending registers.
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
  const Answer& answer = solved.answer;
  std::string text;
  if (answer.verdict == Verdict::kInfeasible) {
    text = "proved impossible with " + count(solved.registers, "register");
  } else if (answer.verdict == Verdict::kOptimal) {
    text = count(answer.lower_cycles, "cycle") + ", proved optimal";
  } else {
    text = bounds_words(answer, options);
  }
  if (answer.program) {
    text += ": " + count(answer.program->loads, "load") + ", " +
            count(answer.program->stores, "store") + ", " +
            count(answer.program->products, operations_name(request));
  }
  return text + "; " + work_words(answer, options);
}

std::string optimal_heading(const OptimalRequest& request, const OptimalOptions& options,
                            const Terminal& terminal) {
  std::string text =
      styled(request.computation.name + ": " + title(request.computation), Style::kBold, terminal) +
      "\n";
  if (request.registers.size() == 1) text += count(request.registers.front(), "register") + ", ";
  if (request.computation.product() != nullptr) {
    text += "operands ";
    for (const toy::OperandRule rule : request.rules) {
      text += (rule == request.rules.front() ? "" : " and ") + rule_name(rule);
    }
    text += options.spills ? ", partial sums may be stored" : ", only results are stored";
  } else {
    text += "only results are stored";
  }
  if (!options.costs.empty()) text += "; cycles " + printable(options.costs);
  return text + "\n";
}

std::string frontier_table(const std::vector<Solved>& all, const OptimalRequest& request,
                           const OptimalOptions& options, const Terminal& terminal) {
  std::vector<Column> columns{{"registers", Align::kRight}};
  for (const toy::OperandRule rule : request.rules) {
    const bool named = request.rules.size() > 1;
    columns.push_back({named ? rule_name(rule) + ": cycles" : "cycles", Align::kRight});
    columns.push_back({"loads", Align::kRight});
    columns.push_back({"verdict"});
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
      if (options.times) cells.push_back(seconds_text(solved.answer.seconds));
    }
    if (cells.size() > 1) table.row(std::move(cells));
  }
  return table.to_string(terminal) + legend(all, terminal);
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
  using Json = nlohmann::ordered_json;
  Json points = Json::array();
  for (const auto& [registers, rule, answer] : all) {
    Json point{{"registers", registers}};
    if (request.computation.product() != nullptr) point["operands"] = rule_name(rule);
    const bool is_proved = answer.verdict != Verdict::kBounded;
    point["verdict"] = is_proved ? verdict_word(answer.verdict) : "bounded";
    const bool feasible = answer.verdict != Verdict::kInfeasible;
    point["at_least_cycles"] = feasible ? Json(answer.lower_cycles) : Json();
    point["at_most_cycles"] = answer.program ? Json(answer.program->cycles) : Json();
    point["loads"] = answer.program ? Json(answer.program->loads) : Json();
    point["stores"] = answer.program ? Json(answer.program->stores) : Json();
    point[operations_name(request) + "s"] =
        answer.program ? Json(answer.program->products) : Json();
    point["states"] = answer.states;
    point["seconds"] = answer.seconds;
    point["bytes"] = answer.bytes;
    point["program"] = answer.program ? Json(answer.program->text) : Json();
    points.push_back(std::move(point));
  }
  return {{"computation", request.computation.name},
          {"spills", options.spills},
          {"cost", options.costs},
          {"points", std::move(points)}};
}

}  // namespace flashlab::cli
