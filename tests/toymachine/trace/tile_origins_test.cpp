// To which tiles of which arrays registers belong.
#include "toymachine/trace/tile_origins.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "tests/catch_shim.hpp"
#include "tests/toymachine/assembled.hpp"
#include "tests/toymachine/bundled_program.hpp"
#include "tests/toymachine/trace/trace_program.hpp"

namespace {

using namespace flashlab::toy;   // NOLINT: a test of that namespace
using namespace flashlab::test;  // NOLINT

/// Keeps for every step what the register that it wrote belongs to: "q.0=1 x k.0=2", "tile
/// q[1][0]".
class Places final : public TraceSink {
 public:
  explicit Places(const BoundProgram& program) : program_(program), origins_(program) {}
  bool begin(const TraceHeader&) override { return true; }
  bool row(const TraceRow& row) override {
    origins_.follow(row);
    if (row.register_written < 0) return true;
    const TileOrigin origin = origins_.of(row.register_written);
    std::string text = pair(origin);
    if (origin.tile) {
      text = "tile " + program_.arrays[origin.tile->array].name;
      for (const std::int64_t index : origin.tile->indices) {
        text += "[" + std::to_string(index) + "]";
      }
    }
    after[row.step] = text;
    if (origins_.meeting()) meetings[row.step] = pair(*origins_.meeting());
    return true;
  }

  std::map<std::uint64_t, std::string> after, meetings;

 private:
  std::string strip(const std::optional<TileStrip>& one) const {
    if (!one) return "-";
    std::string before;
    for (const std::int64_t index : one->before) before += "[" + std::to_string(index) + "]";
    return program_.arrays[one->array].name + before + "." + std::to_string(one->axis) + "=" +
           std::to_string(one->index);
  }
  std::string pair(const TileOrigin& origin) const {
    return strip(origin.rows) + " x " + strip(origin.columns);
  }

  const BoundProgram& program_;
  TileOrigins origins_;
};

Places places_of(const BoundProgram& program) {
  Places places(program);
  std::vector<float> dram(static_cast<std::size_t>(program.dram_elements), NAN);
  for (const BoundArray& array : program.arrays) {
    if (array.role == ArrayRole::kInput) std::fill_n(dram.begin() + array.offset, array.size, 0);
  }
  const auto result = trace(program, std::span<float>(dram), {}, places);
  INFO(messages(result));
  REQUIRE(result);
  return places;
}

}  // namespace

TEST_CASE("a register belongs to the tiles from which its rows and columns come") {
  // As in the listing of flash2: a round of j takes the steps 23 to 38.
  const Places places =
      places_of(bundled("flash2", params({{"n", 4}, {"d", 2}, {"B", 2}, {"Bk", 2}})));
  CHECK(places.after.at(1) == "- x -");           // FILL scale, X
  CHECK(places.after.at(2) == "tile q[0][0]");    // LOAD
  CHECK(places.after.at(3) == "tile q[0][0]");    // MUL Q[0], X, Q[0]: scaled
  CHECK(places.after.at(24) == "tile k[1][0]");   // LOAD
  CHECK(places.after.at(25) == "q.0=0 x k.0=1");  // MAC Q[0], K^T, S, S
  CHECK(places.after.at(26) == "q.0=0 x -");      // ROWMAX S, X
  CHECK(places.after.at(28) == "q.0=0 x -");      // MAX M, X, M
  CHECK(places.after.at(31) == "q.0=0 x k.0=1");  // SUB S, M, S: the column M is repeated
  CHECK(places.after.at(32) == "q.0=0 x k.0=1");  // EXP S, P
  CHECK(places.after.at(38) == "q.0=0 x v.1=0");  // MAC P, V, O[0], O[0]
  CHECK(places.meetings == std::map<std::uint64_t, std::string>{{9, "q.0=0 x k.0=0"},
                                                                {25, "q.0=0 x k.0=1"},
                                                                {52, "q.0=1 x k.0=0"},
                                                                {68, "q.0=1 x k.0=1"}});
}

TEST_CASE("a product of tiles belongs to the rows and columns that its factors keep") {
  const Places places = places_of(
      bound(".isa attention\n.input a(4, 4) tile (2, 2)\n.input b(2, 4, 4) tile (2, 2)\n"
            "FILL 0, R2\nFILL 0, R3\n"
            "for l in 0..2\n  LOAD a[1][l], R0\n  LOAD b[1][l][0], R1\n  MAC R0, R1, R2, R2\n"
            "  MAC R0^T, R0, R3, R3\n  MAC R0, R0^T, R2, R3\nend\n"));
  CHECK(places.after.at(4) == "tile b[1][0][0]");
  CHECK(places.meetings.at(5) == "a.0=1 x b[1].2=0");
  CHECK(places.after.at(10) == "a.0=1 x b[1].2=0");  // the second term of the same sum
  CHECK(places.meetings.at(6) == "a.1=0 x a.1=0");
  CHECK(places.after.at(6) == "a.1=0 x a.1=0");
  CHECK(places.after.at(7) == "a.0=1 x -");  // columns of two places that are not the same
}

TEST_CASE("tiles of two products at the same place of equal arrays belong together") {
  const Places places = places_of(bundled("bwd_onepass", params({{"n", 4}, {"d", 2}, {"B", 2}})));
  std::map<std::string, int> met;
  for (const auto& [step, place] : places.meetings) ++met[place.substr(0, place.find('.'))];
  CHECK(met == std::map<std::string, int>{{"q", 4}, {"do", 4}});
}

TEST_CASE("programs without tiles have no places") {
  const Places places = places_of(bundled("matmul_c00"));
  CHECK(places.meetings.empty());
  for (const auto& [step, place] : places.after) CHECK(place == "- x -");
}
