#include "compare/picture/series.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "text/markup.hpp"
#include "text/numbers.hpp"

namespace flashlab::compare {
namespace {

std::string heads_text(const Row& row) {
  const std::string heads =
      std::to_string(row.num_heads) + (row.num_heads == 1 ? " head" : " heads");
  const bool is_grouped = row.num_kv_heads != row.num_heads;
  return "batch " + std::to_string(row.batch) + ", " + heads +
         (is_grouped ? " (" + std::to_string(row.num_kv_heads) + " of K, V)" : "");
}

/// The number of queries if it differs from the number of keys, otherwise 0.
std::int64_t few_queries(const Row& row) { return row.seqlen_q == row.seqlen_k ? 0 : row.seqlen_q; }

std::string width_text(const Row& row) { return row.dtype == "float" ? "float" : "16 bits"; }

/// The rows of a panel, and their common values.
struct Draft {
  std::vector<const Row*> rows;
  bool has_own_heads = false;  // batch and heads are the same in all rows

  std::string text(SplitBy split) const {
    const Row& row = *rows.front();
    std::string text(to_string(row.pass));
    text += ", " + (split == SplitBy::kDtype ? dtype_text(row) : width_text(row));
    text += ", d " + std::to_string(row.head_dim);
    if (row.mask != "none") text += ", " + row.mask;
    if (few_queries(row) > 0) text += ", " + std::to_string(row.seqlen_q) + " queries";
    return text + (has_own_heads ? ", " + heads_text(row) : "");
  }
};

auto setting_of(const Row& row, SplitBy split) {
  const bool by_dtype = split == SplitBy::kDtype;
  return std::tuple(row.pass, by_dtype ? row.dtype : width_text(row), by_dtype ? row.products : "",
                    row.mask, row.head_dim, few_queries(row));
}

auto heads_of(const Row& row) { return std::tuple(row.batch, row.num_heads, row.num_kv_heads); }

auto kernel_of(const Row& row) {
  return std::tuple(row.variant, row.kernel, row.dtype, row.products, row.tile);
}

/// Batch and heads may depend on N. If one N has several of them, each gets its own picture.
bool must_split_heads(const std::vector<const Row*>& rows) {
  std::set<decltype(std::tuple_cat(kernel_of(*rows[0]), std::tuple(std::int64_t{})))> seen;
  return std::any_of(rows.begin(), rows.end(), [&](const Row* row) {
    return !seen.insert(std::tuple_cat(kernel_of(*row), std::tuple(length_of(*row)))).second;
  });
}

template <class Key>
std::vector<std::vector<const Row*>> groups(const std::vector<const Row*>& rows, Key key) {
  std::vector<std::vector<const Row*>> result;
  std::map<decltype(key(*rows[0])), std::size_t> place;
  for (const Row* row : rows) {
    const auto [found, is_new] = place.emplace(key(*row), result.size());
    if (is_new) result.emplace_back();
    result[found->second].push_back(row);
  }
  return result;
}

std::vector<Draft> drafts_of(const std::vector<Row>& rows, SplitBy split) {
  std::vector<const Row*> all;
  for (const Row& row : rows) all.push_back(&row);
  std::vector<Draft> drafts;
  if (all.empty()) return drafts;
  for (const auto& group : groups(all, [&](const Row& row) { return setting_of(row, split); })) {
    const auto by_heads = groups(group, heads_of);
    if (by_heads.size() > 1 && !must_split_heads(group)) {
      drafts.push_back({group, false});
    } else {
      for (const auto& part : by_heads) drafts.push_back({part, true});
    }
  }
  return drafts;
}

std::vector<Series> series_of_draft(const Draft& draft) {
  std::vector<Series> result;
  for (const auto& rows : groups(draft.rows, kernel_of)) {
    const Row& first = *rows.front();
    result.push_back({first.variant, look_of(first.variant), dtype_text(first), rows});
    std::stable_sort(result.back().rows.begin(), result.back().rows.end(),
                     [](const Row* a, const Row* b) { return length_of(*a) < length_of(*b); });
  }
  for (Series& one : result) {
    const bool is_shared = std::any_of(result.begin(), result.end(), [&](const Series& other) {
      return &other != &one && other.dtype == one.dtype &&
             other.rows[0]->variant == one.rows[0]->variant;
    });
    if (is_shared) one.name = one.rows[0]->kernel;
    if (!one.rows[0]->tile.empty()) one.name += " " + one.rows[0]->tile;
  }
  return result;
}

std::optional<BytePair> pair_of(const Traffic& counted, const std::optional<Traffic>& measured) {
  if (!measured) return std::nullopt;
  const BytePair pair{bytes_of(counted), bytes_of(*measured)};
  if (!is_drawable(pair.counted) || !is_drawable(pair.measured)) return std::nullopt;
  return pair;
}

}  // namespace

Look look_of(const std::string& variant) {
  const auto all = variants();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const VariantInfo& info) { return info.name == variant; });
  const auto place = static_cast<std::size_t>(found - all.begin());
  const std::size_t index = std::min(place, picture::kNumMarkers - 1);
  return {static_cast<picture::Marker>(index), "c" + std::to_string(index)};
}

std::vector<Panel> panels_of(const std::vector<Row>& rows, SplitBy split) {
  std::vector<Panel> panels;
  std::map<std::string, int> used;
  for (const Draft& draft : drafts_of(rows, split)) {
    const Row& row = *draft.rows.front();
    std::string name(to_string(row.pass));
    name += "_" + (split == SplitBy::kDtype ? dtype_text(row) : width_text(row));
    name = plain_name(name + "_d" + std::to_string(row.head_dim) +
                      (row.mask == "none" ? "" : "_" + row.mask));
    const int count = ++used[name];
    if (count > 1) name += "_" + std::to_string(count);
    panels.push_back({draft.text(split), name, series_of_draft(draft)});
  }
  return panels;
}

std::string dtype_text(const Row& row) {
  return row.products == "native" ? row.dtype : row.dtype + " " + row.products;
}

std::string shape_text(const Row& row) {
  const std::string length = few_queries(row) > 0 ? std::to_string(row.seqlen_q) + " queries, " +
                                                        std::to_string(row.seqlen_k) + " keys"
                                                  : "N " + std::to_string(row.seqlen_k);
  return heads_text(row) + ", " + length + ", d " + std::to_string(row.head_dim) +
         (row.mask == "none" ? "" : ", " + row.mask);
}

double bytes_of(const Traffic& traffic) {
  return static_cast<double>(traffic.bytes_read) + static_cast<double>(traffic.bytes_written);
}

std::optional<double> measured_ms_of(const Row& row) {
  if (!row.measured || !row.measured->median_ms) return std::nullopt;
  return is_drawable(*row.measured->median_ms) ? row.measured->median_ms : std::nullopt;
}

std::optional<double> predicted_over_measured(const Row& row) {
  const auto ms = measured_ms_of(row);
  if (!ms || !is_drawable(predicted_ms(row.predicted))) return std::nullopt;
  return predicted_ms(row.predicted) / *ms;
}

std::optional<BytePair> dram_pair(const Row& row) {
  if (!row.measured) return std::nullopt;
  return pair_of(row.work.dram, row.measured->dram);
}

std::optional<BytePair> sm_pair(const Row& row) {
  if (!row.measured || !row.work.sm) return std::nullopt;
  return pair_of(*row.work.sm, row.measured->sm);
}

}  // namespace flashlab::compare
