// Where output goes and what it looks like: streams, colour, width, files.
#include <nlohmann/json.hpp>

#include "tests/cli/command.hpp"

namespace flashlab::test {
namespace {

TEST_CASE("data goes to standard output, and a good run says nothing else") {
  for (const char* line :
       {"tour", "run matmul_c00", "trace matmul_c00", "timeline softmax_safe", "cost softmax_safe",
        "sweep softmax_safe -D n=1..4", "diff softmax_safe softmax_online", "isa", "programs",
        "programs matmul_c00", "--help", "--version", "help trace", "run --help"}) {
    CAPTURE(line);
    const Outcome outcome = flashlab(line);
    CHECK(outcome.code == 0);
    CHECK(outcome.err == "");
    CHECK(outcome.out != "");
  }
}

TEST_CASE("help begins with examples and names every command") {
  const std::string help = flashlab("--help").out;
  for (const char* name : {"tour", "run", "trace", "timeline", "picture", "cost", "sweep", "diff",
                           "isa", "programs", "attention", "next"}) {
    CAPTURE(name);
    CHECK_THAT(help, contains("\n  " + std::string(name) + " "));
    const std::string own = flashlab(std::string(name) + " --help").out;
    CHECK(own.find("Examples:") < own.find("Usage:"));
    CHECK(own.find("Usage:") != std::string::npos);
  }
}

TEST_CASE("tables fit the width that they are given") {
  for (const char* width : {"80", "140"}) {
    for (const char* line :
         {"tour", "run matmul_outer", "cost softmax_online",
          "sweep matmul_blocked --registers 3..9", "diff softmax_safe softmax_online",
          "diff matmul_inner matmul_outer", "isa", "programs", "trace softmax_online --body i",
          "timeline softmax_safe --cost LOAD=7", "timeline matmul_blocked --buffers 5"}) {
      CAPTURE(width, line);
      for (const char* letters : {" --ascii", " --unicode"}) {
        const Outcome outcome = flashlab(std::string(line) + " --width " + width + letters);
        CHECK(outcome.code == 0);
        CHECK(widest_line(outcome.out) <= std::stoul(width));
      }
    }
  }
}

TEST_CASE("a pipe gets neither colour nor Unicode unless they are asked for") {
  Workplace place;
  const auto is_ascii = [](const std::string& text) {
    return std::all_of(text.begin(), text.end(),
                       [](char c) { return c == '\n' || (c >= 32 && c < 127); });
  };
  CHECK(is_ascii(place.shell("flashlab tour").out));
  CHECK(is_ascii(place.shell("LANG=en_US.UTF-8 flashlab tour --ascii").out));
  CHECK_FALSE(is_ascii(place.shell("LANG=en_US.UTF-8 flashlab tour").out));
  CHECK_FALSE(is_ascii(place.shell("flashlab tour --unicode").out));
  const auto has_color = [&](const std::string& line) {
    return place.shell(line).out.find('\x1b') != std::string::npos;
  };
  CHECK_FALSE(has_color("flashlab tour"));
  CHECK(has_color("flashlab tour --color always"));
  CHECK(has_color("NO_COLOR=1 flashlab tour --color always"));
  CHECK(has_color("FORCE_COLOR=1 flashlab tour"));
  CHECK(has_color("CLICOLOR_FORCE=1 TERM=dumb flashlab tour"));
  CHECK_FALSE(has_color("FORCE_COLOR=0 flashlab tour"));
  CHECK_FALSE(has_color("FORCE_COLOR=1 NO_COLOR=1 flashlab tour"));
  CHECK_FALSE(has_color("FORCE_COLOR=1 flashlab tour --color never"));
}

TEST_CASE("a terminal gets colour unless NO_COLOR or TERM=dumb says otherwise") {
  Workplace place;
  if (place.shell("command -v script").code != 0) FLASHLAB_SKIP("there is no `script` here");
  if (place.shell("script -qec true /dev/null").code != 0) {
    FLASHLAB_SKIP("`script` gets no terminal here (is /dev/pts mounted?)");
  }
  const auto has_color = [&](const std::string& environment) {
    const Outcome outcome =
        place.shell(environment + " script -qec '" FLASHLAB_BINARY " run matmul_c00' /dev/null");
    CHECK_THAT(outcome.out, contains("matmul_c00"));
    return outcome.out.find('\x1b') != std::string::npos;
  };
  CHECK(has_color(""));
  CHECK(has_color("NO_COLOR="));
  CHECK_FALSE(has_color("NO_COLOR=1"));
  CHECK_FALSE(has_color("TERM=dumb"));
  CHECK_FALSE(has_color("CLICOLOR=0"));
  CHECK(has_color("CLICOLOR=1"));
}

TEST_CASE("a reader that has seen enough ends the command quietly") {
  const Outcome outcome = Workplace().shell(
      "flashlab trace softmax_safe -D n=100000 --json - | head -n 1; echo \"${PIPESTATUS[0]}\"");
  CHECK(outcome.err == "");
  CHECK(outcome.out.substr(outcome.out.size() - 2) == "0\n");
}

TEST_CASE("output that cannot be written is an error") {
  if (!std::filesystem::is_character_file("/dev/full")) FLASHLAB_SKIP("there is no /dev/full here");
  const Outcome outcome = Workplace().shell("flashlab run matmul_c00 > /dev/full");
  CHECK(outcome.code == 2);
  CHECK_THAT(outcome.err, contains("standard output cannot be written"));
  CHECK(Workplace().shell("flashlab trace matmul_c00 --json /dev/full").code == 2);
}

TEST_CASE("a file is written whole or not at all") {
  Workplace place;
  const Outcome good = place.shell("flashlab trace matmul_c00 --json t.json --html t.html; ls");
  CHECK(good.out == "script\nstderr\nstdout\nt.html\nt.json\n");
  CHECK_THAT(good.err, contains("wrote t.json"));
  const auto trace = nlohmann::json::parse(place.read("t.json"));
  CHECK(trace["flashlab"] == "trace");
  CHECK(trace["counters"]["cycles"] == 7);
  CHECK_THAT(place.read("t.html"), contains("</html>"));

  place.write("t.json", "before");
  CHECK(place.shell("flashlab trace softmax_safe --body q --json t.json").code == 2);
  CHECK(place.read("t.json") == "before");
  CHECK(place.shell("flashlab trace matmul_c00 --json no/t.json").code == 2);
  CHECK(place.shell("mkdir d; flashlab trace matmul_c00 --json d").code == 2);
}

TEST_CASE("Ctrl-C ends with 130 and leaves no half-written file") {
  Workplace place;
  const Outcome outcome = place.shell("'" FLASHLAB_BINARY
                                      "' trace softmax_safe -D n=50000000 --json t.json & pid=$!\n"
                                      "while ! ls t.json.* >/dev/null 2>&1; do sleep 0.05; done\n"
                                      "kill -INT $pid; wait $pid; code=$?; ls; exit $code");
  INFO(outcome.err);
  CHECK(outcome.code == 130);
  CHECK(outcome.out == "script\nstderr\nstdout\n");
}

}  // namespace
}  // namespace flashlab::test
