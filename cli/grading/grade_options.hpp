// The options of `flashlab grade`.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cli/exercises/loading.hpp"
#include "cli/options/options.hpp"
#include "exercises/grader/grade/grader.hpp"

namespace flashlab::cli {

/// Returns bytes. Throws Failure unless the text is a size from 16 MiB to 64 GiB.
std::int64_t parse_memory_limit(const std::string& text);

struct GradeOptions {
  std::string id, all_folder;
  std::vector<std::string> files;
  std::size_t jobs = 1;
  std::string seed;    // as given: a number, "new", or empty
  std::string secret;  // a file; the seed is made from its text
  /// Chosen by choose_fair_seed(): what determines inputs and pseudonyms.
  std::uint64_t inputs_seed = exercises::GraderOptions().seed;
  std::string names_key;
  std::string json, csv, junit, gradescope, html, best;
  std::string names = "real";
  std::string device;  // "cuda": exercises about speed are measured on this computer's GPU
  bool hide_costs = false, fail_on_wrong = false, quiet = false, add_bom = false;
  double time_limit = 0;     // seconds of processor time; 0: the exercise's limit
  std::string memory_limit;  // empty: exercises::kMostGradingBytes
  bool resume = false, in_process = false;
  ExerciseOptions exercises;
  TerminalOptions terminal;

  void add_to(CLI::App& command);
  /// Throws Failure for flags that contradict each other.
  void check() const;

  bool reads_standard_input() const { return files == std::vector<std::string>{"-"}; }
  bool writes_standard_output() const;
  /// A single submission gets its full verdict; a class of any size gets a table.
  bool single() const { return all_folder.empty() && files.size() == 1; }
  bool draws_seed() const { return seed == kNewSeed; }
  /// Whether reports are for the teacher alone, and not for those whose names they replace.
  bool names_students() const { return names == "real"; }

  static constexpr const char* kNewSeed = "new";

 private:
  void check_reports() const;
  void check_seed() const;
  void add_reports_to(CLI::App& command);
  void add_safety_to(CLI::App& command);
  /// Returns the flags for reports with their files.
  std::vector<std::pair<const char*, const std::string*>> report_files() const;
};

}  // namespace flashlab::cli
