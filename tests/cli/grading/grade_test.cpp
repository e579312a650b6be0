// flashlab grade: requests, exit codes, files, the same bytes whatever the number of threads.
#include <nlohmann/json.hpp>
#include <regex>

#include "exercises/grader/report/reports.hpp"
#include "tests/cli/command.hpp"
#include "tests/exercises/proven_exercise.hpp"

namespace flashlab::test {
namespace {

namespace fs = std::filesystem;

/// A place with the template as exercise 91_dot, and a class of four.
class GradedClass : public Workplace {
 public:
  GradedClass() {
    const fs::path source = fs::path(FLASHLAB_SOURCE_DIR) / "exercises" / "template";
    fs::create_directory(path("ex"));
    fs::copy(source, path("ex/91_dot"), fs::copy_options::recursive);
    fs::create_directory(path("class"));
    fs::copy_file(source / "solution.toy", path("class/anna.toy"));
    fs::copy_file(source / "starter.toy", path("class/bert.toy"));
    fs::create_directory(path("class/cleo"));
    write("class/cleo/any.toy", "nonsense\n");
    fs::create_symlink("anna.toy", path("class/dora.toy"));
  }

  Outcome grade(const std::string& arguments, const std::string& exercise = "91") const {
    return shell("flashlab grade " + exercise + " --exercises ex " + arguments);
  }
};

/// The product with 3 registers as exercise 93, for which 25 cycles are proved to be best (or no
/// less than 22); a student who has them, and one whose program repeats a load.
class ProvenClass : public Workplace {
 public:
  explicit ProvenClass(const Bounds& bounds) {
    const auto files = with_proof("03_full_product", {bounds});
    for (const auto& [name, text] : files) {
      fs::create_directories(path("ex/93_product/" + name).parent_path());
      write("ex/93_product/" + name, text);
    }
    fs::create_directory(path("class"));
    std::string text = files.at("solution.toy");
    write("class/anna.toy", text);
    text.insert(text.find("LOAD b[1][1], R1 "), "LOAD a[0][1], R0\n");
    write("class/bert.toy", text);
  }
  Outcome run(const std::string& arguments) const {
    return shell("export HOME=$PWD; flashlab " + arguments + " --exercises ex");
  }
};

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

}  // namespace

TEST_CASE("grade explains one submission in full") {
  const GradedClass place;
  const Outcome right = place.grade("class/anna.toy");
  CHECK(right.code == 0);
  CHECK_THAT(right.out, contains("+ full marks: 10 of 10 points"));
  CHECK_THAT(right.out, contains("yours") && contains("full marks") && contains("solution"));
  const Outcome wrong = place.grade("class/bert.toy");
  CHECK(wrong.code == 0);
  CHECK_THAT(wrong.out, contains("x wrong: 0 of 10 points") && contains("flashlab hint 91_dot"));
  CHECK(widest_line(wrong.out) <= 80);
}

TEST_CASE("grade names a question without an answer once") {
  const Workplace place;
  place.write("sheet.txt", "stores:\nnone_kept:\nall_kept: n\n");
  const Outcome outcome = place.shell("flashlab grade 18 sheet.txt");
  CHECK(count_of(outcome.out, "none_kept: there is no answer yet") == 1);
}

TEST_CASE("grade --all gives every student a row and the class a histogram") {
  const GradedClass place;
  const Outcome outcome = place.grade("--all class");
  CHECK(outcome.code == 0);
  for (const char* name : {"anna", "bert", "cleo", "dora"}) CHECK_THAT(outcome.out, contains(name));
  CHECK_THAT(outcome.out, contains("4 submissions, mean 2.5 of 10 points"));
  CHECK_THAT(outcome.out, contains("Students by cycles at n = 16"));
  CHECK(widest_line(outcome.out) <= 80);
}

TEST_CASE("grade and check show the proven best beside a submission, and no program of it") {
  const ProvenClass place({20, 25, 25});
  for (const char* command : {"grade 93", "exercises check --explain 93"}) {
    const Outcome best = place.run(std::string(command) + " class/anna.toy");
    CHECK(best.code == 0);
    CHECK_THAT(best.out, contains("proven best") && contains("floor"));
    CHECK_THAT(best.out, contains("25 cycles: proved to be the best there is."));
    const Outcome more = place.run(std::string(command) + " class/bert.toy");
    CHECK_THAT(more.out, contains("allows 25 cycles: 1 cycle lies in the placement"));
    CHECK_THAT(more.out, contains("a[0][1] is in R0 already"));
    for (const Outcome& outcome : {best, more}) {
      CHECK(widest_line(outcome.out) <= 80);
      CHECK_THAT(outcome.out, !contains("SPOILER"));
    }
  }
  const auto json =
      nlohmann::json::parse(place.run("exercises check 93 class/bert.toy --json").out);
  CHECK(json["scores"][0]["order"]["cycles"] == 25);
  CHECK(json["scores"][0]["proof"]["at_most_cycles"] == 25);
  CHECK(json["scores"][0]["best"] == false);
  CHECK(json["load_lines"][0]["line"] == 9);
}

TEST_CASE("bounds are shown as bounds, and are never called the best there is") {
  const ProvenClass place({20, 22, 27});
  const Outcome one = place.run("grade 93 class/anna.toy --width 140");
  CHECK_THAT(one.out, contains("22 to 27") && contains("at most 3 cycles lie in the order itself"));
  CHECK_THAT(one.out, !contains("optimal") && !contains("best there is"));
  const Outcome all = place.run("grade 93 --all class --width 140");
  CHECK_THAT(all.out, contains("the best is between 22 and 27 cycles") && contains("0 to 3"));
  CHECK_THAT(all.out, contains("L lower bound 22"));
}

TEST_CASE("grade --all shows how far each student is from the proven best") {
  const ProvenClass place({20, 25, 25});
  const Outcome outcome = place.run("grade 93 --all class");
  CHECK_THAT(outcome.out, contains("above best") && contains("P proven best 25"));
  CHECK_THAT(outcome.out, contains("Students by cycles\n") && contains("Students by loads\n"));
  CHECK_THAT(place.run("grade 93 --all class --width 140").out,
             contains("1 with the proven best, 25 cycles\n"));
  CHECK(widest_line(outcome.out) <= 80);
  const auto reports = [&](const std::string& jobs) {
    const std::string flags = " --json j --csv c --junit u --html h --gradescope g --quiet --jobs ";
    CHECK(place.run("grade 93 --all class" + flags + jobs).code == 0);
    return place.read("j") + place.read("c") + place.read("u") + place.read("h") +
           place.read("g/anna.json") + place.read("g/bert.json");
  };
  const std::string alone = reports("1");
  CHECK_THAT(alone, contains("above_best_at_least") && contains("above_proven_best"));
  CHECK(alone == reports("3"));
}

TEST_CASE("a proof that is out of step says nothing, and one that is broken is an error") {
  const ProvenClass place({20, 25, 25});
  place.write("ex/93_product/starter.toy", place.read("ex/93_product/starter.toy") + "; edited\n");
  CHECK_THAT(place.run("grade 93 class/anna.toy").out, contains("proven best"));
  place.write("ex/93_product/solution.toy", place.read("ex/93_product/solution.toy") + "; edit\n");
  const Outcome stale = place.run("grade 93 class/anna.toy");
  CHECK(stale.code == 0);
  CHECK_THAT(stale.out, !contains("proven best"));
  CHECK_THAT(place.run("exercises lint 93").out + place.run("exercises lint 93").err,
             contains("out of step") && contains("flashlab exercises prove 93_product"));
  place.write("ex/93_product/proven.json", "{");
  const Outcome broken = place.run("grade 93 class/anna.toy");
  CHECK(broken.code == 2);
  CHECK_THAT(broken.err, contains("proven.json:1:2: error"));
}

TEST_CASE("grade exits 0 whatever the verdicts, and 1 with --fail-on-wrong") {
  const GradedClass place;
  CHECK(place.grade("--all class").code == 0);
  CHECK(place.grade("--all class --fail-on-wrong").code == 1);
  CHECK(place.grade("class/anna.toy --fail-on-wrong").code == 0);
}

TEST_CASE("a request that cannot be met exits with 2 and says why") {
  const GradedClass place;
  const std::map<std::string, std::string> cases{
      {"", "nothing to grade"},
      {"class/anna.toy --all class", "both files and --all"},
      {"gone.toy", "No such file"},
      {"--all gone", "No such file"},
      {"--all class/anna.toy", "Not a directory"},
      {"class/anna.toy class/anna.toy", "given twice"},
      {"- class/anna.toy", "one submission"},
      {"--all class --jobs 0", "--jobs"},
      {"--all class --names nick", "--names"},
      {"--all class --json - --csv -", "both write to standard output"},
      {"--all class --json same --csv ./same", "--json and --csv both name './same'"},
      {"--all class --html x --best class/../x", "--html and --best both name"},
      {"--all class --add-bom", "--csv FILE"},
      {"--all class --seed 4x", "'4x' is not a seed"},
      {"--all class --seed 1 --secret s", "a secret makes the seed"},
      {"--all class --gradescope -", "a folder"},
      {"--all class --gradescope class/anna.toy", "would replace a file of 'class'"},
      {"--all class --json missing/a.json", "cannot be written"}};
  for (const auto& [arguments, says] : cases) {
    CAPTURE(arguments);
    const Outcome outcome = place.grade(arguments);
    CHECK(outcome.code == 2);
    CHECK_THAT(outcome.err, contains(says));
  }
  CHECK_THAT(place.grade("--all class", "99").err, contains("no exercise '99'"));
}

TEST_CASE("reports have the same bytes whatever the number of threads") {
  const GradedClass place;
  for (int i = 0; i < 60; ++i) {
    place.write("class/s" + std::to_string(i) + ".toy",
                place.read(i % 3 == 0 ? "class/anna.toy" : "class/bert.toy") + "; " +
                    std::to_string(i) + "\n");
  }
  const auto reports = [&](const std::string& jobs) {
    const Outcome outcome =
        place.grade("--all class --jobs " + jobs +
                    " --json r.json --csv r.csv --junit r.xml --html r.html --gradescope gs");
    CHECK(outcome.code == 0);
    std::string all = outcome.out;
    for (const char* name : {"r.json", "r.csv", "r.xml", "r.html", "gs/s59.json"}) {
      CHECK_FALSE(place.read(name).empty());
      all += place.read(name);
    }
    return all;
  };
  const std::string one = reports("1");
  CHECK(one == reports("2"));
  CHECK(one == reports("16"));
}

TEST_CASE("a report that cannot be written keeps no other from being written") {
  const GradedClass place;
  const Outcome outcome = place.grade(
      "--all class --best missing/b.json --json missing/r.json --csv /dev/full --html r.html "
      "--gradescope gs");
  CHECK(outcome.code == 2);
  CHECK_THAT(outcome.err,
             contains("missing/b.json") && contains("missing/r.json") && contains("/dev/full"));
  CHECK_THAT(place.read("r.html"), contains("anna"));
  CHECK_THAT(place.read("gs/anna.json"), contains("\"score\""));
  CHECK_THAT(outcome.out, contains("4 submissions, mean 2.5"));
}

TEST_CASE("every entry of a class's folder is in every report, with the reason") {
  const GradedClass place;
  for (const char* name : {"class/.toy", "class/emil", "class/fred.toy.pdf"}) place.write(name, "");
  REQUIRE(place.grade("--all class --json j --csv c --junit u --html h --gradescope g").code == 0);
  for (const char* report : {"j", "c", "u", "h"}) {
    CAPTURE(report);
    CHECK_THAT(place.read(report), contains(".toy") && contains("it is hidden") &&
                                       contains("emil") && contains("fred.toy.pdf") &&
                                       contains("it is not a .toy or .txt file"));
  }
  CHECK_THAT(place.read("g/fred.toy.pdf.json"), contains("it is not a .toy or .txt file"));
  CHECK_THAT(place.read("g/%2Etoy.json"), contains("it is hidden"));
  REQUIRE(place.grade("--all class --names none --csv c").code == 0);
  CHECK_THAT(place.read("c"),
             !contains("fred") && contains("\"submission 1 (skipped)\",\"skipped\""));
}

TEST_CASE("grade reads one submission from standard input") {
  const GradedClass place;
  const Outcome outcome =
      place.shell("flashlab grade 91_dot - --exercises ex --json - < class/anna.toy");
  CHECK(json_of(outcome)["students"][0]["outcome"] == "full");
}

TEST_CASE("standard input beyond the limit is refused without reading all of it") {
  const GradedClass place;
  const Outcome outcome = place.shell("yes | flashlab grade 91 - --exercises ex --json -");
  CHECK(json_of(outcome)["students"][0]["outcome"] == "limit");
}

TEST_CASE("a report on standard output stands alone") {
  const GradedClass place;
  const auto all = json_of(place.grade("--all class --json -"));
  CHECK(all["students"].size() == 4);
  CHECK_THAT(place.grade("--all class --csv -").out, !contains("Students by"));
}

TEST_CASE("a real parser accepts the JUnit report, hostile names included") {
  const GradedClass place;
  if (place.shell("python3 -c 'import xml.etree.ElementTree'").code != 0) {
    FLASHLAB_SKIP("there is no python3 (with its standard library)");
  }
  place.write("class/]]>\x01<x>&\"'.toy", "]]> \x1b <script> & \xff\n");
  REQUIRE(place.grade("--all class --junit r.xml -q").code == 0);
  const Outcome parsed = place.shell(
      "python3 -c \"import xml.etree.ElementTree as t; r=t.parse('r.xml').getroot(); "
      "print(len(r), sum(int(s.get('tests')) for s in r) == int(r.get('tests')) == "
      "len(r.findall('testsuite/testcase')))\"");
  CHECK(parsed.out == "5 True\n");
}

TEST_CASE("pseudonyms replace names in every report") {
  const GradedClass place;
  const Outcome outcome = place.grade(
      "--all class --names pseudonym --seed 5 --json r.json --csv r.csv --junit r.xml "
      "--html r.html --gradescope gs");
  REQUIRE(outcome.code == 0);
  std::string all = outcome.out;
  for (const char* name : {"r.json", "r.csv", "r.xml", "r.html"}) all += place.read(name);
  for (const char* name : {"anna", "bert", "cleo", "dora"}) CHECK_THAT(all, !contains(name));
  const Outcome again = place.grade("--all class --names pseudonym --seed 5");
  CHECK(again.out == outcome.out);
  const auto students = [&](const std::string& seed) {
    const Outcome other = place.grade("--all class --names pseudonym -q --csv - --seed " + seed);
    const std::regex row("\r\n\"([a-z]+-[a-z]+-[0-9]+)\"");
    std::vector<std::string> names;
    for (std::sregex_iterator at(other.out.begin(), other.out.end(), row), end; at != end; ++at) {
      names.push_back((*at)[1]);
    }
    return names;
  };
  CHECK(students("5").size() == 4);
  CHECK(students("5") == students("6"));  // so that they tell nothing about the seed
}

TEST_CASE("the best ever is kept, and a damaged file is left as it is") {
  const GradedClass place;
  const Outcome first = place.grade("--all class --best best.json");
  CHECK(first.code == 0);
  CHECK_THAT(first.out, contains("E best ever 49"));
  std::string kept = place.read("best.json");
  kept.replace(kept.find("\"49\""), 4, "\"41\"");
  place.write("best.json", kept);
  CHECK_THAT(place.grade("--all class --best best.json").out, contains("E best ever 41"));
  CHECK(place.read("best.json") == kept);
  place.write("best.json", "{\"format\": ");
  const Outcome damaged = place.grade("--all class --best best.json");
  CHECK(damaged.code == 2);
  CHECK_THAT(damaged.err, contains("damaged"));
  CHECK(place.read("best.json") == "{\"format\": ");
}

TEST_CASE("a seed below 0 is refused, and so are mutants of questions") {
  const GradedClass place;
  const Outcome seed = place.grade("class/anna.toy --seed -3");
  CHECK(seed.code == 2);
  CHECK_THAT(seed.err, contains("--seed"));
  const Outcome mutants = place.shell("flashlab exercises lint --mutants 11");
  CHECK(mutants.code == 2);
  CHECK_THAT(mutants.err, contains("asks questions"));
}

TEST_CASE("gradings at the same time lose none of the best costs") {
  const GradedClass place;
  for (int i = 0; i < 8; ++i) {
    const std::string id = "ex/2" + std::to_string(i) + "_dot";
    fs::copy(place.path("ex/91_dot"), place.path(id), fs::copy_options::recursive);
  }
  const Outcome outcome = place.shell(
      "for i in 0 1 2 3 4 5 6 7; do flashlab grade 2$i class/anna.toy --exercises ex "
      "--best best.json -q & done; wait");
  CHECK(outcome.code == 0);
  CHECK(nlohmann::json::parse(place.read("best.json"))["exercises"].size() == 8);
}

TEST_CASE("what is no submission is noted, and --quiet is quiet") {
  const GradedClass place;
  place.write("class/notes.md", "");
  CHECK_THAT(place.grade("--all class").err, contains("notes.md"));
  const Outcome quiet = place.grade("--all class --quiet --json r.json");
  CHECK(quiet.out.empty());
  CHECK(quiet.err.empty());
  CHECK(nlohmann::json::parse(place.read("r.json"))["students"].size() == 4);
}

TEST_CASE("an interrupted grading leaves nothing half-written and exits with 130") {
  const GradedClass place;
  const Outcome outcome = place.shell(
      "mkfifo held; timeout --preserve-status -s INT 1 '" + std::string(FLASHLAB_BINARY) +
      "' grade 91 --all class --exercises ex --json r.json --csv held; echo code $?");
  CHECK_THAT(outcome.out, contains("code 130"));
  for (const auto& entry : fs::directory_iterator(place.path("."))) {
    CHECK_THAT(entry.path().filename().string(), !contains(".part"));
  }
}

TEST_CASE("no escape codes and no progress reach a file") {
  const GradedClass place;
  place.write("class/\x1b[31mred.toy", "; \x1b[2J\n");
  const Outcome outcome = place.grade("--all class --ascii");
  CHECK(count_of(outcome.out + outcome.err, "\x1b") == 0);
  CHECK_THAT(outcome.err, !contains("graded"));
}

}  // namespace flashlab::test
