// What trace, cost, sweep, diff, isa, programs and tour say.
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/cli/command.hpp"
#include "text/lists.hpp"

namespace flashlab::test {
namespace {

TEST_CASE("trace prints the seven steps of c00") {
  const std::string out = flashlab("trace matmul_c00").out;
  CHECK_THAT(out, contains("MAC_Z R0, R1, R2"));
  CHECK_THAT(out, contains("a00*b00"));
  CHECK_THAT(out, contains("c00"));
  CHECK_THAT(out, contains("4 LOAD + 2 MAC + 1 STORE = 7 cycles"));
}

TEST_CASE("a check after which every exercise is done leads to the summary") {
  Workplace place;
  place.shell(
      "mkdir -p data/flashlab\n"
      "flashlab exercises list --json | grep -o '\"id\": \"[^\"]*' | cut -d'\"' -f4 |\n"
      "  sed 's/$/  full  points 10  checks 1  hints 0/' >data/flashlab/progress.txt\n"
      "cp " FLASHLAB_SOURCE_DIR
      "/exercises/12_online_variance/solution.toy 12_online_variance.toy");
  const Outcome check = place.shell("export XDG_DATA_HOME=$PWD/data; flashlab exercises check 12");
  CHECK(check.code == 0);
  CHECK_THAT(check.out, contains("Every exercise is done: flashlab exercises summary"));
}

TEST_CASE("trace names the flags that change nothing, in one line") {
  const Workplace place;
  const Outcome page = place.shell("flashlab trace matmul_c00 --html p.html --show R1");
  CHECK(page.code == 0);
  CHECK_THAT(page.err,
             contains("--show has no effect here: only the table in the terminal has it\n"));
  const Outcome json = place.shell("flashlab trace matmul_c00 --json t.json --labels --values");
  CHECK_THAT(json.err, contains("--values, --labels have no effect here: "));
  const Outcome both = flashlab("trace matmul_c00 --changes --ditto always");
  CHECK_THAT(both.err,
             contains("--ditto has no effect here: --changes shows what each step makes"));
  CHECK(both.out == flashlab("trace matmul_c00 --changes").out);
  CHECK_THAT(flashlab("trace flash2 --show M --ditto always").err,
             contains("--ditto has no effect"));
  CHECK(flashlab("trace matmul_c00 --changes").err.empty());
}

TEST_CASE("the line of parameters fits the terminal") {
  const Workplace place;
  const std::string out = place.shell("COLUMNS=40 flashlab trace flash2 --to 1").out;
  CHECK_THAT(out, contains("n = 8, d = 4, B = 2, Bd = 4, nk = 8,\nBk = 2, 10 registers\n"));
}

TEST_CASE("what diff says around its tables fits the terminal") {
  const Workplace place;
  for (const std::string pair : {"flash1 flash2", "softmax_safe softmax_online"}) {
    std::istringstream lines(
        place.shell("LC_ALL=C COLUMNS=60 flashlab diff " + pair + " --no-trace").out);
    for (std::string line; std::getline(lines, line);) {
      INFO(line);
      CHECK(line.size() <= 60);
    }
  }
}

TEST_CASE("trace --body prints the generic step with carried names") {
  const std::string out = flashlab("trace softmax_online --body i").out;
  CHECK_THAT(out, contains("LOAD x[i], R0"));
  CHECK_THAT(out, contains("e^(m - m')"));
}

TEST_CASE("a program that goes wrong is traced up to the wrong step") {
  Workplace place;
  place.write("bad.toy", ".registers 2\n.input x[2]\nLOAD x[0], R0\nMOV R1, R0\n");
  const Outcome table = place.shell("flashlab trace bad.toy --json t.json");
  CHECK(table.code == 1);
  CHECK_THAT(table.err, contains("bad.toy:4:"));
  const auto trace = nlohmann::json::parse(place.read("t.json"));
  CHECK(trace["steps"].size() == 1);
  CHECK(trace["complete"] == false);
}

TEST_CASE("cost gives formulas, their domain, and the numbers of an executed run") {
  const auto cost = json_of(flashlab("cost softmax_online -D n=100 --json"));
  CHECK(cost["formula"]["loads"] == "2n");
  CHECK(cost["formula"]["stores"] == "n");
  CHECK(cost["formula"]["cycles"] == "14n - 4");
  CHECK(cost["domain"] == "n >= 1");
  CHECK(cost["formula"]["by_pass"].size() == 2);
  const auto run = json_of(flashlab("run softmax_online -D n=100 --json"));
  for (const auto& [key, value] : cost["value"].items()) {
    CAPTURE(key);
    CHECK(run[key] == value);
  }
}

TEST_CASE("cost counts what no machine could run") {
  const auto small = json_of(flashlab("cost softmax_safe -D n=1000000000 --json"));
  CHECK(small["value"]["cycles"] == 10'999'999'999);
  const auto large = json_of(flashlab("cost matmul_naive -D m=1000000,n=1000000,k=1000000 --json"));
  CHECK(large["value"]["by_op"]["LOAD"] == "2000000000000000000");  // above 2^53: a string
}

TEST_CASE("sweep shows each value, also those that the program cannot have") {
  const Outcome text = flashlab("sweep matmul_blocked --registers 2..4");
  CHECK(text.code == 0);
  CHECK_THAT(text.err, contains("no counts for registers = 2"));
  const auto json = json_of(flashlab("sweep matmul_blocked --registers 3,7,13 --json"));
  CHECK(json["parameter"] == "registers");
  CHECK(json["points"].size() == 3);
  CHECK(json["points"][0]["loads"] > json["points"][1]["loads"]);
  const std::string csv = flashlab("sweep softmax_safe -D n=8..64*2 --csv").out;
  CHECK_THAT(csv, contains("n,steps,cycles,loads"));
  CHECK_THAT(csv, contains("\n64,703,703,192,"));
}

TEST_CASE("diff prints the course's comparison and where the two cross") {
  const std::string text = flashlab("diff softmax_safe softmax_online").out;
  for (const char* part : {"3n", "2n", "11n - 1", "14n - 4", "SUB, EXP, ADD", "4 - 3/n", "3.25"}) {
    CAPTURE(part);
    CHECK_THAT(text, contains(part));
  }
  const auto json = json_of(flashlab("diff softmax_safe softmax_online --json"));
  CHECK(json["crossing"]["formula"][0] == "4 - 3/n");
  CHECK(json["crossing"]["value"] == 3.25);
  CHECK(json["difference"]["loads"] == -4);
}

TEST_CASE("commands for learners have short names") {
  const Outcome shortly = flashlab("check no_such_exercise"),
                whole = flashlab("exercises check no_such_exercise");
  CHECK(shortly.code == 2);
  CHECK(shortly.err == whole.err);
  CHECK(flashlab("hint --help").out == flashlab("exercises hint --help").out);
  CHECK(flashlab("help watch").out == flashlab("exercises watch --help").out);
  CHECK(flashlab("start --to").code == 2);
}

TEST_CASE("trace --show names registers of the program, alone or a whole row of them") {
  const std::string text = flashlab("trace flash2 --show S,O --to 9 --width 90").out;
  CHECK_THAT(text, contains("| S ") && contains("| O[0]\n"));
  CHECK(flashlab("trace flash2 --show 'S, O,S' --to 9 --width 90").out == text);
  const Outcome outcome = flashlab("trace flash2 --show S,Q[1]");
  CHECK(outcome.code == 2);
  CHECK(outcome.err ==
        "flashlab: error: --show 'S,Q[1]': there is no register 'Q[1]'\n"
        "  expected some of Q[0], O[0], M, L, S, P, K, V, A, X\n"
        "  did you mean Q[0]?\n");
}

TEST_CASE("diff puts small traces side by side where the terminal is wide enough") {
  const std::string wide = flashlab("diff matmul_inner matmul_outer --width 140").out;
  CHECK_THAT(wide, contains("matmul_inner                                         matmul_outer"));
  CHECK_THAT(flashlab("diff matmul_inner matmul_outer --no-trace").out, !contains("Step"));
}

TEST_CASE("isa prints the same rows in every form") {
  const auto rows = json_of(flashlab("isa --json"));
  const std::string text = flashlab("isa --width 100").out,
                    markdown = flashlab("isa --markdown").out;
  const auto grammar = json_of(flashlab("isa --textmate"));
  CHECK(grammar["scopeName"] == "source.flashlab");
  for (const auto& row : rows) {
    const std::string syntax =
        row["mnemonic"].get<std::string>() + " " + row["operands"].get<std::string>();
    CAPTURE(syntax);
    CHECK_THAT(text, contains(syntax));
    CHECK_THAT(markdown, contains("`" + syntax + "`"));
    CHECK_THAT(grammar.dump(), contains(row["mnemonic"].get<std::string>()));
  }
  CHECK(json_of(flashlab("isa --level matmul --json")).size() == 4);
}

TEST_CASE("programs lists what run takes, and prints their texts") {
  for (const auto& program : json_of(flashlab("programs --json"))) {
    const std::string name = program["name"];
    CAPTURE(name);
    CHECK(program["title"] != "");
    CHECK(flashlab("run " + name + " --no-outputs").code == 0);
    CHECK_THAT(flashlab("programs " + name).out, contains(program["title"].get<std::string>()));
  }
}

TEST_CASE("the tour shows the counts of the course") {
  const std::string tour = flashlab("tour").out;
  for (const char* part : {"= 7 cycles", "432 loads", "matmul_blocked costs less",
                           "Online max and sum; Normalize", "did you mean LOAD?"}) {
    CAPTURE(part);
    CHECK_THAT(tour, contains(part));
  }
}

TEST_CASE("the tour shows no program and no count that an exercise asks for later") {
  const std::string tour = flashlab("tour").out;
  for (const char* answer : {"MAX R1", "EXP", "14n - 4", "11n - 1", "3n", " 22 ", " 28 ", " 25 "}) {
    CAPTURE(answer);
    CHECK_THAT(tour, !contains(answer));
  }
}

TEST_CASE("no line of the tour is wider than 80 columns, and its commands are not broken") {
  const std::string tour = flashlab("tour --width 80").out;
  CHECK(widest_line(tour) <= 80);
  const std::string narrow = flashlab("tour --width 40").out;
  for (const char* command :
       {"flashlab read 1", "flashlab next", "flashlab trace softmax_safe --html s.html",
        "flashlab sweep matmul_blocked --registers 3..30",
        "flashlab programs softmax_safe > my.toy"}) {
    CAPTURE(command);
    CHECK_THAT(tour, contains("\n  " + std::string(command)));
    CHECK_THAT(narrow, contains("\n  " + std::string(command) + "\n"));
  }
  CHECK(tour.ends_with("Now begin: flashlab next\n"));
}

TEST_CASE("every command that the tour shows works as it is printed") {
  const Workplace place;
  const std::string tour = place.shell("flashlab tour").out;
  std::size_t commands = 0;
  for (const std::string_view line : split_at(tour, '\n')) {
    std::string_view command = line;
    if (command.starts_with("$ ")) command.remove_prefix(2);
    command = trimmed(command);
    if (!command.starts_with("flashlab ")) continue;
    const std::string typed(command.substr(0, command.find("   ")));
    CAPTURE(typed);
    CHECK(place.shell("export HOME=$PWD\n" + typed.substr(0, typed.find("  "))).code == 0);
    ++commands;
  }
  CHECK(commands == 12);
}

}  // namespace
}  // namespace flashlab::test
