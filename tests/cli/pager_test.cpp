// Long output goes through a pager on a terminal, and nowhere else.
#include <algorithm>
#include <vector>

#include "tests/cli/command.hpp"

namespace flashlab::test {
namespace {

/// A place where commands run on a terminal of 24 rows and 80 columns.
class OnTerminal : public Workplace {
 public:
  /// Returns nothing if no terminal can be made here.
  static bool is_possible() { return Workplace().shell("script -qec true /dev/null").code == 0; }
  /// `environment` is set for the command: "PAGER=more".
  Outcome on_terminal(const std::string& environment, const std::string& arguments) const {
    write("line.sh", "stty rows 24 cols 80\nexport HOME=$PWD TERM=xterm " + environment + "\n" +
                         FLASHLAB_BINARY " " + arguments + "\n");
    return shell("script -qec 'sh line.sh' /dev/null </dev/null");
  }
  bool paged() const { return std::filesystem::exists(path("paged")); }
};

constexpr const char* kCatcher = "PAGER='cat > paged'";

std::ptrdiff_t printed_rows(const std::string& text) {
  return std::count(text.begin(), text.end(), '\n');
}

}  // namespace

TEST_CASE("output longer than the window goes through the pager, all of it", "[pager]") {
  if (!OnTerminal::is_possible()) FLASHLAB_SKIP("`script` gets no terminal here");
  const OnTerminal place;
  const Outcome outcome = place.on_terminal(kCatcher, "exercises list --color never");
  REQUIRE(place.paged());
  CHECK(outcome.out.empty());
  CHECK(place.read("paged") == place.shell("HOME=$PWD flashlab exercises list").out);
}

TEST_CASE("help goes through the pager, too", "[pager]") {
  if (!OnTerminal::is_possible()) FLASHLAB_SKIP("`script` gets no terminal here");
  const OnTerminal place;
  place.on_terminal(kCatcher, "trace --help");
  REQUIRE(place.paged());
  CHECK(place.read("paged") == place.shell("flashlab trace --help").out);
}

TEST_CASE("output that fits into the window is printed as it is", "[pager]") {
  if (!OnTerminal::is_possible()) FLASHLAB_SKIP("`script` gets no terminal here");
  const OnTerminal place;
  CHECK_THAT(place.on_terminal(kCatcher, "").out, contains("flashlab tour"));
  CHECK_FALSE(place.paged());
}

TEST_CASE("no pager is used if the user, the terminal or the output forbids it", "[pager]") {
  if (!OnTerminal::is_possible()) FLASHLAB_SKIP("`script` gets no terminal here");
  const OnTerminal place;
  const auto is_printed = [&](const std::string& environment, const std::string& arguments) {
    const Outcome outcome = place.on_terminal(environment, arguments);
    CHECK_THAT(outcome.out, contains("0 of 42 exercises done") && contains("03_full_product") &&
                                contains("Go on with: flashlab start"));
    return !place.paged();
  };
  CHECK(is_printed(kCatcher, "exercises list --no-pager"));
  CHECK(is_printed("PAGER=", "exercises list"));
  CHECK(is_printed("PAGER=cat", "exercises list"));
  CHECK(is_printed(std::string(kCatcher) + " TERM=dumb", "exercises list"));
  CHECK(is_printed(kCatcher, "exercises list | cat"));
}

TEST_CASE("a line that is wider than the window counts as the rows that it takes", "[pager]") {
  if (!OnTerminal::is_possible()) FLASHLAB_SKIP("`script` gets no terminal here");
  const OnTerminal place;
  const std::string high = std::string(kCatcher) + "; stty rows 40";
  place.on_terminal(high, "run matmul_c00 --width 200");
  CHECK_FALSE(place.paged());
  place.on_terminal(high + " cols 20", "run matmul_c00 --width 200");
  CHECK(place.paged());
}

TEST_CASE("an error comes after the output, when the pager has ended", "[pager]") {
  if (!OnTerminal::is_possible()) FLASHLAB_SKIP("`script` gets no terminal here");
  const OnTerminal place;
  const Outcome outcome = place.on_terminal("PAGER='cat > paged; echo pager ended'",
                                            "run softmax_safe -D n=64 --json /nowhere/x.json");
  CHECK(outcome.code == 2);
  CHECK_THAT(outcome.out, contains("/nowhere/x.json"));
  if (place.paged()) CHECK(outcome.out.find("pager ended") < outcome.out.find("/nowhere"));
}

TEST_CASE("the exit code is the command's own behind a pager", "[pager]") {
  if (!OnTerminal::is_possible()) FLASHLAB_SKIP("`script` gets no terminal here");
  const OnTerminal place;
  place.write("wrong.toy", "nonsense\n");
  const std::string window = std::string(kCatcher) + "; stty rows 3";
  CHECK(place.on_terminal(window, "exercises check 2 wrong.toy").code == 1);
  CHECK(place.paged());
}

TEST_CASE("what to do next is never more than a screen away, up to exercise 8", "[walk]") {
  constexpr std::ptrdiff_t kScreen = 24;
  const Workplace place;
  const auto call = [&](const std::string& arguments) {
    return place.shell("export HOME=$PWD; unset XDG_DATA_HOME; flashlab " + arguments);
  };
  CHECK_THAT(call("").out, contains("flashlab next"));
  std::vector<std::string> ids;
  for (const auto& entry : std::filesystem::directory_iterator(
           std::filesystem::path(FLASHLAB_SOURCE_DIR) / "exercises")) {
    const std::string name = entry.path().filename().string();
    if (name < "09" && name > "00") ids.push_back(name);
  }
  std::sort(ids.begin(), ids.end());
  REQUIRE(ids.size() == 8);
  for (const std::string& id : ids) {
    INFO(id);
    const std::string shown = call("next").out;
    CHECK(shown.ends_with("Go on with: flashlab check " + id + "\n"));
    CHECK_THAT(shown, contains("read           flashlab read "));
    const Outcome first = call("exercises check");
    if (first.code != 0) CHECK(first.out.ends_with("Stuck? flashlab hint " + id + "\n"));
    CHECK(printed_rows(first.out) < kScreen);
    CHECK(printed_rows(call("exercises hint").out) < kScreen);
    std::filesystem::copy_file(
        std::filesystem::path(FLASHLAB_SOURCE_DIR) / "exercises" / id / "solution.toy",
        place.path(id + ".toy"), std::filesystem::copy_options::overwrite_existing);
    const Outcome solved = call("exercises check");
    CHECK(solved.code == 0);
    CHECK(printed_rows(solved.out) < kScreen);
    CHECK_THAT(solved.out, contains("\nNext: flashlab start "));
    const bool ends_chapter = id.starts_with("05");
    CHECK(solved.out.ends_with("A new chapter: flashlab read 4\n") == ends_chapter);
    const std::string where = call("").out;
    CHECK(printed_rows(where) < kScreen);
    CHECK_THAT(where, contains("flashlab next "));
  }
}

}  // namespace flashlab::test
