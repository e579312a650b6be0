// The page of a class: what its policy allows, and its sorting in a headless browser.
#include <sstream>

#include "exercises/grader/report/reports.hpp"
#include "tests/exercises/class_folder.hpp"
#include "tests/toymachine/trace/browser.hpp"
#include "text/sha256.hpp"

namespace flashlab::test {
namespace {

using namespace exercises;

StudentResult with_cycles_of_7(const std::string& name, std::uint32_t cycles) {
  Verdict verdict;
  verdict.outcome = cycles == 0 ? Outcome::kWrong : Outcome::kCostly;
  if (cycles > 0) verdict.costs = {{"cycles", cycles, 7, 7, 14}};
  verdict.size = {{"n", 2}};
  return {name, std::make_shared<const Verdict>(verdict), {}};
}

std::string page() {
  std::ostringstream out;
  write_html(out, make_class_report(*dot_product(),
                                    {with_cycles_of_7("s10", 90), with_cycles_of_7("s9", 100),
                                     with_cycles_of_7("s2", 0), with_cycles_of_7("s1", 8)},
                                    {}));
  return out.str();
}

std::string between(const std::string& text, const std::string& begin, const std::string& end) {
  const std::size_t from = text.find(begin) + begin.size();
  return text.substr(from, text.find(end, from) - from);
}

}  // namespace

TEST_CASE("the page's policy allows exactly the style and the script in it") {
  const std::string text = page();
  CHECK(between(text, "style-src 'sha256-", "'") ==
        base64(sha256(between(text, "<style>", "</style>"))));
  CHECK(between(text, "script-src 'sha256-", "'") ==
        base64(sha256(between(text, "<script>", "</script>"))));
}

TEST_CASE("a click on a column sorts the page by numbers, students without one last") {
  if (browser().empty()) FLASHLAB_SKIP("no browser is installed");
  std::string text = page();
  const std::string policy = "'sha256-" + between(text, "script-src 'sha256-", "'") + "'";
  text.replace(text.find(policy), policy.size(), "'unsafe-inline'");  // for the driver
  const nlohmann::json result = drive(text, "exercises/report_page_test.js");
  CHECK(result["errors"].empty());
  CHECK(result["first"] == nlohmann::json{"s10", "s9", "s2", "s1"});
  CHECK(result["rising"] == nlohmann::json{"s1", "s10", "s9", "s2"});
  CHECK(result["note"] == "sorted by cycles, rising");
  CHECK(result["falling"] == nlohmann::json{"s9", "s10", "s1", "s2"});
  CHECK(result["order"] == "descending");
  CHECK(result["byName"] == nlohmann::json{"s1", "s2", "s9", "s10"});
}

}  // namespace flashlab::test
