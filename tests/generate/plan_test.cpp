// What becomes a launch, a grid and a place in shared memory.
#include "generate/plan/plan.hpp"

#include <chrono>
#include <string>

#include "tests/catch_shim.hpp"
#include "tests/toymachine/assembled.hpp"
#include "tests/toymachine/bundled_program.hpp"

namespace flashlab::generate {
namespace {

using test::bound;
using test::bundled;
using test::contains;
using test::params;

const std::string kArrays = ".isa attention\n.input x[8]\n.temp t[8]\n.output y[8]\n";

Plan planned(const toy::BoundProgram& program) {
  auto result = plan(program, {});
  INFO(toy::format(result.diagnostics, *program.program->source));
  REQUIRE(result);
  return std::move(*result);
}
/// The only launch of a program with these statements on arrays x, t, y of eight elements.
Launch launch_of(const std::string& statements) {
  const Plan result = planned(bound(kArrays + statements));
  REQUIRE(result.launches.size() == 1);
  return result.launches.front();
}
std::string errors_of(const toy::BoundProgram& program, const Target& target = {}) {
  const auto result = plan(program, target);
  REQUIRE_FALSE(result);
  return toy::format(result.diagnostics, *program.program->source);
}
void require_one_block(const std::string& statements, const std::string& why, unsigned line) {
  const Launch launch = launch_of(statements);
  INFO(statements);
  CHECK(launch.blocks == 1);
  CHECK_FALSE(launch.grid_loop);
  REQUIRE(launch.one_block);
  CHECK_THAT(launch.one_block->text, contains(why));
  CHECK(launch.one_block->span.line == line);
}

TEST_CASE("each pass is a launch, and its outermost loop the grid", "[plan]") {
  const Plan flash2 = planned(bundled("flash2", params({{"n", 7}, {"B", 2}})));
  REQUIRE(flash2.launches.size() == 1);
  CHECK(flash2.launches[0].blocks == 4);
  const Plan backward = planned(bundled("bwd_twopass", params({{"n", 6}, {"nk", 8}, {"B", 2}})));
  REQUIRE(backward.launches.size() == 3);
  CHECK(backward.launches[1].blocks == 3);  // tiles of queries
  CHECK(backward.launches[2].blocks == 4);  // tiles of keys
}

TEST_CASE("passes that share a register are one launch, which names the line", "[plan]") {
  const Plan result = planned(bundled("matmul_inner"));
  REQUIRE(result.launches.size() == 1);
  CHECK(result.launches[0].passes.size() == 4);
  REQUIRE(result.launches[0].joins.size() == 3);
  CHECK_THAT(result.launches[0].joins[0].text, contains("line 26 reads R0, which line 18 wrote"));
  CHECK(planned(bundled("matmul_outer")).launches.size() == 1);
  const Plan apart = planned(bound(kArrays + ".pass One\nLOAD x[0], R0\nSTORE R0, y[0]\n"
                                             ".pass Two\nLOAD x[1], R0\nSTORE R0, y[1]\n"));
  CHECK(apart.launches.size() == 2);
}

TEST_CASE("a register that one iteration hands to the next ties them", "[plan]") {
  require_one_block(
      "FILL 0, R0\nfor i in 0..8\nLOAD x[i], R1\nADD R0, R1, R0\nSTORE R0, y[i]\nend\n",
      "line 8 reads R0, which line 8 may have written in an earlier iteration", 8);
  // Written in each iteration before it is read.
  CHECK(launch_of("for i in 0..8\nLOAD x[i], R0\nADD R0, R0, R1\nSTORE R1, y[i]\nend\n").blocks ==
        8);
  // The inner loop may run no iteration: then R0 is the one of the iteration before.
  require_one_block(
      "FILL 0, R0\nfor i in 0..8\nfor j in 0..i\nLOAD x[j], R0\nend\nSTORE R0, y[i]\n"
      "end\n",
      "reads R0", 10);
}

TEST_CASE("a register that the loop's variable selects ties iterations only if it is carried",
          "[plan]") {
  CHECK(launch_of(".reg A[2]\nfor i in 0..8\nfor c in 0..2\nLOAD x[i], A[c]\nend\n"
                  "ADD A[0], A[1], A[0]\nSTORE A[0], y[i]\nend\n")
            .blocks == 8);
  require_one_block(
      ".reg A[2]\nFILL 0, A[1]\nfor i in 0..8\nfor c in 0..1\nLOAD x[i], A[c]\nend\n"
      "ADD A[0], A[1], A[1]\nSTORE A[1], y[i]\nend\n",
      "reads A[1]", 11);
}

TEST_CASE("a write to one of several registers counts for none of them", "[plan]") {
  require_one_block("for i in 0..4\nfor j in i..i+1\nLOAD x[j], R[j]\nend\nSTORE R0, y[i]\nend\n",
                    "line 9 reads R0, which line 7 may have written", 9);
  // R0 or R1 becomes a scalar, and the other remains a tile.
  const Plan result =
      planned(bound(".isa attention\n.input x(4, 4) tile (2, 2)\nfor i in 0..2\nLOAD x[i][0], R0\n"
                    "LOAD x[i][1], R1\nfor j in i..i+1\nFILL 0, R[j]\nADD R0, R1, R2\nend\nend\n"));
  REQUIRE(result.launches[0].registers.size() == 3);
  CHECK(result.launches[0].registers[2].largest == TileSize{2, 2});
}

TEST_CASE("iterations that store to the same cell are tied, and disjoint ranges are not",
          "[plan]") {
  require_one_block("for i in 0..7\nLOAD x[i], R0\nSTORE R0, y[i]\nSTORE R0, y[i+1]\nend\n",
                    "writes to y, perhaps a cell that line 8 reaches in another iteration", 7);
  require_one_block("for i in 0..8\nLOAD x[i], R0\nSTORE R0, y[0]\nend\n",
                    "line 7 writes to y, perhaps the same cell in several iterations", 7);
  CHECK(launch_of("for i in 0..4\nfor j in 0..2\nLOAD x[2*i + j], R0\nSTORE R0, y[2*i + j]\nend\n"
                  "end\n")
            .blocks == 4);
  CHECK(launch_of("for i in 0..4\nfor j in 2*i..min(2*i + 2, 7)\nLOAD x[j], R0\nSTORE R0, y[j]\n"
                  "end\nend\n")
            .blocks == 4);
  require_one_block(
      "for i in 0..4\nfor j in 2*i..min(2*i + 3, 8)\nLOAD x[j], R0\nSTORE R0, y[j]\n"
      "end\nend\n",
      "writes to y", 8);
  CHECK(launch_of("for i in 0..8 step 2\nLOAD x[i], R0\nSTORE R0, y[i]\nSTORE R0, y[i+1]\nend\n")
            .blocks == 4);
}

TEST_CASE("a load of what another iteration stores ties them, of what its own stores does not",
          "[plan]") {
  require_one_block("STORE R0, t[0]\nfor i in 1..8\nLOAD t[i-1], R1\nSTORE R1, t[i]\nend\n",
                    "stores before the last loop", 5);
  require_one_block("for i in 1..8\nLOAD t[i-1], R1\nSTORE R1, t[i]\nend\n",
                    "line 7 writes to t, perhaps a cell that line 6 reaches", 7);
  CHECK(launch_of("for i in 0..8\nLOAD x[i], R0\nSTORE R0, t[i]\nLOAD t[i], R1\nSTORE R1, y[i]\n"
                  "end\n")
            .blocks == 8);
  require_one_block("LOAD t[0], R0\nfor i in 0..8\nSTORE R0, t[i]\nend\n",
                    "line 5 loads t in every block, while line 7 writes it in another", 5);
}

TEST_CASE("additions in one step do not tie iterations, a load beside them does", "[plan]") {
  CHECK(launch_of("for i in 0..8\nLOAD x[i], R0\nATOMIC_ADD R0, y[0]\nend\n").blocks == 8);
  require_one_block(
      "for i in 0..8\nLOAD x[i], R0\nATOMIC_ADD R0, t[0]\nLOAD t[0], R1\n"
      "STORE R1, y[i]\nend\n",
      "line 7 writes to t", 7);
}

TEST_CASE("loads before the grid are shown, unless they would more than double the bytes",
          "[plan]") {
  const Launch launch = launch_of(
      "LOAD x[0], R0\nfor i in 0..4\nfor j in 0..2\nLOAD x[2*i + j], R1\nADD R0, R1, R1\n"
      "STORE R1, y[2*i + j]\nend\nend\n");
  CHECK(launch.blocks == 4);
  REQUIRE(launch.repeated.size() == 1);
  CHECK(launch.repeated[0].bytes == 4);
  require_one_block(
      "for j in 0..8\nLOAD x[j], R0\nend\nfor i in 0..8\nLOAD x[i], R1\n"
      "ADD R0, R1, R1\nSTORE R1, y[i]\nend\n",
      "8 blocks would load these 32 bytes again", 6);
}

TEST_CASE("without a loop, after a loop, or with an empty loop there is one block", "[plan]") {
  require_one_block("LOAD x[0], R0\nSTORE R0, y[0]\n", "no loop", 0);
  require_one_block(
      "FILL 0, R0\nfor i in 0..8\nLOAD x[i], R1\nADD R0, R1, R0\nend\nSTORE R0, y[0]\n",
      "line 10 comes after the loop of line 6", 10);
  require_one_block("for i in 3..3\nLOAD x[i], R0\nend\n", "no iteration", 5);
}

TEST_CASE("tiles that do not fit into shared memory are listed", "[plan]") {
  const toy::BoundProgram program =
      bundled("flash2", params({{"n", 512}, {"d", 128}, {"B", 64}, {"Bd", 64}}));
  const std::string errors = errors_of(program);
  CHECK_THAT(errors, contains("Q[0] to Q[1] 2 times 64 x 64 = 33280 (line 27)"));
  CHECK_THAT(errors, contains("M 64 x 1 = 256"));
  CHECK_THAT(errors, contains("at most 65536 bytes"));
  CHECK(plan(program, {std::int64_t{227} << 10, {}}));
}

TEST_CASE("registers have places for the largest tiles, and the last tiles are smaller", "[plan]") {
  const Plan result = planned(bundled("flash2", params({{"n", 5}, {"d", 3}, {"B", 2}, {"Bk", 4}})));
  const Launch& launch = result.launches[0];
  const auto place = [&](const std::string& name) {
    for (const RegisterPlace& candidate : launch.registers) {
      if (bundled("flash2").register_name(candidate.number) == name) return candidate;
    }
    FAIL(name);
    return RegisterPlace{};
  };
  CHECK(place("S").largest == TileSize{2, 4});
  CHECK(place("K").largest == TileSize{4, 3});
  CHECK(place("M").largest == TileSize{2, 1});
  CHECK(place("S").offset % 4 == 0);
}

TEST_CASE("an addition in one step to 16-bit numbers is refused", "[plan]") {
  const std::string errors = errors_of(bound(
      ".isa attention\n.input x[8]\n.output y[8] bf16\nLOAD x[0], R0\nATOMIC_ADD R0, y[0]\n"));
  CHECK_THAT(errors, contains("y in float"));
}

TEST_CASE("programs that are too long to follow are answered in a second", "[plan]") {
  std::string passes = kArrays + "FILL 0, R[60000]\n";
  for (int pass = 0; pass < 5000; ++pass) passes += ".pass Next\nLOAD x[0], R0\n";
  CHECK(plan(bound(passes), {}).diagnostics.front().fault == toy::Fault::kLimit);
  std::string text = kArrays + "for z in 0..3000\nFILL 0, R[z]\nend\n";
  for (int depth = 0; depth < 30; ++depth) {
    text += "for i" + std::to_string(depth) + " in 0..3\n";
  }
  text += "ADD R[i0], R[i1], R[i2]\n";
  for (int depth = 0; depth < 30; ++depth) text += "end\n";
  const auto start = std::chrono::steady_clock::now();
  const auto result = plan(bound(text), {});
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(2));
  if (!result) CHECK(result.diagnostics.front().fault == toy::Fault::kLimit);
}

}  // namespace
}  // namespace flashlab::generate
