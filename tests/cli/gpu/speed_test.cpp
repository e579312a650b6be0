// Exercises about speed: predicted times, measured times, and the ranking of a class.
#include "tests/cli/gpu/speed_exercise.hpp"

namespace flashlab::test {
namespace {

constexpr const char* kQuickTile = "min(n, 16)";

TEST_CASE(
    "a class is ranked by predicted time, and what is slower than the given program loses points") {
  const SpeedClass place;
  const std::string solution = with_part(place.solution(), kQuickTile, "min(n, 128)");
  place.hand_in("fast", solution);
  place.hand_in("like_given", with_part(solution, "min(n, 128)", "min(n, 64)"));
  place.hand_in("slow", with_part(with_part(solution, "min(n, 128)", "min(n, 16)"), "min(nk, 64)",
                                  "min(nk, 16)"));
  place.hand_in("spills", with_part(with_part(solution, "min(n, 128)", "min(n, 192)"),
                                    "min(nk, 64)", "min(nk, 192)"));
  const auto students = place.grade("37 --time-limit 60");
  const auto& spills = students.at("spills");  // it would be predicted as the fastest of all
  CHECK(spills["points"] == 6);
  CHECK(spills["costs"].empty());
  CHECK_THAT(spills["findings"].dump(), contains("no time is predicted: its tiles take "));
  CHECK(students.at("fast")["points"] == 10);
  CHECK(students.at("like_given")["points"] == 10);
  CHECK(students.at("like_given")["outcome"] == "full");
  CHECK(students.at("slow")["points"] < 10);
  CHECK(students.at("slow")["points"] > 6);
  CHECK(students.at("slow")["outcome"] == "costly");
  const Outcome table = place.flashlab("grade 37 --time-limit 60 --all class");
  CHECK_THAT(table.out, contains("ms predicted") && contains("place"));
  const auto line_of = [&](const std::string& text) {
    const std::size_t at = table.out.find(text);
    REQUIRE(at != std::string::npos);
    return at;
  };
  CHECK(line_of("1   fast") < line_of("2   like_given"));
  CHECK(line_of("2   like_given") < line_of("3   slow"));
}

TEST_CASE("grade --device cuda measures right submissions and says what went wrong on the GPU") {
  const SpeedClass place;
  place.hand_in("right", place.solution());
  place.hand_in("equal", place.solution());
  place.hand_in("wrong", with_part(place.solution(), "  STORE O, o[i][0]\n", ""));
  const auto students = place.grade("90 --exercises ex --device cuda");
  const auto& costs = students.at("right")["costs"];
  REQUIRE(costs.contains("measured_ns"));
  CHECK_FALSE(costs.contains("predicted_ns"));
  CHECK(students.at("equal")["costs"] == costs);  // measured once
  CHECK(students.at("wrong")["points"] == 0);
}

TEST_CASE("grade --device cuda refuses what it cannot measure") {
  const SpeedClass place;
  place.hand_in("right", place.solution());
  const Outcome absent =
      place.flashlab("grade 90 --exercises ex --all class --device cuda", "absent");
  CHECK(absent.code == 2);
  CHECK_THAT(absent.err, contains("no GPU to run on"));
  const Outcome other = place.flashlab("grade 34 --all class --device cuda");
  CHECK(other.code == 2);
  CHECK_THAT(other.err, contains("34_fewest_bytes is not about speed"));
  const Outcome resumed =
      place.flashlab("grade 90 --exercises ex --all class --device cuda --resume");
  CHECK(resumed.code == 2);
  CHECK_THAT(resumed.err, contains("--resume with --device"));
}

TEST_CASE("a right program that is no kernel at the timed size is told which tiles are too large") {
  const Workplace place;
  place.write("mine.toy",
              "; one tile\n" + with_part(with_part(SpeedClass().solution(), kQuickTile, "n"),
                                         "min(nk, 64)", "nk"));
  const Outcome outcome = place.shell("flashlab grade 37 mine.toy");
  CHECK_THAT(outcome.out, contains("it is no kernel at d = 64, n = 768, nk = 768") &&
                              contains("registers of each thread") && contains("0 of 10 points"));
}

TEST_CASE("the solutions of exercises about speed are faster than the given programs") {
  for (const std::string id : {"36", "37"}) {
    INFO(id);
    const std::string folder = id == "36" ? "36_fast_product" : "37_fast_attention";
    const Outcome outcome = flashlab("grade " + id + " " FLASHLAB_SOURCE_DIR "/exercises/" +
                                     folder + "/solution.toy --time-limit 60 --json -");
    const auto verdict = json_of(outcome)["students"][0];
    CHECK(verdict["points"] == 10);
    const auto& time = verdict["costs"]["predicted_ns"];
    CHECK(time["value"].get<double>() < time["full"].get<double>());
  }
}

TEST_CASE("the JSON interface says that a time is not predicted there") {
  const SpeedClass place;
  const nlohmann::json request{{"request", "check"},
                               {"exercise", "37"},
                               {"file", "mine.toy"},
                               {"files", {{"mine.toy", place.solution()}}}};
  place.place().write("request.json", request.dump() + "\n");
  const auto answer = json_of(place.flashlab("answer < request.json"))["answer"];
  CHECK(answer["points"] == 6);
  CHECK(answer["max_points"] == 10);
  CHECK(answer["checks"].back()["name"] == "time");
  CHECK_THAT(answer["checks"].back()["message"].get<std::string>(), contains("not predicted here"));
}

TEST_CASE("what is wrong in an exercise's table about speed is told with its place") {
  const SpeedClass place;
  const std::string toml = place.place().read("ex/90_small/exercise.toml");
  const auto lint = [&](const std::string& part, const std::string& by) {
    place.place().write("ex/90_small/exercise.toml", with_part(toml, part, by));
    const Outcome outcome = place.flashlab("exercises lint ex/90_small");
    CHECK(outcome.code != 0);
    return outcome.out + outcome.err;
  };
  CHECK_THAT(lint("given = \"given.toy\"", "given = \"no.toy\""), contains("no.toy"));
  CHECK_THAT(lint("size = { n = 48, nk = 48, d = 8 }", "size = { n = 48, nk = 48 }"),
             contains("it has no d"));
  CHECK_THAT(lint("level = 0", "level = 1"), contains("'float' at level 1"));
  CHECK_THAT(lint("heads = 2", "heads = 2\nspeedup = 3"), contains("speedup"));
}

}  // namespace
}  // namespace flashlab::test
