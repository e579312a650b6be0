// Every attention program computes what the textbook says, at every size and with every tile.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tests/catch_shim.hpp"
#include "tests/source_files.hpp"
#include "tests/toymachine/programs/attention_program.hpp"

namespace {

using namespace flashlab::toy;   // NOLINT: a test of that namespace
using namespace flashlab::test;  // NOLINT

const std::vector<std::string> kForward{"naive",    "fused_softmax", "three_pass",
                                        "online",   "flash1",        "flash2",
                                        "split_kv", "online_reload", "flash1_launches"};
const std::vector<std::string> kBackward{"bwd_naive", "bwd_onepass", "bwd_twopass",
                                         "bwd_twopass_loads_o"};
const std::vector<std::string> kOtherSchedules{"spectrum",         "bwd_rowwise",
                                               "bwd_columnwise",   "bwd_no_delta_blocks",
                                               "bwd_no_delta_row", "bwd_onepass_loads_o"};
const std::string kWindow = "flash2_window";
const std::vector<std::string> kStreams{"stream_dx", "stream_dx_columns", "stream_dx_resident"};

struct Variant {
  std::string name;
  bool is_causal = false;
};

const std::vector<std::pair<std::int64_t, std::int64_t>> kTileSizes{
    {1, 1}, {2, 2}, {3, 3}, {7, 7}, {16, 16}, {1, 3}, {3, 1}, {2, 7}, {7, 2}, {16, 3}};

/// Lengths and tiles that divide and do not, one larger than the array among them.
std::vector<Size> sizes() {
  std::vector<Size> result;
  for (const std::int64_t n : {1, 2, 5, 8, 13}) {
    for (const std::int64_t nk : {n, std::int64_t{7}}) {
      for (const std::int64_t d : {1, 3, 4}) {
        for (const auto& [B, Bk] : kTileSizes) result.push_back({n, nk, d, B, Bk, (d + 1) / 2});
        result.push_back({n, nk, d, 1, 1, 1});
      }
    }
  }
  return result;
}

void require_textbook(const Variant& variant, const Size& size, const Params& more = {}) {
  INFO(variant.name << ", " << size);
  const AttentionProblem problem(size, variant.is_causal);
  require_right(attention_program(variant.name, size, more), problem.inputs(), problem.expected());
}

}  // namespace

TEST_CASE("attention programs agree with the textbook at every size") {
  const std::string name = GENERATE(from_range(kForward));
  for (const Size& size : sizes()) require_textbook({name, false}, size);
}

TEST_CASE("causal attention programs agree with the textbook at every size") {
  const std::string name = GENERATE(from_range(kForward));
  for (const Size& size : sizes()) require_textbook({name + "_causal", true}, size);
}

TEST_CASE("backward programs agree with the textbook at every size") {
  const std::string name = GENERATE(from_range(kBackward));
  for (const Size& size : sizes()) require_textbook({name, false}, size);
}

TEST_CASE("causal backward programs agree with the textbook at every size") {
  const std::string name = GENERATE(from_range(kBackward));
  for (const Size& size : sizes()) require_textbook({name + "_causal", true}, size);
}

TEST_CASE("attention with a window agrees with the textbook for every window") {
  for (const std::int64_t n : {1, 2, 5, 8, 13}) {
    for (const std::int64_t tile : {1, 2, 3, 7, 16}) {
      for (const std::int64_t w : {0, 1, 2, 3, 6, 12, 50}) {
        const Size size{n, n, 3, tile, tile, 2};
        INFO(size << ", w = " << w);
        const AttentionProblem problem(size, true);
        const AttentionResult windowed = attention(problem.Q, problem.K, problem.V, problem.scale,
                                                   true, static_cast<std::size_t>(w));
        const BoundProgram program =
            bundled(kWindow, params({{"n", n}, {"d", 3}, {"w", w}, {"B", tile}, {"Bd", 2}}));
        require_right(program, problem.inputs(),
                      {{"o", windowed.O.values}, {"lse", windowed.lse.values}});
      }
    }
  }
}

TEST_CASE("other schedules of attention agree with the textbook at every size") {
  const std::string name = GENERATE(from_range(kOtherSchedules));
  for (const Size& size : sizes()) require_textbook({name, false}, size);
}

TEST_CASE("at head_dim 64 outputs and gradients keep their digits at every tile size") {
  const std::string name =
      GENERATE(as<std::string>{}, "flash1", "flash2", "split_kv", "bwd_onepass", "bwd_twopass");
  for (const std::int64_t tile : {1, 2, 3, 7, 16, 64, 128}) {
    const std::int64_t d_tile = tile < 7 ? 64 : std::min<std::int64_t>(tile, 64);
    for (const bool is_causal : {false, true}) {
      const Variant variant{is_causal ? name + "_causal" : name, is_causal};
      require_textbook(variant, {67, 53, 64, tile, tile, d_tile});
      require_textbook(variant, {1, 1, 64, tile, tile, d_tile});
    }
  }
}

