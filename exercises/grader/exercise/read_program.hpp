// Reads the parts of exercise.toml: machine, inputs, expected results, cost, questions.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "exercises/grader/exercise/exercise.hpp"
#include "exercises/grader/exercise/measurements.hpp"
#include "exercises/grader/exercise/toml_table.hpp"

namespace flashlab::exercises {

/// Parses the file of `errors`. Adds a syntax error to `errors` and returns nothing.
std::optional<toml::table> parse_toml(ErrorList& errors);

/// Reads the four sections of hints.md.
void read_hints(const Files& files, Exercise& exercise, std::vector<ReadError>& errors);

/// Returns whether this can name a parameter or a variable: letters, digits and _, at most 32,
/// no digit first.
bool is_name(std::string_view text);

/// A number that texts refer to as {{key}}.
struct Figure {
  std::string text;
  bool used = false;
};

struct PartReader {
  Exercise& exercise;
  const Files& files;
  std::vector<ReadError>& read_errors;
  ErrorList& errors;  // errors in exercise.toml
  Measurements& measurements;
  std::map<std::string, Figure>& figures;

  /// Reads the [figures] table. Runs before any text that uses them.
  void read_figures(TomlTable& top);
  /// Fills figures into problem.md and the hints. Reports figures that no text uses.
  void fill_texts(const toml::table& top);
  void read_program(TomlTable& top);
  void read_questions(TomlTable& top, const std::vector<const toml::table*>& tables);
  /// Reads the [[wrong]] entries of either kind.
  void read_wrong(TomlTable& top);
  /// Reads the [[avoids]] entries of either kind, or `unavoidable`.
  void read_avoiding(TomlTable& top);
  void read_accepted(TomlTable& top);
  /// Reads the [[beside]] entries of a program.
  void read_beside(TomlTable& top);
  /// Reads the [[equivalent]] entries of a program.
  void read_equivalents(TomlTable& top);
  void read_excused(TomlTable& top);

 private:
  void read_part(TomlTable& top, const char* key, void (PartReader::*read)(TomlTable&));
  // read_machine.cpp
  void read_machine(TomlTable& machine);
  void read_extra(TomlTable& machine);
  void read_sizes(TomlTable& machine);
  void read_drawn(TomlTable& machine);
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> read_size_ranges(TomlTable& machine,
                                                                                const char* key);
  void read_temporaries(TomlTable& machine);
  void read_on_chip(TomlTable& machine);
  Size read_size(const toml::table& entry);
  void read_machines(TomlTable& machine);
  void read_interface(TomlTable& machine);
  std::string interface_text() const;
  void blame(TomlTable& machine, const toy::Diagnostic& diagnostic, const std::string& where);
  bool binds(TomlTable& machine, const std::shared_ptr<const toy::Program>& interface,
             const Size& size);
  // read_speed.cpp
  void read_speed(TomlTable& speed);
  // read_inputs.cpp
  void read_inputs(TomlTable& inputs);
  void read_ranges(TomlTable& inputs);
  void read_expect(TomlTable& expect);
  void read_check(TomlTable& expect);
  void read_tolerance(TomlTable& expect);
  void check_reference(TomlTable& expect, const std::string& file);
  void expect_inputs(const std::string& file, const toy::Program& program_read,
                     toy::ArrayRole role);
  // read_cost.cpp
  void read_cost(TomlTable& cost);
  void read_formulas(TomlTable& cost, std::string_view key, CountFormulas& formulas,
                     std::set<std::string>* of_solution = nullptr);
  std::optional<toy::Polynomial> read_formula(const toml::node& value, const std::string& counter);
  void check_values(const toml::node& value, const std::string& counter,
                    const toy::Polynomial& formula);
  void read_points(TomlTable& points);
  void read_limits(TomlTable& limits);
  // read_questions.cpp
  void read_question(const toml::table& table);
  void read_conditions(TomlTable& top);
  void read_answer_rules(TomlTable& question, Question& result);
  void read_number_rules(TomlTable& question, Question& result);
  void read_answer(TomlTable& question, Question& result);
  void read_mistakes(TomlTable& question, Question& result);
  // read_measured.cpp
  /// Returns nothing after an error, which it has reported.
  std::optional<std::string> figure(const toml::table& table, const std::string& name);
  using Complain = std::function<void(const std::string& what, const std::string& expected,
                                      const std::string& suggestion)>;
  /// Replaces the names of figures by their texts.
  std::string filled(std::string text, const Complain& complain);
  std::string filled(TomlTable& table, std::string_view key, std::string text);
  void fill(const std::string& file, std::string& text);
  // read_program.cpp
  void read_solution();
  void read_starter();
  /// Reads a program of the folder. If it is missing or does not assemble, reports that at the key
  /// that names it.
  std::shared_ptr<const toy::Program> program(const std::string& file, TomlTable* table = nullptr,
                                              std::string_view key = {});
  const std::string* text(const std::string& file, TomlTable* table = nullptr,
                          std::string_view key = {});
  const std::string* find_text(const std::string& file) const;
  std::string near_file(const std::string& file) const;
};

}  // namespace flashlab::exercises
