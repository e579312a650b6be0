#include "cli/exercises/red_team_report.hpp"

#include <unistd.h>

#include <array>
#include <iostream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "cli/terminal/failure.hpp"
#include "cli/terminal/json.hpp"
#include "cli/terminal/text_table.hpp"
#include "text/numbers.hpp"
#include "text/visible.hpp"

namespace flashlab::cli {
namespace {

using exercises::FamilyCounts;
using exercises::Gain;
using exercises::RedTeamOptions;
using exercises::RedTeamReport;
using exercises::StrategyFamily;

constexpr std::size_t kMostShown = 4;  // gains of an exercise and family

void add_counts(FamilyCounts& sum, const FamilyCounts& counts) {
  sum.strategies += counts.strategies;
  sum.wrong += counts.wrong;
  sum.refused += counts.refused;
  sum.costly += counts.costly;
  sum.equal += counts.equal;
  sum.gains += counts.gains;
}

FamilyCounts counts_of_families(const RedTeamReport& report) {
  FamilyCounts sum;
  for (const FamilyCounts& counts : report.families) add_counts(sum, counts);
  return sum;
}

TextTable table_of_counts(const char* first) {
  return TextTable({{first},
                    {"tried", Align::kRight},
                    {"wrong", Align::kRight},
                    {"refused", Align::kRight},
                    {"costly", Align::kRight},
                    {"equal", Align::kRight},
                    {"gain", Align::kRight}});
}

std::vector<std::string> count_cells(const std::string& name, const FamilyCounts& counts) {
  std::vector<std::string> row{name};
  for (const std::size_t count : {counts.strategies, counts.wrong, counts.refused, counts.costly,
                                  counts.equal, counts.gains}) {
    row.push_back(std::to_string(count));
  }
  return row;
}

std::string attacked_exercises(const std::vector<RedTeamReport>& reports,
                               const Terminal& terminal) {
  TextTable table = table_of_counts("exercise");
  FamilyCounts total;
  for (const RedTeamReport& report : reports) {
    if (report.strategies() == 0) continue;
    table.row(count_cells(printable(report.exercise), counts_of_families(report)));
    add_counts(total, counts_of_families(report));
  }
  table.rule();
  table.row(count_cells("all", total));
  return table.to_string(terminal);
}

std::string attacking_families(const std::vector<RedTeamReport>& reports,
                               const Terminal& terminal) {
  TextTable table = table_of_counts("family");
  for (std::size_t f = 0; f < exercises::kNumStrategyFamilies; ++f) {
    FamilyCounts sum;
    for (const RedTeamReport& report : reports) add_counts(sum, report.families[f]);
    table.row(count_cells(std::string(to_string(static_cast<StrategyFamily>(f))), sum));
  }
  return table.to_string(terminal);
}

std::string gain_text(const RedTeamReport& report, const Gain& gain, std::size_t seeds) {
  return "  " + printable(report.exercise) + ", " + std::string(to_string(gain.family)) + ": " +
         printable(gain.name) + "\n    " + short_text(gain.points, 3) + " points with seed " +
         std::to_string(gain.seed) + ", and with " + std::to_string(gain.seeds) + " of " +
         std::to_string(seeds) + " seeds; " + printable(gain.why) + "\n";
}

}  // namespace

std::string red_team_text(const std::vector<RedTeamReport>& reports, const RedTeamOptions& options,
                          const Terminal& terminal) {
  std::string text =
      attacked_exercises(reports, terminal) + "\n" + attacking_families(reports, terminal);
  text += counted(options.seeds, "seed") + ", the first " + std::to_string(options.first_seed) +
          "; what is not a gain is shown as the first seed judged it\n";
  std::string gains, excused;
  for (const RedTeamReport& report : reports) {
    std::array<std::size_t, exercises::kNumStrategyFamilies> shown{};
    for (const Gain& gain : report.gains) {
      const auto family = static_cast<std::size_t>(gain.family);
      if (++shown[family] <= kMostShown) gains += gain_text(report, gain, options.seeds);
    }
    for (std::size_t f = 0; f < shown.size(); ++f) {
      if (shown[f] <= kMostShown) continue;
      gains += "  " + printable(report.exercise) + ", " +
               std::string(to_string(static_cast<StrategyFamily>(f))) + ": " +
               std::to_string(shown[f] - kMostShown) + " more (--json has all)\n";
    }
    for (std::size_t f = 0; f < exercises::kNumStrategyFamilies; ++f) {
      const FamilyCounts& counts = report.families[f];
      if (counts.gains == 0 || counts.excused.empty()) continue;
      excused += "  " + printable(report.exercise) + ", " +
                 std::string(to_string(static_cast<StrategyFamily>(f))) + " (" +
                 std::to_string(counts.gains) + "): " + printable(counts.excused) + "\n";
    }
  }
  if (!gains.empty()) text += "\nGains: points without the idea of the exercise\n" + gains;
  if (!excused.empty()) text += "\nExcused by exercise.toml\n" + excused;
  return text;
}

std::string red_team_json(const std::vector<RedTeamReport>& reports,
                          const RedTeamOptions& options) {
  Json list = Json::array();
  for (const RedTeamReport& report : reports) {
    if (report.strategies() == 0) continue;
    Json entry{{"exercise", printable(report.exercise)}, {"strategies", report.strategies()}};
    for (std::size_t f = 0; f < exercises::kNumStrategyFamilies; ++f) {
      const FamilyCounts& counts = report.families[f];
      Json family{{"strategies", counts.strategies}, {"wrong", counts.wrong},
                  {"refused", counts.refused},       {"costly", counts.costly},
                  {"equal", counts.equal},           {"gains", counts.gains}};
      if (!counts.excused.empty()) family["excused"] = printable(counts.excused);
      entry["families"][std::string(to_string(static_cast<StrategyFamily>(f)))] = std::move(family);
    }
    entry["gains"] = Json::array();
    for (const Gain& gain : report.gains) {
      entry["gains"].push_back({{"family", to_string(gain.family)},
                                {"name", printable(gain.name)},
                                {"seed", gain.seed},
                                {"seeds", gain.seeds},
                                {"points", gain.points},
                                {"why", printable(gain.why)},
                                {"program", gain.text}});
    }
    list.push_back(std::move(entry));
  }
  return Json{{"version", 1},
              {"first_seed", options.first_seed},
              {"seeds", options.seeds},
              {"every", options.every},
              {"exercises", std::move(list)}}
             .dump(2) +
         "\n";
}

int report_red_team(const std::vector<std::shared_ptr<const exercises::Exercise>>& all,
                    RedTeamOptions options, bool json, const Terminal& terminal) {
  std::vector<RedTeamReport> reports;
  const bool shows_progress = ::isatty(STDERR_FILENO) != 0;
  std::size_t gains = 0;
  for (const auto& exercise : all) {
    if (shows_progress) {
      options.progress = [&](std::size_t done, std::size_t count) {
        if (done % 50 != 0 && done != count) return;
        std::cerr << "\r" << printable(exercise->id) << ": " << done << " of " << count
                  << (done == count ? " gradings\n" : " gradings") << std::flush;
      };
    }
    try {
      reports.push_back(attack(exercise, options));
    } catch (const std::runtime_error& error) {
      throw Failure(kExitProgramWrong,
                    "flashlab: error: " + printable(exercise->id) + ": " + error.what() + "\n");
    }
    gains += reports.back().gains.size();
  }
  std::cout << (json ? red_team_json(reports, options) : red_team_text(reports, options, terminal));
  return gains == 0 ? kExitGood : kExitProgramWrong;
}

}  // namespace flashlab::cli
