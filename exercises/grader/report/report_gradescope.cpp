#include <nlohmann/json.hpp>

#include "exercises/grader/exercise/score_json.hpp"
#include "exercises/grader/judge/records.hpp"
#include "exercises/grader/judge/score_text.hpp"
#include "exercises/grader/report/reports.hpp"
#include "text/sha256.hpp"

namespace flashlab::exercises {
namespace {

constexpr const char* kVisible = "visible";
constexpr const char* kLater = "after_published";

using Choice = bool (*)(const Finding&);
bool is_about_cost(const Finding& finding) { return finding.is_about_cost; }
bool is_about_results(const Finding& finding) { return !finding.is_about_cost; }
bool is_any(const Finding&) { return true; }

std::string findings_text(const Verdict& verdict, Choice is_chosen) {
  std::string text;
  for (const Finding& finding : verdict.findings) {
    if (!is_chosen(finding)) continue;
    text += "\n";
    for (const std::string& line : finding_lines(finding)) text += line + "\n";
  }
  return text;
}

/// With hidden costs, says only that the program is right.
std::string verdict_text(const Verdict& verdict, const GradescopeOptions& options) {
  const bool is_only_right = options.hide_costs && verdict.passed();
  return (is_only_right ? "right" : std::string(to_string(verdict.outcome))) + "\n" +
         findings_text(verdict, options.hide_costs ? is_about_results : is_any);
}

std::string costs_text(const Verdict& verdict) {
  const std::string size = verdict.size.empty() ? "" : ", " + to_string(verdict.size);
  std::string text;
  for (const CostLine& line : verdict.costs) {
    text += line.key + ": " + line.value.get_str() + " (full marks at " + line.full.get_str() +
            size + ")\n";
  }
  if (const std::string record = record_sentence(verdict); !record.empty()) text += record + "\n";
  for (const std::string& one : score_sentences(verdict)) text += one + "\n";
  for (const LoadLine& line : verdict.loads) {
    if (line.avoidable == 0) continue;
    text += "line " + std::to_string(line.line) + ": " + line.avoidable.get_str() +
            (line.avoidable == 1 ? " avoidable load; " : " avoidable loads; ") + line.why + "\n";
  }
  return text;
}

bool is_cost(const Verdict& verdict, const std::string& check) {
  for (const CostLine& line : verdict.costs) {
    if (line.key == check) return true;
  }
  return false;
}

Json test_json(const std::string& name, bool passed, const std::string& output,
               const char* visibility) {
  return {{"name", name},     {"name_format", "text"},   {"status", passed ? "passed" : "failed"},
          {"output", output}, {"output_format", "text"}, {"visibility", visibility}};
}

Json tests_json(const Verdict& verdict, const GradescopeOptions& options) {
  const char* costs = options.hide_costs ? kLater : kVisible;
  Json tests = Json::array();
  tests.push_back(test_json("verdict", verdict.passed(), verdict_text(verdict, options), kVisible));
  for (const Check& check : verdict.checks) {
    const char* visibility = is_cost(verdict, check.name) ? costs : kVisible;
    tests.push_back(test_json(check.name, check.passed, check.message, visibility));
    if (check.max_points > 0) {
      tests.back()["score"] = check.points;
      tests.back()["max_score"] = check.max_points;
    }
  }
  if (!verdict.costs.empty()) {
    tests.push_back(test_json(
        "costs", verdict.outcome == Outcome::kFull,
        costs_text(verdict) + (options.hide_costs ? findings_text(verdict, is_about_cost) : ""),
        costs));
  }
  return tests;
}

/// Costs are numbers, because Gradescope sorts by them.
Json leaderboard_json(const Verdict& verdict) {
  Json board = Json::array();
  for (const CostLine& line : verdict.costs) {
    board.push_back({{"name", line.key}, {"value", line.value.get_d()}, {"order", "asc"}});
  }
  return board;
}

}  // namespace

void write_gradescope(std::ostream& out, const StudentResult& student,
                      const GradescopeOptions& options) {
  const Verdict& verdict = *student.verdict;
  Json results = {{"score", verdict.points},
                  {"visibility", kVisible},
                  {"stdout_visibility", "hidden"},
                  {"tests", tests_json(verdict, options)}};
  if (verdict.passed() && !options.hide_costs) results["leaderboard"] = leaderboard_json(verdict);
  results["extra_data"] = {{"outcome", outcome_key(verdict.outcome)}};
  out << results.dump(1, ' ', false, Json::error_handler_t::replace) << "\n";
}

std::string safe_file_name(const std::string& name) {
  constexpr std::size_t kLongest = 150;
  constexpr std::string_view kHex = "0123456789ABCDEF";
  constexpr std::string_view kKept =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.";
  std::string safe;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    const bool hidden = safe.empty() && c == '.';
    if (!hidden && kKept.find(c) != std::string_view::npos) {
      safe += c;
    } else {
      safe += {'%', kHex[byte >> 4], kHex[byte & 15U]};
    }
  }
  if (safe.size() <= kLongest) return safe;
  safe.resize(kLongest);
  safe += "%-";  // no unchanged name contains this
  for (const std::uint8_t byte : sha256(name)) safe += {kHex[byte >> 4], kHex[byte & 15U]};
  return safe;
}

}  // namespace flashlab::exercises
