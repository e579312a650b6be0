// Rows that belong together: what one picture shows, and what one line of it connects.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compare/picture/svg.hpp"
#include "results/comparison.hpp"

namespace flashlab::compare {

/// How a variant looks in every picture: colour and shape say the same, so that shape is enough.
struct Look {
  Marker marker = Marker::kCircle;
  std::string colour;  // a class: "c5"
};
/// Of a name that is no variant: the last ones.
Look look_of(const std::string& variant);

/// Rows of one kernel that differ in N alone, from short to long.
struct Series {
  std::string name;  // the variant; where a panel has two kernels of it, the kernel's
  Look look;
  std::string dtype;  // with products: "float, tf32"
  std::vector<const Row*> rows;
};

/// Rows that differ in nothing but variant, kernel and N.
struct Panel {
  std::string text;  // "forward, bf16, d 64, batch 4, 8 heads"
  std::string name;  // for files: "forward_bf16_d64"
  std::vector<Series> series;
};

/// kWidth: floats, whatever multiplies them, and 16-bit elements.
enum class SplitBy : std::uint8_t { kDtype, kWidth };

/// In the order in which the rows first name them.
std::vector<Panel> panels_of(const std::vector<Row>& rows, SplitBy split);

/// Keys of each query: what N is, also where few queries see many keys.
inline std::int64_t length_of(const Row& row) { return row.seqlen_k; }
/// "bf16", "float, tf32".
std::string dtype_text(const Row& row);
/// "batch 4, 8 heads, N 4096, d 64, causal".
std::string shape_text(const Row& row);

/// Sums as floating-point numbers: those of a file can be anything.
double bytes_of(const Traffic& traffic);
std::optional<double> measured_ms_of(const Row& row);
/// A prediction that held is 1. Nothing: not measured, or no time at all.
std::optional<double> predicted_over_measured(const Row& row);
/// Bytes at DRAM and at the SM boundary; the ratio is predicted over measured.
struct BytePair {
  double counted = 0, measured = 0;
  double ratio() const { return counted / measured; }
};
std::optional<BytePair> dram_pair(const Row& row);
std::optional<BytePair> sm_pair(const Row& row);

}  // namespace flashlab::compare
