// What pages say of measurements is what the committed results say.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <vector>

#include "tests/catch_shim.hpp"
#include "tests/source_files.hpp"

namespace {

const std::string kSourceFolder = FLASHLAB_SOURCE_DIR;
const std::string kResults = "docs/results/attention_cpu_beside_torch.json";

nlohmann::json committed_results() {
  std::ifstream file(kSourceFolder + "/" + kResults);
  REQUIRE(file);
  return nlohmann::json::parse(file);
}

std::string two_digits(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.2f", value);
  return text;
}

/// The table of docs/attention_cpu_results.md: a line a shape and mask, one cell per number of threads.
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

/// What git says of this repository; empty if it fails.
std::string git(const std::string& arguments) {
  FILE* pipe =
      popen(("exec 2>/dev/null; git -C '" + kSourceFolder + "' " + arguments).c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::array<char, 4096> buffer{};
  std::string text;
  for (std::size_t n = 0; (n = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    text.append(buffer.data(), n);
  }
  return pclose(pipe) == 0 ? text : "";
}

/// The commits that a file names, wherever in it.
std::vector<std::string> commits_of(const nlohmann::json& value) {
  std::vector<std::string> commits;
  if (!value.is_structured()) return commits;
  for (const auto& [key, member] : value.items()) {
    if (value.is_object() && key == "commit" && member.is_string()) commits.push_back(member);
    const std::vector<std::string> inside = commits_of(member);
    commits.insert(commits.end(), inside.begin(), inside.end());
  }
  return commits;
}

}  // namespace

TEST_CASE("the commit of a committed result is in the history", "[results]") {
  if (std::system("git --version >/dev/null 2>&1") != 0) FLASHLAB_SKIP("there is no git");
  if (!std::filesystem::exists(kSourceFolder + "/.git"))
    FLASHLAB_SKIP("these sources are no clone");
  const std::string shallow = git("rev-parse --is-shallow-repository");
  if (shallow == "") FLASHLAB_SKIP("git does not read this clone (whose is it?)");
  if (shallow != "false\n") FLASHLAB_SKIP("the clone is shallow: it has not the whole history");
  static const std::regex kCommit("[0-9a-f]{7,40}");
  int num_found = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kSourceFolder + "/docs/results")) {
    if (entry.path().extension() != ".json") continue;
    std::ifstream file(entry.path());
    for (const std::string& commit : commits_of(nlohmann::json::parse(file))) {
      INFO(entry.path().filename().string() << " was measured at " << commit << ", no ancestor of "
                                            << "HEAD: measure it again");
      REQUIRE(std::regex_match(commit, kCommit));
      const std::string named = "'" + commit + "^{commit}'";
      CHECK(git("merge-base --is-ancestor " + named + " HEAD && echo yes") == "yes\n");
      ++num_found;
    }
  }
  CHECK(num_found > 0);
}

TEST_CASE("the ratios to PyTorch on CPUs are those of the committed run", "[results]") {
  const std::string expected = "<!-- ratios of " + kResults + " -->\n" +
                               ratios_table(committed_results()) + "<!-- end -->\n";
  INFO(expected);
  CHECK(flashlab::test::read_source(kSourceFolder + "/docs/attention_cpu_results.md")
            .find(expected) != std::string::npos);
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
