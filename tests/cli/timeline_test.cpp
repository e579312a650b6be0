// `flashlab timeline`: sums, lanes, windows, JSON and the page.
#include <nlohmann/json.hpp>

#include "tests/cli/command.hpp"

namespace flashlab::test {
namespace {

constexpr const char* kLoop =
    "; Exponentials\n.isa softmax\n.param n = 4\n.input x[n]\n.output o[n]\n"
    "LOAD x[0], R0\nfor i in 0..n-1\n  EXP R0, R1\n  LOAD x[i+1], R0 ; the next one\n"
    "  STORE R1, o[i]\nend\n";

TEST_CASE("a timeline has a row for each unit and lanes for each model") {
  const Workplace place;
  place.write("p.toy", kLoop);
  const Outcome outcome = place.shell("flashlab timeline p.toy --cost LOAD=2,EXP=2,STORE=2");
  CHECK(outcome.err == "");
  CHECK(outcome.out ==
        R"(p: Exponentials
n = 4, 2 registers

  Model                Cycles   Unit         Busy     Data   Buffer     Idle
  --------------------------------------------------------------------------
  serial                   20   memory     70.0 %        -        -   30.0 %
                                compute    30.0 %        -        -   70.0 %
  overlap, 1 buffer        20   memory     70.0 %        -   30.0 %        -
                                compute    30.0 %   30.0 %   20.0 %   20.0 %
  overlap, 2 buffers       14   memory    100.0 %        -        -        -
                                compute    42.9 %   14.3 %   28.6 %   14.3 %

Cycles 0 to 20, one per letter

          |0        |10
serial
  memory  LL  LLSS  LLSS  LLSS
  compute   EE    EE    EE
overlap, 1 buffer
  memory  LL--LLSS--LLSS--LLSS
  compute ..EE..--EE..--EE
overlap, 2 buffers
  memory  LLLLSSLLSSLLSS
  compute ..EE--EE--EE

L LOAD   S STORE   E EXP   . waits for data   - waits for a register in use
blank: nothing to do

  Line   Who waits longest, overlap, 2 buffers   Data   Buffer   Busy
  -------------------------------------------------------------------
     8   EXP R0, R1                                 2        4      6
)");
}

TEST_CASE("a timeline's --model and --buffers choose the models") {
  const auto names = [](const std::string& flags) {
    std::string text;
    const auto timeline = json_of(flashlab("timeline softmax_safe --json" + flags));
    for (const auto& model : timeline["models"]) {
      text += (text.empty() ? "" : " ") + model["model"].get<std::string>();
      if (!model["buffers"].is_null()) text += model["buffers"].dump();
    }
    return text;
  };
  CHECK(names("") == "serial overlap1 overlap2");
  CHECK(names(" --model serial") == "serial");
  CHECK(names(" --model overlap") == "overlap1 overlap2");
  CHECK(names(" --buffers 1") == "serial overlap1");
  CHECK(names(" --buffers 5") == "serial overlap1 overlap2 overlap5");
}

TEST_CASE("a timeline's JSON is the run's cycles, with intervals when a window asks for them") {
  const std::string flags = "softmax_online -D n=50 --cost LOAD=9,EXP=3 --json";
  const auto run = json_of(flashlab("run " + flags));
  const auto timeline = json_of(flashlab("timeline " + flags));
  const auto& serial = timeline["models"][0];
  CHECK(serial["cycles"] == run["cycles"]);
  CHECK(serial["by_op"]["LOAD"] == 9 * run["loads"].get<int>());
  CHECK_FALSE(serial.contains("intervals"));
  const auto window = json_of(flashlab("timeline " + flags + " --from 100 --to 110"));
  for (const auto& model : window["models"]) {
    CHECK(model["cycles"].get<int>() > 110);
    CHECK_FALSE(model["intervals"].empty());
    for (const auto& interval : model["intervals"]) {
      CHECK(interval["start"] < 110);
      CHECK(interval["end"] > 100);
    }
  }
}

TEST_CASE("a window shows its cycles, and says so when nothing runs there") {
  const Outcome close = flashlab("timeline softmax_safe -D n=100 --from 60 --to 75");
  CHECK_THAT(close.out, contains("Cycles 60 to 75, one per letter"));
  CHECK_THAT(close.out, contains("|60"));
  const Outcome all = flashlab("timeline softmax_safe -D n=100000 --to 1000000000");
  CHECK_THAT(all.out, contains("Cycles 0 to 1 099 999, 20 000 per letter"));
  CHECK_THAT(flashlab("timeline softmax_safe --from 500").out,
             contains("Nothing runs after cycle 43."));
  const Outcome empty = flashlab("timeline softmax_safe -D n=100 --cost LOAD=0,MAX=0");
  CHECK(empty.code == 0);
}

TEST_CASE("a program without a step has an empty timeline") {
  const Workplace place;
  place.write("p.toy", ".isa softmax\n.input x[1]\nfor i in 0..0\nLOAD x[0], R0\nend\n");
  const Outcome outcome = place.shell("flashlab timeline p.toy");
  CHECK(outcome.code == 0);
  CHECK_THAT(outcome.out, contains("serial"));
  CHECK_THAT(place.shell("flashlab timeline p.toy --html -").out, contains("</html>"));
}

TEST_CASE("flags of a timeline that make no sense are wrong requests, its limits are limits") {
  for (const char* flags : {"--model both-ways", "--buffers 0", "--buffers 65", "--from 5 --to 5",
                            "--from -1", "--cost LOAD=x", "--html no/such.html"}) {
    CAPTURE(flags);
    CHECK(flashlab(std::string("timeline softmax_safe ") + flags).code == 2);
  }
  CHECK(flashlab("timeline softmax_safe -D n=100 --max-steps 50").code == 3);
  CHECK(flashlab("timeline no_such_program").code == 2);
}

TEST_CASE(
    "a timeline's --html writes one page, and --json beside it has standard output to itself") {
  const Workplace place;
  const Outcome outcome = place.shell("flashlab timeline softmax_safe --html t.html --json");
  CHECK(json_of(outcome)["flashlab"] == "timeline");
  CHECK_THAT(outcome.err, contains("wrote t.html"));
  CHECK_THAT(place.read("t.html"), contains("Overlap"));
}

}  // namespace
}  // namespace flashlab::test
