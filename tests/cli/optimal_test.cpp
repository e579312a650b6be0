// `flashlab optimal`: what it proves, what it says where it could not, and its programs.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "tests/cli/command.hpp"

namespace flashlab::test {
namespace {

/// The best cycles by registers under one rule; -1 where it is proved that there is no program.
std::vector<long> proved_cycles(const nlohmann::json& answer, const std::string& rule) {
  std::vector<long> cycles;
  for (const auto& point : answer["points"]) {
    if (point["operands"] != rule) continue;
    const bool impossible = point["verdict"] == "impossible";
    if (!impossible) {
      CHECK(point["verdict"] == "optimal");
      CHECK(point["at_least_cycles"] == point["at_most_cycles"]);
    }
    cycles.push_back(impossible ? -1 : point["at_least_cycles"].get<long>());
  }
  return cycles;
}

std::size_t times_in(const std::string& text, const std::string& word) {
  std::size_t times = 0;
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; ++at) ++times;
  return times;
}

/// Exit code 2, and nothing but a message with these words.
void optimal_refused(const std::string& arguments, const std::string& words) {
  CAPTURE(arguments);
  const Outcome outcome = flashlab("optimal " + arguments);
  CHECK(outcome.code == 2);
  CHECK(outcome.out.empty());
  CHECK_THAT(outcome.err, contains(words));
}

}  // namespace

TEST_CASE("optimal proves the best 2 x 2 products with 2 to 8 registers under both rules") {
  const auto answer = json_of(flashlab("optimal 2x2x2 --operands both --json"));
  CHECK(proved_cycles(answer, "any") == std::vector<long>{-1, 25, 22, 21, 20, 20, 20});
  CHECK(proved_cycles(answer, "pinned") == std::vector<long>{-1, 25, 23, 23, 22, 22, 22});
}

TEST_CASE("the table of optimal has both rules side by side, and a plot below") {
  const Outcome table = flashlab("optimal 2x2x2 --operands both");
  CHECK(table.code == 0);
  CHECK(table.err.empty());
  CHECK_THAT(table.out, contains("3           25      13   optimal               25      13"));
  CHECK_THAT(table.out, contains("2            -       -   impossible             -       -"));
  CHECK_THAT(table.out, contains("* any   + pinned"));
  CHECK(widest_line(table.out) <= 80);
  const std::string bare = flashlab("optimal 2x2x2 --operands both --no-plot").out;
  CHECK(table.out.starts_with(bare));
  CHECK(bare.find("* any") == std::string::npos);
}

TEST_CASE("the frontier as a picture has a line for each rule, and says its figures in words") {
  const Workplace place;
  REQUIRE(place.shell("flashlab optimal 2x2x2 --operands both --svg f.svg").code == 0);
  const std::string picture = place.read("f.svg");
  CHECK(picture.starts_with("<svg"));
  CHECK_THAT(picture, contains("Operands any: impossible with 2 registers, 25 with 3 registers, 22 "
                               "with 4 registers"));
  CHECK_THAT(picture, contains("operands pinned"));
  CHECK(times_in(picture, "<polyline") >= 2);
  CHECK_THAT(picture, contains("proved impossible"));
}

TEST_CASE("a picture shows what is not proved as bounds") {
  const Workplace place;
  REQUIRE(
      place.shell("flashlab optimal 4x3x3 --registers 5..6 --most-bytes 3MB --svg f.svg").code ==
      0);
  const std::string picture = place.read("f.svg");
  CHECK_THAT(picture, contains("hollow: the best known"));
  CHECK_THAT(picture, contains("between "));
  CHECK(place.shell("flashlab optimal 2x2x2 --svg no/such/folder.svg").code == 2);
}

TEST_CASE("what optimal prints without --times is the same each time") {
  const std::string command = "optimal 2x2x2 --registers 3..5";
  const std::string first = flashlab(command).out;
  CHECK(first == flashlab(command).out);
  CHECK(first.find("seconds") == std::string::npos);
  CHECK_THAT(flashlab(command + " --times").out, contains("seconds"));
}

