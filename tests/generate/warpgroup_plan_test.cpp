// What level 2 gives to warpgroups and to TMA, when places are free again, and what stays at level 1.
#include "generate/plan/warpgroup_plan.hpp"

#include <algorithm>
#include <string>

#include "generate/plan/element_types.hpp"
#include "generate/source/cuda_source.hpp"
#include "tests/catch_shim.hpp"
#include "tests/toymachine/assembled.hpp"
#include "tests/toymachine/bundled_program.hpp"

namespace flashlab::generate {
namespace {

using test::bound;
using test::bundled;
using test::contains;
using test::params;

toy::BoundProgram in_bf16(toy::BoundProgram program) {
  set_element_type(program, toy::ElementType::kBf16);
  return program;
}
Plan level_2(const toy::BoundProgram& program, std::int64_t shared_bytes = kMostSharedBytes) {
  auto result = plan(program, {shared_bytes, toy::ElementType::kBf16, true});
  INFO(toy::format(result.diagnostics, *program.program->source));
  REQUIRE(result);
  return std::move(*result);
}
toy::BoundProgram flash2(int n, int d, int B, int Bk) {
  return in_bf16(bundled("flash2", params({{"n", n}, {"d", d}, {"B", B}, {"Bk", Bk}})));
}
/// The loaded tile in a register.
const ValuePlace& ring_of(const toy::BoundProgram& program, const Launch& launch,
                          const std::string& name) {
  REQUIRE(launch.fragments);
  const FragmentPlan& fragments = *launch.fragments;
  for (std::size_t v = 0; v < fragments.places.size(); ++v) {
    const bool is_it = program.register_name(fragments.values.values[v].number) == name;
    if (is_it && fragments.places[v].ring) return fragments.places[v];
  }
  FAIL(name << " is no loaded tile of level 2");
  return fragments.places.front();
}
int line_of_step(const toy::BoundProgram& program, const Launch& launch, std::size_t step) {
  return static_cast<int>(program.instructions[launch.fragments->steps[step].site].span.line);
}
/// Why the only launch is as at level 1.
std::string why_not(const toy::BoundProgram& program) {
  const Plan result = level_2(program);
  const Launch& launch = result.launches.front();
  REQUIRE(launch.fragments);
  CHECK_FALSE(launch.fragments->has_warpgroups);
  CHECK(launch.boxed.empty());
  REQUIRE(launch.no_warpgroups);
  return launch.no_warpgroups->text;
}
std::string why_not(const std::string& arrays, const std::string& statements) {
  return why_not(in_bf16(bound(".isa attention\n" + arrays + statements)));
}

}  // namespace

TEST_CASE("at level 2 warps hold 16 rows of flash2, and TMA brings its inputs", "[warpgroups]") {
  const toy::BoundProgram program = flash2(512, 128, 128, 64);
  const Plan result = level_2(program);
  CHECK(result.level() == 2);
  const Launch& launch = result.launches.at(0);
  CHECK(launch.fragments->has_warpgroups);
  CHECK(launch.fragments->warps == 8);
  CHECK(launch.threads == 384);  // and a warpgroup of which one thread copies
  REQUIRE(launch.boxed.size() == 3);
  CHECK(program.arrays[launch.boxed[0].array].name == "q");
  CHECK(launch.boxed[0].rows == 128);
  CHECK(program.arrays[launch.boxed[1].array].name == "k");
  CHECK(launch.boxed[1].rows == 64);
}

TEST_CASE("a loaded tile has a place again after the last line that reads it", "[warpgroups]") {
  const toy::BoundProgram program = flash2(512, 64, 64, 64);
  const Plan result = level_2(program);
  const Launch& launch = result.launches.at(0);
  const ValuePlace &K = ring_of(program, launch, "K"), &V = ring_of(program, launch, "V"),
                   &Q = ring_of(program, launch, "Q[0]");
  REQUIRE(K.ring->last_read);
  REQUIRE(V.ring->last_read);
  CHECK(line_of_step(program, launch, *K.ring->last_read) == 37);  // MAC Q[c], K^T, S, S
  CHECK(line_of_step(program, launch, *V.ring->last_read) == 53);  // MAC P, V, O[c], O[c]
  CHECK_FALSE(Q.ring->last_read);                                  // stays
  CHECK(Q.shared->stages == 1);
}

TEST_CASE("a tile that an inner loop reads has a place again after that loop", "[warpgroups]") {
  const toy::BoundProgram program =
      in_bf16(bound(".isa attention\n.param n = 256\n.input a(n, 64) tile (64, 64)\n"
                    ".input b(n, 64) tile (64, 64)\n.output c(64, 64) tile (64, 64)\n.reg A, B, C\n"
                    "FILL 0, C\nfor i in 0..tiles(a)\nLOAD a[i][0], A\nfor j in 0..tiles(b)\n"
                    "LOAD b[j][0], B\nMAC A, B, C, C\nend\nend\nSTORE C, c[0][0]\n"));
  const Plan result = level_2(program);
  const Launch& launch = result.launches.at(0);
  const Step& last = launch.fragments->steps[*ring_of(program, launch, "A").ring->last_read];
  CHECK(last.kind == Step::Kind::kLoopEnd);
  CHECK(line_of_step(program, launch, *ring_of(program, launch, "B").ring->last_read) == 12);
}

TEST_CASE("tiles have as many stages as fit, up to three", "[warpgroups]") {
  const toy::BoundProgram program = flash2(512, 64, 64, 64);
  const auto stages = [&](std::int64_t shared_bytes) {
    const Plan result = level_2(program, shared_bytes);
    CHECK(result.shared_bytes(result.launches.at(0)) <= shared_bytes);
    return ring_of(program, result.launches.at(0), "K").shared->stages;
  };
  constexpr std::int64_t kTile = 64 * 64 * 2, kBarriers = 16;
  // Two blocks, each with a warpgroup that computes, should run at the same time.
  CHECK(stages(2 * (7 * (kTile + kBarriers) + 1024)) == 3);
  CHECK(stages(2 * (5 * (kTile + kBarriers) + 1024)) == 2);
  CHECK(stages(5 * (kTile + kBarriers)) == 2);  // one at a time
  CHECK(stages(5 * kTile) == 1);
}

TEST_CASE("registers of the threads that copy go to those that compute", "[warpgroups]") {
  FragmentPlan fragments;
  const auto shares = [&](int warps) {
    fragments.warps = warps;
    return register_shares(fragments);
  };
  for (const int warps : {4, 8, 12, 16}) {
    const RegisterShares share = shares(warps);
    CHECK(share.copying == 24);
    CHECK(share.computing % 8 == 0);
    CHECK(blocks_at_once(fragments) * (32 * warps * share.computing + 128 * share.copying) <=
          65536);
  }
  CHECK(shares(4).computing == 232);  // of two blocks
  CHECK(shares(8).computing == 240);
  CHECK(shares(12).computing == 160);
}

TEST_CASE("level 2 says which line wgmma or TMA cannot do", "[warpgroups]") {
  CHECK_THAT(why_not(flash2(480, 64, 48, 64)), contains("48 rows") && contains("multiplies 64"));
  CHECK_THAT(why_not(flash2(1024, 64, 320, 64)), contains("320 rows"));
  CHECK_THAT(why_not(flash2(512, 20, 64, 64)), contains("rows of 40 bytes"));
  CHECK_THAT(why_not(flash2(512, 64, 64, 40)), contains("line 36 loads tiles of 40 rows"));
  CHECK_THAT(why_not(flash2(512, 256, 192, 64)), contains("registers of each thread"));
  const std::string arrays =
      ".param n = 128\n.input a(n, 64) tile (64, 64)\n.input b(n, 64) tile (64, 32)\n"
      ".input w(64, 288) tile (64, 288)\n.output c(n, 64) tile (64, 64)\n"
      ".output s(64, 288) tile (64, 288)\n.reg A, B, C, W\n";
  CHECK_THAT(why_not(arrays,
                     "LOAD a[0][0], A\nLOAD b[0][0], B\nMAC_Z A, B, C\n"
                     "LOAD b[0][1], B\nSTORE C, c[0][0]\n"),
             contains("line 10 loads tiles of 32 columns"));
  CHECK_THAT(why_not(arrays,
                     "LOAD a[0][0], A\nLOAD w[0][0], W\nMAC_Z A, W, C\n"
                     "STORE C, s[0][0]\n"),
             contains("288 columns"));
  CHECK_THAT(why_not(arrays,
                     "FILL 0, C\nSTORE C, c[0][0]\nfor i in 0..tiles(c)\nLOAD c[i][0], A\n"
                     "MAC A, A, C, C\nend\nSTORE C, c[0][0]\n"),
             contains("stores to the array that line 12 loads"));
}

TEST_CASE("columns come by TMA, too, if they have whole pieces of 16 bytes", "[warpgroups]") {
  const auto backward = [](int n) {
    return in_bf16(bundled("bwd_twopass", params({{"n", n}, {"d", 64}, {"B", 64}})));
  };
  const Plan right = level_2(backward(256)), wrong = level_2(backward(130));
  const Launch& dQ = right.launches.at(1);
  CHECK(std::count_if(dQ.boxed.begin(), dQ.boxed.end(),
                      [](const BoxedArray& boxed) { return boxed.is_column; }) == 2);
  CHECK_THAT(wrong.launches.at(1).no_warpgroups->text, contains("columns of 520 bytes"));
}

TEST_CASE("at level 2 one thread runs the loops around loads, and the others everything else",
          "[warpgroups]") {
  const toy::BoundProgram program = flash2(512, 64, 128, 64);
  const std::string text = cuda_kernels(program, level_2(program), "p");
  const std::size_t roles = text.find("  take_registers<240>();\n");
  REQUIRE(roles != std::string::npos);
  const std::string copying = text.substr(0, roles), computing = text.substr(roles);
  CHECK_THAT(copying, contains("  if (threadIdx.x != 256) return;\n"));
  CHECK_THAT(copying, contains("// 36: LOAD k[j][c], K\n        load(K, k_boxes.tile(j, 0));\n"));
  CHECK_FALSE(copying.find("product") != std::string::npos);
  CHECK_THAT(computing, contains("      // 36: LOAD k[j][c], K\n      wait_for(K);\n"
                                 "      // 37: MAC Q[c], K^T, S, S\n"));
  CHECK_THAT(computing, contains("add_warpgroup_product<Bf16>(S_2, Q0, turned(K));\n"
                                 "      release(K);\n"));
  // The scaled Q is met for once, not in each iteration.
  CHECK_THAT(computing, contains("scale<256>(Q0, X.value);\n    meet<256>();\n"));
  CHECK(computing.find("meet") == computing.rfind("meet"));
}

TEST_CASE("a column is released when the exponential has read it, not at the difference before",
          "[warpgroups]") {
  const toy::BoundProgram program =
      in_bf16(bundled("bwd_onepass", params({{"n", 256}, {"d", 64}, {"B", 128}, {"Bk", 128}})));
  const std::string text = cuda_kernels(program, level_2(program), "p");
  CHECK_THAT(text, contains("    // with the next line\n    // 70: EXP S, P\n"
                            "    set(P, fast_exponential_of_difference(S_2, turned(X_2)));\n"
                            "    release(X_2);\n"));
}

TEST_CASE("warpgroups meet before they overwrite what others still read, and after it",
          "[warpgroups]") {
  const toy::BoundProgram program =
      in_bf16(bundled("bwd_onepass", params({{"n", 256}, {"d", 64}, {"B", 128}, {"Bk", 128}})));
  const std::string text = cuda_kernels(program, level_2(program), "p");
  CHECK_THAT(text, contains("      meet<256>();\n      put(dS_copy, dS, 128, 128);\n"
                            "      meet<256>();\n      set_warpgroup_product"));
}

}  // namespace flashlab::generate
