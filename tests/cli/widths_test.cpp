// What commands print fits the window that they are told of, and no name in it is broken.
#include <filesystem>
#include <set>
#include <sstream>

#include "cli/terminal/command_lines.hpp"
#include "tests/cli/command.hpp"
#include "tests/source_files.hpp"
#include "text/width.hpp"

namespace flashlab::test {
namespace {

/// A learner's folder: some exercises done, with hints and solutions seen, and a costly program.
void prepare(const Workplace& place) {
  place.shell("mkdir -p data/flashlab");
  place.write("data/flashlab/progress.txt",
              "current: 08_online_softmax\n"
              "02_c00 full points 10 checks 3 hints 2\n"
              "14_passes_and_memory passed points 9.5 checks 12 hints 3 solution seen\n"
              "08_online_softmax started points 0 checks 2 hints 3\n");
  std::filesystem::copy_file(kSourceRoot / "docs/examples/class/fatou.toy",
                             place.path("08_online_softmax.toy"));
}

Outcome in_window(const Workplace& place, const std::string& command, const std::string& width) {
  return place.shell("export XDG_DATA_HOME=$PWD/data; flashlab " + command + " --width " + width +
                     " --unicode 2>errors.txt");
}

/// The words of a text, without rules and what ends a line that goes on.
std::set<std::string> printed_words(std::string text) {
  for (char& letter : text) {
    if (letter == '/') letter = ' ';  // where paths may be broken
  }
  for (std::size_t at; (at = text.find("·")) != std::string::npos;) text.replace(at, 2, " ");
  std::istringstream stream(text);
  std::set<std::string> words;
  for (std::string word; stream >> word;) {
    if (!word.starts_with("─") && word != "\\") words.insert(word);
  }
  return words;
}

}  // namespace

TEST_CASE("no output is wider than its window") {
  const Workplace place;
  prepare(place);
  for (const char* command : {"exercises list",
                              "exercises show 14",
                              "exercises show 36",
                              "exercises show 40",
                              "exercises hint 3",
                              "exercises check",
                              "exercises check --explain",
                              "exercises summary",
                              "run naive",
                              "run bwd_naive --no-outputs",
                              "run ring_causal --no-outputs",
                              "trace flash2 --to 30",
                              "trace softmax_online",
                              "timeline flash2",
                              "timeline ring_causal",
                              "sweep flash2 -D n=8..64*2",
                              "sweep matmul_blocked --registers 3..40",
                              "diff flash1 flash2",
                              "diff softmax_safe softmax_online",
                              "isa",
                              "programs",
                              "tables passes",
                              "optimal 2x2x2",
                              "gpu flash2 --plan",
                              "gpu bwd_onepass --plan",
                              "read glossary",
                              "read index",
                              "compare --show times --measured h200",
                              "compare --show bytes --measured h200",
                              "compare --show models --measured h200"}) {
    for (const std::string width : {"60", "80", "120"}) {
      INFO(command << " at " << width);
      const Outcome outcome = in_window(place, command, width);
      CHECK(outcome.code == 0);
      CHECK(outcome.out != "");
      CHECK(widest_line(outcome.out) <= std::stoul(width));
    }
  }
}

TEST_CASE("a narrow window breaks lines between words, and no name") {
  const Workplace place;
  prepare(place);
  for (const char* command :
       {"exercises list", "exercises show 36", "exercises check --explain", "programs",
        "run bwd_naive --no-outputs", "diff flash1 flash2", "isa", "gpu flash2 --plan"}) {
    const std::set<std::string> words = printed_words(in_window(place, command, "500").out);
    for (const std::string width : {"60", "80", "120"}) {
      for (const std::string& word : printed_words(in_window(place, command, width).out)) {
        INFO(command << " at " << width << ": " << word);
        const bool is_number = word.find_first_not_of("0123456789") == std::string::npos;
        CHECK((is_number || words.contains(word)));  // in a narrow list: of an exercise
      }
    }
  }
}

TEST_CASE("a value stays beside its name, and a quotient is not broken") {
  for (const std::string& line : wrap("at B = 1, Bd = 1, Bk = 1, d = 4, n = 3, nk = 5", 39)) {
    INFO(line);
    CHECK_FALSE(line.ends_with("="));
    CHECK_FALSE(line.starts_with("="));
    CHECK_FALSE(line.ends_with("nk"));
  }
  CHECK(wrap("a = bbbbbb", 5) == std::vector<std::string>{"a =", "bbbbb", "b"});  // no other place
  CHECK(wrap("a + ⌈(n + 1)/B⌉", 11) == std::vector<std::string>{"a +", "⌈(n + 1)/B⌉"});
  CHECK(wrap("a + ceil((n + 1)/B)", 16) == std::vector<std::string>{"a +", "ceil((n + 1)/B)"});
  CHECK(wrap("⌈d/Bd⌉·⌈n/B⌉·⌈nk/Bk⌉", 16) == std::vector<std::string>{"⌈d/Bd⌉·⌈n/B⌉·", "⌈nk/Bk⌉"});
  CHECK(wrap("docs/results/red_team.json", 16) ==
        std::vector<std::string>{"docs/results/", "red_team.json"});
}

TEST_CASE("a command in a narrow window is on lines of its own that can be copied") {
  const cli::Terminal terminal{40, false, false};
  CHECK(cli::fitted_lines("Next: flashlab exercises start 02\n", terminal) ==
        "Next: flashlab exercises start 02\n");
  CHECK(cli::fitted_lines("It may cost less: flashlab exercises hint 8\n", terminal) ==
        "It may cost less:\n  flashlab exercises hint 8\n");
  CHECK(cli::fitted_lines(
            "  Step by step: flashlab optimal --exercise 06 --size n=3 --along mine.toy\n",
            terminal) ==
        "  Step by step:\n"
        "    flashlab optimal --exercise 06 \\\n"
        "      --size n=3 --along mine.toy\n");
  CHECK(cli::fitted_lines("words that are more than forty columns wide\nand more\n", terminal) ==
        "words that are more than forty columns\nwide\nand more\n");
}

}  // namespace flashlab::test
