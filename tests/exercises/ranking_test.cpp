// Costs at larger sizes, where results are compared, too, and the place of a submission among other
// programs.
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "exercises/grader/exercise/catalogue.hpp"
#include "exercises/grader/exercise/exercise.hpp"
#include "exercises/grader/grade/grader.hpp"
#include "tests/catch_shim.hpp"

namespace {

using namespace flashlab;
using namespace flashlab::exercises;
using namespace flashlab::test;

const ExerciseSource& fewest_bytes() {
  for (const ExerciseSource& source : builtin_exercises()) {
    if (source.id == "34_fewest_bytes") return source;
  }
  throw std::runtime_error("no exercise 34");
}

std::shared_ptr<const Exercise> good_exercise(const ExerciseSource& source) {
  ReadResult read = read_exercise(source.id, source.files);
  INFO(format(read.errors, source.files));
  REQUIRE(read.exercise);
  return std::make_shared<const Exercise>(std::move(*read.exercise));
}

Verdict graded(const std::string& text, std::uint64_t seed = 1) {
  GraderOptions options;
  options.seed = seed;
  options.milliseconds = 120'000;  // a build with sanitizers takes too long for the usual limit
  return Grader(good_exercise(fewest_bytes()), options).grade("mine.toy", text);
}

std::string solution(const std::string& from = "", const std::string& to = "") {
  std::string text = fewest_bytes().files.at("solution.toy");
  if (from.empty()) return text;
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

std::string complaints(const std::string& from, const std::string& to) {
  Files files = fewest_bytes().files;
  std::string& toml = files["exercise.toml"];
  const std::size_t at = toml.find(from);
  REQUIRE(at != std::string::npos);
  toml.replace(at, from.size(), to);
  return format(read_exercise("copy", files).errors, files);
}

const RankedTraffic& program_called(const Ranking& ranking, const std::string& name) {
  for (const RankedTraffic& traffic : ranking.programs) {
    if (traffic.name == name) return traffic;
  }
  throw std::runtime_error("no program " + name);
}

}  // namespace

TEST_CASE("costs are counted at large sizes that are drawn", "[ranking]") {
  const Verdict verdict = graded(solution());
  CHECK(verdict.outcome == Outcome::kFull);
  CHECK(verdict.size.at("space") >= 2000);
  CHECK(verdict.size.at("n") >= 300);
  REQUIRE(verdict.ranking);
  CHECK(verdict.ranking->sizes.size() == 4);
  CHECK(verdict.ranking->sizes.front() == verdict.size);
  // The one with the most tiles is shown first; the others differ by the seed.
  CHECK(graded(solution(), 2).ranking->sizes != verdict.ranking->sizes);
}

TEST_CASE("no work where costs are counted is a wrong result there", "[ranking]") {
  // Right at every smaller size, and without a load or a store at all larger ones.
  const Verdict nothing =
      graded(solution(".const scale", ".param few = max(0, min(1, 200 - n))\n.const scale"));
  CHECK(nothing.outcome == Outcome::kFull);  // the parameter alone changes nothing
  std::string text = solution(".const scale", ".param few = max(0, min(1, 200 - n))\n.const scale");
  const std::string loop = "for i in 0..tiles(q)";
  text.replace(text.find(loop), loop.size(), "for i in 0..few*tiles(q)");
  const Verdict verdict = graded(text);
  CHECK(verdict.outcome == Outcome::kWrong);
  CHECK(verdict.points == 0);
  CHECK(verdict.costs.empty());
  CHECK_FALSE(verdict.ranking);
  REQUIRE_FALSE(verdict.findings.empty());
  CHECK_THAT(verdict.findings.front().what, contains("o[0][0] is wrong at d = "));
  REQUIRE(verdict.findings.front().details.size() == 3);
  CHECK(verdict.findings.front().details[2] == "The results are right at all smaller sizes.");
  REQUIRE(verdict.checks.size() == 9);  // six sizes, the drawn ones, the largest ones, bytes
  CHECK(verdict.checks[6].passed);
  CHECK(verdict.checks[7].name == "results at the largest sizes");
  CHECK_FALSE(verdict.checks[7].passed);
}

TEST_CASE("a submission is ranked beside programs, above the lower bound", "[ranking]") {
  const Ranking ranking = graded(solution()).ranking.value();
  REQUIRE(ranking.programs.size() == 3);
  CHECK(ranking.programs.front().name == "flash1");
  const RankedTraffic& mine = program_called(ranking, "");
  CHECK(mine.bytes == program_called(ranking, "flash2").bytes);
  for (std::size_t i = 0; i < ranking.sizes.size(); ++i) {
    const Size& size = ranking.sizes[i];
    const std::int64_t n = size.at("n"), nk = size.at("nk"), d = size.at("d"),
                       space = size.at("space");
    CHECK(ranking.lower_bound[i] == toy::Count(4 * (2 * n * d + 2 * nk * d)));
    // Query tiles as the solution's text says: of (space - d)/(2d + 5) rows.
    const std::int64_t rows = (space - d) / (2 * d + 5), tiles = (n + rows - 1) / rows;
    CHECK(mine.bytes[i] == toy::Count(4 * (2 * n * d + 2 * nk * d * tiles)));
  }
}

TEST_CASE("a program that uses keys again at the turn has a place below flash2", "[ranking]") {
  std::ostringstream turning;
  turning << std::ifstream(FLASHLAB_SOURCE_DIR "/tests/data/flash2_turning.toy").rdbuf();
  std::size_t below = 0;  // with one query tile there is no turn, and both have the same bytes
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    const Verdict verdict = graded(turning.str(), seed);
    CHECK(verdict.outcome == Outcome::kFull);
    REQUIRE(verdict.ranking);
    below += verdict.ranking->programs.back().name.empty() ? 1 : 0;
  }
  CHECK(below > 1);
}

