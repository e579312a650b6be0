// The parts of exercise.toml: the machine, inputs, expected results, cost; questions.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "exercises/grader/exercise.hpp"
#include "exercises/grader/toml_table.hpp"

namespace flashlab::exercises {

/// Blank lines at both ends go.
void trim_lines(std::string& text);

/// Nothing after a syntax error, which is in `errors` then.
std::optional<toml::table> parse_toml(const std::string& text, ErrorList& errors);

struct PartReader {
  Exercise& exercise;
  const Files& files;
  std::vector<ReadError>& read_errors;
  ErrorList& errors;  // of exercise.toml

  void read_program(TomlTable& top);
  void read_question(const toml::table& table);
  /// The [[wrong]] entries of either kind.
  void read_wrong(TomlTable& top);

 private:
  void read_machine(TomlTable& machine);
  void read_extra(TomlTable& machine);
  void read_interface(TomlTable& machine);
  void read_sizes(TomlTable& machine);
  void read_inputs(TomlTable& inputs);
  void read_ranges(TomlTable& inputs);
  void read_expect(TomlTable& expect);
  void read_check(TomlTable& expect);
  void read_cost(TomlTable& cost);
  void read_formulas(TomlTable& cost, std::string_view key, CountFormulas& formulas);
  void read_numbers(TomlTable& top);
  void read_mistakes(TomlTable& question, Question& result);
  /// A program in the folder; complains when it is missing or does not assemble.
  std::shared_ptr<const toy::Program> program(const std::string& file);
  const std::string* text(const std::string& file);
};

}  // namespace flashlab::exercises
