// The attention programs move and keep what their headers and the sources say, counted without
// running them.
#include <cstdint>
#include <string>

#include "tests/catch_shim.hpp"
#include "tests/toymachine/programs/attention_program.hpp"

namespace {

using namespace flashlab::toy;   // NOLINT: a test of that namespace
using namespace flashlab::test;  // NOLINT

}  // namespace

TEST_CASE("online attention keeps a query in 2d + 5 registers, reloading it takes d + 5") {
  for (const std::int64_t d : {1, 4, 9}) {
    const Size size{6, 7, d, 1, 1, 1};
    CHECK(attention_program("online", size).num_registers == 2 * d + 5);
    CHECK(attention_program("online_reload", size).num_registers == d + 5);
    CHECK(peak_registers(attention_program("online", size)) == 2 * d + 5);
    CHECK(peak_registers(attention_program("online_reload", size)) == d + 5);
    CHECK(traffic(attention_program("online", size), "q").loads == 6 * d);
    CHECK(traffic(attention_program("online_reload", size), "q").loads == 6 * 7 * d);
  }
}

TEST_CASE("attention loads K and V in one pass, three passes load K three times and V once") {
  const Size size{6, 7, 4, 1, 1, 1};
  for (const char* name : {"online", "online_reload", "flash2", "split_kv"}) {
    CHECK(traffic(attention_program(name, size), "k").loads == 6 * 7 * 4);
    CHECK(traffic(attention_program(name, size), "v").loads == 6 * 7 * 4);
  }
  CHECK(traffic(attention_program("three_pass", size), "k").loads == 3 * 6 * 7 * 4);
  CHECK(traffic(attention_program("three_pass", size), "v").loads == 6 * 7 * 4);
}

TEST_CASE("flash2 stores every output once, and loads K and V once a query") {
  const Size rows{6, 7, 4, 1, 1, 4};
  const BoundProgram program = attention_program("flash2", rows);
  CHECK(traffic(program, "q").loads == 6);
  CHECK(traffic(program, "k").loads == 6 * 7);
  CHECK(traffic(program, "v").loads == 6 * 7);
  CHECK(traffic(program, "o").loads == 0);
  CHECK(traffic(program, "o").stores == 6);
  CHECK(traffic(program, "lse").stores == 6);
}

TEST_CASE("flash1 loads and stores every output once a key, and once more to start it") {
  const Size rows{6, 7, 4, 1, 1, 4};
  const BoundProgram program = attention_program("flash1", rows);
  CHECK(traffic(program, "q").loads == 6 * 7);
  CHECK(traffic(program, "k").loads == 7);
  CHECK(traffic(program, "v").loads == 7);
  for (const char* array : {"o", "m", "l"}) {
    CHECK(traffic(program, array, 1).stores == 6);
    CHECK(traffic(program, array, 2).loads == 6 * 7);
    CHECK(traffic(program, array, 2).stores == 6 * 7);
  }
}

TEST_CASE("flash1 in launches moves what flash1 moves, but K and V once a query tile") {
  const Size size{12, 9, 4, 2, 3, 2};  // 6 query tiles, 3 key tiles, 2 columns of tiles
  for (const std::string mask : {"", "_causal"}) {
    const BoundProgram launches = attention_program("flash1_launches" + mask, size);
    const BoundProgram flash1 = attention_program("flash1" + mask, size);
    const std::int64_t visits = mask.empty() ? 6 * 3 : 6 + 5 + 3;
    CHECK(traffic(launches, "k").loads == visits * 2);
    CHECK(traffic(launches, "v").loads == visits * 2);
    for (const char* array : {"q", "o", "m", "l"}) {
      INFO(array << mask);
      CHECK(traffic(launches, array).loads == traffic(flash1, array).loads);
      CHECK(traffic(launches, array).stores == traffic(flash1, array).stores);
    }
  }
}

TEST_CASE("with s outputs kept, n outputs are stored n n - s (n - 1) times") {
  const std::int64_t n = 6;
  for (std::int64_t s = 0; s <= n; ++s) {
    const BoundProgram program = attention_program("spectrum", {n, n, 4, 1, 1, 4}, {{"s", s}});
    CHECK(traffic(program, "o", 2).stores == n * n - s * (n - 1));
    CHECK(traffic(program, "o", 2).loads == (n - s) * n);
    CHECK(traffic(program, "o", 1).stores == n - s);
    CHECK(traffic(program, "q").loads == n * n);
    CHECK(traffic(program, "k").loads == n);
  }
}

