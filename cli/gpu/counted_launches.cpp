#include "cli/gpu/counted_launches.hpp"

#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "compare/counters/counted_steps.hpp"
#include "compare/rows/gpu_measurements.hpp"

namespace flashlab::cli {
namespace {

using compare::Measurement;

/// Ranges are named by the launch's position: names of kernels may be anything.
class RangeForEachLaunch : public generate::LaunchMarker {
 public:
  explicit RangeForEachLaunch(compare::RangeMarker& marker) : marker_(marker) {}
  void begin(std::size_t launch) override { marker_.begin(std::to_string(launch)); }
  void end() override { marker_.end(); }

 private:
  compare::RangeMarker& marker_;
};

nlohmann::json percent_json(const std::optional<double>& percent) {
  return percent ? nlohmann::json(*percent) : nlohmann::json(nullptr);
}
nlohmann::json bytes_json(const std::optional<compare::Traffic>& traffic) {
  if (!traffic) return nullptr;
  return {traffic->bytes_read, traffic->bytes_written};
}
std::optional<double> percent_in(const nlohmann::json& json) {
  return json.is_null() ? std::nullopt : std::optional(json.get<double>());
}
std::optional<compare::Traffic> bytes_in(const nlohmann::json& json) {
  if (json.is_null()) return std::nullopt;
  return compare::Traffic{json.at(0), json.at(1)};
}

}  // namespace

std::string count_launches_here(const std::function<void(generate::LaunchMarker&)>& call) {
  std::string why_not;
  const auto ranges = compare::count_in_library(
      [&](compare::RangeMarker& marker) {
        RangeForEachLaunch by_launch(marker);
        call(by_launch);
      },
      why_not);
  nlohmann::json json{{"why_not", why_not}, {"ranges", nlohmann::json::array()}};
  for (const compare::CountedRange& range : ranges) {
    const Measurement& counted = range.counters;
    json["ranges"].push_back({{"launch", range.name},
                              {"sm", bytes_json(counted.sm)},
                              {"dram", bytes_json(counted.dram)},
                              {"tensor", percent_json(counted.tensor_percent)},
                              {"exp", percent_json(counted.exp_percent)},
                              {"issue", percent_json(counted.issue_percent)},
                              {"shared", percent_json(counted.shared_percent)},
                              {"why_no_counters", counted.why_no_counters}});
  }
  return json.dump();
}

void take_counted_text(const std::string& text, compare::Row& row) {
  const nlohmann::json json = nlohmann::json::parse(text);
  row.measured->why_no_counters = json.at("why_not");
  std::vector<compare::CountedRange> ranges;
  for (const nlohmann::json& one : json.at("ranges")) {
    compare::CountedRange range;
    range.name = row.steps.at(std::stoul(one.at("launch").get<std::string>())).name;
    range.counters.sm = bytes_in(one.at("sm"));
    range.counters.dram = bytes_in(one.at("dram"));
    range.counters.tensor_percent = percent_in(one.at("tensor"));
    range.counters.exp_percent = percent_in(one.at("exp"));
    range.counters.issue_percent = percent_in(one.at("issue"));
    range.counters.shared_percent = percent_in(one.at("shared"));
    const std::string why = one.at("why_no_counters");
    if (!why.empty()) row.measured->why_no_counters = why;
    ranges.push_back(std::move(range));
  }
  if (!ranges.empty()) compare::take_counted_ranges(row, ranges);
}

}  // namespace flashlab::cli
