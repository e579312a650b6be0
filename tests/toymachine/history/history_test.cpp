// What pictures show of a run: lives of values, the order of tiles, and rescaled sums.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "tests/catch_shim.hpp"
#include "tests/toymachine/assembled.hpp"
#include "tests/toymachine/bundled_program.hpp"
#include "tests/toymachine/trace/trace_program.hpp"
#include "toymachine/history/data_flow.hpp"
#include "toymachine/history/meetings.hpp"
#include "toymachine/history/register_lives.hpp"
#include "toymachine/history/rescaled_sum.hpp"

namespace {

using namespace flashlab::toy;   // NOLINT: a test of that namespace
using namespace flashlab::test;  // NOLINT
using Path = std::vector<std::pair<std::int64_t, std::int64_t>>;
using Kind = TileMoves::Kind;
using Times = std::vector<std::int64_t>;

/// Runs on inputs 1, 2, 3, ..., or on smaller ones, for programs that exponentiate their products.
RecordedRun recorded(const BoundProgram& program, float unit = 1) {
  RunRecorder recorder;
  std::vector<float> dram = counted_inputs(program);
  for (float& value : dram) value *= unit;
  const auto result = trace(program, std::span<float>(dram), {}, recorder);
  INFO(messages(result));
  REQUIRE(result);
  return recorder.run();
}

Meetings meetings_in(const BoundProgram& program) {
  auto found = meetings(recorded(program, 1.0F / 64));
  REQUIRE(found);
  return *found;
}

Path path_of(const PassMeetings& pass) {
  Path path;
  for (const Meeting& meeting : pass.path) path.emplace_back(meeting.row, meeting.column);
  return path;
}

const TileMoves& moves_of(const BoundProgram& program, const PassMeetings& pass,
                          const std::string& array, Kind kind) {
  for (const TileMoves& moves : pass.moves) {
    if (program.arrays[moves.array].name == array && moves.kind == kind) return moves;
  }
  FAIL("no moves of " << array);
  return pass.moves.front();
}

Path path_row_by_row(std::int64_t rows, std::int64_t columns) {
  Path path;
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) path.emplace_back(i, j);
  }
  return path;
}

}  // namespace

TEST_CASE("a value lives from its step to its last reader, and a sum in place is one value") {
  const BoundProgram program = bundled("matmul_outer");
  const auto lives = register_lives(recorded(program));
  // The trace of chapter 3: a00 is loaded in step 1, last multiplied in step 5, replaced in step 6.
  CHECK(lives[0].register_number == 0);
  CHECK(lives[0].written == 0);
  CHECK(lives[0].last_used == 4);
  CHECK(lives[0].replaced == 5);
  CHECK(lives[0].is_loaded);
  const auto sum = std::find_if(lives.begin(), lives.end(),
                                [](const auto& life) { return life.register_number == 2; });
  REQUIRE(sum != lives.end());
  CHECK(sum->written == 2);     // MAC_Z in step 3
  CHECK(sum->last_used == 18);  // STORE in step 19
  CHECK_FALSE(sum->is_loaded);
  CHECK(std::count_if(lives.begin(), lives.end(),
                      [](const auto& life) { return life.register_number == 2; }) == 1);
}

TEST_CASE("a load of a cell that was loaded before counts as a second load") {
  const auto again = [](const std::string& name) {
    const BoundProgram program = bundled(name);
    const auto lives = register_lives(recorded(program));
    return std::count_if(lives.begin(), lives.end(),
                         [](const auto& life) { return life.is_loaded_again; });
  };
  // 16, 13, 10 and 8 loads of 8 inputs.
  CHECK(again("matmul_inner_no_reuse") == 8);
  CHECK(again("matmul_inner") == 5);
  CHECK(again("matmul_outer") == 2);
  CHECK(again("matmul_inner_6_registers") == 0);
}

TEST_CASE("flash2 visits the tiles row by row and loads K and V once for each query tile") {
  const BoundProgram program = bundled("flash2", params({{"n", 4}, {"nk", 6}, {"d", 4}, {"B", 2}}));
  const Meetings found = meetings_in(program);
  CHECK(found.num_rows == 2);
  CHECK(found.num_columns == 3);
  REQUIRE(found.passes.size() == 1);
  const PassMeetings& pass = found.passes[0];
  CHECK(path_of(pass) == path_row_by_row(2, 3));
  CHECK(moves_of(program, pass, "q", Kind::kLoad).times == Times{1, 1});
  CHECK(moves_of(program, pass, "k", Kind::kLoad).times == Times{2, 2, 2});
  CHECK(moves_of(program, pass, "v", Kind::kLoad).times == Times{2, 2, 2});
  CHECK_FALSE(moves_of(program, pass, "v", Kind::kLoad).is_on_rows);
  CHECK(moves_of(program, pass, "o", Kind::kStore).times == Times{1, 1});
  CHECK(moves_of(program, pass, "o", Kind::kStore).is_on_rows);
}

TEST_CASE("tiles cut across the head dimension do not count a tile row twice") {
  const BoundProgram program = bundled("flash2", params({{"n", 4}, {"d", 8}, {"Bd", 2}, {"B", 2}}));
  const Meetings found = meetings_in(program);
  CHECK(path_of(found.passes[0]) == path_row_by_row(2, 2));
  CHECK(moves_of(program, found.passes[0], "k", Kind::kLoad).times == Times{2, 2});
}

