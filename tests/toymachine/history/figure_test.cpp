// The figure that moves: what it counts is what the machine counts, and its tiles are where they are.
#include "toymachine/history/figure.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "tests/catch_shim.hpp"
#include "tests/toymachine/assembled.hpp"
#include "tests/toymachine/bundled_program.hpp"
#include "tests/toymachine/trace/trace_program.hpp"
#include "toymachine/count/counters.hpp"

namespace flashlab::toy {
namespace {

using test::bundled;
using test::params;

struct Drawn {
  std::optional<FigureRun> run;
  std::string why_not;
  Counters counters;
};

Drawn drawn(const BoundProgram& program) {
  FigureRecorder recorder;
  TraceOptions options;
  options.symbols = false;
  std::vector<float> dram(static_cast<std::size_t>(program.dram_elements));
  std::ranges::copy(test::random_values(dram.size(), 7), dram.begin());  // outputs are stored first
  const auto execution = trace(program, std::span<float>(dram), options, recorder);
  INFO(test::messages(execution));
  REQUIRE(execution);
  Drawn result;
  result.counters = count(program, execution->executions, {});
  result.run = recorder.finish(result.why_not);
  return result;
}

FigureRun figure_of(const BoundProgram& program) {
  Drawn result = drawn(program);
  INFO(result.why_not);
  REQUIRE(result.run);
  return std::move(*result.run);
}

/// "0,1 0,2": the pairs of tiles in their order.
std::string pairs(const FigureRun& run) {
  std::string text;
  for (const FigureFrame& frame : run.frames) {
    if (frame.kind != FigureFrame::Kind::kMeeting) continue;
    text += (text.empty() ? "" : " ") + std::to_string(frame.place.row.value()) + "," +
            std::to_string(frame.place.column.value());
  }
  return text;
}

std::int64_t register_named(const BoundProgram& program, const std::string& name) {
  for (std::int64_t i = 0; i < program.num_registers; ++i) {
    if (program.register_name(i) == name) return i;
  }
  FAIL("no register " << name);
  return -1;
}

const std::vector<std::string> kPrograms{"flash2", "flash2_causal", "three_pass", "flash1",
                                         "bwd_onepass"};

}  // namespace

TEST_CASE("a figure's bytes are the machine's counters, array by array", "[figure]") {
  const std::vector<std::vector<std::int64_t>> sizes{
      {8, 8, 4, 2, 2}, {8, 8, 4, 1, 4}, {8, 8, 4, 8, 1}, {10, 7, 3, 4, 2}, {6, 9, 2, 5, 3}};
  for (const std::string& name : kPrograms) {
    for (const auto& size : sizes) {
      CAPTURE(name, size);
      const BoundProgram program = bundled(
          name,
          params(
              {{"n", size[0]}, {"nk", size[1]}, {"d", size[2]}, {"B", size[3]}, {"Bk", size[4]}}));
      const Drawn result = drawn(program);
      REQUIRE(result.run);
      std::map<std::uint32_t, FigureArray> arrays;
      for (const FigureArray& one : result.run->arrays) arrays[one.array] = one;
      for (std::uint32_t i = 0; i < program.arrays.size(); ++i) {
        CAPTURE(program.arrays[i].name);
        const ArrayTraffic& counted = result.counters.by_array[i];
        CHECK(arrays[i].bytes_loaded == counted.bytes_loaded);
        CHECK(arrays[i].bytes_stored == counted.bytes_stored);
        CHECK(arrays[i].bytes_updated == counted.bytes_updated);
      }
      CHECK(result.run->frames.back().last_step == result.counters.steps);
    }
  }
}

TEST_CASE("a figure shows the pairs of tiles in the order of the program", "[figure]") {
  const auto size = params({{"n", 4}, {"B", 2}});
  CHECK(pairs(figure_of(bundled("flash2", size))) == "0,0 0,1 1,0 1,1");
  CHECK(pairs(figure_of(bundled("flash2_causal", size))) == "0,0 1,0 1,1");
  CHECK(pairs(figure_of(bundled("three_pass", size))) ==
        "0,0 0,1 0,0 0,1 0,0 0,1 1,0 1,1 1,0 1,1 1,0 1,1");
  CHECK(pairs(figure_of(bundled("flash1", size))) == "0,0 1,0 0,1 1,1");
  // S and dP are both products of the pair.
  CHECK(pairs(figure_of(bundled("bwd_onepass", size))) == "0,0 0,0 1,0 1,0 0,1 0,1 1,1 1,1");
}

TEST_CASE("a figure says what the registers are for, as the program uses them", "[figure]") {
  const BoundProgram flash2 = bundled("flash2");
  const FigureRun run = figure_of(flash2);
  const auto role = [&](const std::string& name) {
    return run.role(0, register_named(flash2, name));
  };
  CHECK(role("Q[0]") == "tile of q");
  CHECK(role("K") == "tile of k");
  CHECK(role("S") == "q·kᵀ of this pair");
  CHECK(role("P") == "exp(S) of this pair");
  CHECK(role("M") == "row maximum so far");
  CHECK(role("L") == "row sum so far");
  CHECK(role("O[0]") == "sum of P × V so far");
  CHECK(role("A") == "factor of each row, exp(A)");
  CHECK(role("X") == "scratch");
  // Tiles of one element are tiles of the pair, too.
  const BoundProgram rows = bundled("flash2", params({{"B", 1}, {"Bk", 1}}));
  CHECK(figure_of(rows).role(0, register_named(rows, "P")) == "exp(S) of this pair");
  const BoundProgram backward = bundled("bwd_onepass");
  const FigureRun gradients = figure_of(backward);
  CHECK(gradients.role(3, register_named(backward, "dK[0]")) == "sum of dSᵀ × Q[0] so far");
  CHECK(gradients.role(3, register_named(backward, "dP")) == "do·vᵀ of this pair");
  CHECK(gradients.role(3, register_named(backward, "dS")) == "P · dP");
}

TEST_CASE("in a figure a tile of scores is gone before the next pair meets", "[figure]") {
  const BoundProgram program = bundled("flash2", params({{"n", 8}, {"B", 2}}));
  const FigureRun run = figure_of(program);
  const std::int64_t scores = register_named(program, "S"), weights = register_named(program, "P");
  std::size_t until = 0, tiles = 0;
  for (std::size_t i = 0; i < run.frames.size(); ++i) {
    if (run.frames[i].kind == FigureFrame::Kind::kMeeting) CHECK(until < i + 1);
    for (const FigureWrite& write : run.frames[i].writes) {
      const bool is_tile = write.rows == 2 && write.columns == 2;
      if (!is_tile || (write.register_number != scores && write.register_number != weights))
        continue;
      ++tiles;
      until = std::max(until, write.last_read);
      CHECK(write.place.row.has_value());
      CHECK(write.place.column.has_value());
    }
  }
  CHECK(tiles == 3 * 16);  // q k^T, the same relative to the maximum, its exponential
}

TEST_CASE("a figure keeps a matrix in DRAM apart from the strips beside it", "[figure]") {
  const BoundProgram naive = bundled("naive", params({{"n", 4}, {"d", 4}, {"B", 4}}));
  for (const FigureArray& array : figure_of(naive).arrays) {
    const std::string& name = naive.arrays[array.array].name;
    CAPTURE(name);
    CHECK(array.is_matrix == (name == "s" || name == "p"));
    CHECK(array.side == (name == "k" || name == "v" ? FigureSide::kColumns : FigureSide::kRows));
  }
}

TEST_CASE("a figure finds the sides of a program with one name for both extents", "[figure]") {
  const BoundProgram program = test::bound(
      ".isa attention\n.param n = 4, d = 2, B = 2\n"
      ".input q(n, d) tile (B, d)\n.input k(n, d) tile (B, d)\n.input v(n, d) tile (B, d)\n"
      ".output o(n, d) tile (B, d)\n.reg Q, K, V, S, O\n"
      "for i in 0..tiles(q)\n  LOAD q[i][0], Q\n  FILL 0, O\n"
      "  for j in 0..tiles(k)\n    LOAD k[j][0], K\n    MAC_Z Q, K^T, S\n    LOAD v[j][0], V\n"
      "    MAC S, V, O, O\n  end\n  STORE O, o[i][0]\nend\n");
  std::map<std::string, FigureSide> sides;
  for (const FigureArray& one : figure_of(program).arrays) {
    sides[program.arrays[one.array].name] = one.side;
  }
  CHECK(sides == std::map<std::string, FigureSide>{{"q", FigureSide::kRows},
                                                   {"k", FigureSide::kColumns},
                                                   {"v", FigureSide::kColumns},
                                                   {"o", FigureSide::kRows}});
}

TEST_CASE("programs without pairs of tiles, and those with too many, have no figure", "[figure]") {
  CHECK(drawn(bundled("softmax_online")).why_not == "it multiplies no two loaded tiles");
  CHECK(drawn(bundled("flash2", params({{"n", 17}, {"B", 1}}))).why_not ==
        "q has more than 16 tiles along a side of the matrix");
  CHECK(drawn(bundled("flash2", params({{"n", 64}, {"B", 1}}))).why_not ==
        "it has more than 4000 pictures or 100000 steps");
  const BoundProgram counts = test::bound(
      ".isa attention\n.input q(2, 2) tile (2, 2)\n.reg Q\nLOAD q[0][0], Q\n"
      "for i in 0..200000\n  SUB Q, Q, Q\nend\n");
  CHECK(drawn(counts).why_not == "it has more than 4000 pictures or 100000 steps");
}

TEST_CASE("the figure that moves has at most 60 kB", "[figure]") {
  std::size_t bytes = 0;
  for (const char* name : {"figure.js", "figure.css", "figure.html"}) {
    std::ifstream file(std::string(FLASHLAB_SOURCE_DIR "/toymachine/history/page/") + name);
    REQUIRE(file);
    bytes += std::string(std::istreambuf_iterator<char>(file), {}).size();
  }
  CHECK(bytes <= 60'000);
}

}  // namespace flashlab::toy