TEST_CASE("one number of registers gets a verdict in words and the program") {
  const Outcome proved = flashlab("optimal 2x2x2 --registers 6");
  CHECK(proved.code == 0);
  CHECK_THAT(proved.out, contains("20 cycles, proved optimal: 8 loads, 4 stores, 8 products"));
  CHECK_THAT(proved.out, contains(".registers 6\n"));
  CHECK(times_in(proved.out, "\nLOAD ") == 8);
}

TEST_CASE("the program that optimal writes runs and costs what was promised") {
  const std::string machine =
      GENERATE("2x2x2 --registers 5 --operands any", "2x2x2 --registers 4 --operands pinned",
               "dot:3 --registers 3", "softmax:2 --registers 3", "sum:4 --registers 2",
               "max:3 --registers 2", "2x2x2 --registers 3 --spills --cost LOAD=5");
  CAPTURE(machine);
  const Workplace place;
  const std::string command = "flashlab optimal " + machine;
  CHECK(place.shell(command + " --witness best.toy").code == 0);
  const auto promised = json_of(place.shell(command + " --json"))["points"][0];
  CHECK(promised["program"] == place.read("best.toy"));
  const std::string cost = machine.find("--cost") == std::string::npos
                               ? ""
                               : " " + machine.substr(machine.find("--cost"));
  const auto run = json_of(place.shell("flashlab run best.toy --json" + cost));
  CHECK(run["loads"] == promised["loads"]);
  CHECK(run["stores"] == promised["stores"]);
  CHECK(run["cycles"] == promised["at_least_cycles"]);
}

TEST_CASE("the program goes alone to standard output when --witness asks for it there") {
  const Workplace place;
  const Outcome run =
      place.shell("flashlab optimal 2x2x2 --registers 4 --witness - | flashlab run - --no-outputs");
  CHECK(run.code == 0);
  CHECK_THAT(run.out, contains("22"));
  CHECK_THAT(run.err, contains("proved optimal"));
}

TEST_CASE("two registers are proved to be too few for a product") {
  const std::string rule = GENERATE("any", "pinned");
  const Outcome two = flashlab("optimal 2x2x2 --registers 2 --operands " + rule);
  CHECK(two.code == 0);
  CHECK_THAT(two.out, contains("proved impossible with 2 registers"));
  CHECK(two.out.find("optimal:") == std::string::npos);
  const Outcome nothing = flashlab("optimal 2x2x2 --registers 2 --witness best.toy");
  CHECK(nothing.code == 2);
  CHECK_THAT(nothing.err, contains("there is no program to write"));
}

TEST_CASE("a search that did not finish gives bounds and never says optimal") {
  const std::string machine = GENERATE("--registers 6", "--registers 6..7");
  const std::string limit = GENERATE("--most-seconds 0", "--most-bytes 1MB");
  const Outcome bounded = flashlab("optimal 3x3x3 " + machine + " " + limit);
  CHECK(bounded.code == 0);
  CHECK(bounded.out.find("ptimal") == std::string::npos);
  CHECK_THAT(bounded.out, contains("not proved"));
  const auto point =
      json_of(flashlab("optimal 3x3x3 " + machine + " " + limit + " --json"))["points"][0];
  CHECK(point["verdict"] == "bounded");
  CHECK(point["at_least_cycles"] >= 27 + 9 + 18);  // products, stores, each input once
  CHECK((point["at_most_cycles"].is_null() || point["at_most_cycles"] >= 61));
}

TEST_CASE("a long search says how far it is, and an interrupt ends it with what is known") {
  const Workplace workplace;  // minutes, if nobody interrupted; job control, or SIGINT is ignored
  const Outcome stopped = workplace.shell(
      "set -m\nflashlab optimal 3x3x3 --operands pinned --registers 10,11 --most-seconds 600 "
      "> out 2> err &\n"
      "until grep -q ' states, ' err; do sleep 0.1; done\nkill -INT -$!\nwait $!");
  CHECK(stopped.code == 130);
  CHECK_THAT(workplace.read("err"), contains("flashlab: 10 registers, operands pinned: "));
  CHECK_THAT(workplace.read("out"), contains("not proved"));
  CHECK(workplace.read("out").find("         11") == std::string::npos);  // never begun
}

