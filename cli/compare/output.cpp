#include "cli/compare/output.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "cli/terminal/failure.hpp"
#include "cli/terminal/files.hpp"
#include "compare/counters/counted_call.hpp"
#include "compare/counters/ncu_file.hpp"
#include "compare/report/peers.hpp"
#include "compare/report/report_html.hpp"
#include "text/lists.hpp"
#include "text/visible.hpp"

namespace flashlab::cli {
namespace {

constexpr std::uintmax_t kMostResultBytes = std::uintmax_t{64} << 20;

Failure file_failure(const std::string& file, const std::string& what) {
  return request_failure(printable(file) + ": " + printable(what));
}

std::string read_whole(const std::string& file) {
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (!std::filesystem::exists(status)) throw file_failure(file, "no such file");
  if (!std::filesystem::is_regular_file(status)) throw file_failure(file, "not a regular file");
  if (std::filesystem::file_size(file, error) > kMostResultBytes) {
    throw Failure(kExitLimit, "flashlab: error: " + printable(file) + ": more than 64 MiB\n");
  }
  std::ifstream stream(file, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(stream), {}};
  if (!stream.eof() && !stream) throw file_failure(file, "cannot be read");
  return text;
}

/// Parses a file. Errors include its name.
template <class Parse>
auto parsed(const std::string& file, const Parse& parse) {
  const std::string text = read_whole(file);
  try {
    return parse(text);
  } catch (const std::runtime_error& error) {  // ResultFileError, NcuFileError
    throw file_failure(file, error.what());
  }
}

}  // namespace

compare::Comparison read_comparison(const std::string& file) {
  if (!std::filesystem::exists(file)) {
    if (const auto text = compare::committed_result(file)) return compare::parse_comparison(*text);
    const std::string known = joined(compare::committed_results());
    throw request_failure(printable(file) + ": no such file",
                          known.empty() ? "a file that --json wrote"
                                        : "a file that --json wrote, or one of " + known);
  }
  return parsed(file, compare::parse_comparison);
}

compare::Calibration read_calibration(const std::string& file) {
  return parsed(file, compare::parse_calibration);
}

void take_ncu_counters(const std::string& file, compare::Row& row) {
  std::vector<std::string> names;
  for (const compare::Step& step : row.steps) names.push_back(step.name);
  parsed(file, [&](const std::string& text) {
    compare::take_counted_launches(row, compare::parse_ncu_launches(text, names));
    return true;
  });
}

void write_json(const std::string& file, const compare::Comparison& comparison) {
  if (file.empty()) return;
  write_file(file, [&](std::ostream& out) { out << compare::to_text(comparison); });
}

void write_csv(const std::string& file, const compare::Comparison& comparison) {
  if (file.empty()) return;
  write_file(file, [&](std::ostream& out) { out << compare::to_csv(comparison); });
}

void write_pictures(const CompareFlags& flags, const compare::Comparison& comparison,
                    const compare::MachineModel& machine, const compare::MachineModel& data_sheet) {
  if (flags.html.empty() && flags.svg.empty()) return;
  compare::ReportOptions options{data_sheet, machine, {}};
  if (!flags.peers.empty()) {
    options.peers = parsed(flags.peers, [&](const std::string& text) {
      return compare::parse_peers(text, comparison.rows);
    });
  }
  if (!flags.html.empty()) {
    write_file(flags.html,
               [&](std::ostream& out) { compare::write_report(out, comparison, options); });
  }
  if (flags.svg.empty()) return;
  std::error_code error;
  std::filesystem::create_directories(flags.svg, error);
  if (!std::filesystem::is_directory(flags.svg)) throw file_failure(flags.svg, "not a folder");
  for (const compare::Picture& picture :
       compare::draw_pictures(comparison, {options.machine, options.peers})) {
    write_file((std::filesystem::path(flags.svg) / (picture.name + ".svg")).string(),
               [&](std::ostream& out) { out << picture.svg; });
  }
}

}  // namespace flashlab::cli
