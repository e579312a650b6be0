#include "attention/variants.hpp"

#include <algorithm>
#include <array>

#include "attention/problem.hpp"

namespace flashlab {
namespace {

constexpr std::array<VariantInfo, 10> kVariants = {{
    {"naive", Pass::kForward,
     "S, then P, then O, everything stored: product, scale, mask, row max, subtract, exp, row sum, "
     "divide, product, each its own pass",
     "FA2 backward post, eager"},
    {"fused-softmax", Pass::kForward,
     "product, scale, one softmax pass, product: what a compiler gets", "FA2 backward post"},
    {"three-pass", Pass::kForward,
     "nothing n x n stored: K read three times (max, sum, output), S computed again each time, V "
     "read "
     "once",
     "toy-model notes, safe softmax"},
    {"online", Pass::kForward, "running max and sum, fused with V: one pass, one query at a time",
     "Milakov and Gimelshein 2018, algorithm 3; toy-model notes"},
    {"flash1", Pass::kForward,
     "tiles, outer loop over K and V: O, m, l read and written for every tile of K and V",
     "Dao et al. 2022, FlashAttention, algorithm 1"},
    {"flash2", Pass::kForward,
     "tiles, outer loop over Q: O stays until it is done; stores O and lse",
     "Dao 2023, FlashAttention-2, algorithm 1"},
    {"split-kv", Pass::kForward,
     "K and V split among workers, their (m, l, O) merged: for few queries and long K",
     "Dao et al. 2023, Flash-Decoding; toy-model notes, tile merge"},
    {"bwd-naive", Pass::kBackward, "P, dP and dS stored", "toy-model notes; two-option algorithm"},
    {"bwd-onepass", Pass::kBackward, "tiles, outer loop over K and V, dQ added up",
     "Dao 2023, FlashAttention-2, algorithm 2; two-option algorithm, option 1"},
    {"bwd-twopass", Pass::kBackward, "one pass for dQ, one for dK and dV; nothing is shared",
     "two-option algorithm, option 2"},
}};

}  // namespace

std::string_view to_string(Pass pass) { return pass == Pass::kForward ? "forward" : "backward"; }

std::span<const VariantInfo> variants() { return kVariants; }

const VariantInfo& find_variant(std::string_view name) {
  const auto found = std::find_if(kVariants.begin(), kVariants.end(),
                                  [&](const VariantInfo& variant) { return variant.name == name; });
  if (found != kVariants.end()) return *found;
  std::string names;
  for (const VariantInfo& variant : kVariants) {
    names += (names.empty() ? "" : ", ") + std::string(variant.name);
  }
  throw ProblemError("variant", name, "one of " + names);
}

}  // namespace flashlab