TEST_CASE("the number of jobs changes nothing that optimal prints") {
  const std::string machine = GENERATE("3x2x3 --registers 4", "2x2x2 --operands both");
  const Outcome one = flashlab("optimal --jobs 1 " + machine);
  CHECK(one.code == 0);
  CHECK(flashlab("optimal --jobs 3 " + machine).out == one.out);
}

TEST_CASE("a search that was ended goes on from its checkpoint to the same answer") {
  const Workplace place;
  const std::string command = "flashlab optimal 3x3x3 --operands pinned --registers 4 --json";
  const auto whole = json_of(place.shell(command));
  REQUIRE(whole["points"][0]["verdict"] == "optimal");
  const auto ended = json_of(place.shell(command + " --checkpoint part --most-bytes 6MB"));
  CHECK(ended["points"][0]["verdict"] == "bounded");
  REQUIRE(std::filesystem::exists(place.path("part")));
  const auto gone_on = json_of(place.shell(command + " --checkpoint part"));
  for (const char* field : {"verdict", "at_least_cycles", "at_most_cycles", "states", "program"}) {
    CAPTURE(field);
    CHECK(gone_on["points"][0][field] == whole["points"][0][field]);
  }
  CHECK_FALSE(std::filesystem::exists(place.path("part")));
}

TEST_CASE("a checkpoint that is cut off or another search's is refused, and is left as it was") {
  const Workplace place;
  const std::string command = "flashlab optimal 3x3x3 --operands pinned --checkpoint part";
  REQUIRE(place.shell(command + " --registers 4 --most-bytes 6MB").code == 0);
  const std::string good = place.read("part");
  REQUIRE(good.size() > 1000);
  const Outcome other = place.shell(command + " --registers 5");
  CHECK(other.code == 2);
  CHECK_THAT(other.err, contains("part is the checkpoint of another search"));
  CHECK(place.read("part") == good);
  place.write("part", good.substr(0, good.size() / 2));
  const Outcome cut_off = place.shell(command + " --registers 4");
  CHECK(cut_off.code == 2);
  CHECK_THAT(cut_off.err, contains("part"));
  CHECK(cut_off.out.empty());
  CHECK(place.read("part").size() == good.size() / 2);
}

TEST_CASE("other costs have another best program") {
  const std::string machine = "optimal 2x2x2 --registers 3 --json --cost LOAD=5";
  const auto plain = json_of(flashlab(machine))["points"][0];
  CHECK(plain["at_least_cycles"] == 13 * 5 + 8 + 4);
  const auto spilling = json_of(flashlab(machine + " --spills"))["points"][0];
  CHECK(spilling["at_least_cycles"] == 12 * 5 + 8 + 6);
}

TEST_CASE("what optimal cannot solve is refused with what it can") {
  optimal_refused("2x2x2 --svg -", "expected a file");
  optimal_refused("4x4x4", "at most 64 together");
  optimal_refused("3x3x4 --spills", "at most 64 together");
  optimal_refused("99999x99999x99999", "at most 64 together");
  optimal_refused("2x2", "2x2x2 (rows x inner x columns)");
  optimal_refused("0x2x2", "sizes from 1");
  optimal_refused("softmax:9", "2 to 5 elements");
  optimal_refused("sum:1", "2 to 8 elements");
  optimal_refused("2x2x2 --registers 0", "1 to 64");
  optimal_refused("max:3 --registers 17", "1 to 16");
  optimal_refused("2x2x2 --registers 3-5", "'3-5'");
  optimal_refused("2x2x2 --most-bytes many", "'many' is not a size");
  optimal_refused("2x2x2 --cost LAOD=3", "did you mean LOAD");
}

