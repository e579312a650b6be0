// `flashlab write`: a language model whose attention are the learner's programs.
#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/command.hpp"
#include "tests/source_files.hpp"

namespace {

using namespace flashlab::test;

/// A learner with a home of its own.
Outcome as_learner(const Workplace& place, const std::string& line) {
  return place.shell("export HOME=\"$PWD\"\nunset XDG_DATA_HOME FLASHLAB_EXERCISES\n" + line);
}

TEST_CASE("a prompt is read and a text is written, with what both load beside naive", "[learner]") {
  const Workplace place;
  const auto json =
      nlohmann::json::parse(as_learner(place, "flashlab write --characters 2 --json").out);
  CHECK(json["prompt"].get<std::string>().size() == 256);
  CHECK(json["text"].get<std::string>().size() == 2);
  CHECK(json["reads"] == "flash2_causal");
  CHECK(json["writes"] == "flash2");
  // Of a head, with tiles of 32 x 32 floats (4096 bytes): 8 tiles of q, and for query tile i the i tiles
  // of k and of v up to the diagonal, 36 of each. There are 3 layers of 4 heads.
  CHECK(json["prompt_bytes_loaded"] == 12 * (8 + 36 + 36) * 4096);
  // Of a head and a character: one query, and the 256 keys and values that are kept. A row has 128 bytes.
  CHECK(json["bytes_loaded"] == 2 * 12 * (1 + 256 + 256) * 128);
  const auto naive = [&](const std::string& flags) {
    return json_of(place.shell("flashlab run " + flags + " --no-outputs --json"))["bytes_loaded"]
        .get<std::int64_t>();
  };
  CHECK(json["naive_prompt_bytes_loaded"] == 12 * naive("naive_causal -D n=256,d=32,B=32,Bd=32"));
  CHECK(json["naive_bytes_loaded"] == 2 * 12 * naive("naive -D n=1,nk=256,d=32,B=1,Bk=32,Bd=32"));
}

TEST_CASE("a seed gives the same text again, and temperature 0 needs none", "[learner]") {
  const Workplace place;
  const auto text = [&](const std::string& flags) {
    return json_of(as_learner(place, "flashlab write --characters 60 --json " + flags))["text"]
        .get<std::string>();
  };
  const std::string first = text("--seed 5");
  CHECK(text("--seed 5") == first);
  CHECK(text("--seed 6") != first);
  CHECK(text("--temperature 0 --seed 5") == text("--temperature 0 --seed 6"));
}

TEST_CASE("a text shows who reads and who writes, and fits the window", "[learner]") {
  const Workplace place;
  const Outcome outcome =
      as_learner(place, "flashlab write 'A row of S' --characters 40 --width 60");
  CHECK(outcome.code == 0);
  CHECK_THAT(outcome.out, contains("You have not solved exercise 29 yet, so our flash2_causal"));
  CHECK_THAT(outcome.out, contains("  A row of S\n"));
  CHECK_THAT(outcome.out, contains("the prompt, 10"));
  CHECK_THAT(outcome.out, contains("characters per second"));
  CHECK(widest_line(outcome.out) <= 60);
}

TEST_CASE("programs that a learner has solved read and write", "[learner]") {
  const Workplace place;
  for (const std::string id : {"28_flash2", "29_flash2_causal"}) {
    place.write(id + ".toy", read_source(kSourceRoot / "exercises" / id / "solution.toy"));
    const Outcome outcome = as_learner(place, "flashlab check " + id + " " + id + ".toy");
    INFO(outcome.out << outcome.err);
    REQUIRE(outcome.code == 0);
  }
  const Outcome outcome = as_learner(place, "flashlab write --characters 3");
  CHECK(outcome.err.empty());
  CHECK_THAT(outcome.out, contains("29_flash2_causal.toy reads, one causal call"));
  CHECK_THAT(outcome.out, contains("28_flash2.toy writes on, one query"));
}

TEST_CASE("what cannot be read or written is said in a line", "[learner]") {
  const Workplace place;
  const auto error = [&](const std::string& flags) {
    const Outcome outcome = as_learner(place, "flashlab write " + flags);
    CHECK(outcome.code != 0);
    CHECK(outcome.out.find("bytes loaded") == std::string::npos);
    return outcome.err;
  };
  CHECK_THAT(error("'caf\xc3\xa9'"),
             contains("character 4 of the prompt is not in the model's alphabet"));
  CHECK_THAT(error("''"), contains("the prompt is empty"));
  CHECK_THAT(error("--characters -1"), contains("--characters is -1"));
  CHECK_THAT(error("--temperature 11"), contains("--temperature is 11"));
  CHECK_THAT(error("--writes softmax_online"),
             contains("expected an input 'q' of 1 rows and 32 columns"));
  CHECK_THAT(error("--reads nothing_here"), contains("nothing_here"));
  const Outcome long_prompt =
      as_learner(place, "flashlab write \"$(printf 'a%.0s' $(seq 300))\" --characters 1");
  CHECK(long_prompt.code == 0);
  CHECK_THAT(long_prompt.err, contains("the model reads the last 256 of the prompt's 300"));
}

}  // namespace
