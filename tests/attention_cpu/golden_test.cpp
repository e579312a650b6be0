// Every variant, in double, against small problems that another framework solved
// (golden/make_golden.py).
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "attention_cpu/attention.hpp"
#include "tests/attention_cpu/running_variants.hpp"
#include "tests/attention_cpu/tolerance.hpp"
#include "tests/catch_shim.hpp"

using namespace flashlab;
using namespace flashlab::test;
using nlohmann::json;

namespace {

std::vector<json> golden_cases() {
  std::ifstream file(FLASHLAB_SOURCE_DIR "/tests/attention_cpu/golden/attention.json");
  return json::parse(file).at("cases").get<std::vector<json>>();
}

AttentionOptions options_of(const json& golden) {
  AttentionOptions options;
  for (const Mask mask : {Mask::kNone, Mask::kCausalTopLeft, Mask::kCausalBottomRight}) {
    if (golden.at("mask") == to_string(mask)) options.mask = mask;
  }
  if (!golden.at("softmax_scale").is_null()) options.softmax_scale = golden.at("softmax_scale");
  return options;
}

/// A golden array, or room for a result of its size.
struct GoldenTensor {
  std::vector<double> golden, memory;
  TensorView tensor;

  GoldenTensor(const json& of, const char* name, bool is_result)
      : golden(of.at(name).get<std::vector<double>>()), memory(golden) {
    if (is_result) memory.assign(golden.size(), std::nan(""));
    const std::string key = name;
    const bool has_keys = key.find('K') != key.npos || key.find('V') != key.npos;
    std::vector<std::int64_t> shape = {of.at("batch"),
                                       of.at(has_keys ? "num_kv_heads" : "num_heads"),
                                       of.at(has_keys ? "seqlen_k" : "seqlen_q")};
    if (key != "lse") shape.push_back(of.at("head_dim"));
    tensor = view(memory.data(), shape);
  }
  /// To a dozen digits of the largest element: both sides round in their own order.
  bool agrees() const {
    double largest = 0;
    for (const double value : golden) largest = std::max(largest, std::fabs(value));
    return deviation(memory, golden).largest <= kGoldenTolerance * largest;
  }
};

}  // namespace

TEST_CASE("every forward variant agrees with another framework", "[golden]") {
  REQUIRE(golden_cases().size() == 13);
  for (const json& golden : golden_cases()) {
    const GoldenTensor Q(golden, "Q", false), K(golden, "K", false), V(golden, "V", false);
    for (const std::string_view variant : variants_here(Pass::kForward)) {
      INFO(variant << ": " << golden.at("name"));
      const GoldenTensor O(golden, "O", true), lse(golden, "lse", true);
      cpu::attention_forward(variant, {Q.tensor, K.tensor, V.tensor, O.tensor, lse.tensor},
                             options_of(golden));
      CHECK(O.agrees());
      CHECK(lse.agrees());
    }
  }
}

TEST_CASE("every backward variant agrees with another framework", "[golden]") {
  for (const json& golden : golden_cases()) {
    const GoldenTensor Q(golden, "Q", false), K(golden, "K", false), V(golden, "V", false),
        O(golden, "O", false), lse(golden, "lse", false), dO(golden, "dO", false);
    for (const std::string_view variant : variants_here(Pass::kBackward)) {
      INFO(variant << ": " << golden.at("name"));
      const GoldenTensor dQ(golden, "dQ", true), dK(golden, "dK", true), dV(golden, "dV", true);
      cpu::attention_backward(variant,
                              {Q.tensor, K.tensor, V.tensor, O.tensor, lse.tensor, dO.tensor,
                               dQ.tensor, dK.tensor, dV.tensor},
                              options_of(golden));
      CHECK(dQ.agrees());
      CHECK(dK.agrees());
      CHECK(dV.agrees());
    }
  }
}
