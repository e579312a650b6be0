// `exercises watch` on a terminal.
#include "tests/cli/command.hpp"
#include "tests/cli/editors/pseudo_terminal.hpp"
#include "tests/source_files.hpp"

namespace flashlab::test {

TEST_CASE("watch clears the screen for each verdict, and its keys stay in the last line",
          "[watch]") {
  const Workplace place;
  place.write("02_c00.toy", ".isa matmul\n");
  setenv("XDG_DATA_HOME", place.path("data").c_str(), 1);
  PseudoTerminal terminal(24, 80, {"exercises", "watch", place.path("02_c00.toy").string()});
  unsetenv("XDG_DATA_HOME");
  if (!terminal.is_possible()) FLASHLAB_SKIP("there are no pseudo-terminals");
  const std::string keys = "h hint, n next, Enter checks again, q quit";
  CHECK_THAT(terminal.output_with(keys, 1), contains("\x1b[H\x1b[2JWatching "));
  place.write("02_c00.toy", ".isa matmul\n; again\n");
  terminal.output_with(keys, 2);
  terminal.type("h");
  const std::string shown = terminal.output_with(keys, 3);
  const auto page = shown.rfind("\x1b[H\x1b[2J");
  REQUIRE(page != std::string::npos);
  CHECK(page > shown.find(keys));  // the second verdict has a screen of its own
  CHECK_THAT(shown.substr(page), contains("02_c00") && contains("Hint 1"));
  terminal.type("q");
  CHECK(terminal.exit_code() == 0);
}

TEST_CASE("in watch, one key leads from a wrong answer to its guilty step and back", "[watch]") {
  const Workplace place;
  place.write("08_online_softmax.toy",
              read_source(kSourceRoot / "exercises/08_online_softmax/wrong/sum_not_rescaled.toy"));
  setenv("XDG_DATA_HOME", place.path("data").c_str(), 1);
  PseudoTerminal terminal(24, 80,
                          {"exercises", "watch", place.path("08_online_softmax.toy").string()});
  unsetenv("XDG_DATA_HOME");
  if (!terminal.is_possible()) FLASHLAB_SKIP("there are no pseudo-terminals");
  const std::string keys = "h hint, d debug, n next, Enter checks again, q quit";
  terminal.output_with(keys, 1);
  terminal.type("d");
  CHECK_THAT(terminal.output_with("step 11 of 22", 1), contains("line 20: ADD R2, R0, R2"));
  terminal.type("q");
  terminal.output_with(keys, 2);
  terminal.type("q");
  CHECK(terminal.exit_code() == 0);
}

}  // namespace flashlab::test