TEST_CASE("with no output kept the spectrum moves what flash1 moves") {
  const Size size{6, 7, 4, 2, 3, 2};
  const BoundProgram spectrum = attention_program("spectrum", size, {{"s", 0}});
  const BoundProgram flash1 = attention_program("flash1", size);
  for (const char* array : {"q", "k", "v", "o", "m", "l"}) {
    INFO(array);
    CHECK(traffic(spectrum, array).loads == traffic(flash1, array).loads);
    CHECK(traffic(spectrum, array).stores == traffic(flash1, array).stores);
  }
}

TEST_CASE("no array of n x n is written unless S and P are materialised") {
  const std::int64_t n = 64, d = 4, bytes = 4;
  const auto peak = [&](const std::string& name) {
    const BoundProgram program = attention_program(name, {n, n, d, 1, 1, 1});
    const auto executions = count_executions(program);
    REQUIRE(executions);
    return peak_dram_bytes(program, *executions);
  };
  for (const char* name : {"online", "online_reload", "three_pass"}) {
    CHECK(peak(name) == bytes * n * d);
  }
  CHECK(peak("flash2") == bytes * (n * d + n));
  CHECK(peak("flash1") == bytes * (n * d + 2 * n));
  CHECK(peak("split_kv") == bytes * ((2 + 1) * n * d + (2 * 2 + 1) * n));
  CHECK(peak("bwd_onepass") == bytes * (3 * n * d + n));
  CHECK(peak("bwd_twopass") == bytes * (3 * n * d + n));
  CHECK(peak("naive") >= bytes * 2 * n * n);
  CHECK(peak("fused_softmax") >= bytes * 2 * n * n);
  CHECK(peak("bwd_naive") >= bytes * 2 * n * n);
}

TEST_CASE("causal programs do not visit tiles wholly beyond the diagonal") {
  const std::int64_t n = 12;
  const Size scalars{n, n, 4, 1, 1, 4};
  for (const char* name : {"online_causal", "flash2_causal", "split_kv_causal"}) {
    CHECK(traffic(attention_program(name, scalars), "k").loads == n * (n + 1) / 2);
  }
  CHECK(traffic(attention_program("flash1_causal", scalars), "q").loads == n * (n + 1) / 2);
  CHECK(traffic(attention_program("bwd_onepass_causal", scalars), "q").loads == n * (n + 1) / 2);
  // Query tiles of 2 against key tiles of 3: rows 0 1, 2 3, ... see 1, 2, 2, 3, 4, 4 key tiles.
  const Size tiles{n, n, 4, 2, 3, 4};
  CHECK(traffic(attention_program("flash2_causal", tiles), "k").loads == 16);
  CHECK(traffic(attention_program("flash1_causal", tiles), "q").loads == 16);
}

TEST_CASE("a window's tiles are those with a visible key, for any length") {
  const auto loads = [](std::int64_t n, std::int64_t w, std::int64_t B) {
    const BoundProgram program =
        bundled("flash2_window", params({{"n", n}, {"d", 4}, {"w", w}, {"B", B}, {"Bd", 4}}));
    CHECK(traffic(program, "v").loads == traffic(program, "k").loads);
    return traffic(program, "k").loads;
  };
  CHECK(loads(12, 0, 1) == 12);
  CHECK(loads(12, 3, 1) == 1 + 2 + 3 + 9 * 4);
  CHECK(loads(12, 3, 3) == 1 + 3 * 2);
  CHECK(loads(12, 4, 3) == 1 + 2 + 2 * 3);  // the fourth key before a tile is in the second tile
  CHECK(loads(12, 12, 3) == 1 + 2 + 3 + 4);
  CHECK(loads(4096, 64, 64) == 1 + 63 * 2);
}

TEST_CASE("a one-pass backward loads K and V once, a two-pass one once more for every query") {
  const Size rows{6, 7, 4, 1, 1, 4};
  const BoundProgram onepass = attention_program("bwd_onepass", rows);
  CHECK(traffic(onepass, "k").loads == 7);
  CHECK(traffic(onepass, "v").loads == 7);
  CHECK(traffic(onepass, "q").loads == 6 * 7);
  CHECK(traffic(onepass, "dq").updates == 6 * 7);
  const BoundProgram twopass = attention_program("bwd_twopass", rows);
  CHECK(traffic(twopass, "k").loads == 6 * 7 + 7);
  CHECK(traffic(twopass, "q").loads == 6 + 6 * 7);
  CHECK(traffic(twopass, "dq").updates == 0);
  for (const char* array : {"dq", "dk", "dv"}) {
    CHECK(traffic(twopass, array).stores == (array[1] == 'q' ? 6 : 7));
  }
}

TEST_CASE("loading O in the inner loop costs an output's size for every key tile") {
  const Size size{6, 7, 4, 2, 3, 2};
  const BoundProgram lean = attention_program("bwd_onepass", size);
  const BoundProgram wasteful = attention_program("bwd_onepass_loads_o", size);
  CHECK(traffic(wasteful, "o").loads - traffic(lean, "o").loads == 3 * 3 * 2);
  CHECK(traffic(wasteful, "k").loads == traffic(lean, "k").loads);
}

