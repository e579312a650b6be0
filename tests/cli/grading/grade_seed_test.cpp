// flashlab grade: which seed a grading has, who is told it, and what is kept.
#include <nlohmann/json.hpp>
#include <regex>

#include "tests/cli/command.hpp"

namespace flashlab::test {
namespace {

namespace fs = std::filesystem;

/// Right at n = 1, 2, 5, 16, 17 and 40 only, the displayed sizes and the ends of the drawn range; wrong
/// at every other size.
std::string right_at_few_sizes(const std::string& solution) {
  std::string text = solution;
  const std::string loop = "for i in 1..n\n";
  std::string wrong = "1";
  for (const char* n : {"1", "2", "5", "16", "17", "40"}) {
    wrong += std::string("*min(1, (n - ") + n + ")*(n - " + n + "))";
  }
  text.replace(text.find(loop), loop.size(), "for i in 1..n - wrong\n");
  const std::string param = ".param n = 4\n";
  return text.insert(text.find(param) + param.size(), ".param wrong = " + wrong + "\n");
}

/// The template as exercise 91_dot, and a class of two.
class SeededClass : public Workplace {
 public:
  SeededClass() {
    const fs::path source = fs::path(FLASHLAB_SOURCE_DIR) / "exercises" / "template";
    fs::create_directory(path("ex"));
    fs::copy(source, path("ex/91_dot"), fs::copy_options::recursive);
    add_class("class");
  }
  void add_class(const std::string& name) const {
    fs::create_directory(path(name));
    fs::copy_file(path("ex/91_dot/solution.toy"), path(name + "/anna.toy"));
    fs::copy_file(path("ex/91_dot/wrong/forgets_the_last.toy"), path(name + "/bert.toy"));
  }
  Outcome grade(const std::string& arguments) const {
    return shell("flashlab grade 91 --exercises ex " + arguments);
  }
  /// The seed that a grading of the class names.
  std::string seed_of(const std::string& arguments) const {
    const Outcome graded = grade(arguments);
    INFO(graded.err);
    REQUIRE(graded.code == 0);
    std::smatch found;
    REQUIRE(std::regex_search(graded.out, found, std::regex("\nSeed (\\S+), kept for this class")));
    return found[1];
  }
  std::string kept_file() const {
    for (const auto& entry : fs::directory_iterator(path(".state/flashlab/classes"))) {
      return fs::relative(entry.path(), path(".")).string();
    }
    return {};
  }
};

std::string decimal(const std::string& seed) {
  return std::to_string(std::stoull(seed, nullptr, 0));
}

}  // namespace

TEST_CASE("a class draws its seed, and the teacher alone is told it", "[seed]") {
  const SeededClass place;
  const std::string seed = place.seed_of(
      "--all class --json r.json --csv r.csv --html r.html --junit r.xml --gradescope gs");
  CHECK_THAT(seed, Catch::StartsWith("0x"));
  CHECK(nlohmann::json::parse(place.read("r.json"))["seed"] == seed);
  CHECK_THAT(place.read("r.csv"), contains(",\"" + seed + "\"\r\n"));
  for (const char* report : {"r.html", "r.xml", "gs/anna.json", "gs/bert.json"}) {
    CAPTURE(report);
    const std::string text = place.read(report);
    CHECK_FALSE(text.empty());
    CHECK_THAT(text, !contains(seed.substr(2)) && !contains(decimal(seed)));
  }
}

TEST_CASE("a second grading of a class has its seed, and another class another", "[seed]") {
  const SeededClass place;
  const std::string seed = place.seed_of("--all class --json first.json");
  CHECK(place.seed_of("--all class/ --json second.json") == seed);
  CHECK(place.read("first.json") == place.read("second.json"));
  CHECK(place.seed_of("--all class --resume") == seed);
  CHECK(place.seed_of("class/anna.toy class/bert.toy") == seed);
  place.add_class("other");
  CHECK(place.seed_of("--all other") != seed);
  CHECK(place.seed_of("--all class") == seed);
}

TEST_CASE("a seed that is given is the class's from then on, with a note on the one before",
          "[seed]") {
  const SeededClass place;
  const std::string seed = place.seed_of("--all class");
  const Outcome given = place.grade("--all class --seed 4711");
  CHECK_THAT(given.err, contains("this class was graded with seed " + seed + " before (") &&
                            contains("/classes/class-"));
  CHECK_THAT(given.out, contains("Seed 4711, kept for this class"));
  CHECK(place.seed_of("--all class") == "4711");
  CHECK(place.grade("--all class --seed 4711").err.empty());
  CHECK(place.grade("--all class --seed 0x1267").err.empty());
  const std::string another = place.seed_of("--all class --seed new");
  CHECK(another != "4711");
  CHECK(another != seed);
  CHECK(place.seed_of("--all class") == another);
}

TEST_CASE("another seed with --resume is refused, and nothing changes", "[seed]") {
  const SeededClass place;
  const std::string seed = place.seed_of("--all class");
  const Outcome refused = place.grade("--all class --resume --seed 4711");
  CHECK(refused.code == 2);
  CHECK_THAT(refused.err, contains("graded with seed " + seed) && contains("without --seed"));
  CHECK(refused.out.empty());
  CHECK(place.seed_of("--all class") == seed);
}

TEST_CASE("a damaged file of the seed is named with its line, and stays as it is", "[seed]") {
  const SeededClass place;
  place.seed_of("--all class");
  const std::string file = place.kept_file(), whole = place.read(file);
  const std::string header = whole.substr(0, whole.find('\n') + 1);
  for (const auto& [text, where] :
       std::map<std::string, std::string>{{"", ":1: "},
                                          {"something\n", ":2: "},
                                          {header + "class x\nseed -1\nnames y\n", ":3: "},
                                          {header + "class x\nseed 7\nnames y\n", ":4: "},
                                          {std::string(100'000, 'x'), ":1: "}}) {
    place.write(file, text);
    const Outcome outcome = place.grade("--all class");
    CAPTURE(text.substr(0, 80), outcome.err);
    CHECK(outcome.code == 2);
    CHECK_THAT(outcome.err, contains("is damaged: ") && contains(where));
    CHECK(place.read(file) == text);
  }
  fs::remove(place.path(file));
  CHECK(place.grade("--all class").code == 0);
}

TEST_CASE("two first gradings of a class at once have one seed", "[seed]") {
  const SeededClass place;
  const Outcome outcome = place.shell(
      "for i in 1 2 3 4; do flashlab grade 91 --exercises ex --all class -q --json r$i.json & "
      "done; "
      "wait; cat r?.json | grep '\"seed\"' | sort -u | wc -l");
  CHECK(outcome.out == "1\n");
}

TEST_CASE("a seed that cannot be kept is said to be so", "[seed]") {
  const SeededClass place;
  const Outcome outcome =
      place.shell("unset HOME XDG_STATE_HOME; flashlab grade 91 --exercises ex --all class");
  CHECK(outcome.code == 0);
  CHECK_THAT(outcome.out, contains("not kept (there is no home folder)") && contains("--seed=0x"));
}

TEST_CASE("one submission has the seed of exercises check, and no report names it", "[seed]") {
  const SeededClass place;
  const std::string alone = place.grade("class/bert.toy --json r.json").out;
  CHECK_THAT(alone + place.read("r.json"), !contains("seed") && !contains("Seed"));
  place.seed_of("--all class");
  CHECK(place.grade("class/bert.toy").out == alone);
  CHECK(place.grade("class/bert.toy --seed 1592652197").out == alone);
  const Outcome check = place.shell(
      "export HOME=$PWD; flashlab exercises check --explain 91 class/bert.toy "
      "--exercises ex");
  const std::size_t holds = alone.find("it holds");
  REQUIRE(holds != std::string::npos);
  CHECK_THAT(check.out, contains(alone.substr(holds, alone.find('\n', holds) - holds)));
}

TEST_CASE("a secret makes the same seed everywhere, and no report names it", "[seed]") {
  const SeededClass place;
  place.write("secret.txt", "only the teacher knows this\n");
  place.write("other.txt", "only the teacher knows this, too");
  place.write("again.txt", "  only the teacher knows this\r\n\n");
  const auto graded = [&](const std::string& secret) {
    const Outcome outcome = place.grade("class/bert.toy --secret " + secret + " --json r.json");
    CHECK(outcome.code == 0);
    CHECK_THAT(outcome.out + outcome.err + place.read("r.json"),
               !contains("seed") && !contains("Seed"));
    return outcome.out;
  };
  CHECK(graded("secret.txt") == graded("again.txt"));
  CHECK(graded("secret.txt") != graded("other.txt"));
  CHECK(graded("secret.txt") != place.grade("class/bert.toy").out);
  const Outcome all = place.grade("--all class --secret secret.txt --json r.json --csv r.csv");
  CHECK_THAT(all.out, contains("The seed is made from the secret in 'secret.txt'."));
  CHECK_THAT(place.read("r.json") + place.read("r.csv"), !contains("0x"));
}

TEST_CASE("a secret that is missing or short is answered in one line, never with a default",
          "[seed]") {
  const SeededClass place;
  place.write("short.txt", "sesame\n");
  fs::create_directory(place.path("folder"));
  for (const auto& [file, says] : std::map<std::string, std::string>{
           {"gone.txt", "--secret 'gone.txt' is not a file"},
           {"folder", "--secret 'folder' is not a file"},
           {"short.txt", "--secret 'short.txt' holds 6 characters"}}) {
    for (const char* what : {"class/anna.toy", "--all class"}) {
      const Outcome outcome = place.grade(std::string(what) + " --json r.json --secret " + file);
      CAPTURE(file, outcome.err);
      CHECK(outcome.code == 2);
      CHECK(outcome.out.empty());
      CHECK_THAT(outcome.err, contains(says) && contains("at least 16 characters"));
      CHECK_FALSE(fs::exists(place.path("r.json")));
    }
  }
}

TEST_CASE("a program for the sizes of one seed fails with a secret", "[seed]") {
  const SeededClass place;
  const std::string toml = place.read("ex/91_dot/exercise.toml");
  place.write("class/carl.toy", right_at_few_sizes(place.read("class/anna.toy")));
  place.write("secret.txt", "only the teacher knows this\n");
  CHECK_THAT(place.grade("class/carl.toy --secret secret.txt").out, contains("wrong: 0 of 10"));
}

TEST_CASE("with a seed that the exercise's own solution fails, nothing is graded", "[seed]") {
  const SeededClass place;
  const std::string toml = place.read("ex/91_dot/exercise.toml"), expect = "[expect]\n";
  std::string strict = toml;  // no float is that exact
  strict.insert(strict.find(expect) + expect.size(), "tolerance = 1e-30\n");
  place.write("ex/91_dot/exercise.toml", strict);
  place.write("secret.txt", "only the teacher knows this\n");
  for (const char* arguments : {"--all class --seed 5", "class/anna.toy --seed 5", "--all class",
                                "class/anna.toy --secret secret.txt"}) {
    const Outcome outcome = place.grade(std::string(arguments) + " --json r.json");
    CAPTURE(arguments, outcome.err);
    CHECK(outcome.code == 2);
    CHECK_THAT(outcome.err, contains("the exercise's own solution is not right on all inputs"));
    CHECK_FALSE(fs::exists(place.path("r.json")));
  }
}

TEST_CASE("a seed is drawn with which the exercise's own solution is right", "[seed]") {
  const SeededClass place;  // sums of random signs: one seed in fifteen draws terms that cancel
  for (int i = 0; i < 20; ++i) {
    const Outcome outcome = place.grade("--all class --seed new -q --csv -");
    CHECK_THAT(outcome.out, contains("\"anna\",\"full\""));
  }
}

TEST_CASE("pseudonyms do not follow from the seed, but from a key of the class", "[seed]") {
  const SeededClass place;
  const auto names = [&](const std::string& arguments) {
    const Outcome outcome = place.grade("--names pseudonym -q --csv - " + arguments);
    CHECK_THAT(outcome.out, !contains("anna") && !contains("0x") && !contains("4711"));
    return outcome.out.substr(0, outcome.out.find(",\"full\""));
  };
  const std::string first = names("--all class");
  CHECK(names("--all class --seed 4711") == first);
  place.add_class("elsewhere");
  CHECK(names("--all elsewhere --seed 4711") != first);
}

TEST_CASE(
    "best costs of an exercise with tiles of its own are those of one size, whatever the seed",
    "[seed]") {
  const Workplace place;
  fs::create_directory(place.path("class"));
  fs::copy_file(fs::path(FLASHLAB_SOURCE_DIR) / "exercises/34_fewest_bytes/solution.toy",
                place.path("class/anna.toy"));
  for (const char* seed : {"1", "2", "1"}) {
    const Outcome outcome =
        place.shell(std::string("flashlab grade 34 --all class -q --time-limit 60 "
                                "--best best.json --seed ") +
                    seed);
    CHECK(outcome.code == 0);
  }
  const auto best = nlohmann::json::parse(place.read("best.json"));
  // The size with the most tiles is drawn and shown with every seed, so that costs can be compared.
  CHECK(best["exercises"]["34_fewest_bytes"].size() == 1);
}

}  // namespace flashlab::test
