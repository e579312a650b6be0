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
  std::uint64_t seed = exercises::GraderOptions().seed;
  bool own_seed = false;  // whether --seed was given
  std::string json, csv, junit, gradescope, html, best;
  std::string names = "real";
  std::string device;  // "cuda": exercises about speed are measured on this computer's GPU
  bool hide_costs = false, fail_on_wrong = false, quiet = false;
  double time_limit = 0;     // seconds of processor time; 0: the exercise's limit
  std::string memory_limit;  // empty: exercises::kMostGradingBytes
  bool resume = false, in_process = false;
  ExerciseOptions exercises;
  TerminalOptions terminal;

  void add_to(CLI::App& command);
  /// Throws Failure for flags that contradict each other.
  void check() const;

  /// Prints a warning if anybody could find out the names behind the pseudonyms.
  void warn_about_names() const;

  bool reads_standard_input() const { return files == std::vector<std::string>{"-"}; }
  bool writes_standard_output() const;
  /// A single submission gets its full verdict; a class of any size gets a table.
  bool single() const { return all_folder.empty() && files.size() == 1; }

 private:
  void add_reports_to(CLI::App& command);
  void add_safety_to(CLI::App& command);
  /// Returns the flags for reports with their files.
  std::vector<std::pair<const char*, const std::string*>> report_files() const;
};

}  // namespace flashlab::cli
