#include "compare/report/peers.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace flashlab::compare {
namespace {

/// One measured call of the file.
struct PeerCall {
  Pass pass;
  std::string dtype, mask;
  std::vector<std::int64_t> shape;  // batch, heads, N, head_dim
};

PeerCall peer_call_of(const nlohmann::json& row) {
  PeerCall call;
  call.pass = row.at("direction") == "forward" ? Pass::kForward : Pass::kBackward;
  call.dtype = row.at("dtype");
  call.mask = row.at("mask");
  call.shape = row.at("shape").get<std::vector<std::int64_t>>();
  if (call.shape.size() != 4) throw ResultFileError("a shape that is not batch, heads, N, d");
  return call;
}

bool is_of(const PeerCall& call, const Row& row) {
  return row.pass == call.pass && row.dtype == call.dtype && row.mask == call.mask &&
         row.batch == call.shape[0] && row.num_heads == call.shape[1] &&
         row.seqlen_q == call.shape[2] && row.seqlen_k == call.shape[2] &&
         row.head_dim == call.shape[3];
}

PeerSeries& peer_series_of(const std::string& name, const PeerCall& call,
                           std::vector<PeerSeries>& all) {
  for (PeerSeries& series : all) {
    if (series.name == name && series.pass == call.pass && series.dtype == call.dtype &&
        series.head_dim == call.shape[3] && series.is_causal == (call.mask != "none")) {
      return series;
    }
  }
  all.push_back({name, call.pass, call.dtype, call.shape[3], call.mask != "none", {}});
  return all.back();
}

std::vector<PeerSeries> read_peers(const nlohmann::json& file, const std::vector<Row>& rows) {
  std::vector<PeerSeries> all;
  for (const nlohmann::json& row : file.at("rows")) {
    const PeerCall call = peer_call_of(row);
    if (std::none_of(rows.begin(), rows.end(),
                     [&](const Row& ours) { return is_of(call, ours); })) {
      continue;
    }
    for (const auto& [name, entry] : row.at("entries").items()) {
      if (entry.at("side") == "ours" || !entry.contains("median_ms")) continue;
      peer_series_of(name, call, all)
          .ms_at_length.emplace_back(call.shape[2], entry.at("median_ms").get<double>());
    }
  }
  for (PeerSeries& series : all) std::sort(series.ms_at_length.begin(), series.ms_at_length.end());
  return all;
}

}  // namespace

std::vector<PeerSeries> parse_peers(std::string_view text, const std::vector<Row>& rows) {
  try {
    return read_peers(nlohmann::json::parse(text), rows);
  } catch (const nlohmann::json::exception& error) {
    throw ResultFileError("this is not a file of attention_cuda/bench/beside_torch.py: " +
                          std::string(error.what()));
  }
}

}  // namespace flashlab::compare