TEST_CASE("flags of optimal that do not go together are refused") {
  const auto refused = [](const std::string& arguments, const std::string& words) {
    CAPTURE(arguments);
    const Outcome outcome = flashlab("optimal " + arguments);
    CHECK(outcome.code == 2);
    CHECK_THAT(outcome.err, contains(words));
  };
  refused("sum:4 --operands both", "--operands both does not apply to 'sum:4'");
  refused("sum:4 --spills", "--spills does not apply");
  refused("2x2x2 --witness best.toy", "several are requested");
  refused("2x2x2 --registers 4 --operands both --witness best.toy", "several are requested");
  refused("2x2x2 --registers 4 --json --witness -", "both write to standard output");
}

TEST_CASE("values in between stand in DRAM when optimal may put them there") {
  const std::string machine = "optimal softmax:3 --registers 3";
  const Outcome without = flashlab(machine), with = flashlab(machine + " --scratch 1");
  CHECK_THAT(without.out, contains("3 registers, only results are stored"));
  CHECK_THAT(without.out, contains("26 cycles, proved optimal"));
  CHECK_THAT(with.out, contains("3 registers, 1 cell of DRAM for values in between"));
  CHECK_THAT(with.out, contains(".temp   t[1]"));
  const auto answer = json_of(flashlab(machine + " --scratch 1 --json"));
  CHECK(answer["scratch_cells"] == 1);
  CHECK(answer["scratch_in_outputs"] == false);
  CHECK_THAT(answer["command"].get<std::string>(), contains("--scratch 1"));
  CHECK(answer["points"][0]["at_most_cycles"] < 26);
}

TEST_CASE("an exercise's results' cells hold other values first, unless --scratch 0 is asked for") {
  const std::string exercise = "optimal --exercise 06 --size n=2";
  CHECK_THAT(flashlab(exercise).out,
             contains("3 registers, cells of results may hold other values first"));
  CHECK_THAT(flashlab(exercise + " --scratch 0").out, contains("only results are stored"));
  const auto answer = json_of(flashlab(exercise + " --json"));
  CHECK(answer["scratch_cells"] == 2);
  CHECK(answer["scratch_in_outputs"] == true);
  CHECK(flashlab(exercise + " --scratch 0 --count").code == 0);
}

TEST_CASE("what scratch cells do not go with is refused") {
  optimal_refused("2x2x2 --scratch 2", "--scratch does not apply to '2x2x2'");
  optimal_refused("softmax:2 --scratch 9", "not in range 0 to 8");
  optimal_refused("softmax:2 --scratch 2 --count", "store nothing but results");
  optimal_refused("--exercise 06 --count", "--scratch 0, or no --count");
  optimal_refused("softmax:2 --along softmax_safe --scratch 2",
                  "--scratch does not go with --along");
  optimal_refused("--exercise 15 --size d=16", "18 cells of results may hold other values first");
}

TEST_CASE("the notes' products are as far from the best as the course says") {
  const auto best = [](const std::string& machine) {
    return json_of(flashlab("optimal 2x2x2 --json " + machine))["points"][0]["at_least_cycles"];
  };
  const auto cycles = [](const std::string& program) {
    return json_of(flashlab("run " + program + " --json"))["cycles"];
  };
  CHECK(cycles("matmul_inner") == best("--registers 3 --operands pinned"));
  CHECK(cycles("matmul_inner") == best("--registers 3 --operands any"));
  CHECK(cycles("matmul_outer") == best("--registers 6 --operands pinned"));
  CHECK(cycles("matmul_outer") == best("--registers 4 --operands any"));
  CHECK(cycles("matmul_outer") > best("--registers 6 --operands any"));
  CHECK(cycles("matmul_inner_6_registers") == best("--registers 6 --operands any"));
  CHECK(cycles("matmul_inner_6_registers") < best("--registers 5 --operands any"));
}

}  // namespace flashlab::test
