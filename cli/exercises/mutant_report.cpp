#include "cli/exercises/mutant_report.hpp"

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

using exercises::EditKind;
using exercises::Fate;
using exercises::Mutant;
using exercises::MutantReport;

struct Counts {
  std::size_t mutants = 0, named = 0;
  std::array<std::size_t, exercises::kNumFates> fates{};

  void add(const Mutant& mutant) {
    ++mutants;
    ++fates[static_cast<std::size_t>(mutant.fate)];
    named += mutant.named_right ? 1 : 0;
  }
  std::size_t of(Fate fate) const { return fates[static_cast<std::size_t>(fate)]; }
};

Counts counts_of(const MutantReport& report) {
  Counts counts;
  for (const Mutant& mutant : report.mutants) counts.add(mutant);
  return counts;
}

std::string share(std::size_t part, std::size_t whole) {
  if (whole == 0) return "";
  return fixed_text(100 * static_cast<double>(part) / static_cast<double>(whole), 1) + " %";
}

std::vector<std::string> cells(const std::string& name, const Counts& counts) {
  const std::size_t equal =
      counts.of(Fate::kSameFloats) + counts.of(Fate::kSameForms) + counts.of(Fate::kExplained);
  return {name,
          std::to_string(counts.mutants),
          std::to_string(counts.of(Fate::kRejected)),
          std::to_string(equal),
          std::to_string(counts.of(Fate::kCostlier) + counts.of(Fate::kSurvivor)),
          share(counts.named, counts.of(Fate::kRejected))};
}

/// The number of equal mutants by kind of proof.
std::string proofs_text(const std::vector<MutantReport>& reports) {
  Counts total;
  for (const MutantReport& report : reports) {
    for (const Mutant& mutant : report.mutants) total.add(mutant);
  }
  return "equal: " + std::to_string(total.of(Fate::kSameFloats)) + " by the same floats, " +
         std::to_string(total.of(Fate::kSameForms)) + " by the same formulas, " +
         std::to_string(total.of(Fate::kExplained)) + " explained in exercise.toml\n";
}

std::string exercises_table(const std::vector<MutantReport>& reports, const Terminal& terminal) {
  TextTable table({{"exercise"},
                   {"mutants", Align::kRight},
                   {"rejected", Align::kRight},
                   {"equal", Align::kRight},
                   {"neither", Align::kRight},
                   {"line named", Align::kRight}});
  Counts total;
  for (const MutantReport& report : reports) {
    if (report.mutants.empty()) continue;
    table.row(cells(printable(report.exercise), counts_of(report)));
    for (const Mutant& mutant : report.mutants) total.add(mutant);
  }
  table.rule();
  table.row(cells("all", total));
  return table.to_string(terminal);
}

std::string kinds_table(const std::vector<MutantReport>& reports, const Terminal& terminal) {
  std::array<Counts, exercises::kNumEditKinds> kinds;
  for (const MutantReport& report : reports) {
    for (const Mutant& mutant : report.mutants) {
      kinds[static_cast<std::size_t>(mutant.edit.kind)].add(mutant);
    }
  }
  TextTable table({{"edit"}, {"rejected", Align::kRight}, {"line named", Align::kRight}});
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const std::size_t rejected = kinds[i].of(Fate::kRejected);
    if (rejected == 0) continue;
    table.row({std::string(to_string(static_cast<EditKind>(i))), std::to_string(rejected),
               share(kinds[i].named, rejected)});
  }
  return table.to_string(terminal);
}

/// "13_attention_update, line 21: 1 instead of 0 as expr".
std::string accepted_list(const std::vector<MutantReport>& reports, Fate fate,
                          const std::string& title) {
  std::string text;
  for (const MutantReport& report : reports) {
    for (const Mutant& mutant : report.mutants) {
      if (mutant.fate != fate) continue;
      text += "  " + printable(report.exercise) + ", line " + std::to_string(mutant.edit.line) +
              ": " + printable(mutant.edit.what) + "\n";
    }
  }
  return text.empty() ? "" : "\n" + title + "\n" + text;
}

Json mutant_json(const Mutant& mutant) {
  Json json{{"line", mutant.edit.line},
            {"kind", to_string(mutant.edit.kind)},
            {"edit", printable(mutant.edit.what)},
            {"fate", to_string(mutant.fate)}};
  if (mutant.fate == Fate::kRejected) {
    json["named_line"] = mutant.named_line;
    json["named_right"] = mutant.named_right;
  }
  return json;
}

}  // namespace

std::string mutants_text(const std::vector<MutantReport>& reports, const Terminal& terminal) {
  return exercises_table(reports, terminal) + proofs_text(reports) +
         accepted_list(reports, Fate::kSurvivor, "Survivors: accepted, and not proved equal") +
         accepted_list(reports, Fate::kExplained,
                       "Explained: equal on paper, and exercise.toml says why no input can tell") +
         accepted_list(reports, Fate::kCostlier,
                       "Costlier: accepted at a higher cost, and not proved equal") +
         "\nRejected mutants whose line the first finding names\n" + kinds_table(reports, terminal);
}

std::string mutants_json(const std::vector<MutantReport>& reports) {
  Json list = Json::array();
  for (const MutantReport& report : reports) {
    const Counts counts = counts_of(report);
    Json entry{{"exercise", printable(report.exercise)}, {"mutants", counts.mutants}};
    for (std::size_t i = 0; i < exercises::kNumFates; ++i) {
      entry[std::string(to_string(static_cast<Fate>(i)))] = counts.fates[i];
    }
    entry["named_right"] = counts.named;
    entry["list"] = Json::array();
    for (const Mutant& mutant : report.mutants) entry["list"].push_back(mutant_json(mutant));
    list.push_back(std::move(entry));
  }
  return Json{{"version", 1}, {"exercises", std::move(list)}}.dump(2) + "\n";
}

int report_mutants(const std::vector<std::shared_ptr<const exercises::Exercise>>& all,
                   std::size_t jobs, std::uint64_t seed, bool json, const Terminal& terminal) {
  std::vector<MutantReport> reports;
  const bool shows_progress = ::isatty(STDERR_FILENO) != 0;
  std::size_t survivors = 0;
  for (const auto& exercise : all) {
    exercises::MutantOptions options;
    options.jobs = jobs;
    options.grader.seed = seed;
    if (shows_progress) {
      options.progress = [&](std::size_t done, std::size_t count) {
        if (done % 50 != 0 && done != count) return;
        std::cerr << "\r" << printable(exercise->id) << ": " << done << " of " << count
                  << (done == count ? " mutants\n" : " mutants") << std::flush;
      };
    }
    try {
      reports.push_back(test_mutants(exercise, options));
    } catch (const std::runtime_error& error) {
      throw Failure(kExitProgramWrong,
                    "flashlab: error: " + printable(exercise->id) + ": " + error.what() + "\n");
    }
    survivors += reports.back().count(Fate::kSurvivor);
  }
  std::cout << (json ? mutants_json(reports) : mutants_text(reports, terminal));
  return survivors == 0 ? kExitGood : kExitProgramWrong;
}

}  // namespace flashlab::cli
