// The parts of exercise.toml: the machine, inputs, expected results, cost; questions.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "exercises/grader/exercise/exercise.hpp"
#include "exercises/grader/exercise/measurements.hpp"
#include "exercises/grader/exercise/toml_table.hpp"

namespace flashlab::exercises {

/// The file of the errors, parsed. Nothing after a syntax error, which is in `errors` then.
std::optional<toml::table> parse_toml(ErrorList& errors);

/// The four sections of hints.md.
void read_hints(const Files& files, Exercise& exercise, std::vector<ReadError>& errors);

/// A name of a parameter or a variable: letters, digits and _, at most 32, no digit first.
bool is_name(std::string_view text);

/// "a, b, c".
template <class List>
std::string joined(const List& list) {
  std::string text;
  for (const auto& entry : list) text += (text.empty() ? "" : ", ") + std::string(entry);
  return text;
}

/// A number that texts name as {{key}}.
struct Figure {
  std::string text;
  bool used = false;
};

struct PartReader {
  Exercise& exercise;
  const Files& files;
  std::vector<ReadError>& read_errors;
  ErrorList& errors;  // of exercise.toml
  Measurements& measurements;
  std::map<std::string, Figure>& figures;

  /// The [figures] table, before any text that uses them.
  void read_figures(TomlTable& top);
  /// problem.md and the hints, with figures; and complains of figures that no text has.
  void fill_texts(const toml::table& top);
  void read_program(TomlTable& top);
  void read_questions(TomlTable& top, const std::vector<const toml::table*>& tables);
  /// The [[wrong]] entries of either kind.
  void read_wrong(TomlTable& top);
  /// The [[avoids]] entries of either kind, and why there are none.
  void read_avoiding(TomlTable& top);
  /// The [[equivalent]] entries of a program.
  void read_equivalents(TomlTable& top);

 private:
  void read_part(TomlTable& top, const char* key, void (PartReader::*read)(TomlTable&));
  // read_machine.cpp
  void read_machine(TomlTable& machine);
  void read_extra(TomlTable& machine);
  void read_sizes(TomlTable& machine);
  void read_drawn(TomlTable& machine);
  void read_temporaries(TomlTable& machine);
  Size read_size(const toml::table& entry);
  void read_interface(TomlTable& machine);
  std::string interface_text() const;
  void blame(TomlTable& machine, const toy::Diagnostic& diagnostic, const std::string& where);
  bool binds(TomlTable& machine, const std::shared_ptr<const toy::Program>& interface,
             const Size& size);
  // read_inputs.cpp
  void read_inputs(TomlTable& inputs);
  void read_ranges(TomlTable& inputs);
  void read_expect(TomlTable& expect);
  void read_check(TomlTable& expect);
  void check_reference(TomlTable& expect, const std::string& file);
  void expect_inputs(const std::string& file, const toy::Program& program_read,
                     toy::ArrayRole role);
  // read_cost.cpp
  void read_cost(TomlTable& cost);
  void read_formulas(TomlTable& cost, std::string_view key, CountFormulas& formulas);
  std::optional<toy::Polynomial> read_formula(const toml::node& value, const std::string& counter);
  void check_values(const toml::node& value, const std::string& counter,
                    const toy::Polynomial& formula);
  void read_points(TomlTable& points);
  void read_limits(TomlTable& limits);
  // read_questions.cpp
  void read_question(const toml::table& table);
  void read_answer_rules(TomlTable& question, Question& result);
  void read_number_rules(TomlTable& question, Question& result);
  void read_answer(TomlTable& question, Question& result);
  void read_mistakes(TomlTable& question, Question& result);
  // read_measured.cpp
  /// Nothing when there is none: that has been said.
  std::optional<std::string> figure(const toml::table& table, const std::string& name);
  using Complain = std::function<void(const std::string& what, const std::string& expected,
                                      const std::string& suggestion)>;
  /// With the figures in the place of their names.
  std::string filled(std::string text, const Complain& complain);
  std::string filled(TomlTable& table, std::string_view key, std::string text);
  void fill(const std::string& file, std::string& text);
  // read_program.cpp
  void read_solution();
  void read_starter();
  /// A program in the folder; complains when it is missing or does not assemble, at the key that
  /// names it.
  std::shared_ptr<const toy::Program> program(const std::string& file, TomlTable* table = nullptr,
                                              std::string_view key = {});
  const std::string* text(const std::string& file, TomlTable* table = nullptr,
                          std::string_view key = {});
  const std::string* find_text(const std::string& file) const;
  std::string near_file(const std::string& file) const;
};

}  // namespace flashlab::exercises
