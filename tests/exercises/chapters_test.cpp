// Chapters and exercises name each other.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
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
  CHECK(place("32_split_kv_merge") + 1 == place("30_fused_softmax"));
  CHECK(place("28_flash2") + 1 == place("29_flash2_causal"));
  CHECK(place("99_on_tiles") + 1 == place("16_loop_orders"));
  CHECK(place("33_backward_tiles") < place("26_predict_flash2_bytes"));
  CHECK(place("00_broken") + 2 == static_cast<std::ptrdiff_t>(all.size()));
  CHECK(all.back() == "00_without_chapter");
}

TEST_CASE("an exercise stands behind the one that its key after names, with its own followers",
          "[chapters]") {
  const OwnExercises own;
  own.add("50_first", "after = \"04_outer_product\"\n");
  own.add("40_then", "after = \"50_first\"\nchapter = \"docs/99_else.md\"\n");
  const std::vector<std::string> all = ids(all_exercises({own.path()}));
  const auto found = std::find(all.begin(), all.end(), "04_outer_product");
  REQUIRE(all.end() - found > 4);
  CHECK(std::vector(found, found + 4) == std::vector<std::string>{"04_outer_product", "50_first",
                                                                  "40_then",
                                                                  "05_inner_six_registers"});
}

TEST_CASE("no exercise is lost that follows itself or one that there is not", "[chapters]") {
  const OwnExercises own;
  own.add("50_a", "after = \"51_b\"\n");
  own.add("51_b", "after = \"50_a\"\n");
  own.add("52_c", "after = \"none_such\"\n");
  own.add("53_d", "after = \"53_d\"\n");
  const std::vector<std::string> all = ids(all_exercises({own.path()}));
  CHECK(all.size() == builtin_exercises().size() + 4);
  CHECK(std::set<std::string>(all.begin(), all.end()).size() == all.size());
  CHECK(std::vector(all.end() - 4, all.end()) ==
        std::vector<std::string>{"52_c", "50_a", "51_b", "53_d"});
}

TEST_CASE("a chapter asks its exercises in the course's order", "[chapters]") {
  const auto all = chapters();
  std::map<std::string, std::size_t> last;  // by chapter
  for (const ExerciseSource& source : all_exercises({})) {
    const std::string chapter = course_place(source).chapter;
    const std::size_t at = all.at(chapter).find("](../exercises/" + source.id + "/");
    CAPTURE(source.id);
    CHECK(at > last[chapter]);
    last[chapter] = at;
  }
}

TEST_CASE("an exercise comes after those that its text builds on", "[chapters]") {
  /// References forward, to what comes later.
  const std::set<std::pair<int, int>> announced = {{6, 8}, {7, 8}, {11, 12}};
  const std::regex reference("[Ee]xercises? ([0-9]+)( and ([0-9]+))?");
  std::set<int> before;
  for (const ExerciseSource& source : all_exercises({})) {
    const int here = std::stoi(source.id);
    std::string text = source.files.at("problem.md");
    std::replace(text.begin(), text.end(), '\n', ' ');
    for (std::sregex_iterator match(text.begin(), text.end(), reference), end; match != end;
         ++match) {
      for (const std::size_t group : {1U, 3U}) {
        if (!(*match)[group].matched) continue;
        const int other = std::stoi((*match)[group]);
        CAPTURE(here, other);
        CHECK(before.contains(other) != announced.contains({here, other}));
      }
    }
    before.insert(here);
  }
  CHECK(before.size() == builtin_exercises().size());
}

TEST_CASE("tiles are explained before programs on tiles, and times before programs that are fast",
          "[chapters]") {
  const std::vector<std::string> all = ids(all_exercises({}));
  const auto place = [&](int number) {
    return std::find_if(all.begin(), all.end(),
                        [&](const std::string& id) { return std::stoi(id) == number; });
  };
  CHECK(place(15) < place(28));
  CHECK(place(28) < place(30));
  for (const int fast : {35, 36, 37}) {
    CHECK(place(26) < place(fast));
    CHECK(place(27) < place(fast));
  }
}

TEST_CASE("every exercise is named in exactly the chapter that its data says", "[chapters]") {
  const auto all = chapters();
  REQUIRE(all.size() == 16);  // 14, 9a and 10a
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
  for (const ExerciseSource& source : all_exercises({})) {
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
