// The bundled score functions in the attention programs: results against loops, counts by hand.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/toymachine/programs/attention_program.hpp"
#include "toymachine/count/cost_formula.hpp"
#include "toymachine/language/library.hpp"

namespace flashlab::toy {
namespace {

using test::Size;

using OnScore = std::function<double(double s, std::int64_t row, std::int64_t col)>;
constexpr double kLowest = -1e30;

BoundProgram scored(const std::string& program, const std::string& function, const Size& size,
                    const std::map<std::string, double>& reals = {}) {
  const EmbeddedFile* text = find_in_library(library_programs(), program);
  const EmbeddedFile* lines = find_in_library(library_scores(), function);
  REQUIRE(text != nullptr);
  const auto source = std::make_shared<const SourceText>(
      program, std::string(text->text),
      std::make_shared<const SourceText>("score", lines ? std::string(lines->text) : function));
  auto assembled = assemble(source);
  INFO(format(assembled.diagnostics, *source));
  REQUIRE(assembled);
  Binding binding;
  binding.params = {{"n", size.n}, {"d", size.d}, {"B", size.B}, {"Bd", size.Bd}};
  if (program != "flash2_window") {
    binding.params["nk"] = size.nk;
    binding.params["Bk"] = size.Bk;
  }
  binding.reals = reals;
  auto bound = toy::bind(std::make_shared<const Program>(std::move(*assembled)), binding);
  INFO(format(bound.diagnostics, *source));
  REQUIRE(bound);
  return std::move(*bound);
}

/// softmax(f(scale Q K^T)) V, as loops. Causal: keys after the query are hidden.
std::map<std::string, test::Values> expected(const test::AttentionProblem& problem,
                                             const OnScore& f, bool is_causal,
                                             std::int64_t window = INT64_MAX) {
  const test::Matrix &Q = problem.Q, &K = problem.K, &V = problem.V;
  test::Matrix O(Q.rows, V.cols), lse(Q.rows, 1);
  for (std::size_t i = 0; i < Q.rows; ++i) {
    std::vector<double> scores;
    double largest = -HUGE_VAL, sum = 0;
    for (std::size_t j = 0; j < K.rows; ++j) {
      const auto row = static_cast<std::int64_t>(i), col = static_cast<std::int64_t>(j);
      double s = 0;
      for (std::size_t p = 0; p < Q.cols; ++p) s += Q(i, p) * K(j, p);
      const bool is_hidden = (is_causal && col > row) || (row > col && row - col > window);
      scores.push_back(is_hidden ? -HUGE_VAL : f(s * problem.scale, row, col));
      largest = std::max(largest, scores.back());
    }
    for (const double s : scores) sum += std::exp(s - largest);
    for (std::size_t j = 0; j < K.rows; ++j) {
      const double weight = std::exp(scores[j] - largest) / sum;
      for (std::size_t c = 0; c < V.cols; ++c) O(i, c) += weight * V(j, c);
    }
    lse(i, 0) = largest + std::log(sum);
  }
  return {{"o", O.values}, {"lse", lse.values}};
}

const std::vector<std::string> kMarkedPrograms{"naive",           "three_pass", "online",
                                               "flash1",          "flash2",     "online_reload",
                                               "flash1_launches", "split_kv"};
const std::vector<std::string> kMarkedCausal{"naive_causal",  "three_pass_causal",
                                             "online_causal", "flash1_causal",
                                             "flash2_causal", "split_kv_causal"};
const std::vector<Size> kScoreSizes{{13, 7, 4, 4, 3, 2}, {5, 8, 3, 2, 2, 3}, {4, 4, 2, 1, 1, 1}};

struct ScoreCase {
  const char* name;
  OnScore f;
};

const std::vector<ScoreCase>& cases() {
  static const std::vector<ScoreCase> kAll = {
      {"soft_cap", [](double s, auto, auto) { return 30 * std::tanh(s / 30); }},
      {"alibi", [](double s, auto i, auto j) { return s - 0.5 * std::abs(double(i - j)); }},
      {"decay",
       [](double s, auto i, auto j) { return s + std::log(0.9) * std::abs(double(i - j)); }},
      {"window",
       [](double s, auto i, auto j) { return std::abs(i - j) > 2 && j >= 1 ? kLowest : s; }},
      {"prefix", [](double s, auto i, auto j) { return j > i && j >= 3 ? kLowest : s; }},
      {"bias", [](double s, auto i, auto j) { return s + 0.25 * double(i) - 0.5 * double(j); }},
      {"documents", [](double s, auto i, auto j) { return i % 2 != j % 2 ? kLowest : s; }},
      {"head_scale", [](double s, auto, auto) { return 1.5 * s; }}};
  return kAll;
}

std::map<std::string, test::Values> inputs_of(const test::AttentionProblem& problem,
                                              const Size& size) {
  auto inputs = problem.inputs();
  inputs["head_scale"] = {1.5};
  for (std::int64_t i = 0; i < size.n; ++i) {
    inputs["query_document"].push_back(double(i % 2));
    for (std::int64_t j = 0; j < size.nk; ++j) {
      inputs["bias"].push_back(0.25 * double(i) - 0.5 * double(j));
    }
  }
  for (std::int64_t j = 0; j < size.nk; ++j) inputs["key_document"].push_back(double(j % 2));
  return inputs;
}

TEST_CASE("every bundled score function has a test", "[score]") {
  std::set<std::string> files, tested;
  for (const EmbeddedFile& file : library_scores()) files.insert(std::string(file.name));
  for (const ScoreCase& one : cases()) tested.insert(std::string(one.name) + ".toy");
  CHECK(files == tested);
}

TEST_CASE("programs with a score function agree with loops, at ragged sizes and several tiles",
          "[score]") {
  for (const Size& size : kScoreSizes) {
    const test::AttentionProblem problem(size, false);
    const auto inputs = inputs_of(problem, size);
    for (const ScoreCase& one : cases()) {
      for (const std::string& program : kMarkedPrograms) {
        INFO(one.name << " in " << program << ", " << size);
        test::require_right(scored(program, one.name, size), inputs,
                            expected(problem, one.f, false));
      }
    }
  }
}

TEST_CASE("causal programs with a score function hide the same keys as without", "[score]") {
  for (const Size& size : kScoreSizes) {
    const test::AttentionProblem problem(size, true);
    const auto inputs = inputs_of(problem, size);
    for (const std::string name : {"soft_cap", "alibi", "window", "bias"}) {
      const auto one = std::find_if(cases().begin(), cases().end(),
                                    [&](const ScoreCase& other) { return other.name == name; });
      for (const std::string& program : kMarkedCausal) {
        INFO(name << " in " << program << ", " << size);
        test::require_right(scored(program, name, size), inputs, expected(problem, one->f, true));
      }
    }
  }
  const Size square{13, 13, 4, 4, 4, 2};
  const test::AttentionProblem problem(square, true);
  test::require_right(scored("flash2_window", "alibi", square), problem.inputs(),
                      expected(problem, cases()[1].f, true, 2));
}

TEST_CASE("a constant of the function can be set to a real number", "[score]") {
  const Size size{13, 7, 4, 4, 3, 2};
  const test::AttentionProblem problem(size, false);
  const auto f = [](double s, auto, auto) { return 0.75 * std::tanh(s / 0.75); };
  test::require_right(scored("flash2", "soft_cap", size, {{"cap", 0.75}}), problem.inputs(),
                      expected(problem, f, false));
}

Count of(const Counters& counters, const char* mnemonic) {
  return counters.by_instruction[*find_instruction(mnemonic)];
}

TEST_CASE("a soft cap adds two MUL and a TANH for each tile, and no load and no register",
          "[score]") {
  const Size size{13, 7, 4, 4, 3, 2};  // 4 x 3 tiles
  const BoundProgram with = scored("flash2", "soft_cap", size);
  const BoundProgram without = test::attention_program("flash2", size);
  const Counters capped = count(with, *count_executions(with), {});
  const Counters plain = count(without, *count_executions(without), {});
  CHECK(of(capped, "MUL") == of(plain, "MUL") + 2 * 12);
  CHECK(of(capped, "TANH") == 12);
  CHECK(capped.steps == plain.steps + 3 * 12);
  CHECK(capped.flops == plain.flops + 2 * 13 * 7);
  CHECK(capped.exps == plain.exps + 13 * 7);
  CHECK(capped.bytes_loaded == plain.bytes_loaded);
  CHECK(with.num_registers == without.num_registers);
  CHECK(peak_registers(with) == peak_registers(without));
}

TEST_CASE("a bias adds the loads of its matrix", "[score]") {
  const Size size{13, 7, 4, 4, 3, 2};
  const BoundProgram with = scored("flash2", "bias", size);
  const BoundProgram without = test::attention_program("flash2", size);
  const Counters biased = count(with, *count_executions(with), {});
  const Counters plain = count(without, *count_executions(without), {});
  CHECK(biased.loads == plain.loads + 12);
  CHECK(biased.bytes_loaded == plain.bytes_loaded + 4 * 13 * 7);
  CHECK(biased.flops == plain.flops + 13 * 7);
  CHECK(with.num_registers == without.num_registers + 1);
}

TEST_CASE("programs with a score function have formulas, which say what it adds", "[score]") {
  for (const EmbeddedFile& file : library_scores()) {
    INFO(file.name);
    const BoundProgram with = scored("flash2", std::string(file.name), {8, 8, 4, 2, 2, 4});
    const auto formulas = cost_formulas(*with.program, {});
    INFO(format(formulas.diagnostics, *with.program->source));
    REQUIRE(formulas);
    CHECK(formulas->no_work.empty());
  }
}

}  // namespace
}  // namespace flashlab::toy
