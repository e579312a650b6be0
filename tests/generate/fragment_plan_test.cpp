// Where level 1 keeps tiles: in the threads' registers, how they are held, and in shared memory.
#include "generate/plan/fragment_plan.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "generate/plan/element_types.hpp"
#include "generate/source/cuda_source.hpp"
#include "generate/source/shared_access.hpp"
#include "tests/catch_shim.hpp"
#include "tests/toymachine/assembled.hpp"
#include "tests/toymachine/bundled_program.hpp"

namespace flashlab::generate {
namespace {

using test::bound;
using test::bundled;
using test::contains;
using test::params;

constexpr auto kFactors = toy::ElementType::kBf16;

toy::BoundProgram in_16_bits(toy::BoundProgram program) {
  set_element_type(program, kFactors);
  return program;
}
Plan level_1(const toy::BoundProgram& program, std::int64_t shared_bytes = kMostSharedBytes) {
  auto result = plan(program, {shared_bytes, kFactors});
  INFO(toy::format(result.diagnostics, *program.program->source));
  REQUIRE(result);
  return std::move(*result);
}
/// The largest value of a register.
const ValuePlace& place_of(const toy::BoundProgram& program, const Launch& launch,
                           const std::string& name) {
  REQUIRE(launch.fragments);
  const FragmentPlan& plan = *launch.fragments;
  const ValuePlace* found = nullptr;
  Shape shape = Shape::kNumber;
  for (std::size_t v = 0; v < plan.places.size(); ++v) {
    const Value& value = plan.values.values[v];
    if (program.register_name(value.number) != name || value.shape < shape) continue;
    shape = value.shape;
    found = &plan.places[v];
  }
  INFO(name);
  REQUIRE(found != nullptr);
  return *found;
}
std::string why_no_fragments(const std::string& statements) {
  const toy::BoundProgram program = in_16_bits(bound(
      ".isa attention\n.param n = 40, B = 16\n.input a(n, 16) tile (B, 16)\n"
      ".input b(n, 16) tile (B, 16)\n.temp t(n, 16) tile (B, 16)\n.output c(n, 16) tile (B, 16)\n"
      ".output m(n, 1) tile (B, 1)\n" +
      statements));
  const Plan result = level_1(program);
  REQUIRE(result.launches.front().no_fragments);
  return result.launches.front().no_fragments->text;
}

TEST_CASE("flash2 keeps scores and sums in registers, and loads K and V one iteration ahead",
          "[fragments]") {
  const toy::BoundProgram program =
      in_16_bits(bundled("flash2", params({{"n", 512}, {"d", 64}, {"B", 128}, {"Bk", 64}})));
  const Plan result = level_1(program);
  const Launch& launch = result.launches.at(0);
  CHECK(launch.threads == 128);
  for (const char* const name : {"O[0]", "S", "P"}) {
    const ValuePlace& place = place_of(program, launch, name);
    CHECK(place.where == Where::kFragment);
    CHECK(place.rows == 128);
    CHECK_FALSE(place.is_turned);
    CHECK_FALSE(place.shared);
  }
  for (const char* const name : {"M", "L", "A"}) {
    CHECK(place_of(program, launch, name).where == Where::kRowValues);
  }
  CHECK(place_of(program, launch, "Q[0]").where == Where::kSharedTile);
  CHECK_FALSE(place_of(program, launch, "Q[0]").prefetched_in);
  for (const char* const name : {"K", "V"}) {
    CHECK(place_of(program, launch, name).prefetched_in);
    CHECK(place_of(program, launch, name).shared->stages == 2);
  }
}

TEST_CASE("a tile whose transpose is multiplied is held transposed", "[fragments]") {
  const toy::BoundProgram program =
      in_16_bits(bundled("bwd_onepass", params({{"n", 128}, {"d", 16}, {"B", 64}, {"Bk", 128}})));
  const Plan result = level_1(program);
  const Launch& launch = result.launches.at(2);
  for (const char* const name : {"S", "P", "dP", "dS"}) {
    CHECK(place_of(program, launch, name).is_turned);
    CHECK(place_of(program, launch, name).rows == 128);  // keys
  }
  // Only dS is needed as it is, too: for dQ.
  CHECK(place_of(program, launch, "dS").shared);
  CHECK_FALSE(place_of(program, launch, "P").shared);
  CHECK_FALSE(place_of(program, launch, "dV[0]").is_turned);
  CHECK(place_of(program, launch, "D").where == Where::kSharedColumn);
}

TEST_CASE("more warps share a tile that is too large for the registers of few", "[fragments]") {
  const auto threads = [](int B, int d) {
    const toy::BoundProgram program =
        in_16_bits(bundled("flash2", params({{"n", 512}, {"d", d}, {"B", B}, {"Bk", 64}})));
    return level_1(program).launches.at(0).threads;
  };
  CHECK(threads(16, 64) == 32);
  CHECK(threads(64, 64) == 128);
  CHECK(threads(256, 128) == 256);
}

TEST_CASE("without room for two, tiles are loaded when they are needed", "[fragments]") {
  const toy::BoundProgram program =
      in_16_bits(bundled("flash2", params({{"n", 512}, {"d", 64}, {"B", 64}, {"Bk", 64}})));
  const Plan wide = level_1(program), narrow = level_1(program, 40 << 10);
  CHECK(place_of(program, wide.launches[0], "K").prefetched_in);
  CHECK_FALSE(place_of(program, narrow.launches[0], "K").prefetched_in);
  CHECK(narrow.shared_bytes(narrow.launches[0]) <= 40 << 10);
}

TEST_CASE("what a loop stores is not loaded ahead", "[fragments]") {
  const auto is_ahead = [](const std::string& loaded) {
    const toy::BoundProgram program =
        in_16_bits(bound(".isa attention\n.param n = 64, B = 16\n.input a(n, 16) tile (B, 16)\n"
                         ".output c(n, 16) tile (B, 16)\n.reg A, S\n"
                         "FILL 0, S\nSTORE S, c[0][0]\nfor i in 0..tiles(a)\nLOAD " +
                         loaded + "[i][0], A\nMAC A, A^T, S, S\nSTORE S, c[i][0]\nend\n"));
    const Plan result = level_1(program);
    return place_of(program, result.launches.back(), "A").prefetched_in.has_value();
  };
  CHECK(is_ahead("a"));
  CHECK_FALSE(is_ahead("c"));
}

TEST_CASE("the plan says what cannot be a fragment, and where", "[fragments]") {
  CHECK_THAT(why_no_fragments("LOAD a[0][0], R0\nROWMAX R0, R1\nSTORE R1, m[0][0]\n"),
             contains("line 9 reduces a tile that was only loaded"));
  CHECK_THAT(why_no_fragments("LOAD a[0][0], R0\nLOAD b[2][0], R1\nADD R0, R1, R2\n"
                              "STORE R2, c[0][0]\n"),
             contains("line 10 reads or combines tiles whose sizes differ"));
  CHECK_THAT(why_no_fragments("for i in 0..tiles(a)\nLOAD a[i][0], R0\nMAC_Z R0, R0^T, R1\nend\n"
                              "STORE R1, c[0][0]\n"),
             contains("another iteration"));
  CHECK_THAT(why_no_fragments("FILL 1, R0\nLOAD a[0][0], R1\nMAC_Z R1, R0, R2\n"
                              "STORE R2, c[0][0]\n"),
             contains("line 10 multiplies what may be no whole tile"));
}

TEST_CASE("a barrier comes before data that others wrote, and before places that others read",
          "[fragments]") {
  FragmentPlan plan;
  plan.places.resize(3);
  plan.places[0].shared = SharedPlace{0, 128, 1, 0, 0};
  plan.places[1].shared = SharedPlace{128, 128, 1, 0, 0};
  plan.places[2].shared = SharedPlace{0, 128, 1, 0, 0};  // where value 0 was
  SharedAccess access(plan, "__syncthreads();");
  CHECK(access.before_write(0).empty());
  access.copied(0);
  access.copied(1);
  access.next_statement();
  CHECK(access.before_read(0) == "arrive();");
  CHECK(access.before_read(1).empty());  // came with the other
  access.next_statement();
  CHECK(access.before_write(1) == "__syncthreads();");
  access.written(1);
  CHECK(access.before_read(1) == "__syncthreads();");

  // The reads of a statement come after its barriers.
  access.next_statement();
  access.written(1);
  CHECK(access.before_read(0).empty());
  CHECK(access.before_read(1) == "__syncthreads();");
  access.next_statement();
  CHECK(access.before_write(2) == "__syncthreads();");
}

TEST_CASE("a difference and its exponential are one operation", "[fragments]") {
  const toy::BoundProgram program =
      in_16_bits(bundled("flash2", params({{"n", 64}, {"d", 16}, {"B", 32}})));
  const std::string text = cuda_kernels(program, level_1(program), "p");
  CHECK_THAT(text, contains("set(P, fast_exponential_of_difference(S_2, M));"));
  CHECK_THAT(text, contains("set(A, exponential_of_difference(A, M));"));
  CHECK_THAT(text, contains("add_product<Bf16>(O0, P, V);"));
  CHECK_THAT(text, contains("add_product<Bf16>(S_2, Q0, turned(K));"));
}

TEST_CASE("where a program fills in -1e30 for -inf, differences are exact", "[fragments]") {
  const toy::BoundProgram program =
      in_16_bits(bundled("split_kv_causal", params({{"n", 64}, {"d", 16}, {"B", 32}})));
  const std::string text = cuda_kernels(program, level_1(program), "p");
  CHECK_THAT(text, contains("set(P, exponential_of_difference(S_2, M));"));
}

}  // namespace
}  // namespace flashlab::generate