TEST_CASE("loading O in both passes costs one load of it, and one for every key tile") {
  const Size size{6, 7, 4, 2, 3, 2};
  const BoundProgram lean = attention_program("bwd_twopass", size);
  const BoundProgram wasteful = attention_program("bwd_twopass_loads_o", size);
  const std::size_t dq_pass = 2, dkdv_pass = 3;
  // 3 query tiles, 3 key tiles, 2 tiles across the head dimension.
  CHECK(traffic(lean, "o", dq_pass).loads == 0);
  CHECK(traffic(wasteful, "o", dq_pass).loads == 3 * 2);
  CHECK(traffic(wasteful, "o", dkdv_pass).loads == 3 * 3 * 2);
  CHECK(traffic(wasteful, "o").loads - traffic(lean, "o").loads == 3 * 2 + 3 * 3 * 2);
  CHECK(traffic(wasteful, "q").loads == traffic(lean, "q").loads);
}

TEST_CASE("without delta K and V are loaded twice, or K alone if a row is kept") {
  const Size rows{6, 7, 4, 1, 1, 4};
  const BoundProgram with_delta = attention_program("bwd_twopass", rows);
  const BoundProgram blocks = attention_program("bwd_no_delta_blocks", rows);
  const BoundProgram row = attention_program("bwd_no_delta_row", rows);
  const std::size_t dq_pass = 2;
  CHECK(with_delta.program->passes[dq_pass] == "dQ");
  CHECK(traffic(with_delta, "k", dq_pass).loads == 6 * 7);
  CHECK(traffic(with_delta, "v", dq_pass).loads == 6 * 7);
  CHECK(traffic(blocks, "k").loads == 2 * 6 * 7);
  CHECK(traffic(blocks, "v").loads == 2 * 6 * 7);
  CHECK(traffic(row, "k").loads == 2 * 6 * 7);
  CHECK(traffic(row, "v").loads == 6 * 7);
  CHECK(peak_registers(row) - peak_registers(blocks) == 2 * 7 - 3);
}

TEST_CASE("row by row two gradients go through DRAM, column by column one") {
  const Size rows{6, 7, 4, 1, 1, 4};
  const BoundProgram rowwise = attention_program("bwd_rowwise", rows);
  CHECK(traffic(rowwise, "dq").loads == 0);
  CHECK(traffic(rowwise, "dk", 2).loads == 6 * 7);
  CHECK(traffic(rowwise, "dv", 2).stores == 6 * 7);
  const BoundProgram columnwise = attention_program("bwd_columnwise", rows);
  CHECK(traffic(columnwise, "dq", 3).loads == 6 * 7);
  CHECK(traffic(columnwise, "dq", 3).stores == 6 * 7);
  CHECK(traffic(columnwise, "dk").loads == 0);
  CHECK(traffic(columnwise, "dv").loads == 0);
}

TEST_CASE("dX in DRAM is loaded and stored once a pair of rows and once a row") {
  const std::int64_t n = 6, d = 4, dm = 5;
  const Params size{{"n", n}, {"d", d}, {"dm", dm}, {"B", 1}, {"Bd", d}, {"Bm", dm}};
  const BoundProgram streamed = bundled("stream_dx", params(size));
  CHECK(traffic(streamed, "dx", 2).loads == n * n + n);
  CHECK(traffic(streamed, "dx", 2).stores == n * n + n);
  CHECK(traffic(streamed, "dwq", 2).stores == n);
  const BoundProgram columns = bundled("stream_dx_columns", params(size));
  CHECK(traffic(columns, "dx", 3).loads == n * n + n);
  CHECK(traffic(columns, "k", 3).loads == n);
  CHECK(traffic(columns, "q", 3).loads == n * n);
  const BoundProgram resident = bundled("stream_dx_resident", params(size));
  CHECK(traffic(resident, "dx").loads == 0);
  CHECK(traffic(resident, "dx").stores == n);
  CHECK(peak_registers(resident) - peak_registers(streamed) == n);
}

TEST_CASE("a tile of B queries loads each element of K once for all of them") {
  const std::int64_t n = 12, d = 4;
  for (const std::int64_t B : {1, 2, 3, 4, 6, 12}) {
    const BoundProgram program = attention_program("flash2", {n, n, d, B, 3, 2});
    const auto executions = count_executions(program);
    REQUIRE(executions);
    const Counters counters = count(program, *executions, {});
    CHECK(program.arrays[1].name == "k");
    CHECK(counters.by_array[1].elements_loaded == n / B * n * d);
    CHECK(counters.by_array[0].elements_loaded == n * d);
  }
}
