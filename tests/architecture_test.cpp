// docs/architecture.md says what the rules of the folders are (architecture_rules.hpp).
#include <algorithm>
#include <array>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/architecture_rules.hpp"
#include "tests/catch_shim.hpp"
#include "tests/source_files.hpp"

namespace flashlab::test {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

const std::string& page() {
  static const std::string text = read_source(kSourceRoot / "docs/architecture.md");
  return text;
}

/// The rows of the table whose first line begins with `heading`, as cells.
std::vector<std::vector<std::string>> table(const std::string& heading) {
  std::vector<std::vector<std::string>> rows;
  bool is_inside = false;
  for (const std::string& line : lines_of(page())) {
    if (line.starts_with(heading)) is_inside = true;
    if (is_inside && !line.starts_with("|")) break;
    if (!is_inside) continue;
    std::vector<std::string> cells;
    std::istringstream stream(line.substr(1));
    for (std::string cell; std::getline(stream, cell, '|');) cells.push_back(cell);
    rows.push_back(std::move(cells));
  }
  REQUIRE(rows.size() > 2);
  rows.erase(rows.begin(), rows.begin() + 2);  // the heading and the line below it
  return rows;
}

/// The words between backticks.
std::vector<std::string> names_in(const std::string& cell) {
  static const std::regex kName("`([^`]+)`");
  std::vector<std::string> names;
  for (std::sregex_iterator it(cell.begin(), cell.end(), kName), end; it != end; ++it) {
    names.push_back((*it)[1].str());
  }
  return names;
}

/// The layers of the picture from the top: which folders each has.
std::vector<std::set<std::string>> layers() {
  const auto begin = page().find("```text\n"), end = page().find("```\n", begin + 8);
  REQUIRE(end != std::string::npos);
  std::vector<std::set<std::string>> result(1);
  for (const std::string& line : lines_of(page().substr(begin + 8, end - begin - 8))) {
    if (line.starts_with("─")) {
      result.emplace_back();
    } else {
      std::istringstream words(line);
      std::string name;
      words >> name;
      result.back().insert(name);
    }
  }
  return result;
}

/// The rooms of a folder in the order of their first floors.
std::vector<std::string> rooms_of(const std::string& folder) {
  std::vector<std::string> rooms;
  for (const std::string& floor : floors().at(folder)) {
    if (std::ranges::find(rooms, room_of(floor)) == rooms.end()) rooms.push_back(room_of(floor));
  }
  return rooms;
}

}  // namespace

TEST_CASE("the picture has every folder once, above those that it uses", "[structure]") {
  std::map<std::string, std::size_t> layer_of;
  const auto all = layers();
  for (std::size_t k = 0; k < all.size(); ++k) {
    for (const std::string& folder : all[k]) {
      INFO(folder);
      CHECK(may_use().contains(folder));
      CHECK(layer_of.try_emplace(folder, k).second);
    }
  }
  for (const auto& [folder, used] : may_use()) {
    INFO(folder << " is missing in the picture");
    REQUIRE(layer_of.contains(folder));
    for (const std::string& other : used) {
      INFO(folder << " uses " << other);
      CHECK((other == folder || layer_of.at(other) > layer_of.at(folder)));
    }
  }
  constexpr std::array kNumbers = {"ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen"};
  const std::string number = kNumbers.at(may_use().size() - 10);
  CHECK_THAT(page(), contains("consists of " + number + " folders"));
}

TEST_CASE("the table of the folders says what each may use", "[structure]") {
  std::map<std::string, std::set<std::string>> stated;
  for (const auto& cells : table("| folder | what it knows")) {
    REQUIRE(cells.size() == 4);
    const std::string folder = names_in(cells[0]).at(0);
    const std::vector<std::string> used = names_in(cells[3]);
    stated[folder] = {used.begin(), used.end()};
    stated[folder].insert(folder);
    INFO(folder);
    CHECK((used.empty() == (cells[3] == " nothing ")));
  }
  CHECK(stated == may_use());
}

TEST_CASE("the table of the rooms has the floors of each folder, and each room is there",
          "[structure]") {
  std::map<std::string, std::vector<std::string>> stated, ruled;
  for (const auto& cells : table("| folder | rooms |")) {
    stated[names_in(cells.at(0)).at(0)] = names_in(cells.at(1));
  }
  for (const auto& [folder, all] : floors()) {
    for (const std::string& room : rooms_of(folder)) {
      INFO(folder << "/" << room);
      CHECK(fs::is_directory(kSourceRoot / folder / room));
    }
    if (rooms_of(folder).size() > 1) ruled[folder] = rooms_of(folder);
  }
  CHECK(stated == ruled);
}

TEST_CASE("the table of the machine's rooms has each of them in their order", "[structure]") {
  std::vector<std::string> stated;
  for (const auto& cells : table("| room | input")) stated.push_back(names_in(cells.at(0)).at(0));
  CHECK(stated == floors().at("toymachine"));
}

TEST_CASE("every include that is left from a higher floor has a reason", "[structure]") {
  for (const auto& [source, includes] : left_includes()) {
    for (const auto& [included, reason] : includes) {
      INFO(source << " includes " << included);
      CHECK(reason.size() > 20);
      CHECK(fs::exists(kSourceRoot / source));
    }
  }
}

}  // namespace flashlab::test
