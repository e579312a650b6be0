// Wrong submissions as people make them, and what a teacher would want them to be told.
#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "exercises/grader/exercise/catalogue.hpp"
#include "exercises/grader/grade/grader.hpp"
#include "tests/catch_shim.hpp"

namespace {

using namespace flashlab;
using namespace flashlab::exercises;
using nlohmann::json;

const std::string kFolder = FLASHLAB_SOURCE_DIR "/tests/exercises/mistakes/";

std::string read(const std::string& path) {
  std::ifstream file(path);
  REQUIRE(file);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

const Grader& grader_of(const std::string& id) {
  static std::map<std::string, Grader> graders;
  const auto found = graders.find(id);
  if (found != graders.end()) return found->second;
  for (const ExerciseSource& source : builtin_exercises()) {
    if (source.id != id) continue;
    ReadResult result = read_exercise(source.id, source.files);
    REQUIRE(result.exercise);
    auto exercise = std::make_shared<const Exercise>(std::move(*result.exercise));
    // These tests judge what is said. A build with sanitizers takes too long for the usual limit.
    GraderOptions options;
    options.milliseconds = 120'000;
    return graders.emplace(id, Grader(exercise, options)).first->second;
  }
  throw std::runtime_error("there is no exercise " + id);
}

std::string text_of(const Finding& finding) {
  std::string text = finding.what + "\n";
  for (const std::string& detail : finding.details) text += detail + "\n";
  return text;
}

bool is_answered(const json& mistake, const Verdict& verdict) {
  if (verdict.passed() || verdict.findings.empty()) return false;
  const Finding& finding = verdict.findings.front();
  const std::string text = text_of(finding);
  if (mistake.contains("never") &&
      text.find(mistake["never"].get<std::string>()) != std::string::npos) {
    return false;
  }
  for (const json& fault : mistake["faults"]) {
    const json& lines = fault["lines"];
    const bool there = std::find(lines.begin(), lines.end(), finding.line) != lines.end();
    if (there && text.find(fault["says"].get<std::string>()) != std::string::npos) return true;
  }
  return false;
}

void check_half(const std::string& half) {
  const json mistakes = json::parse(read(kFolder + half + "/mistakes.json"));
  REQUIRE(mistakes.size() == 30);
  std::size_t answered = 0;
  std::string missed;
  for (const json& mistake : mistakes) {
    const std::string file = mistake["file"];
    const Verdict verdict =
        grader_of(mistake["exercise"]).grade(file, read(kFolder + half + "/" + file));
    if (is_answered(mistake, verdict)) {
      ++answered;
    } else {
      missed += file + ": " + (verdict.findings.empty() ? "" : text_of(verdict.findings.front()));
    }
  }
  INFO(missed);
  CHECK(answered >= 27);
}

}  // namespace

TEST_CASE("nine of ten human mistakes are told their line and their reason", "[mistakes]") {
  check_half("worked_on");
}

TEST_CASE("nine of ten human mistakes that nobody looked at are told their line and their reason",
          "[mistakes]") {
  check_half("unseen");
}
