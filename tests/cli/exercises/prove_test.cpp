// `flashlab exercises prove`, and `flashlab optimal` on files and exercises.
#include <nlohmann/json.hpp>

#include "tests/cli/command.hpp"

namespace flashlab::test {
namespace {

void command_refused(const std::string& arguments, const std::string& words) {
  CAPTURE(arguments);
  const Outcome outcome = flashlab(arguments);
  CHECK(outcome.code == 2);
  CHECK(outcome.out.empty());
  CHECK_THAT(outcome.err, contains(words));
}

/// A copy of the course's exercise in the workplace.
void copy_exercise(const Workplace& place, const std::string& id) {
  std::filesystem::copy(std::filesystem::path(FLASHLAB_SOURCE_DIR) / "exercises" / id,
                        place.path(id), std::filesystem::copy_options::recursive);
}

}  // namespace

TEST_CASE("optimal solves what an exercise asks for on its machine") {
  const Outcome product = flashlab("optimal --exercise 03");
  CHECK(product.code == 0);
  CHECK_THAT(product.out, contains("03_full_product"));
  CHECK_THAT(product.out, contains("3 registers, operands pinned"));
  CHECK_THAT(product.out, contains("25 cycles, proved optimal"));
  const Workplace place;
  CHECK(place.shell("flashlab optimal --exercise 07 --witness 07_online_step.toy").code == 0);
  CHECK_THAT(place.shell("flashlab exercises check 07_online_step.toy").out,
             contains("10 of 10 points"));
}

TEST_CASE("optimal solves what a file computes, on the file's machine") {
  const Workplace place;
  place.write("p.toy",
              ".isa softmax\n.registers 2\n.param n = 3\n.input x[n]\n.output s[1]\nLOAD x[0], "
              "R0\nfor i in 1..n\nLOAD x[i], R1\nMAX R0, R1, R0\nend\nSTORE R0, s[0]\n");
  const Outcome three = place.shell("flashlab optimal p.toy");
  CHECK_THAT(three.out, contains("2 registers"));
  CHECK_THAT(three.out, contains("6 cycles, proved optimal"));
  CHECK_THAT(place.shell("flashlab optimal p.toy -D n=4").out, contains("8 cycles, proved"));
  CHECK(place.shell("flashlab optimal p.toy -D n=40").code == 2);
  const auto frontier = json_of(place.shell("flashlab optimal p.toy --registers 1..3 --json"));
  CHECK(frontier["points"][0]["verdict"] == "impossible");
  CHECK(frontier["points"][2]["at_least_cycles"] == 6);
  place.write(
      "tiles.toy",
      ".input x(4, 4) tile (2, 2)\n.output o(4, 4) tile (2, 2)\nLOAD x[0][0], R0\nSTORE R0, "
      "o[0][0]\n");
  CHECK_THAT(place.shell("flashlab optimal tiles.toy").err, contains("has tiles"));
  place.write("wrong.toy", ".isa softmax\n.output o[1]\nSTORE R0, o[0]\n");
  const Outcome wrong = place.shell("flashlab optimal wrong.toy");
  CHECK(wrong.code == 1);
  CHECK_THAT(wrong.err, contains("wrong.toy:3"));
  CHECK(place.shell("flashlab optimal nowhere.toy").code == 2);
}

TEST_CASE("what optimal cannot find out about exercises and files is refused") {
  command_refused("optimal", "is missing");
  command_refused("optimal --exercise nonsense", "there is no exercise 'nonsense'");
  command_refused("optimal --exercise 11", "asks questions");
  command_refused("optimal --exercise 06 --size n=4", "n=1 or n=2 or n=3");
  command_refused("optimal --exercise 03 --size n=3", "it has one size");
  command_refused("optimal --exercise 06 --size n=16", "too large for the solver");
  command_refused("optimal 2x2x2 --exercise 03", "both given");
  command_refused("optimal 2x2x2 --size n=2", "with --exercise");
  command_refused("optimal 2x2x2 -D n=2", "with a .toy file");
}

TEST_CASE("prove writes what it proves into the exercise's folder, and checks it there") {
  const Workplace place;
  copy_exercise(place, "02_c00");
  std::filesystem::remove(place.path("02_c00/proven.json"));
  CHECK_THAT(place.shell("flashlab exercises prove ./02_c00 --check").out,
             contains("there is no such file"));
  const Outcome written = place.shell("flashlab exercises prove ./02_c00");
  CHECK(written.code == 0);
  CHECK_THAT(written.out, contains("optimal"));
  CHECK(place.shell("flashlab exercises prove ./02_c00 --check").code == 0);
  CHECK(place.shell("flashlab exercises lint ./02_c00").code == 0);
  CHECK(place.shell("cd 02_c00 && flashlab exercises lint .").code == 0);

  std::string text = place.read("02_c00/proven.json");
  const std::size_t at = text.find("\"LOAD a[0][0], R0\"");
  REQUIRE(at != std::string::npos);
  text.replace(at, 18, "\"LOAD a[1][1], R0\"");
  place.write("02_c00/proven.json", text);
  const Outcome wrong = place.shell("flashlab exercises prove ./02_c00 --check");
  CHECK(wrong.code == 1);
  CHECK_THAT(wrong.out, contains("does not accept the program"));
}

TEST_CASE("a proof that cannot be read is refused, with what to do about it") {
  const Workplace place;
  copy_exercise(place, "02_c00");
  const std::string proven = place.read("02_c00/proven.json");
  place.write("02_c00/proven.json", proven.substr(0, proven.size() / 2));
  const Outcome refused = place.shell("flashlab exercises prove ./02_c00");
  CHECK(refused.code == 2);
  CHECK_THAT(refused.err, contains("proven.json:5"));
  CHECK_THAT(refused.err, contains("delete the file"));
  std::filesystem::remove(place.path("02_c00/proven.json"));
  CHECK(place.shell("flashlab exercises prove ./02_c00").code == 0);
}

TEST_CASE("prove wants a folder to write into, and an exercise with a program") {
  command_refused("exercises prove 02", "exercises/02_c00");
  command_refused("exercises prove 11 --check", "asks questions");
  command_refused("exercises prove nonsense", "there is no exercise");
  command_refused("exercises prove 02 --check --most-bytes none", "'none' is not a size");
  CHECK_THAT(flashlab("exercises prove 02 03 --check").out, contains("all as committed"));
}

}  // namespace flashlab::test
