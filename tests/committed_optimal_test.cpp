// What docs/results/optimal_*.json say is proved, is what the solver proves: small searches again.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/catch_shim.hpp"

namespace {

using nlohmann::json;

/// A search of this many states takes a fraction of a second.
constexpr std::uint64_t kMostStates = 50'000;

std::vector<std::filesystem::path> committed_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(
           std::filesystem::path(FLASHLAB_SOURCE_DIR) / "docs/results")) {
    if (entry.path().filename().string().starts_with("optimal_")) files.push_back(entry.path());
  }
  return files;
}

/// What the command under test prints.
json answer_of(const std::string& arguments) {
  const std::string command =
      std::string("'") + FLASHLAB_BINARY + "' optimal " + arguments + " --json --jobs 1";
  FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string text;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) text += static_cast<char>(c);
  REQUIRE(pclose(pipe) == 0);
  return json::parse(text);
}

json solved_again(const json& file, const json& point) {
  std::string arguments = file["computation"].get<std::string>() + " --registers " +
                          std::to_string(point["registers"].get<int>());
  if (point.contains("operands"))
    arguments += " --operands " + point["operands"].get<std::string>();
  return answer_of(arguments)["points"][0];
}

/// The cells of a line of a Markdown table, without spaces around them.
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream stream(line);
  for (std::string cell; std::getline(stream, cell, '|');) {
    const std::size_t first = cell.find_first_not_of(' ');
    const std::size_t last = cell.find_last_not_of(' ');
    cells.push_back(first == std::string::npos ? "" : cell.substr(first, last - first + 1));
  }
  return cells;
}

}  // namespace

TEST_CASE("the committed optima of products and softmax are what the solver finds") {
  int compared = 0;
  for (const std::filesystem::path& path : committed_files()) {
    INFO(path.filename());
    std::ifstream stream(path);
    const json file = json::parse(stream);
    REQUIRE(file["format"] == "flashlab-optimal");
    CHECK(file["spills"] == false);
    CHECK(file["cost"] == "");
    for (const json& point : file["points"]) {
      INFO(point["registers"] << " registers");
      if (point["verdict"] == "bounded") CHECK(point["at_least_cycles"] < point["at_most_cycles"]);
      if (point["verdict"] == "bounded" || point["states"] > kMostStates) continue;
      const json again = solved_again(file, point);
      for (const char* key : {"verdict", "at_least_cycles", "at_most_cycles", "loads", "program"}) {
        CHECK(again[key] == point[key]);
      }
      ++compared;
    }
  }
  CHECK(compared > 20);
}

TEST_CASE("the chapter's table of judged programs is what the solver says of them") {
  std::ifstream chapter(std::string(FLASHLAB_SOURCE_DIR) + "/docs/12_the_best_there_is.md");
  REQUIRE(chapter);
  int judged = 0;
  for (std::string line; std::getline(chapter, line);) {
    if (!line.starts_with("| `")) continue;
    INFO(line);
    const std::vector<std::string> cells = cells_of(line);  // the first one is before the table
    REQUIRE(cells.size() >= 8);
    const std::string program = cells[1].substr(1, cells[1].size() - 2);
    std::string arguments = program + " --registers " + cells[3];
    if (!cells[4].empty()) arguments += " --operands " + cells[4];
    if (cells[2].starts_with("n = ")) arguments += " -D n=" + cells[2].substr(4);
    const json answer = answer_of(arguments);
    const json& point = answer["points"][0];
    CHECK(point["verdict"] == "optimal");
    CHECK(answer["program_cycles"] == std::stol(cells[5]));
    CHECK(point["at_most_cycles"] == std::stol(cells[6]));
    const long more = std::stol(cells[5]) - std::stol(cells[6]);
    CHECK(cells[7] == (more == 0 ? "optimal" : std::to_string(more) + " too many"));
    ++judged;
  }
  CHECK(judged >= 10);
}
