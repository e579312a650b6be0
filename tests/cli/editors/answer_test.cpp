// The JSON interface: each request has the answer that the command prints with --json, and every
// wrong request has an error with place, value and what was expected.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "tests/cli/command.hpp"

namespace flashlab::test {
namespace {

using Json = nlohmann::json;

/// The answers to requests of one process, in order.
std::vector<Json> answers(const std::vector<std::string>& requests, const std::string& flags = "") {
  const Workplace place;
  std::string lines;
  for (std::string request : requests) {
    std::replace(request.begin(), request.end(), '\n', ' ');
    lines += request + "\n";
  }
  place.write("requests", lines);
  const Outcome outcome = place.shell("flashlab answer " + flags + " < requests");
  CAPTURE(outcome.err);
  REQUIRE(outcome.code == 0);
  std::vector<Json> all;
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = outcome.out.find('\n', begin)) != std::string::npos;
       begin = end + 1) {
    all.push_back(Json::parse(outcome.out.substr(begin, end - begin)));
  }
  REQUIRE(all.size() == requests.size());
  return all;
}

Json answer_to(const std::string& request) {
  const Json whole = answers({request}).front();
  CAPTURE(request, whole.dump());
  CHECK(whole["version"] == 1);
  REQUIRE(whole["ok"] == true);
  CHECK_FALSE(whole.contains("error"));
  return whole["answer"];
}

Json error_of(const std::string& request, const std::string& flags = "") {
  const Json whole = answers({request}, flags).front();
  CAPTURE(request, whole.dump());
  REQUIRE(whole["ok"] == false);
  return whole["error"];
}

void same_answer(const std::string& request, const std::string& arguments) {
  CAPTURE(request, arguments);
  CHECK(answer_to(request) == json_of(flashlab(arguments)));
}

TEST_CASE("The JSON interface answers requests about programs as --json does") {
  same_answer(R"({"request": "run", "program": "softmax_online", "params": {"n": 5}})",
              "run softmax_online -D n=5 --json");
  same_answer(
      R"({"request": "run", "program": "matmul_blocked", "registers": 7, "no_outputs": true,
          "cost": {"LOAD": 100, "MAC": "1/flop"}, "precision": "double"})",
      "run matmul_blocked --registers 7 --no-outputs --cost LOAD=100,MAC=1/flop --precision double "
      "--json");
  same_answer(
      R"({"request": "run", "program": "softmax_online", "params": {"n": 3}, "inputs": {"x": [1, 2.5, "-inf"]}})",
      "run softmax_online -D n=3 --input 'x=[1, 2.5, -inf]' --json");
  same_answer(R"({"request": "trace", "program": "matmul_c00", "to": 5})",
              "trace matmul_c00 --to 5 --json -");
  same_answer(R"({"request": "cost", "program": "flash2", "params": {"n": 1000000000}})",
              "cost flash2 -D n=1000000000 --json");
  same_answer(R"({"request": "sweep", "program": "matmul_blocked", "registers": "3..9"})",
              "sweep matmul_blocked --registers 3..9 --json");
  same_answer(
      R"({"request": "sweep", "program": "softmax_online", "params": {"n": [8, 16, 32]}, "cost": "LOAD=4"})",
      "sweep softmax_online -D n=8,16,32 --cost LOAD=4 --json");
  same_answer(R"({"request": "diff", "left": "softmax_safe", "right": "softmax_online"})",
              "diff softmax_safe softmax_online --json");
  same_answer(
      R"({"request": "diff", "left": "matmul_inner", "right": "matmul_outer", "outputs": true})",
      "diff matmul_inner matmul_outer --outputs --json");
  same_answer(
      R"({"request": "timeline", "program": "softmax_online", "cost": "LOAD=4", "buffers": 3, "from": 0, "to": 9})",
      "timeline softmax_online --cost LOAD=4 --buffers 3 --from 0 --to 9 --json");
  same_answer(R"({"request": "isa", "level": "matmul"})", "isa --level matmul --json");
  same_answer(R"({"request": "programs"})", "programs --json");
  same_answer(R"({"request": "programs", "name": "flash2"})", "programs flash2 --json");
}

TEST_CASE("The JSON interface answers requests about exercises as --json does for a new learner") {
  const Workplace place;
  const auto command = [&](const std::string& arguments) {
    return json_of(
        place.shell("export XDG_DATA_HOME=\"$PWD/home\"; rm -rf home; flashlab " + arguments));
  };
  CHECK(answer_to(R"({"request": "exercises"})") == command("exercises list --json"));
  CHECK(answer_to(R"({"request": "exercises", "exercise": "26"})") ==
        command("exercises show 26 --json"));
  CHECK(answer_to(R"({"request": "hint", "exercise": "8", "level": 2})") ==
        command("exercises hint 8 --level 2 --json"));
}

