// Reads cost, points and limits from exercise.toml.
#include "exercises/grader/exercise/answers.hpp"
#include "exercises/grader/exercise/count_keys.hpp"
#include "exercises/grader/exercise/rational.hpp"
#include "exercises/grader/exercise/read_program.hpp"
#include "text/lists.hpp"
#include "text/nearest.hpp"
#include "text/visible.hpp"

namespace flashlab::exercises {

void PartReader::read_cost(TomlTable& cost) {
  Cost& result = exercise.program.cost;
  read_formulas(cost, "full", result.full);
  read_formulas(cost, "most", result.most, &result.most_of_solution);
  result.predict = cost.texts("predict");
  for (const std::string& key : result.predict) {
    if (result.full.contains(key)) continue;
    std::vector<std::string> keys;
    for (const auto& entry : result.full) keys.push_back(entry.first);
    cost.wrong("predict", "'" + key + "' is no cost for full marks", "one of " + joined(keys),
               nearest(key, keys).value_or(""));
  }
  if (cost.has("naive")) result.naive = program(cost.line("naive"), &cost, "naive");
  if (exercise.program.sizes.empty()) return;
  const Size& largest = exercise.program.sizes.back();
  for (const auto& [key, most] : result.most) {
    const auto full = result.full.find(key);
    if (full == result.full.end()) continue;
    const auto enough = value_at({full->second, 1}, largest), limit = value_at({most, 1}, largest);
    if (!enough || !limit || *limit >= *enough) continue;
    cost.wrong("most", key + " is below the cost for full marks at " + to_string(largest),
               "at least " + to_string(*enough));
  }
}

/// Reads a formula, "14*n - 4", or a whole number.
std::optional<toy::Polynomial> PartReader::read_formula(const toml::node& value,
                                                        const std::string& counter) {
  const auto* number = value.as_integer();
  const auto* written = value.as_string();
  if (number == nullptr && written == nullptr) {
    errors.add(value.source(), "'" + counter + "' is not a formula", "a text such as \"14*n - 4\"");
    return std::nullopt;
  }
  std::vector<std::string> parameters;
  for (const auto& entry : exercise.program.sizes[0]) parameters.push_back(entry.first);
  const toy::SourceText text("formula",
                             number != nullptr ? std::to_string(number->get()) : written->get());
  const auto formula = parse_formula(text, parameters);
  if (!formula) {
    const toy::Diagnostic& error = formula.diagnostics.front();
    errors.add(value.source(), "'" + counter + "': " + error.what, error.expected,
               error.suggestion);
    return std::nullopt;
  }
  const auto divisor = formula->denominator.as_constant();
  if (!divisor) {
    errors.add(value.source(), "'" + counter + "' divides by a parameter",
               "a polynomial, or ceil and floor of a quotient");
    return std::nullopt;
  }
  return formula->numerator * mpq_class(1 / *divisor);
}

void PartReader::check_values(const toml::node& value, const std::string& counter,
                              const toy::Polynomial& formula) {
  for (const Size& size : exercise.program.sizes) {
    const auto count = value_at({formula, 1}, size);
    if (!count) {
      errors.add(value.source(), "'" + counter + "' has no value at " + to_string(size),
                 "denominators of at least 1 inside ceil and floor");
      return;
    }
  }
  const Size& largest = exercise.program.sizes.back();
  if (const auto count = value_at({formula, 1}, largest); *count < 0) {
    errors.add(value.source(),
               "'" + counter + "' is " + to_string(*count) + " at " + to_string(largest),
               "0 or more at the largest size");
  }
}

void PartReader::read_formulas(TomlTable& cost, std::string_view key, CountFormulas& formulas,
                               std::set<std::string>* of_solution) {
  const toml::table* entries = cost.table(key);
  if (entries == nullptr) return;
  for (const auto& [name, value] : *entries) {
    const std::string counter(name.str());
    if (errors.full()) return;
    if (!is_count_key(counter, exercise.program.interface.get())) {
      errors.add(name.source(), "there is no counter '" + printable(counter) + "'",
                 "one of " + joined(count_keys()) + ", or ARRAY.loads, ARRAY.stores",
                 nearest(counter, count_keys()).value_or(""));
    } else if (of_solution != nullptr && value.value_or(std::string_view()) == "solution") {
      of_solution->insert(counter);
    } else if (!exercise.program.sizes.empty()) {
      const auto formula = read_formula(value, counter);
      if (!formula) continue;
      check_values(value, counter, *formula);
      formulas[counter] = *formula;
    }
  }
}

void PartReader::read_points(TomlTable& points) {
  constexpr double kMost = 1e6;
  ProgramTask& task = exercise.program;
  task.points.correct = points.number("correct", task.points.correct);
  task.points.cost = points.number("cost", task.points.cost);
  for (const char* key : {"correct", "cost"}) {
    const double value = std::string_view(key) == "cost" ? task.points.cost : task.points.correct;
    if (!(value >= 0 && value <= kMost)) points.wrong(key, "out of range", "0 to 1000000");
  }
  if (task.points.correct + task.points.cost == 0) {
    points.wrong("correct", "no points at all", "more than 0 for correct or cost");
  }
  if (!task.cost.full.empty()) return;
  if (points.has("cost") && task.points.cost > 0) {
    points.wrong("cost", "no cost for full marks is given", "[cost] full = { cycles = \"…\" }");
  }
  if (!task.speed) task.points.correct += task.points.cost;
  task.points.cost = 0;
}

void PartReader::read_limits(TomlTable& limits) {
  ProgramTask& task = exercise.program;
  task.limits.max_steps = limits.whole("steps", 100'000, 1, 1'000'000'000);
  task.limits.max_source_bytes = limits.whole("source_bytes", 1 << 16, 1, 1 << 20);
  task.limits.max_nesting = limits.whole("nesting", 16, 1, 64);
  task.limits.max_array_bytes = limits.whole("array_bytes", 1 << 24, 1, std::int64_t{1} << 30);
  task.max_milliseconds = limits.whole("milliseconds", task.max_milliseconds, 1, 600'000);
}

}  // namespace flashlab::exercises
