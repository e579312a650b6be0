// A graded class in each format, with what could break out of it.
#include "exercises/grader/report/reports.hpp"

#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/exercises/class_folder.hpp"
#include "text/markup.hpp"
#include "text/visible.hpp"

namespace flashlab::test {
namespace {

using namespace exercises;

StudentResult student(const std::string& name, Verdict verdict) {
  return {name, std::make_shared<const Verdict>(std::move(verdict)), {}};
}

Verdict full() {
  Verdict verdict;
  verdict.outcome = Outcome::kFull;
  verdict.points = verdict.max_points = 10;
  verdict.checks = {{"results at n = 2", true, 6, 6, ""}, {"cycles", true, 4, 4, ""}};
  verdict.costs = {{"cycles", 7, 7, 7, 14}};
  verdict.size = {{"n", 2}};
  return verdict;
}

Verdict wrong(const std::string& what) {
  Verdict verdict;
  verdict.outcome = Outcome::kWrong;
  verdict.max_points = 10;
  verdict.checks = {{"results at n = 2", false, 0, 6, ""}};
  Finding finding;
  finding.what = what;
  finding.line = 9;
  finding.step = 12;
  finding.inputs = "n = 2, random inputs";
  finding.details = {"  9 | STORE R2, s[0]"};
  verdict.findings = {finding};
  return verdict;
}

Verdict unreadable() {
  Verdict verdict;
  verdict.max_points = 10;
  Finding finding;
  finding.what = "it is a pipe";
  verdict.findings = {finding};
  return verdict;
}

ClassReport report_of(std::vector<StudentResult> students, Costs best = {}) {
  return make_class_report(*dot_product(), std::move(students), std::move(best));
}

}  // namespace

TEST_CASE("text that acts on a terminal is shown as escapes") {
  CHECK(visible("plain é 漢 🙂") == "plain é 漢 🙂");
  CHECK(visible("\x1b[31m\x07\x7f") == "\\x1b[31m\\x07\\x7f");
  CHECK(visible("a\xff\xc0\x80") == "a\\xff\\xc0\\x80");
  CHECK(visible("\xed\xa0\x80") == "\\xed\\xa0\\x80");  // a surrogate
  CHECK(visible("\xc2\x9b") == "\\x9b");                // CSI in one character
  CHECK(visible("\xe2\x80\xae") == "\\u202e");          // right-to-left override
  CHECK(visible("\xef\xbf\xbf") == "\\uffff");          // forbidden in XML
  CHECK(visible("\xf3\xa0\x81\x81") == "\\U000e0041");  // a tag
  CHECK(visible("cut\xe2\x80") == "cut\\xe2\\x80");     // ends inside a character
  CHECK(visible("\ta\tb") == "    a    b");
  CHECK(visible_name("a\tb") == "a\\x09b");
  CHECK(visible_name("a\\x1b") != visible_name("a\x1b"));
  CHECK(visible_start("ééé", 3) == "é ...");
}

TEST_CASE("the JSON report has its version, every student and exact counts") {
  Verdict large = full();
  large.costs = {{"cycles", toy::Count("9007199254740993"), 7, 7, 14}};
  const nlohmann::json all = nlohmann::json::parse(
      written(write_json, report_of({student("anna", full()), student("bert", wrong("s is wrong")),
                                     student("cleo", large)},
                                    {{"cycles", 6}})));
  CHECK(all["format"] == "flashlab-grades");
  CHECK(all["version"] == 5);
  CHECK(all["exercise"]["id"] == "01_dot");
  CHECK(all["summary"]["outcomes"]["full"] == 2);
  CHECK(all["summary"]["best_ever"]["cycles"] == 6);
  REQUIRE(all["students"].size() == 3);
  CHECK(all["students"][0]["costs"]["cycles"]["value"] == 7);
  CHECK(all["students"][0]["checks"][1]["max_points"] == 4);
  CHECK(all["students"][1]["outcome"] == "wrong");
  CHECK(all["students"][1]["findings"][0]["line"] == 9);
  CHECK(all["students"][2]["costs"]["cycles"]["value"] == "9007199254740993");
}

TEST_CASE("JSON and CSV name the seed if they are to, and no other report does") {
  ClassReport report = report_of({student("anna", full()), student("bert", wrong("s is wrong"))});
  CHECK_THAT(written(write_json, report), !contains("seed") && !contains("jobs"));
  CHECK_THAT(written(write_csv, report), contains(",\"seed\"\r\n") && contains(",\"\",\r\n"));
  report.seed = "0x1234567";
  CHECK(nlohmann::json::parse(written(write_json, report))["seed"] == "0x1234567");
  CHECK_THAT(written(write_csv, report), contains("\"s is wrong\",\"0x1234567\"\r\n"));
  std::ostringstream gradescope;
  write_gradescope(gradescope, report.students[1], {});
  for (const std::string& text :
       {written(write_html, report), written(write_junit, report), gradescope.str()}) {
    CHECK_THAT(text, !contains("1234567"));
  }
}

TEST_CASE("every text in a CSV is quoted, and none is computed") {
  const std::string text = written(
      write_csv, report_of({student("=1+1", full()), student("+a", full()), student("-b", full()),
                            student("@c", full()), student("d,\"e\"", wrong("=s, wrong"))}));
  CHECK(text ==
        "\"name\",\"outcome\",\"points\",\"max_points\",\"cycles\",\"loads\",\"order_cycles\","
        "\"avoidable_loads\",\"line\",\"finding\",\"seed\"\r\n"
        "\"'=1+1\",\"full\",10,10,7,,,,,\"\",\r\n"
        "\"'+a\",\"full\",10,10,7,,,,,\"\",\r\n"
        "\"'-b\",\"full\",10,10,7,,,,,\"\",\r\n"
        "\"'@c\",\"full\",10,10,7,,,,,\"\",\r\n"
        "\"d,\"\"e\"\"\",\"wrong\",0,10,,,,,9,\"'=s, wrong\",\r\n");
}

TEST_CASE("a semicolon in a name begins no cell where it separates cells") {
  CHECK_THAT(written(write_csv, report_of({student("x;=cmd|' |C calc'!A0;", full())})),
             contains("\r\n\"x;=cmd|' |C calc'!A0;\",\"full\""));
}

TEST_CASE("the CSV of a class without a right program has the same columns") {
  const auto header = [](const ClassReport& report) {
    const std::string text = written(write_csv, report);
    return text.substr(0, text.find('\n'));
  };
  CHECK(header(report_of({student("anna", full())})) ==
        header(report_of({student("bert", wrong("s is wrong"))})));
}

TEST_CASE("a CSV cell that begins with a sign in full width is not computed either") {
  for (const std::string sign : {"\uFF1D", "\uFF0B", "\uFF0D", "\uFF20"}) {
    CHECK_THAT(written(write_csv, report_of({student(sign + "1+1", full())})),
               contains("\r\n\"'" + sign + "1+1\",\"full"));
  }
  CHECK_THAT(written(write_csv, report_of({student("\uFF1E1", full())})),
             contains("\r\n\"\uFF1E1\",\"full"));
}

TEST_CASE("a lone quote in a CSV cell is doubled inside quotes") {
  CHECK_THAT(written(write_csv, report_of({student("a\"b", full())})),
             contains("\r\n\"a\"\"b\",\"full"));
}

TEST_CASE("what was skipped stands in every report with its reason, and in no sum") {
  const auto exercise = dot_product();
  const StudentResult entry =
      skipped_result(*exercise, {"a<b.pdf", "it is not a .toy or .txt file"});
  const ClassReport report = make_class_report(*exercise, {student("anna", full())}, {}, {entry});
  const auto json = nlohmann::json::parse(written(write_json, report));
  CHECK(json["skipped"] ==
        nlohmann::json::parse(R"([{"name": "a<b.pdf", "why": "it is not a .toy or .txt file"}])"));
  CHECK(json["students"].size() == 1);
  CHECK(json["summary"]["students"] == 1);
  CHECK(json["summary"]["mean_points"] == 10);
  CHECK(written(write_csv, report)
            .ends_with("\"a<b.pdf\",\"skipped\",,10,,,,,,\"it is not a .toy or .txt file\",\r\n"));
  const std::string junit = written(write_junit, report);
  CHECK_THAT(junit, contains("tests=\"3\" failures=\"0\" errors=\"0\" skipped=\"1\" time"));
  CHECK_THAT(junit, contains("<testsuite name=\"a&lt;b.pdf\"") &&
                        contains("<skipped message=\"it is not a .toy or .txt file\"/>"));
  CHECK_THAT(written(write_html, report),
             contains("<th scope=\"row\">a&lt;b.pdf</th>") && contains("skipped") &&
                 contains("it is not a .toy or .txt file") && contains("1 submissions"));
}

TEST_CASE("JUnit has a suite a student and a case a check, with sums that agree") {
  const std::string text =
      written(write_junit, report_of({student("anna", full()), student("bert", wrong("s is wrong")),
                                      student("cleo", unreadable())}));
  CHECK_THAT(text, contains("<testsuites name=\"01_dot\" tests=\"4\" failures=\"1\" errors=\"1\""));
  CHECK_THAT(text, contains("<testsuite name=\"anna\" tests=\"2\" failures=\"0\" errors=\"0\""));
  CHECK_THAT(text, contains("<failure type=\"wrong\" message=\"s is wrong\">line 9, step 12, "
                            "n = 2, random inputs: s is wrong"));
  CHECK_THAT(text, contains("<error type=\"unreadable\" message=\"it is a pipe\">"));
}

TEST_CASE("nothing leaves its place in XML and HTML") {
  const std::string hostile = "]]></failure>\" onload='x' <script>&\x01\x1b";
  const ClassReport report = report_of({student(hostile, wrong(hostile))});
  for (const std::string& text : {written(write_junit, report), written(write_html, report)}) {
    CHECK_THAT(text, !contains("]]>") && !contains("onload='") && !contains("\x1b") &&
                         !contains("<script>&"));
    CHECK_THAT(text, contains("]]&gt;&lt;/failure&gt;&quot; onload=&#39;x&#39; &lt;script&gt;&amp;"
                              "\\x01\\x1b"));
  }
}

TEST_CASE("what is right, but too costly, is an outcome of its own in every report") {
  Verdict verdict = wrong("the result is right, but it costs more than this exercise accepts");
  verdict.outcome = Outcome::kTooCostly;
  const ClassReport report = report_of({student("anna", verdict), student("bert", wrong("no"))});
  const auto json = nlohmann::json::parse(written(write_json, report));
  CHECK(json["students"][0]["outcome"] == "too_costly");
  CHECK(json["students"][0]["passed"] == false);
  CHECK(json["summary"]["outcomes"]["too_costly"] == 1);
  CHECK(json["summary"]["outcomes"]["wrong"] == 1);
  CHECK_THAT(written(write_csv, report), contains("\"anna\",\"too_costly\",0,10,"));
  CHECK_THAT(written(write_html, report), contains("✗ right, but too costly"));
  std::ostringstream gradescope;
  write_gradescope(gradescope, student("anna", verdict), {});
  CHECK(nlohmann::json::parse(gradescope.str())["extra_data"]["outcome"] == "too_costly");
}

TEST_CASE("Gradescope's results carry points, checks and a leaderboard of costs") {
  std::ostringstream out;
  write_gradescope(out, student("anna", full()), {});
  const nlohmann::json results = nlohmann::json::parse(out.str());
  CHECK(results["score"] == 10);
  CHECK(results["visibility"] == "visible");
  CHECK(results["stdout_visibility"] == "hidden");
  CHECK(results["tests"][1]["name"] == "results at n = 2");
  CHECK(results["tests"][1]["score"] == 6);
  CHECK(results["tests"][1]["max_score"] == 6);
  CHECK(results["tests"][1]["status"] == "passed");
  CHECK(results["leaderboard"] ==
        nlohmann::json::parse(R"([{"name": "cycles", "value": 7, "order": "asc"}])"));
}

TEST_CASE("hidden costs leave Gradescope's students points and findings only") {
  std::ostringstream out;
  write_gradescope(out, student("anna", full()), {true});
  const nlohmann::json results = nlohmann::json::parse(out.str());
  CHECK_FALSE(results.contains("leaderboard"));
  for (const nlohmann::json& test : results["tests"]) {
    const bool cost = test["name"] == "cycles" || test["name"] == "costs";
    CHECK(test["visibility"] == (cost ? "after_published" : "visible"));
  }
}

TEST_CASE("hidden costs are not told by findings or the outcome either") {
  Verdict costly = full();
  costly.outcome = Outcome::kCostly;
  Finding finding;
  finding.what = "MOV is executed 32 times; 17 suffice";
  finding.is_about_cost = true;
  Finding odd;
  odd.what = "column 3 has a character that is not visible";
  costly.findings = {finding, odd};
  const auto tests_of = [&](bool hidden) {
    std::ostringstream out;
    write_gradescope(out, student("anna", costly), {hidden});
    return nlohmann::json::parse(out.str())["tests"];
  };
  CHECK_THAT(tests_of(false)[0]["output"].get<std::string>(),
             contains("right, but costly") && contains("17 suffice"));
  for (const nlohmann::json& test : tests_of(true)) {
    const auto output = test["output"].get<std::string>();
    if (test["visibility"] == "visible") {
      CHECK_THAT(output, !contains("suffice") && !contains("cost"));
    }
    if (test["name"] == "verdict") CHECK_THAT(output, contains("right") && contains("column 3"));
    if (test["name"] == "costs") CHECK_THAT(output, contains("17 suffice"));
  }
}

TEST_CASE("a wrong submission has no place on the leaderboard") {
  std::ostringstream out;
  write_gradescope(out, student("bert", wrong("s is wrong")), {});
  const nlohmann::json results = nlohmann::json::parse(out.str());
  CHECK(results["score"] == 0);
  CHECK_FALSE(results.contains("leaderboard"));
  CHECK_THAT(results["tests"][0]["output"].get<std::string>(), contains("s is wrong"));
}

TEST_CASE("names become file names that stay in their folder and differ") {
  CHECK(safe_file_name("anna-1_b.c") == "anna-1_b.c");
  CHECK(safe_file_name("../x") == "%2E.%2Fx");
  CHECK(safe_file_name("a b") != safe_file_name("a_b"));
  const std::string long_name(300, 'x');
  CHECK(safe_file_name(long_name).size() <= 240);
  CHECK(safe_file_name(long_name) != safe_file_name(long_name + "y"));
}

TEST_CASE("the HTML page loads nothing and allows its own script alone") {
  const std::string text = written(write_html, report_of({student("anna", full())}));
  CHECK_THAT(text, contains("default-src 'none'") && contains("script-src 'sha256-"));
  CHECK_THAT(text, !contains("unsafe-inline") && !contains("http:") && !contains("https:") &&
                       !contains("{{") && !contains(" style=") &&
                       !contains(" on"
                                 "click="));
  CHECK_THAT(text, contains("<th scope=\"row\">anna</th>") && contains("<svg "));
}

}  // namespace flashlab::test
