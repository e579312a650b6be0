#include "cli/compare/names.hpp"

#include <algorithm>
#include <functional>
#include <map>

#include "text/visible.hpp"

namespace flashlab::cli {

using compare::Row;

/// One attribute, in the order of the text. If rows differ in it, it has a column of its own,
/// except attributes that follow from N and d.
struct RowAttribute {
  const char* title;                            // title of the column; null: none
  std::function<std::string(const Row&)> cell;  // "64"
  std::function<std::string(const Row&)> text;  // "d 64"
};

namespace {

std::string heads_text(const Row& row) {
  return std::to_string(row.num_heads) + (row.num_heads == 1 ? " head" : " heads") +
         (row.num_kv_heads == row.num_heads
              ? ""
              : " on " + std::to_string(row.num_kv_heads) + " kv heads");
}
const std::vector<RowAttribute>& attributes() {
  const auto type = [](const Row& r) {
    return r.dtype + (r.products == "native" ? "" : " " + r.products);
  };
  const auto mask = [](const Row& r) { return r.mask == "none" ? std::string("full") : r.mask; };
  const auto keys = [](const Row& r) {
    return r.seqlen_k == r.seqlen_q ? "" : std::to_string(r.seqlen_k);
  };
  const auto before = [](const std::string& word, const auto& cell) {
    return [=](const Row& r) { return cell(r).empty() ? "" : word + cell(r); };
  };
  const auto after = [](const auto& cell, const std::string& word) {
    return [=](const Row& r) { return cell(r).empty() ? "" : cell(r) + word; };
  };
  const auto head_dim = [](const Row& r) { return std::to_string(r.head_dim); };
  const auto tile = [](const Row& r) { return r.tile; };
  static const std::vector<RowAttribute> all = {
      {"type", [](const Row& r) { return r.products == "native" ? r.dtype : r.products; }, type},
      {nullptr, {}, [](const Row& r) { return "batch " + std::to_string(r.batch); }},
      {nullptr, {}, heads_text},
      {"d", head_dim, before("d ", head_dim)},
      {"mask", mask, mask},
      {"keys", keys, after(keys, " keys")},
      {"tile", tile, before("tile ", tile)},
  };
  return all;
}

bool is_shared(const RowAttribute& attribute, const std::vector<Row>& rows) {
  return std::all_of(rows.begin(), rows.end(), [&](const Row& row) {
    return attribute.text(row) == attribute.text(rows.front());
  });
}

std::string joined_if_any(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) {
    if (!part.empty()) text += (text.empty() ? "" : ", ") + part;
  }
  return text;
}

}  // namespace

RowNames::RowNames(const std::vector<Row>& rows) {
  for (const RowAttribute& attribute : attributes()) {
    if (attribute.title != nullptr && !is_shared(attribute, rows)) shown_.push_back(&attribute);
  }
  std::map<std::string, std::string> kernels;  // by call
  for (const Row& row : rows) {
    const auto known = kernels.emplace(key_of(row), row.kernel).first;
    names_kernels_ = names_kernels_ || known->second != row.kernel;
  }
}

std::vector<Column> RowNames::columns(const std::vector<Column>& others) const {
  std::vector<Column> all = {{names_kernels_ ? "kernel" : "variant"}};
  for (const RowAttribute* attribute : shown_) all.push_back({attribute->title, Align::kRight});
  all.push_back({"N", Align::kRight});
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

std::vector<std::string> RowNames::cells(const Row& row,
                                         const std::vector<std::string>& others) const {
  std::vector<std::string> all = {printable(name(row))};
  for (const RowAttribute* attribute : shown_) all.push_back(printable(attribute->cell(row)));
  all.push_back(std::to_string(row.seqlen_q));
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

std::vector<std::string> RowNames::part(const std::string& name,
                                        const std::vector<std::string>& others) const {
  std::vector<std::string> all(2 + shown_.size());
  all.front() = name;
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

std::string RowNames::text(const Row& row) const {
  std::vector<std::string> parts = {printable(name(row))};
  for (const RowAttribute* attribute : shown_) parts.push_back(printable(attribute->text(row)));
  parts.push_back("N " + std::to_string(row.seqlen_q));
  return joined_if_any(parts);
}

std::string shared_by(const std::vector<Row>& rows) {
  std::vector<std::string> shared;
  for (const RowAttribute& attribute : attributes()) {
    if (!rows.empty() && is_shared(attribute, rows)) {
      shared.push_back(printable(attribute.text(rows.front())));
    }
  }
  return joined_if_any(shared);
}

}  // namespace flashlab::cli
