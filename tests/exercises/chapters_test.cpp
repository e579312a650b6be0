// Chapters and exercises name each other.
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "exercises/grader/exercise/catalogue.hpp"
#include "tests/catch_shim.hpp"

namespace {

using namespace flashlab::exercises;

/// By chapter: its text.
std::map<std::string, std::string> chapters() {
  std::map<std::string, std::string> texts;
  for (const auto& entry : std::filesystem::directory_iterator(FLASHLAB_SOURCE_DIR "/docs")) {
    const std::string name = entry.path().filename().string();
    if (!entry.is_regular_file() || name < "0" || name > "2" || !name.ends_with(".md")) continue;
    std::ostringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    texts["docs/" + name] = text.str();
  }
  return texts;
}

}  // namespace

TEST_CASE("every exercise is named in exactly the chapter that its data says", "[chapters]") {
  const auto all = chapters();
  REQUIRE(all.size() == 13);
  for (const ExerciseSource& source : builtin_exercises()) {
    const ReadResult read = read_exercise(source.id, source.files);
    REQUIRE(read.exercise);
    CAPTURE(source.id);
    std::set<std::string> naming;
    for (const auto& [chapter, text] : all) {
      if (text.find("](../exercises/" + source.id + "/") != std::string::npos) {
        naming.insert(chapter);
      }
    }
    CHECK(naming == std::set<std::string>{read.exercise->chapter});
  }
}

TEST_CASE("a chapter names an exercise by its number and its title", "[chapters]") {
  const auto all = chapters();
  for (const ExerciseSource& source : builtin_exercises()) {
    const ReadResult read = read_exercise(source.id, source.files);
    REQUIRE(read.exercise);
    const std::string number = std::to_string(std::stoi(source.id));
    const std::string link = "**Exercise " + number + "**, [" + read.exercise->title +
                             "](../exercises/" + source.id +
                             "/problem.md): `./lab exercises start " + number + "`";
    CAPTURE(link);
    CHECK(all.at(read.exercise->chapter).find(link) != std::string::npos);
  }
}
