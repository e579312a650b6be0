// Tricks against a time: submissions that want to be fast without the work (docs/testing.md). Each is a
// change of a right program. None earns points.
#include <vector>

#include "tests/cli/gpu/speed_exercise.hpp"

namespace flashlab::test {
namespace {

struct Trick {
  std::string name, part, by;  // the solution's part is replaced
  std::string says;            // a part of the verdict
};

std::string repeated_text(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

const std::string kStore = "  STORE O, o[i][0]\n", kDivide = "  DIV O, L, O\n";
const std::string kQueries = "for i in 0..tiles(q)\n", kKeys = "0..tiles(k)";

std::vector<Trick> tricks() {
  return {
      // Less work
      {"stores_nothing", kStore, "", "nothing is stored"},
      {"first_tile_only", kQueries, "for i in 0..1\n", "it holds        nothing"},
      {"half_of_the_keys", kKeys, "0..floordiv(tiles(k) + 1, 2)", "is wrong at d = "},
      {"nothing_at_the_timed_size", kQueries, "for i in 0..tiles(q)*min(1, max(n - 48, 48 - n))\n",
       "it holds        nothing"},
      {"shown_sizes_only", kKeys, "0..min(2, tiles(k))", "is wrong at d = "},
      {"returns_an_input", kDivide, "  LOAD q[i][0], O\n", "it should hold"},
      {"no_maximum", "    SUB S, M, S\n", "", "overflows"},
      // Results from elsewhere
      {"output_of_the_last_call", kDivide, "  LOAD o[i][0], O\n", "nothing was written there"},
      {"temporary_of_the_last_call", ".reg Q", ".temp t(n, d) tile (B, d)\n.reg Q",
       "this exercise has no array t"},
      {"brings_results", ".reg Q", ".input mine(n, d) tile (B, d)\n.reg Q",
       "this exercise has no array mine"},
      {"changes_the_inputs", kStore, "  STORE O, q[i][0]\n" + kStore, "the input q is written"},
      // Another task
      {"smaller_arrays", ".input  k(nk, d)", ".input  k(1, d)", "another shape"},
      {"narrower_numbers", ".input  v(nk, d)  tile (Bk, d)", ".input  v(nk, d)  tile (Bk, d) fp16",
       "declared differently"},
      {"own_sizes", ".param n = 20, nk = 24, d = 16", ".const n = 1\n.param nk = 24, d = 16", ""},
      // Results that defeat a comparison
      {"not_a_number", kDivide, "  FILL 0, O\n  FILL 0, L\n" + kDivide, "not a number"},
      {"infinite", kDivide, "  FILL 0, L\n" + kDivide, "overflows to +inf"},
      {"rounds_everything_away", kDivide,
       "  FILL 100000000, X\n  ADD O, X, O\n  SUB O, X, O\n" + kDivide, "is wrong at"},
      {"all_blocks_write_one_tile", "STORE O, o[i][0]", "STORE O, o[0][0]", "o["},
      // Code and clocks
      {"code_in_a_name", ".reg Q, O", ".reg Q, O[asm(\"exit;\")]", "there is no function 'asm'"},
      {"code_as_an_instruction", kStore, "  ASM exit\n" + kStore, "unknown instruction"},
      {"reads_the_clock", kStore, "  CLOCK M\n" + kStore, "unknown instruction 'CLOCK'"},
      {"reads_outside", "LOAD q[i][0], Q", "LOAD q[i + 1][0], Q", "out of range"},
      // The judge's time and memory
      {"ten_thousand_lines", kStore, repeated_text(kStore, 10000), "longer than 65536 bytes"},
      {"a_billion_steps", kQueries, "for z in 0..1000000000\n  FILL 0, X\nend\n" + kQueries,
       "the program takes 10000000"},
      {"no_tile", "min(n, 16)", "0", "the tile of 'q' is 0"},
  };
}

TEST_CASE("no trick against the time earns points") {
  const SpeedClass place;
  for (const Trick& trick : tricks()) {
    INFO(trick.name);
    place.hand_in(trick.name, with_part(place.solution(), trick.part, trick.by));
  }
  place.hand_in("honest", place.solution());
  const auto students = place.grade("90 --exercises ex --device cuda --seed 1");
  CHECK(students.at("honest")["points"] >= 6);  // right; 10 unless other programs take the time
  CHECK(tricks().size() >= 20);
  for (const Trick& trick : tricks()) {
    const nlohmann::json& result = students.at(trick.name);
    INFO(trick.name << ": " << result.dump());
    CHECK(result["points"] == 0);
    CHECK(result["costs"].empty());
    CHECK(result["findings"].dump().find(trick.says) != std::string::npos);
  }
}

TEST_CASE("comments and titles that look like code change neither the kernels nor the time") {
  const SpeedClass place;
  std::string text = with_part(place.solution(), kStore, "  STORE O, o[i][0] ; \\\n");
  text = with_part(text, "    MUL O, A, O\n", "    MUL O, A, O ; */ asm(\"exit;\"); /*\n");
  text = with_part(text, ".isa attention\n", ".isa attention\n.pass */ } asm(\"exit;\"); /*\n");
  place.hand_in("honest", place.solution());
  place.hand_in("code_in_comments", text);
  const auto students = place.grade("90 --exercises ex");
  CHECK(students.at("code_in_comments")["costs"] == students.at("honest")["costs"]);
  place.place().write("comments.toy", text);
  const Outcome run = place.gpu("comments.toy --repeat 1 -D n=20,nk=24,d=16");
  CHECK(run.code == 0);
  const Outcome source = place.gpu("comments.toy --emit");
  CHECK(source.out.find("\\\n") == std::string::npos);
}

TEST_CASE("a clock that shows nothing, and a problem that is not computed, earn no points") {
  const SpeedClass place;
  place.hand_in("honest", place.solution());
  for (const std::string wish : {"quick", "forgets"}) {
    INFO(wish);
    const Outcome outcome =
        place.flashlab("grade 90 --exercises ex --all class --device cuda", wish);
    CHECK(outcome.code == 1);  // even the given program is refused
    CHECK(outcome.out == "");
  }
}

}  // namespace
}  // namespace flashlab::test
