// flashlab grade on an assignment: several exercises, with the points of each student added up.
#include "exercises/grader/exercise/assignment.hpp"

#include <fstream>
#include <regex>

#include "tests/cli/command.hpp"

namespace flashlab::test {
namespace {

namespace fs = std::filesystem;

const fs::path kAssignments = fs::path(FLASHLAB_SOURCE_DIR) / "assignments";
constexpr const char* kUnhurried = " --time-limit 60";

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::vector<fs::path> assignments() {
  std::vector<fs::path> all;
  for (const auto& entry : fs::directory_iterator(kAssignments)) all.push_back(entry.path());
  return all;
}

std::string grade_of(const std::string& name, const std::string& arguments) {
  const std::string folder = (kAssignments / name).string();
  return "flashlab grade " + folder + " --all " + folder + "/sample_class" + kUnhurried + " " +
         arguments;
}

/// An assignment of two exercises of the course, and a class of two.
class SmallAssignment : public Workplace {
 public:
  SmallAssignment() {
    const fs::path exercises = fs::path(FLASHLAB_SOURCE_DIR) / "exercises";
    for (const char* folder : {"pack", "class", "class/anna", "class/=bert"}) {
      fs::create_directory(path(folder));
    }
    write("pack/assignment.toml", toml());
    fs::copy_file(exercises / "02_c00/solution.toy", path("class/anna/02_c00.toy"));
    fs::copy_file(exercises / "02_c00/starter.toy", path("class/=bert/02_c00.toy"));
    fs::copy_file(exercises / "06_safe_softmax/solution.toy",
                  path("class/=bert/06_safe_softmax.toy"));
  }
  static std::string toml() {
    return "title = \"Two\"\n"
           "[[part]]\nexercise = \"02_c00\"\npoints = 30\n"
           "[[part]]\nexercise = \"06_safe_softmax\"\npoints = 12.5\n";
  }
  Outcome grade(const std::string& arguments) const {
    return shell("export HOME=$PWD; flashlab grade pack " + arguments + kUnhurried);
  }
  /// The message about an assignment.toml of this text.
  std::string message(const std::string& text) const {
    write("pack/assignment.toml", text);
    const Outcome outcome = grade("--all class");
    CHECK(outcome.code == 2);
    CHECK(outcome.out.empty());
    return outcome.err;
  }
};

}  // namespace

TEST_CASE("an assignment adds up the points of its parts", "[assignment]") {
  const Workplace place;
  const Outcome graded = place.shell(grade_of("naive_to_flash", "--csv points.csv"));
  INFO(graded.err);
  CHECK(graded.code == 0);
  CHECK(widest_line(graded.out) <= 80);
  CHECK_THAT(graded.out, contains("From naive to flash attention") &&
                             contains("3 students, mean") && contains("of 100 points"));
  const std::string csv = place.read("points.csv");
  CHECK_THAT(
      csv,
      contains(
          "\r\n\"ada\",15,\"full\",20,\"full\",25,\"full\",30,\"full\",10,\"full\",100,100,,\"0x"));
  CHECK_THAT(csv, contains("\r\n\"ben\",0,\"wrong\",20,\"full\",0,\"too_costly\",0,\"missing\",5,"
                           "\"partial\",25,100,,"));
  CHECK(std::regex_search(csv, std::regex("\r\n\"carla\",1\\d\\.\\d,\"costly\",0,\"too_costly\",25,"
                                          "\"full\",0,\"wrong\",0,\"missing\",3\\d\\.\\d,100,,")));
}

TEST_CASE("every assignment has a sample class with a full score and a lower one", "[assignment]") {
  for (const fs::path& folder : assignments()) {
    const Workplace place;
    INFO(folder);
    const Outcome graded = place.shell(grade_of(folder.filename().string(), "--csv -"));
    CHECK(graded.code == 0);
    CHECK_THAT(graded.out, contains(",100,100,,"));
    CHECK(std::regex_search(graded.out, std::regex(",\"(wrong|too_costly)\",")));
    CHECK(place.shell(grade_of(folder.filename().string(), "-q --fail-on-wrong")).code == 1);
  }
}

TEST_CASE("nothing is wrong with the exercises of an assignment", "[assignment]") {
  for (const fs::path& folder : assignments()) {
    for (const auto& exercise : fs::directory_iterator(folder / "exercises")) {
      const Outcome outcome = flashlab("exercises lint " + exercise.path().string());
      INFO(outcome.out << outcome.err);
      CHECK(outcome.code == 0);
    }
  }
}

TEST_CASE("a README states the points of each part as assignment.toml does", "[assignment]") {
  for (const fs::path& folder : assignments()) {
    const auto read = exercises::read_assignment(text_of(folder / "assignment.toml"));
    REQUIRE(read.assignment);
    CHECK(read.assignment->max_points() == 100);
    const std::string readme = text_of(folder / "README.md");
    int number = 0;
    for (const exercises::AssignmentPart& part : read.assignment->parts) {
      const std::regex row("\\| " + std::to_string(++number) + " \\| `" + part.exercise +
                           "\\.(toy|txt)`: [^|]* \\| " +
                           std::to_string(static_cast<int>(part.points)) + " \\|\n");
      INFO(folder << ", part " << number);
      CHECK(std::regex_search(readme, row));
    }
  }
}

TEST_CASE("a part without its work file has no points, whatever else is there", "[assignment]") {
  const SmallAssignment place;
  const Outcome graded = place.grade("--all class --csv -");
  CHECK(graded.code == 0);
  CHECK_THAT(graded.out, contains("\r\n\"anna\",30,\"full\",0,\"missing\",30,42.5,,"));
  CHECK_THAT(graded.out, contains("\r\n\"'=bert\",0,\"wrong\",12.5,\"full\",12.5,42.5,,"));
  CHECK_THAT(place.grade("--all class").out, contains("- is not handed in"));
}

TEST_CASE("a student's folder gets the verdict on each part and the sum", "[assignment]") {
  const SmallAssignment place;
  const Outcome graded = place.grade("class/anna");
  CHECK(graded.code == 0);
  CHECK_THAT(graded.out, contains("full marks: 10 of 10 points") &&
                             contains("not handed in: there is no 06_safe_softmax.toy") &&
                             contains("Two: 30 of 42.5 points"));
}

TEST_CASE("an entry of the class that is no folder is skipped with a note", "[assignment]") {
  const SmallAssignment place;
  place.write("class/carl.toy", "");
  const Outcome graded = place.grade("--all class --csv -");
  CHECK_THAT(graded.err, contains("skipped: 'carl': it is not a folder"));
  CHECK_THAT(graded.out, !contains("carl"));
}

TEST_CASE("pseudonyms replace the names in an assignment", "[assignment]") {
  const SmallAssignment place;
  const Outcome graded = place.grade("--all class --csv - --names pseudonym");
  CHECK_THAT(graded.out, !contains("anna") && contains(",30,42.5,,\r\n"));
  CHECK_THAT(graded.out, !contains("0x"));
}

TEST_CASE("a flag about one exercise is refused for an assignment", "[assignment]") {
  const SmallAssignment place;
  for (const char* flag : {"--json x", "--html x", "--junit x", "--gradescope x", "--best x"}) {
    const Outcome refused = place.grade(std::string("--all class ") + flag);
    INFO(flag);
    CHECK(refused.code == 2);
    CHECK_THAT(refused.err, contains("is about one exercise, and 'pack' is an assignment") &&
                                contains("expected --csv FILE for all points"));
  }
  CHECK_THAT(place.grade("class/anna/02_c00.toy").err, contains("expected a student's folder"));
}

TEST_CASE("what is wrong in assignment.toml is named with its place", "[assignment]") {
  const SmallAssignment place;
  CHECK_THAT(place.message("title = \"Two\"\n"),
             contains("'part' is missing") && contains("the assignment 'pack' is broken"));
  CHECK_THAT(place.message("title = 1\n" + SmallAssignment::toml().substr(14)),
             contains("assignment.toml:1:9"));
  const auto with_part = [&](const std::string& part) {
    return place.message("title = \"T\"\n[[part]]\n" + part);
  };
  CHECK_THAT(with_part("exercise = \"02_c00\"\n"), contains("'points' is missing in [[part]]"));
  CHECK_THAT(with_part("exercise = \"02_c00\"\npoints = 0\n"),
             contains("assignment.toml:4:10") && contains("more than 0, at most 1000"));
  CHECK_THAT(with_part("exercise = \"../x\"\npoints = 1\n"), contains("cannot name an exercise"));
  CHECK_THAT(with_part("exercise = \"02_c00\"\npoints = 1\npoint = 2\n"), contains("unknown key"));
  CHECK_THAT(with_part("exercise = \"2_c00\"\npoints = 1\n"),
             contains("there is no exercise '2_c00'"));
  CHECK_THAT(place.message(SmallAssignment::toml() + SmallAssignment::toml().substr(14)),
             contains("is a part already"));
}

TEST_CASE("misnamed files are graded if only one can be meant, and every other file is listed",
          "[assignment]") {
  const SmallAssignment place;
  const fs::path exercises = fs::path(FLASHLAB_SOURCE_DIR) / "exercises";
  fs::create_directories(place.path("class/carl/sub"));
  fs::copy_file(exercises / "02_c00/solution.toy", place.path("class/carl/02_c00 (1).toy"));
  fs::copy_file(exercises / "06_safe_softmax/solution.toy",
                place.path("class/carl/sub/06_Safe_Softmax.TOY"));
  place.write("class/carl/report.pdf", "");
  const Outcome graded = place.grade("--all class --csv points.csv");
  CHECK(widest_line(graded.out) <= 80);
  CHECK_THAT(graded.out, contains("files that no part took, or took under another name"));
  CHECK_THAT(
      place.read("points.csv"),
      contains("\r\n\"carl\",30,\"full\",12.5,\"full\",42.5,42.5,\"'02_c00 (1).toy' is graded as "
               "02_c00.toy; 'sub/06_Safe_Softmax.TOY' is graded as 06_safe_softmax.toy; "
               "'report.pdf': no part took it\","));
  CHECK_THAT(place.grade("class/carl").out,
             contains("'report.pdf': no part took it") && contains("Two: 42.5 of 42.5 points"));
  const Outcome renamed = place.grade("--all class --names pseudonym --csv -");
  CHECK_THAT(renamed.out, !contains("report.pdf"));
  CHECK_THAT(renamed.err, contains("carl: 'report.pdf': no part took it"));
}

TEST_CASE("two files for one part are named in the student's row, and all else is graded",
          "[assignment]") {
  const SmallAssignment place;
  fs::copy_file(place.path("class/anna/02_c00.toy"), place.path("class/anna/06_SAFE_SOFTMAX.toy"));
  fs::copy_file(place.path("class/anna/02_c00.toy"), place.path("class/anna/6_safe_softmax.toy"));
  const Outcome graded = place.grade("--all class --csv -");
  CHECK_THAT(
      graded.out,
      contains("\"anna\",30,\"full\",0,\"unreadable\",30,42.5,\"'06_SAFE_SOFTMAX.toy', "
               "'6_safe_softmax.toy': each may be 06_safe_softmax.toy, so none is graded\""));
  CHECK_THAT(graded.out, contains("\"'=bert\",0,\"wrong\",12.5,\"full\""));
}

TEST_CASE("ten thousand files that no part takes are one line", "[assignment]") {
  const SmallAssignment place;
  REQUIRE(place
              .shell("cd class/anna && seq 10000 | sed 's/$/.dat/' | xargs touch && "
                     "cd .. && seq 10000 | sed 's/$/.dat/' | xargs touch")
              .code == 0);
  const Outcome graded = place.grade("--all class --csv points.csv");
  CHECK(graded.code == 0);
  CHECK(std::count(graded.err.begin(), graded.err.end(), '\n') == 1);
  CHECK_THAT(graded.err, contains("skipped: '1.dat', '10.dat', '100.dat' and 9997 others"));
  CHECK_THAT(
      place.read("points.csv"),
      contains("\r\n\"anna\",30,\"full\",0,\"missing\",30,42.5,\"'1.dat', '10.dat', '100.dat' "
               "and 9997 others: no part took them\","));
}

}  // namespace flashlab::test
