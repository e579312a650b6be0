// What the README says of measurements is what the committed results say.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/catch_shim.hpp"

namespace {

const std::string kRoot = FLASHLAB_SOURCE_DIR;
const std::string kResults = "docs/results/attention_cpu_beside_torch.json";

nlohmann::json committed_results() {
  std::ifstream file(kRoot + "/" + kResults);
  REQUIRE(file);
  return nlohmann::json::parse(file);
}

std::string readme() {
  std::ifstream file(kRoot + "/README.md");
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string two_digits(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.2f", value);
  return text;
}

/// The README's table: a line a shape and mask, a cell a number of threads.
std::string ratios_table(const nlohmann::json& results) {
  std::string table = "| batch, heads, N, d | mask |", rule = "|---|---|", lines;
  std::map<int, bool> threads;
  for (const auto& row : results["rows"]) threads[row["threads"]] = true;
  for (const auto& [count, _] : threads) {
    table += " " + std::to_string(count) + (count == 1 ? " thread |" : " threads |");
    rule += "---|";
  }
  std::map<std::pair<std::string, bool>, std::map<int, std::map<std::string, double>>> cells;
  for (const auto& row : results["rows"]) {
    std::string shape;
    for (const int size : row["shape"]) shape += (shape.empty() ? "" : ", ") + std::to_string(size);
    cells[{shape, row["is_causal"]}][row["threads"]][row["direction"]] = row["ratio"];
  }
  for (const auto& [problem, by_threads] : cells) {
    lines += "| " + problem.first + (problem.second ? " | causal |" : " | full |");
    for (const auto& [_, ratio] : by_threads) {
      lines +=
          " **" + two_digits(ratio.at("forward")) + "** " + two_digits(ratio.at("backward")) + " |";
    }
    lines += "\n";
  }
  return table + "\n" + rule + "\n" + lines;
}

}  // namespace

TEST_CASE("the README's ratios to PyTorch are those of the committed run", "[results]") {
  const std::string expected = "<!-- ratios of " + kResults + " -->\n" +
                               ratios_table(committed_results()) + "<!-- end -->\n";
  INFO(expected);
  CHECK(readme().find(expected) != std::string::npos);
}

TEST_CASE("a committed run says where, when, with what and how it was measured", "[results]") {
  const nlohmann::json results = committed_results();
  for (const char* const field : {"commit", "date", "command", "machine", "versions"}) {
    INFO(field);
    CHECK(results.contains(field));
  }
  for (const auto& row : results["rows"]) {
    CHECK(row["ours"]["seconds"].size() >= 5);
    CHECK(row["torch"]["seconds"].size() == row["ours"]["seconds"].size());
  }
}
