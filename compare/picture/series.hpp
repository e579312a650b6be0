// Groups rows into panels (one picture) and series (one line in it).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "results/comparison.hpp"
#include "text/picture/svg.hpp"

namespace flashlab::compare {

/// The look of a variant in every picture. Colour and shape mean the same, so shape alone suffices.
struct Look {
  picture::Marker marker = picture::Marker::kCircle;
  std::string colour;  // a class: "c5"
};
/// Returns the look of a variant. Unknown names get the last looks.
Look look_of(const std::string& variant);

/// Rows of one kernel that differ only in N, in increasing order.
struct Series {
  std::string name;  // the variant, or the kernel if the panel has two kernels of it
  Look look;
  std::string dtype;  // with products: "float, tf32"
  std::vector<const Row*> rows;
};

/// Rows that differ only in variant, kernel and N.
struct Panel {
  std::string text;  // "forward, bf16, d 64, batch 4, 8 heads"
  std::string name;  // for files: "forward_bf16_d64"
  std::vector<Series> series;
};

/// kWidth: floats with any products, and 16-bit elements.
enum class SplitBy : std::uint8_t { kDtype, kWidth };

/// Returns panels in the order of their first rows.
std::vector<Panel> panels_of(const std::vector<Row>& rows, SplitBy split);

/// Returns N: the keys of each query, even if there are few queries.
inline std::int64_t length_of(const Row& row) { return row.seqlen_k; }
/// "bf16", "float, tf32".
std::string dtype_text(const Row& row);
/// "batch 4, 8 heads, N 4096, d 64, causal".
std::string shape_text(const Row& row);

/// Adds in floating point, because values from a file may be of any size.
double bytes_of(const Traffic& traffic);
std::optional<double> measured_ms_of(const Row& row);
/// 0: it does not fit into the GPU's memory.
inline double predicted_ms_of(const Row& row) {
  return does_not_fit(row) ? 0 : predicted_ms(row.predicted);
}
/// Returns the ratio of times; 1 is a perfect prediction. Nothing: not measured, or a time of 0.
std::optional<double> predicted_over_measured(const Row& row);
/// Predicted and measured bytes at DRAM or at the SM boundary.
struct BytePair {
  double counted = 0, measured = 0;
  double ratio() const { return counted / measured; }
};
std::optional<BytePair> dram_pair(const Row& row);
std::optional<BytePair> sm_pair(const Row& row);

}  // namespace flashlab::compare
