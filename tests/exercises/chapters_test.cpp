// Chapters and exercises name each other.
#include <unistd.h>

#include <algorithm>
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

/// The glossary's line about inputs.
std::string line_about_inputs() {
  std::ifstream glossary(FLASHLAB_SOURCE_DIR "/docs/glossary.md");
  for (std::string line; std::getline(glossary, line);) {
    if (line.starts_with("| inputs |")) return line;
  }
  return "";
}

/// A folder of teachers' exercises, each with only an exercise.toml.
class OwnExercises {
 public:
  OwnExercises() {
    std::string pattern = (std::filesystem::temp_directory_path() / "flashlab-XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~OwnExercises() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  OwnExercises(const OwnExercises&) = delete;
  OwnExercises& operator=(const OwnExercises&) = delete;

  void add(const std::string& id, const std::string& toml) const {
    std::filesystem::create_directory(path_ / id);
    std::ofstream(path_ / id / "exercise.toml") << toml;
  }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

std::vector<std::string> ids(const std::vector<ExerciseSource>& sources) {
  std::vector<std::string> all;
  for (const ExerciseSource& source : sources) all.push_back(source.id);
  return all;
}

}  // namespace

TEST_CASE("the glossary explains every kind of inputs that a message may name") {
  const std::string line = line_about_inputs();
  for (int family = 0; !to_string(static_cast<Family>(family)).empty(); ++family) {
    const std::string name(to_string(static_cast<Family>(family)));
    INFO(name);
    CHECK(line.find("*" + name + "*") != std::string::npos);
  }
}

TEST_CASE("the course follows its chapters, whatever the numbers of the exercises", "[chapters]") {
  const OwnExercises own;
  own.add("00_without_chapter", "title = \"Mine\"\n");
  own.add("00_broken", "title = \n");
  own.add("99_on_tiles", "chapter = \"docs/06_tiles.md\"\n");
  const std::vector<std::string> all = ids(all_exercises({own.path()}));
  const auto place = [&](const std::string& id) {
    const auto found = std::find(all.begin(), all.end(), id);
    REQUIRE(found != all.end());
    return found - all.begin();
  };
  CHECK(all.front() == "01_demo_product");
  CHECK(place("15_tile_merge") + 1 == place("28_flash2"));
  CHECK(place("28_flash2") + 1 == place("29_flash2_causal"));
  CHECK(place("99_on_tiles") + 1 == place("16_loop_orders"));
  CHECK(place("33_backward_tiles") < place("26_predict_flash2_bytes"));
  CHECK(place("00_broken") + 2 == static_cast<std::ptrdiff_t>(all.size()));
  CHECK(all.back() == "00_without_chapter");
}

TEST_CASE("every exercise is named in exactly the chapter that its data says", "[chapters]") {
  const auto all = chapters();
  REQUIRE(all.size() == 14);
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

TEST_CASE("the map for teachers lists the exercises of each chapter", "[chapters]") {
  std::ostringstream map;
  map << std::ifstream(FLASHLAB_SOURCE_DIR "/docs/map_for_teachers.md").rdbuf();
  std::map<std::string, std::string> numbers;  // by chapter: "13, 14, 30"
  for (const ExerciseSource& source : builtin_exercises()) {
    const ReadResult read = read_exercise(source.id, source.files);
    REQUIRE(read.exercise);
    std::string& list = numbers[read.exercise->chapter];
    list += (list.empty() ? "" : ", ") + std::to_string(std::stoi(source.id));
  }
  for (const auto& [chapter, text] : chapters()) {
    const std::string row = "](" + chapter.substr(chapter.find('/') + 1) + ") |";
    const std::size_t begin = map.str().find(row);
    INFO(chapter);
    REQUIRE(begin != std::string::npos);
    const std::string line = map.str().substr(begin, map.str().find('\n', begin) - begin);
    const std::string list = numbers.contains(chapter) ? numbers[chapter] : "–";
    CHECK(line.find(" min | " + list + " |") != std::string::npos);
  }
}
