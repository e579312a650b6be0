// What `diff --outputs` says of two programs' results.
#include <nlohmann/json.hpp>

#include "tests/cli/command.hpp"

namespace flashlab::test {
namespace {

/// A program that stores `sum` of x[0] and x[1] in out[1], and x[0] in out[0].
std::string two_outputs(const std::string& sum) {
  return ".isa softmax\n.registers 3\n.input x[2]\n.output out[2]\nLOAD x[0], R0\nLOAD x[1], R1\n" +
         sum + "\nSTORE R0, out[0]\nSTORE R2, out[1]\n";
}

struct Programs {
  Programs(const std::string& left, const std::string& right) {
    place.write("left.toy", left);
    place.write("right.toy", right);
  }
  Outcome diff(const std::string& flags = "") const {
    return place.shell("flashlab diff left.toy right.toy --outputs " + flags);
  }
  Workplace place;
};

TEST_CASE("outputs of numbers are compared by formulas, for all inputs") {
  const Programs same(two_outputs("ADD R0, R1, R2"), two_outputs("ADD R1, R0, R2"));
  const Outcome outcome = same.diff("--json");
  CHECK(outcome.code == 0);
  const auto json = json_of(outcome);
  CHECK(json["agree"] == true);
  CHECK(json["outputs"][0]["by_formulas"] == true);
  CHECK_THAT(same.diff().out, contains("The outputs of left and right agree."));
}

TEST_CASE("the first element that differs is named, with both formulas and values") {
  const Programs two(two_outputs("ADD R0, R1, R2"), two_outputs("SUB R0, R1, R2"));
  const Outcome outcome = two.diff("--input x=[3,5]");
  CHECK(outcome.code == 1);
  CHECK_THAT(outcome.out, contains("differ, first in out[1]."));
  CHECK_THAT(outcome.out, contains("x[0] + x[1]"));
  CHECK_THAT(outcome.out, contains("x[0] - x[1]"));
  const auto json = nlohmann::json::parse(two.diff("--input x=[3,5] --json").out);
  CHECK(json["agree"] == false);
  CHECK(json["outputs"][0]["first_difference"]["element"] == "out[1]");
  CHECK(json["outputs"][0]["first_difference"]["left"] == 8);
  CHECK(json["outputs"][0]["first_difference"]["right"] == -2);
}

TEST_CASE("formulas that differ are not taken for different results if the values agree") {
  const Programs two(two_outputs("ADD R0, R1, R2"), two_outputs("SUB R0, R1, R2"));
  const auto json = json_of(two.diff("--input x=[3,0] --json"));
  CHECK(json["agree"] == true);
  CHECK(json["outputs"][0]["by_formulas"] == false);
}

TEST_CASE("a result that one program never stores is a difference") {
  std::string less = two_outputs("ADD R0, R1, R2");
  less.resize(less.rfind("STORE"));
  const Programs two(less, two_outputs("ADD R0, R1, R2"));
  const auto json = nlohmann::json::parse(two.diff("--json").out);
  CHECK(json["outputs"][0]["first_difference"]["element"] == "out[1]");
  CHECK(json["outputs"][0]["first_difference"]["left"] == nullptr);
}

TEST_CASE("outputs of tiles are compared by values, and outputs of one program are named") {
  const Outcome outcome = flashlab("diff flash1 flash2 --outputs -D n=9 -D B=4");
  CHECK(outcome.code == 0);
  CHECK_THAT(outcome.out, contains("The outputs of flash1 and flash2 agree."));
  CHECK_THAT(outcome.out, contains("the elements of flash1 are tiles"));
  CHECK_THAT(outcome.out, contains("Only flash1 has m, l."));
  CHECK_THAT(outcome.out, contains("Only flash2 has lse."));
}

TEST_CASE("a program with tiles of its own is held against the reference") {
  Workplace place;
  const Outcome wrong = place.shell(
      "flashlab programs flash2 | sed 's/FILL scale, X/FILL 1, X/' > mine.toy && "
      "flashlab diff mine.toy flash2 --outputs -D n=9 -D B=4");
  CHECK(wrong.code == 1);
  CHECK_THAT(wrong.out, contains("first in o[0][0]."));
}

TEST_CASE("programs that cannot be compared are refused with the reason") {
  const std::string sum = two_outputs("ADD R0, R1, R2");
  const auto refused = [&](const std::string& from, const std::string& to) {
    std::string other = sum;
    for (std::size_t at = other.find(from); at != std::string::npos; at = other.find(from)) {
      other.replace(at, from.size(), to);
    }
    const Outcome outcome = Programs(sum, other).diff();
    CHECK(outcome.code == 2);
    return outcome.err;
  };
  CHECK_THAT(refused("x[", "y["), contains("right has no input 'x'"));
  CHECK_THAT(refused("out[", "result["), contains("no output in common: left has out"));
  CHECK_THAT(refused(".output out[2]", ".output out[3]"),
             contains("the output 'out' is 2 in left and 3 in right"));
  CHECK_THAT(refused(".input x[2]", ".input x[4]"),
             contains("the input 'x' is 2 in left and 4 in right"));
}

TEST_CASE("outputs are compared instead of traces, not beside them") {
  CHECK(flashlab("diff flash1 flash2 --outputs --trace").code == 2);
}

}  // namespace
}  // namespace flashlab::test
