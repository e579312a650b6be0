#include "exercises/grader/judge/predictions.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "exercises/grader/exercise/rational.hpp"
#include "exercises/grader/judge/records.hpp"

namespace flashlab::exercises {
namespace {

/// What a program does with what is counted: "your program makes 8" loads.
std::string_view verb_of(std::string_view key) {
  if (key == "cycles" || key == "steps") return "takes";
  if (key.ends_with("loads") || key.ends_with("stores")) return "makes";
  return "has";
}

/// Loads come before stores, both before other counts, and cycles last.
int rank_of(const std::string& key) {
  constexpr std::array<std::string_view, 2> kFirst{"loads", "stores"};
  for (std::size_t i = 0; i < kFirst.size(); ++i) {
    if (key == kFirst[i]) return static_cast<int>(i);
  }
  constexpr int kOthers = 2, kLast = 3;
  return key == "cycles" ? kLast : kOthers;
}

}  // namespace

std::vector<std::string> counts_to_predict(const Exercise& exercise) {
  if (exercise.kind != Kind::kProgram) return {};
  const Cost& cost = exercise.program.cost;
  std::vector<std::string> keys = cost.predict;
  if (keys.empty()) {
    for (const auto& entry : cost.full) keys.push_back(entry.first);
  }
  std::stable_sort(keys.begin(), keys.end(), [](const std::string& a, const std::string& b) {
    return rank_of(a) < rank_of(b);
  });
  return keys;
}

std::vector<std::string> parameters_of(const Exercise& exercise) {
  std::vector<std::string> names;
  if (exercise.program.sizes.empty()) return names;
  for (const auto& entry : exercise.program.sizes.front()) names.push_back(entry.first);
  return names;
}

toy::Result<RationalFunction> read_prediction(const Exercise& exercise, const std::string& answer) {
  auto formula = parse_formula(toy::SourceText("prediction", answer), parameters_of(exercise));
  if (!formula) return formula;
  for (const Size& size : exercise.program.sizes) {
    const std::optional<mpq_class> value = value_at(*formula, size);
    if (value && *value >= 0) continue;
    return toy::Diagnostic{
        toy::Severity::kError,
        toy::Fault::kProgram,
        {1, 1, 1},
        (value ? "a count is 0 or more, and this is " + to_string(*value) : "this has no value") +
            (size.empty() ? "" : " at " + to_string(size)),
        "0 or more",
        {}};
  }
  return formula;
}

std::vector<ComparedPrediction> compare_predictions(
    const Exercise& exercise, const std::map<std::string, std::string>& predictions,
    const Verdict& verdict) {
  std::vector<ComparedPrediction> all;
  if (!verdict.passed()) return all;
  for (const std::string& key : counts_to_predict(exercise)) {
    const auto prediction = predictions.find(key);
    const auto line = std::find_if(verdict.costs.begin(), verdict.costs.end(),
                                   [&](const CostLine& one) { return one.key == key; });
    if (prediction == predictions.end() || line == verdict.costs.end()) continue;
    const auto formula = read_prediction(exercise, prediction->second);
    if (!formula) continue;
    const auto value = value_at(*formula, verdict.size);
    if (value) all.push_back({key, prediction->second, *value, line->value, verdict.size});
  }
  return all;
}

std::string sentence_of(const ComparedPrediction& compared) {
  const std::string value = to_string(compared.predicted), things = counted_things(compared.key);
  const std::string verb(verb_of(compared.key));
  const bool is_formula = !compared.size.empty() && compared.answer != value;
  std::string text = "You predicted " + (is_formula ? compared.answer : value) + " " + things;
  if (is_formula) text += ", " + value + " at " + to_string(compared.size);
  return text +
         (compared.is_right() ? ", and that is what your program " + verb
                              : "; your program " + verb + " " + compared.counted.get_str()) +
         ".";
}

}  // namespace flashlab::exercises
