// What `flashlab compare` prints of a call names one unit that binds, wherever it stands.
#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "results/result_file.hpp"
#include "tests/cli/command.hpp"

namespace flashlab::test {
namespace {

std::vector<std::string> output_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// The ends of the lines of `--show models`, from the column of the unit on.
std::vector<std::string> units_of_table(const std::vector<std::string>& lines) {
  const auto head = std::ranges::find_if(
      lines, [](const std::string& line) { return line.ends_with("  bound"); });
  REQUIRE(head != lines.end());
  std::vector<std::string> units;
  for (auto line = head + 2; line != lines.end() && !line->empty(); ++line) {
    units.push_back(line->substr(line->rfind("  ") + 2));
  }
  return units;
}

/// "DRAM" of "bound by DRAM, most of all in …".
std::vector<std::string> units_of_sentences(const std::vector<std::string>& lines) {
  std::vector<std::string> units;
  for (const std::string& line : lines) {
    constexpr std::string_view kBound = "bound by ";
    const std::size_t at = line.find(kBound);
    if (at == std::string::npos) continue;
    const std::size_t begin = at + kBound.size();
    units.push_back(line.substr(begin, line.find_first_of(",;:)", begin) - begin));
  }
  return units;
}

}  // namespace

TEST_CASE("the sentence of each measured call names the unit of the table and of --explain",
          "[cli][compare]") {
  constexpr std::size_t kEvery = 40;
  for (const std::string& name : compare::committed_results()) {
    const std::string command = "compare --measured " + name + " ";
    const Outcome shown = flashlab(command + "--show models,sentences --width 400");
    REQUIRE(shown.code == 0);
    // The table's notes have the words, too.
    const std::size_t notes = shown.out.find("\nroofline "), end = shown.out.find("\n\n", notes);
    REQUIRE(notes < end);
    const std::vector<std::string> in_table =
                                       units_of_table(output_lines(shown.out.substr(0, notes))),
                                   said = units_of_sentences(output_lines(shown.out.substr(end)));
    CHECK(in_table.size() > 30);
    CHECK(in_table == said);
    for (std::size_t row = 0; row < in_table.size(); row += kEvery) {
      const Outcome one = flashlab(command + "--width 400 --explain " + std::to_string(row + 1));
      INFO(command << row + 1 << "\n" << one.out);
      const std::string last = output_lines(one.out).back();
      const bool has_several = last.starts_with("all kernels: ");
      CHECK_THAT(last, contains((has_several ? "all kernels: " : "  ") + in_table[row] + " bind"));
    }
  }
}

}  // namespace flashlab::test