TEST_CASE("every attention program is among those that are tested") {
  std::vector<std::string> tested = kStreams;
  tested.push_back(kWindow);
  for (const auto* family : {&kForward, &kBackward, &kOtherSchedules}) {
    for (const std::string& name : *family) {
      tested.push_back(name);
      if (family != &kOtherSchedules) tested.push_back(name + "_causal");
    }
  }
  std::vector<std::string> bundled_ones;
  const std::string folder = std::string(FLASHLAB_SOURCE_DIR) + "/toymachine/programs";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string text = read_source(entry.path());
    if (text.find("\n.isa attention\n") == std::string::npos) continue;
    if (has_machines(entry.path())) continue;
    bundled_ones.push_back(entry.path().stem().string());
  }
  std::sort(tested.begin(), tested.end());
  std::sort(bundled_ones.begin(), bundled_ones.end());
  CHECK(bundled_ones == tested);
}

TEST_CASE("FlashAttention 1 leaves the row maxima and sums that make lse") {
  const Size size{13, 9, 4, 3, 2, 2};
  for (const bool is_causal : {false, true}) {
    const AttentionProblem problem(size, is_causal);
    const BoundProgram program = attention_program(is_causal ? "flash1_causal" : "flash1", size);
    const auto outputs = finish<double>(program, problem.inputs()).outputs;
    Values lse = outputs.at("m");
    for (std::size_t i = 0; i < lse.size(); ++i) lse[i] += std::log(outputs.at("l")[i]);
    require_near(lse, problem.forward.lse.values, 1e-12);
  }
}

TEST_CASE("merging the results of any number of workers gives the same output and lse") {
  const Variant variant = GENERATE(Variant{"split_kv", false}, Variant{"split_kv_causal", true});
  for (const Size& size :
       {Size{5, 13, 3, 1, 1, 1}, Size{5, 13, 3, 2, 3, 2}, Size{13, 5, 3, 4, 1, 3}}) {
    for (std::int64_t splits = 1; splits <= 15; ++splits) {
      require_textbook(variant, size, {{"splits", splits}});
    }
  }
}

TEST_CASE("a worker without keys leaves nothing to the merge") {
  const Size size{3, 2, 2, 1, 1, 1};
  require_textbook({"split_kv", false}, size, {{"splits", 7}});
  require_textbook({"split_kv_causal", true}, size, {{"splits", 7}});
}

TEST_CASE("the spectrum is right with any number of outputs kept") {
  for (const Size& size : {Size{6, 5, 3, 1, 1, 3}, Size{6, 5, 3, 2, 2, 2}}) {
    for (std::int64_t s = 0; s <= size.n / size.B; ++s) {
      require_textbook({"spectrum", false}, size, {{"s", s}});
    }
  }
}

TEST_CASE("a causal program with hidden keys at the end gives what it gives without them") {
  for (const std::string& name : kForward) {
    INFO(name);
    const Size longer{5, 9, 3, 2, 2, 3}, shorter{5, 5, 3, 2, 2, 3};
    const AttentionProblem of_longer(longer, true);
    auto inputs = of_longer.inputs();
    const auto all = finish<double>(attention_program(name + "_causal", longer), inputs);
    for (const char* array : {"k", "v"}) inputs.at(array).resize(5 * 3);
    const auto visible = finish<double>(attention_program(name + "_causal", shorter), inputs);
    require_near(all.outputs.at("o"), visible.outputs.at("o"), 1e-14);
  }
}

TEST_CASE("a tile size changes outputs by rounding only") {
  for (const std::string name : {"flash2", "flash1_causal", "bwd_onepass", "bwd_twopass_causal"}) {
    const AttentionProblem problem({12, 12, 4}, name.find("causal") != std::string::npos);
    const auto scalars =
        finish<double>(attention_program(name, {12, 12, 4, 1, 1, 1}), problem.inputs());
    const auto tiles =
        finish<double>(attention_program(name, {12, 12, 4, 4, 3, 4}), problem.inputs());
    require_outputs(tiles.outputs, scalars.outputs, 1e-14);
    CHECK(tiles.counters.loads < scalars.counters.loads);
  }
}

TEST_CASE("streamed gradients of X and the weights agree with those by way of dQ, dK and dV") {
  const std::string name = GENERATE(from_range(kStreams));
  for (const std::int64_t n : {1, 5, 8}) {
    for (const std::int64_t d : {1, 3}) {
      for (const std::int64_t dm : {1, 5}) {
        for (const std::int64_t tile : {1, 2, 7}) {
          INFO(name << ", n = " << n << ", d = " << d << ", dm = " << dm << ", tile " << tile);
          const ProjectedProblem problem(n, d, dm);
          const BoundProgram program = bundled(name, params({{"n", n},
                                                             {"d", d},
                                                             {"dm", dm},
                                                             {"B", tile},
                                                             {"Bd", (tile + 1) / 2},
                                                             {"Bm", tile}}));
          require_right(program, problem.inputs(), problem.expected());
        }
      }
    }
  }
}
