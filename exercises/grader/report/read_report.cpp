// Reads a class's report again.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "exercises/grader/report/reports.hpp"
#include "text/visible.hpp"
#include "toymachine/language/request_error.hpp"

namespace flashlab::exercises {
namespace {

using ReportJson = nlohmann::json;

constexpr std::size_t kMostReportedMarks = 16, kMostReportedHistograms = 64;

struct DamagedReport {
  std::string what;
};

toy::Count reported_count(const ReportJson& value) {
  if (value.is_number_unsigned()) return toy::Count(std::to_string(value.get<std::uint64_t>()));
  const std::string digits = value.is_string() ? value.get<std::string>() : "";
  const bool good =
      !digits.empty() && digits.size() <= 100 &&
      std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!good) throw DamagedReport{visible_start(value.dump(), 40) + " is not a count"};
  return toy::Count(digits);
}

const ReportJson::array_t& short_list(const ReportJson& value, const char* what, std::size_t most) {
  const auto& list = value.get_ref<const ReportJson::array_t&>();
  if (list.size() > most) {
    throw DamagedReport{std::to_string(list.size()) + " " + what + ", at most " +
                        std::to_string(most)};
  }
  return list;
}

Histogram reported_histogram(const ReportJson& value) {
  Histogram histogram;
  histogram.key = value.at("counter").get<std::string>();
  histogram.size = value.at("size").get<std::string>();
  for (const ReportJson& bin : short_list(value.at("bins"), "bins", kMostBins)) {
    histogram.bins.push_back({reported_count(bin.at("low")), reported_count(bin.at("high")),
                              bin.at("open").get<bool>(), bin.at("students").get<std::size_t>()});
  }
  for (const ReportJson& mark : short_list(value.at("marks"), "marks", kMostReportedMarks)) {
    histogram.marks.push_back(
        {mark.at("name").get<std::string>(), reported_count(mark.at("value"))});
  }
  return histogram;
}

ReportedClass reported_class(const ReportJson& document) {
  if (document.at("format") != "flashlab-grades") throw DamagedReport{"it has another format"};
  constexpr int kSameHistograms = 4;  // the first version with the histograms of today's
  const ReportJson& version = document.at("version");
  if (version != kReportVersion && version != kSameHistograms) {
    throw DamagedReport{"it has version " + visible_start(version.dump(), 40) +
                        ", and this command knows version " + std::to_string(kReportVersion)};
  }
  ReportedClass read;
  read.exercise_id = document.at("exercise").at("id").get<std::string>();
  for (const ReportJson& one :
       short_list(document.at("summary").at("histograms"), "histograms", kMostReportedHistograms)) {
    read.histograms.push_back(reported_histogram(one));
  }
  return read;
}

}  // namespace

toy::Result<ReportedClass> read_json_report(const std::string& text) {
  const auto damaged = [](const std::string& what) {
    return toy::request_error(what, "a file that `flashlab grade --json` wrote");
  };
  try {
    return reported_class(ReportJson::parse(text));
  } catch (const ReportJson::parse_error& error) {
    return damaged("it is not JSON from byte " + std::to_string(error.byte) + " on");
  } catch (const ReportJson::exception&) {
    return damaged("a key is missing or has a value of the wrong type");
  } catch (const DamagedReport& report) {
    return damaged(report.what);
  }
}

}  // namespace flashlab::exercises
