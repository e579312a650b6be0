#include "results/comparison.hpp"

namespace flashlab::compare {
namespace {

std::optional<double> time_ratio_of(const std::optional<Measurement>& measured,
                                    const Prediction& predicted) {
  if (!measured || !measured->median_ms || predicted_ms(predicted) <= 0) return std::nullopt;
  return predicted_ms(predicted) / *measured->median_ms;
}

std::optional<double> sm_ratio_of(const std::optional<Measurement>& measured, const Work& work) {
  if (!measured || !measured->sm || !work.sm || measured->sm->bytes() == 0) return std::nullopt;
  return static_cast<double>(work.sm->bytes()) / static_cast<double>(measured->sm->bytes());
}

}  // namespace

std::string_view to_string(Bound bound) {
  constexpr std::string_view kNames[] = {"DRAM",          "L2 to SM",    "products",
                                         "elementwise",   "exp",         "launches",
                                         "shared memory", "issue slots", "additions"};
  return kNames[static_cast<std::size_t>(bound)];
}

std::optional<double> time_ratio(const Row& row) {
  return time_ratio_of(row.measured, row.predicted);
}
std::optional<double> time_ratio(const Step& step) {
  return time_ratio_of(step.measured, step.predicted);
}
std::optional<double> sm_ratio(const Row& row) { return sm_ratio_of(row.measured, row.work); }
std::optional<double> sm_ratio(const Step& step) { return sm_ratio_of(step.measured, step.work); }

std::string key_of(const Row& row) {
  std::string key = row.variant + ", " + row.dtype;
  if (row.products != "native") key += " " + row.products;
  key += ", batch " + std::to_string(row.batch) + ", " + std::to_string(row.num_heads) + " heads";
  if (row.num_kv_heads != row.num_heads) {
    key += " on " + std::to_string(row.num_kv_heads) + " kv heads";
  }
  key += ", N " + std::to_string(row.seqlen_q);
  if (row.seqlen_k != row.seqlen_q) key += " x " + std::to_string(row.seqlen_k);
  key += ", d " + std::to_string(row.head_dim);
  if (row.mask != "none") key += ", " + row.mask;
  if (!row.tile.empty()) key += ", tile " + row.tile;
  return key;
}

}  // namespace flashlab::compare