TEST_CASE("The JSON interface judges a file as exercises check --json does") {
  const Workplace place;
  const auto judged = [&](const std::string& exercise, const std::string& file) {
    const std::string text = place.read(file);
    place.shell("export XDG_DATA_HOME=\"$PWD/home\"; rm -rf home; flashlab exercises check " +
                exercise + " " + file + " --json > verdict.json");
    const Json request{
        {"request", "check"}, {"exercise", exercise}, {"file", file}, {"files", {{file, text}}}};
    CHECK(answer_to(request.dump()) == Json::parse(place.read("verdict.json")));
  };
  const std::filesystem::path folder =
      std::filesystem::path(FLASHLAB_SOURCE_DIR) / "exercises/02_c00";
  std::size_t number = 0;
  for (const auto& wrong : std::filesystem::directory_iterator(folder / "wrong")) {
    if (wrong.path().extension() != ".toy") continue;
    const std::string name = "wrong" + std::to_string(number++) + ".toy";
    std::filesystem::copy_file(wrong.path(), place.path(name));
    judged("2", name);
  }
  CHECK(number >= 3);
  std::filesystem::copy_file(folder / "solution.toy", place.path("right.toy"));
  judged("2", "right.toy");
}

TEST_CASE("The JSON interface proves optima as optimal --json does") {
  const auto proof = [](Json answer) {
    for (Json& point : answer["points"]) point.erase("seconds");
    return answer;
  };
  CHECK(proof(answer_to(R"({"request": "optimal", "computation": "2x2x2", "registers": "3..5",
                            "operands": "both", "most_seconds": 8, "jobs": 1})")) ==
        proof(json_of(flashlab("optimal 2x2x2 --registers 3..5 --operands both --most-seconds 8 "
                               "--jobs 1 --most-bytes 1GiB --json"))));
  same_answer(R"({"request": "optimal", "computation": "2x2x2", "along": "matmul_outer"})",
              "optimal 2x2x2 --along matmul_outer --json");
}

TEST_CASE("The JSON interface traces a program that fails up to the wrong step") {
  const Json request{{"request", "trace"},
                     {"program", "bad.toy"},
                     {"files", {{"bad.toy", ".input x[1]\nLOAD x[0], R0\nADD R0, R1, R2\n"}}}};
  const Json whole = answers({request.dump()}).front();
  CHECK(whole["ok"] == false);
  CHECK(whole["error"]["kind"] == "program");
  CHECK(whole["error"]["place"] == "line 3, column 9");
  CHECK(whole["answer"]["steps"].size() == 1);
}

struct WrongRequest {
  std::string request, place, value, expected;
};

TEST_CASE("The JSON interface names place, value and what was expected in a wrong request") {
  const std::string run = R"({"request": "run", "program": "softmax_online", )";
  const std::vector<WrongRequest> all{
      {"x", "byte 1", "x", "a JSON object"},
      {"[1, 2]", "", "[1,2]", "an object"},
      {R"({"request": 7})", "/request", "7", "run, trace"},
      {R"({"request": "rum"})", "/request", "\"rum\"", "run, trace"},
      {R"({"program": "softmax_online"})", "/request", "", "run, trace"},
      {R"({"version": 2, "request": "isa"})", "/version", "2", "1"},
      {R"({"request": "run"})", "/program", "", "bundled program"},
      {R"({"request": "run", "program": 3})", "/program", "3", "bundled program"},
      {run + R"("parms": {}})", "/parms", "{}", "params"},
      {run + R"("params": {"n": "7"}})", "/params/n", "\"7\"", "a whole number"},
      {run + R"("params": {"n": 1.5}})", "/params/n", "1.5", "a whole number"},
      {run + R"("params": {"n,m": 1}})", "/params/n,m", "1", "a parameter's name"},
      {run + R"("params": [1]})", "/params", "[1]", "an object"},
      {run + R"("registers": -1.0})", "/registers", "-1.0", "a whole number"},
      {run + R"("operands": "pined"})", "/operands", "\"pined\"", "any, pinned"},
      {run + R"("sram": "many"})", "/sram", "\"many\"", "bytes"},
      {run + R"("cost": {"LOAD": true}})", "/cost/LOAD", "true", "cycles"},
      {run + R"("cost": "LAOD=3"})", "/cost", "\"LAOD=3\"", ""},
      {run + R"("precision": "half"})", "/precision", "\"half\"", "float, double"},
      {run + R"("inputs": {"x": {"a": 1}}})", "/inputs/x", "{\"a\":1}", "a list of numbers"},
      {run + R"("inputs": {"x": [null]}})", "/inputs/x", "[null]", "a list of numbers"},
      {run + R"("inputs": {"x": "secret.json"}})", "/inputs/x", "\"secret.json\"", "its numbers"},
      {run + R"("no_outputs": "yes"})", "/no_outputs", "\"yes\"", "true or false"},
      {run + R"("max_steps": 0})", "/max_steps", "0", "a whole number from 1"},
      {run + R"("max_steps": 99999999999999999999})", "/max_steps", "1e+20", "a whole number"},
      {run + R"("files": {"a.toy": 1}})", "/files/a.toy", "1", "the file's text"},
      {run + R"("program": "flash2"})", "/program", "", "each field once"},
      {R"({"request": "sweep", "program": "flash2", "params": {"n": "3..x"}})", "/params/n",
       "\"3..x\"", "a range"},
      {R"({"request": "hint", "exercise": "8", "level": 5})", "/level", "5", "from 1 to 4"},
      {R"({"request": "hint", "exercise": "800", "level": 1})", "/exercise", "\"800\"", "one that"},
      {R"({"request": "check", "exercise": "8", "file": "/etc/passwd"})", "/file",
       "\"/etc/passwd\"", "a text in"},
      {R"({"request": "isa", "level": "softmaks"})", "/level", "\"softmaks\"", "softmax"},
      {R"({"request": "programs", "name": "flash3"})", "/name", "\"flash3\"", "flashlab programs"},
  };
  for (const WrongRequest& wrong : all) {
    CAPTURE(wrong.request);
    const Json error = error_of(wrong.request);
    CHECK(error["kind"] == "request");
    CHECK(error["exit_code"] == 2);
    CHECK(error["place"] == wrong.place);
    CHECK(error["value"] == wrong.value);
    CHECK_THAT(error["expected"].get<std::string>(), contains(wrong.expected));
  }
  CHECK(error_of(R"({"request": "rum"})")["suggestion"] == "run");
  CHECK(error_of(run + R"("parms": {}})")["suggestion"] == "params");
}

