// Who predicts as the texts of exercises 26 and 27 teach is right by what an H200 measured.
#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "exercises/grader/exercise/answers.hpp"
#include "exercises/grader/exercise/catalogue.hpp"
#include "tests/catch_shim.hpp"

namespace {

using namespace flashlab::exercises;

Exercise built_in(const std::string& id) {
  const auto& all = builtin_exercises();
  const auto found = std::ranges::find(all, id, &ExerciseSource::id);
  REQUIRE(found != all.end());
  ReadResult result = read_exercise(found->id, found->files);
  REQUIRE(result.exercise);
  return std::move(*result.exercise);
}

nlohmann::json measured() {
  std::ifstream file(FLASHLAB_SOURCE_DIR "/docs/results/compare_h200.json");
  return nlohmann::json::parse(file);
}

/// The rates that the text of exercise 27 quotes.
nlohmann::json rates() { return measured().at("calibration"); }

std::string line(const std::string& id, double value) {
  return id + ": " + std::to_string(value) + "\n";
}

/// Per cent of the time for which two warps have the first unit busy, by the chapter's formula without waits.
double busy_of_two(const std::vector<double>& units) {
  const double alone = std::accumulate(units.begin(), units.end(), 0.0);
  double both = 0;
  for (const double unit : units) both += unit * (1 + unit / alone);
  return 100 * units.front() / (both / 2);
}

/// Every question's answer, by the rates and by counting. `wait`: operations within a tile wait for
/// one another; else the slowest unit alone decides.
std::string times(bool wait) {
  const nlohmann::json rate = rates();
  const double products = rate.at("flops_per_s").at("bf16"), exps = rate.at("exps_per_s"),
               elementwise = rate.at("elementwise_per_s"), copy = rate.at("dram_copy_bytes_per_s");
  constexpr double kScores = 64.0 * 8192 * 8192;  // of 16384 tokens, 32 heads
  const double products_per_score = 4 * 64 / products;
  const double flash2_per_score = products_per_score + (wait ? 1 / exps + 4 / elementwise : 0);
  return "flops_per_exp: 4*d\n" + line("balance", products / exps / 4) +
         line("share_64", products / exps / 4 / 64) + "bound_128: b\n" +
         line("products_ms", 1e3 * kScores * products_per_score) +
         line("flash2_ms", 1e3 * kScores * flash2_per_score) +
         line("naive_over_flash2", 44 / copy / flash2_per_score) +
         "passes_products: 7/5\npasses_measured: 7/5\nflash1_launches: 4096/32 + 2\n"
         "launch_bound: a\nbinds_backward: b\n"
         "binds_256: b\nbinds_fp32: d\nlast_wave: 4/(400/132)\n" +
         line("busy_256", busy_of_two({1280, 768, 128}));
}

/// The unit among the choices that the counters found busiest in the call, as a choice's letter.
std::string busiest(const Question& question, const nlohmann::json& call) {
  static const std::map<std::string, std::string> kCounters = {
      {"the tensor cores", "tensor_percent"},
      {"shared memory", "shared_percent"},
      {"the special function units", "exp_percent"},
      {"issue slots", "issue_percent"}};
  std::vector<double> percents;
  for (const std::string& unit : question.choices)
    percents.push_back(call.at(kCounters.at(unit)).get<double>());
  const auto most = std::ranges::max_element(percents);
  return std::string(1, static_cast<char>('a' + (most - percents.begin())));
}

constexpr const char* kBytes =
    "flash2_read: b*n*d + 2*b*n*d*n/B\nflash2_written: b*n*d + 4*n\nmegabytes: 34.1\n"
    "flash2_counted: 1\ndram: 4*b*n*d + 4*n\nheads_between: 1\nheads_in_turn: 1\n"
    "flash1_toy: 3*b*n^2*d/Bk\nflash1_gpu: 3*b*n^2*d/Bk + 2*b*n^2*d/B\n"
    "flash1_over_flash2: (3/32 + 2/64)/(2/128)\nsame_flops: b\npallas_steps: 5\n"
    "naive_times: 12\nnaive_per_score: 9*4 + 4 + 2 + 2\n";

}  // namespace

TEST_CASE("bytes that are counted by hand are what the H200 counted", "[predictions]") {
  const Verdict verdict = grade_answers(built_in("26_predict_flash2_bytes"), {"bytes.txt", kBytes});
  for (const Finding& finding : verdict.findings) UNSCOPED_INFO(finding.what);
  CHECK(verdict.outcome == Outcome::kFull);
}

TEST_CASE("times from five rates are close enough to what the H200 took", "[predictions]") {
  const Verdict verdict = grade_answers(built_in("27_predict_time"), {"time.txt", times(true)});
  for (const Finding& finding : verdict.findings) UNSCOPED_INFO(finding.what);
  CHECK(verdict.outcome == Outcome::kFull);
}

TEST_CASE("the unit that binds by exercise 27 is the one that the H200's counters found busiest",
          "[predictions]") {
  struct Asked {
    std::string question, variant, dtype;
    int head_dim, num_heads;
  };
  const Exercise exercise = built_in("27_predict_time");
  const nlohmann::json rows = measured().at("rows");
  for (const Asked& asked : {Asked{"binds_backward", "bwd-onepass", "bf16", 64, 32},
                             Asked{"binds_256", "flash2", "bf16", 256, 8},
                             Asked{"binds_fp32", "flash2", "float", 64, 32}}) {
    INFO(asked.question);
    const auto question =
        std::ranges::find(exercise.questions.questions, asked.question, &Question::id);
    REQUIRE(question != exercise.questions.questions.end());
    const auto row = std::ranges::find_if(rows, [&](const nlohmann::json& r) {
      return r.at("variant") == asked.variant && r.at("dtype") == asked.dtype &&
             r.at("products") == "native" && r.at("mask") == "none" && r.at("batch") == 4 &&
             r.at("num_heads") == asked.num_heads && r.at("seqlen_q") == 4096 &&
             r.at("head_dim") == asked.head_dim;
    });
    REQUIRE(row != rows.end());
    CHECK(question->answer == busiest(*question, row->at("measured")));
  }
}

TEST_CASE("the slowest unit alone does not tell how long flash2 took", "[predictions]") {
  const Verdict verdict = grade_answers(built_in("27_predict_time"), {"time.txt", times(false)});
  std::vector<std::string> wrong;
  for (const auto& check : verdict.checks) {
    if (!check.passed) wrong.push_back(check.name);
  }
  CHECK(wrong == std::vector<std::string>{"flash2_ms", "naive_over_flash2"});
}
