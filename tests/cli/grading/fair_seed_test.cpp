// flashlab grade with an exercise whose own solution is right with every other seed: which seed is taken.
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "tests/cli/command.hpp"

namespace flashlab::test {
namespace {

namespace fs = std::filesystem;

/// The template as exercise 91_dot, with one hidden size. Its solution is wrong if that is even, so that about
/// every other seed is unfair. anna is right at all sizes.
class HalfFairClass : public Workplace {
 public:
  HalfFairClass() {
    const fs::path source = fs::path(FLASHLAB_SOURCE_DIR) / "exercises" / "template";
    fs::create_directory(path("ex"));
    fs::copy(source, path("ex/91_dot"), fs::copy_options::recursive);
    fs::create_directory(path("class"));
    fs::copy_file(path("ex/91_dot/solution.toy"), path("class/anna.toy"));
    replace("ex/91_dot/solution.toy", ".param n = 4\n",
            ".param n = 4\n.param wrong = max(0, min(1, n - 16))*(1 - n + 2*floordiv(n, 2))\n");
    replace("ex/91_dot/solution.toy", "for i in 1..n\n", "for i in 1..n - wrong\n");
    replace("ex/91_dot/exercise.toml", "drawn = { n = [17, 40] }",
            "drawn = { n = [17, 40] }\ndraws = 1");
  }
  void replace(const std::string& file, const std::string& from, const std::string& to) const {
    std::string text = read(file);
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    write(file, text.replace(at, from.size(), to));
  }
  Outcome grade(const std::string& arguments) const {
    return shell("flashlab grade 91 --exercises ex " + arguments);
  }
  /// A seed from 1 on with which the solution is right, or not.
  int seed_that_is(bool fair) const {
    for (int seed = 2; seed < 40; ++seed) {
      if ((grade("class/anna.toy -q --seed " + std::to_string(seed)).code == 0) == fair)
        return seed;
    }
    FAIL("all seeds are alike");
    return 0;
  }
};

std::string seed_in(const std::string& out) {
  std::smatch found;
  REQUIRE(std::regex_search(out, found, std::regex("\nSeed (\\S+), kept for this class")));
  return found[1];
}

}  // namespace

TEST_CASE("an unfair seed that was drawn is drawn again, and the fair one is kept", "[seed]") {
  const HalfFairClass place;
  std::set<std::string> seeds;
  for (int i = 0; i < 12; ++i) {
    const Outcome graded = place.grade("--all class --seed new");
    INFO(graded.out << graded.err);
    REQUIRE(graded.code == 0);
    CHECK_THAT(graded.out, contains("full"));
    const std::string seed = seed_in(graded.out);
    seeds.insert(seed);
    const Outcome again = place.grade("--all class");
    CHECK(again.code == 0);
    CHECK(seed_in(again.out) == seed);
    CHECK(place.grade("class/anna.toy -q --seed " + seed).code == 0);
  }
  CHECK(seeds.size() == 12);
}

TEST_CASE("an unfair seed that is given grades nothing, and says what else to give", "[seed]") {
  const HalfFairClass place;
  const std::string unfair = std::to_string(place.seed_that_is(false));
  for (const std::string& what : {std::string("class/anna.toy"), std::string("--all class")}) {
    const Outcome outcome = place.grade(what + " --seed " + unfair + " --json r.json");
    INFO(what << outcome.err);
    CHECK(outcome.code == 2);
    CHECK_THAT(outcome.err, contains("own solution is not right on all inputs") &&
                                contains("another one: --seed new"));
    CHECK_FALSE(fs::exists(place.path("r.json")));
  }
  int refused = 0;
  for (int i = 0; i < 12; ++i) {
    place.write("secret.txt", "only the teacher knows " + std::to_string(i) + "\n");
    const Outcome outcome = place.grade("class/anna.toy --secret secret.txt");
    if (outcome.code == 0) continue;
    ++refused;
    CHECK(outcome.code == 2);
    CHECK_THAT(outcome.err, contains("another secret in 'secret.txt'"));
  }
  CHECK(refused > 0);
  CHECK(refused < 12);
}

TEST_CASE("the seed of exercises check is taken as it is", "[seed]") {
  const HalfFairClass place;
  place.replace("ex/91_dot/solution.toy", "(1 - n + 2*floordiv(n, 2))", "1");
  CHECK(place.grade("class/anna.toy --seed 5").code == 2);
  const Outcome outcome = place.grade("class/anna.toy");
  CHECK(outcome.code == 0);
  CHECK_THAT(outcome.out, contains("full marks: 10 of 10"));
}

TEST_CASE("an unfair seed that is given is not kept with the class", "[seed]") {
  const HalfFairClass place;
  const std::string unfair = std::to_string(place.seed_that_is(false)),
                    fair = std::to_string(place.seed_that_is(true));
  REQUIRE(place.grade("--all class -q --seed " + unfair).code == 2);
  REQUIRE(place.grade("--all class -q --seed " + fair).code == 0);
  REQUIRE(place.grade("--all class -q --seed " + unfair).code == 2);
  CHECK(seed_in(place.grade("--all class").out) == fair);
}

TEST_CASE("a kept seed that a changed exercise makes unfair grades nothing", "[seed]") {
  const HalfFairClass place;
  REQUIRE(place.grade("--all class -q").code == 0);
  place.replace("ex/91_dot/solution.toy", "(1 - n + 2*floordiv(n, 2))", "1");
  const Outcome outcome = place.grade("--all class");
  CHECK(outcome.code == 2);
  CHECK_THAT(outcome.err, contains("another one: --seed new"));
}

TEST_CASE("gradings of a class that begin at once have one seed, which is fair", "[seed]") {
  const HalfFairClass place;
  for (int i = 0; i < 10; ++i) {
    const Outcome all = place.shell(
        "rm -rf state; export XDG_STATE_HOME=$PWD/state; for i in 1 2 3; do flashlab grade 91 "
        "--exercises ex --all class -q --json $i.json & ids=\"$ids $!\"; done; "
        "for id in $ids; do wait $id || exit 3; done; cmp 1.json 2.json && cmp 1.json 3.json");
    INFO(all.out << all.err);
    REQUIRE(all.code == 0);
    REQUIRE_THAT(place.read("1.json"), contains("\"outcome\":\"full\""));
  }
}

TEST_CASE("best costs at sizes that seeds draw are kept apart, each with the least of its size",
          "[seed]") {
  const HalfFairClass place;
  place.replace("ex/91_dot/exercise.toml", "draws = 1", "counted = { n = [50, 90] }");
  place.replace("ex/91_dot/solution.toy", "for i in 1..n - wrong\n", "for i in 1..n\n");
  const auto grade = [&](int seed) {
    const Outcome outcome =
        place.grade("--all class --best best.json --seed " + std::to_string(seed));
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
    return outcome.err;
  };
  const auto kept = [&] {
    return nlohmann::json::parse(place.read("best.json"))["exercises"]["91_dot"];
  };
  std::size_t starts = 0;
  for (const int seed : {1, 2, 3, 4}) {
    starts += grade(seed).find("they start over") != std::string::npos ? 1 : 0;
  }
  const auto first = kept();
  CHECK(first.size() > 1);
  CHECK(starts == first.size() - 1);
  for (const auto& [size, costs] : first.items()) {
    const int n = std::stoi(size.substr(4));
    CHECK(costs["loads"] == std::to_string(2 * n));
    CHECK(costs["cycles"] == std::to_string(3 * n + 1));
  }
  // A dearer class changes none of them.
  place.replace("class/anna.toy", "STORE R2, s[0]", "LOAD x[0], R0\nSTORE R2, s[0]");
  for (const int seed : {1, 2, 3, 4}) CHECK_THAT(grade(seed), !contains("they start over"));
  CHECK(kept() == first);
}

}  // namespace flashlab::test