TEST_CASE("The JSON interface opens no file of the computer") {
  const Workplace place;
  place.write("there.toy", ".output c[1]\nFILL 1, R0\nSTORE R0, c[0]\n");
  const std::string file = place.path("there.toy").string();
  for (const std::string& request :
       {Json{{"request", "run"}, {"program", file}}.dump(),
        Json{{"request", "optimal"}, {"computation", file}}.dump(),
        Json{{"request", "diff"}, {"left", "flash2"}, {"right", file}}.dump(),
        Json{{"request", "hint"},
             {"exercise", FLASHLAB_SOURCE_DIR "/exercises/template"},
             {"level", 1}}
            .dump()}) {
    CAPTURE(request);
    CHECK_THAT(error_of(request)["what"].get<std::string>(), contains("there is no"));
  }
}

TEST_CASE("The JSON interface keeps to its limits, and answers the next request") {
  const std::string endless =
      R"({"request": "run", "program": "softmax_online", "params": {"n": 100000000}, "no_outputs": true})";
  CHECK(error_of(endless, "--max-steps 1000")["kind"] == "limit");
  CHECK(error_of(endless, "--max-memory 10MB")["kind"] == "limit");
  const Json slow = error_of(
      R"({"request": "run", "program": "l.toy", "files": {"l.toy": ".output o[1]\nfor i in 0..9000000000\nFILL 1, R0\nend\nSTORE R0, o[0]\n"}})",
      "--max-seconds 0.05");
  CHECK(slow["kind"] == "limit");
  CHECK_THAT(slow["what"].get<std::string>(), contains("50 ms"));
  const std::vector<Json> two =
      answers({endless, R"({"request": "isa"})", std::string(100000, '['), R"({"request": "isa"})"},
              "--max-steps 10");
  CHECK(two[0]["error"]["kind"] == "limit");
  CHECK(two[1]["ok"] == true);
  CHECK(two[2]["ok"] == false);
  CHECK(two[3]["answer"] == two[1]["answer"]);
}

TEST_CASE("The JSON interface says what an editor shows of a program, wrong or not") {
  const auto document = [](const std::string& text) {
    return answer_to(
        Json{{"request", "document"}, {"file", "p.toy"}, {"files", {{"p.toy", text}}}}.dump());
  };
  const Json good = document(
      ".param n = 4\n.input x[n]\n.output y[n]\nfor i in 0..n\nLOAD x[i], R0\nSTORE R0, "
      "y[i]\nend\n");
  CHECK(good["valid"] == true);
  CHECK(good["hints"][0] == Json{{"line", 1}, {"text", "n loads, n stores, 2n cycles"}});
  CHECK(good["hints"][1] == Json{{"line", 5}, {"text", "n times"}});
  CHECK(good["about"][2]["line"] == 6);
  const Json wrong = document("LAOD x[0], R0\nSTORE R0, y[0]\n");
  CHECK(wrong["valid"] == false);
  CHECK(wrong["diagnostics"][0]["suggestion"] == "LOAD");
  CHECK(wrong["diagnostics"][0]["length"] == 4);
}

TEST_CASE("The JSON interface passes on the notes that the command prints") {
  const std::string request =
      R"({"request": "cost", "program": "p.toy", "files": {"p.toy": ".param n\n.input x[n]\n.output o[1]\nLOAD x[0], R0\nSTORE R0, o[0]\n"}})";
  const Json whole = answers({request}).front();
  REQUIRE(whole["ok"] == true);
  CHECK(whole["answer"]["value"].is_null());
  CHECK(whole["notes"].back()["severity"] == "note");
  CHECK(whole["notes"].back()["what"] == "for numbers, give -D n=...");
}

}  // namespace
}  // namespace flashlab::test