TEST_CASE("smaller query tiles cost points, and more bytes than flash1 earn none", "[ranking]") {
  const std::string rows = "floordiv(space - d, 2*d + 5)";
  // With seed 1, it has more bytes than flash1 at one of the sizes.
  const Verdict half = graded(solution(rows, "floordiv(space - d, 3*d + 8)"), 2);
  CHECK(half.outcome == Outcome::kCostly);
  CHECK(half.points > 6);
  CHECK(half.points < 10);
  const Verdict third = graded(solution(rows, "floordiv(space - d, 4*d + 5)"));
  CHECK(third.points == 6);
}

TEST_CASE("more bytes in registers than the machine has are refused, with the line", "[ranking]") {
  const Verdict verdict = graded(solution("floordiv(space - d, 2*d + 5)", "floordiv(space, d)"));
  CHECK(verdict.outcome == Outcome::kRejected);
  CHECK(verdict.points == 0);
  REQUIRE_FALSE(verdict.findings.empty());
  CHECK_THAT(verdict.findings.front().what, contains("the registers hold "));
  CHECK(verdict.findings.front().line > 0);
}

TEST_CASE("a program that is tuned to the large sizes fails at small ones", "[ranking]") {
  CHECK_FALSE(graded(solution("max(1, min(n, floordiv(space - d, 2*d + 5)))", "300")).passed());
}

TEST_CASE("a register that is read before it is written is named, not its bytes", "[ranking]") {
  const Verdict verdict = graded(solution("  FILL scale, X\n", ""));
  REQUIRE_FALSE(verdict.findings.empty());
  CHECK(verdict.findings.front().line > 0);
  CHECK_THAT(verdict.findings.front().what, !contains("cannot be counted"));
}

TEST_CASE("a program that executes nothing holds nothing in registers, and is wrong", "[ranking]") {
  CHECK(graded(solution("for i in 0..tiles(q)", "for i in 0..0*n")).outcome == Outcome::kWrong);
}

TEST_CASE("mistakes in the data of counted sizes are reported", "[ranking]") {
  CHECK_THAT(complaints("tiles = \"free\"", "tiles = \"any\""), contains("unknown choice 'any'"));
  CHECK_THAT(complaints("register_bytes = \"4*space\"", "register_bytes = \"4*spade\""),
             contains("'register_bytes'"));
  CHECK_THAT(complaints("counted = { n = [300, 500], ", "counted = { "),
             contains("these are not the parameters of the sizes"));
  CHECK_THAT(complaints("file = \"beside/flash1.toy\"", "file = \"solution.toy\""),
             contains("beside/NAME.toy"));
}