TEST_CASE("flash1 visits the tiles column by column and moves every output each time") {
  const BoundProgram program = bundled("flash1", params({{"n", 6}, {"B", 2}}));
  const Meetings found = meetings_in(program);
  REQUIRE(found.passes.size() == 1);  // the pass Start has no product
  const PassMeetings& pass = found.passes[0];
  Path expected;
  for (const auto& [row, column] : path_row_by_row(3, 3)) expected.emplace_back(column, row);
  CHECK(path_of(pass) == expected);
  CHECK(moves_of(program, pass, "k", Kind::kLoad).times == Times{1, 1, 1});
  CHECK(moves_of(program, pass, "q", Kind::kLoad).times == Times{3, 3, 3});
  CHECK(moves_of(program, pass, "o", Kind::kLoad).times == Times{3, 3, 3});
  CHECK(moves_of(program, pass, "o", Kind::kStore).times == Times{3, 3, 3});
}

TEST_CASE("a causal program visits a staircase, and its diagonal tiles hide the later keys") {
  const BoundProgram program = bundled("flash2_causal", params({{"n", 6}, {"B", 2}}));
  const Meetings found = meetings_in(program);
  const PassMeetings& pass = found.passes[0];
  CHECK(path_of(pass) == Path{{0, 0}, {1, 0}, {1, 1}, {2, 0}, {2, 1}, {2, 2}});
  CHECK(moves_of(program, pass, "k", Kind::kLoad).times == Times{3, 2, 1});
  for (const Meeting& meeting : pass.path) {
    const bool is_diagonal = meeting.row == meeting.column;
    CHECK(meeting.hidden == std::vector<bool>{false, is_diagonal, false, false});
  }
}

TEST_CASE("bwd_twopass visits every tile in two passes, the second one by columns") {
  const BoundProgram program = bundled("bwd_twopass", params({{"n", 4}, {"B", 2}}));
  const Meetings found = meetings_in(program);
  REQUIRE(found.passes.size() == 2);
  CHECK(path_of(found.passes[0]) == path_row_by_row(2, 2));
  CHECK(path_of(found.passes[1]) == Path{{0, 0}, {1, 0}, {0, 1}, {1, 1}});
  CHECK(moves_of(program, found.passes[0], "dq", Kind::kStore).times == Times{1, 1});
  CHECK(moves_of(program, found.passes[1], "dk", Kind::kStore).times == Times{1, 1});
  CHECK_FALSE(moves_of(program, found.passes[1], "dk", Kind::kStore).is_on_rows);
}

TEST_CASE("an atomic addition is a move of its own kind") {
  const BoundProgram program = bundled("bwd_onepass", params({{"n", 6}, {"B", 2}}));
  const Meetings found = meetings_in(program);
  REQUIRE(found.passes.size() == 1);
  CHECK(moves_of(program, found.passes[0], "dq", Kind::kUpdate).times == Times{3, 3, 3});
}

TEST_CASE("the inner products of chapter 3 go through C in snake order") {
  const Meetings found = meetings_in(bundled("matmul_inner"));
  Path path;
  for (const PassMeetings& pass : found.passes) {
    for (const auto& place : path_of(pass)) path.push_back(place);
  }
  CHECK(path == Path{{0, 0}, {0, 1}, {1, 1}, {1, 0}});
}

TEST_CASE("a program without a product of two arrays has no meetings") {
  CHECK_FALSE(meetings(recorded(bundled("softmax_online"))));
}

TEST_CASE("online softmax rescales all earlier terms by one factor, and the sum is theirs") {
  // The inputs are 1, 2, 3, 4, so each new maximum is one more than the last.
  const auto sum = rescaled_sum(recorded(bundled("softmax_online", params({{"n", 4}}))));
  REQUIRE(sum);
  REQUIRE(sum->rows.size() == 4);
  for (std::size_t k = 0; k < 4; ++k) {
    const RescaledRow& row = sum->rows[k];
    REQUIRE(row.terms.size() == k + 1);
    CHECK(row.input_value == static_cast<double>(k + 1));
    CHECK(std::abs(row.factor - (k == 0 ? 1 : std::exp(-1.0))) < 1e-6);
    double total = 0;
    for (std::size_t j = 0; j <= k; ++j) {
      CHECK(std::abs(row.terms[j] - (std::exp(static_cast<double>(j) - static_cast<double>(k)))) <
            1e-6);
      total += row.terms[j];
    }
    CHECK(std::abs(row.sum - (total)) < 1e-6);
  }
}

TEST_CASE("a sum that starts as a constant 0 has no term for it") {
  const BoundProgram program =
      bundled("online", params({{"n", 1}, {"nk", 3}, {"d", 1}, {"B", 1}, {"Bd", 1}}));
  const auto sum = rescaled_sum(recorded(program));
  REQUIRE(sum);
  REQUIRE(sum->rows.size() == 3);
  CHECK(sum->rows[2].terms.size() == 3);
}

TEST_CASE("safe softmax rescales nothing") {
  CHECK_FALSE(rescaled_sum(recorded(bundled("softmax_safe"))));
}

TEST_CASE("a stored value flows from the arrays whose loads reached it through registers") {
  const BoundProgram program = bundled("naive", params({{"n", 4}, {"d", 2}, {"B", 2}}));
  const std::vector<ArrayFlow> flows = array_flows(recorded(program, 1.0F / 64));
  std::string text;
  for (const ArrayFlow& flow : flows)
    text += program.arrays[flow.from].name + (flow.goes_back ? ">>" : ">") +
            program.arrays[flow.to].name + " ";
  CHECK(text == "q>s k>s s>m s>p m>p p>l l>>p v>o p>o ");
}

TEST_CASE("an array is deeper than all that flows into it, but for what goes back") {
  CHECK(flow_depths({{0, 2}, {1, 2}, {0, 1}, {2, 1, true}}, 4) == std::vector<int>{0, 1, 2, 0});
}
