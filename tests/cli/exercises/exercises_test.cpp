// The learner's path, through the built command, each learner with a home of its own.
#include <nlohmann/json.hpp>
#include <regex>

#include "tests/cli/command.hpp"

namespace {

using namespace flashlab::test;

/// Two exercises of our own, in a chapter before all others: 0000_solved, a demonstration, and
/// 0001_dot.
class Home {
  static inline const std::string kExports =
      "export HOME=\"$PWD/home\" FLASHLAB_EXERCISES=\"$PWD/own\"\nunset XDG_DATA_HOME\n";

 public:
  Home() {
    const std::filesystem::path exercise =
        std::filesystem::path(FLASHLAB_SOURCE_DIR) / "exercises/template";
    for (const char* id : {"0000_solved", "0001_dot"}) {
      std::filesystem::create_directories(place_.path("own") / id);
      std::filesystem::copy(exercise, place_.path("own") / id,
                            std::filesystem::copy_options::recursive);
    }
    const std::string toml =
        "chapter = \"docs/00_own.md\"\n" + place_.read("own/0001_dot/exercise.toml");
    place_.write("own/0000_solved/exercise.toml", "demo = true\n" + toml);
    place_.write("own/0001_dot/exercise.toml", toml);
    std::filesystem::remove(place_.path("own/0000_solved/starter.toy"));
  }

  Outcome shell(const std::string& line) const { return place_.shell(kExports + line); }
  int code_after_interrupt(const std::string& line) const {
    return place_.code_after_interrupt(kExports + line);
  }
  Outcome exercises(const std::string& arguments) const {
    return shell("flashlab exercises " + arguments);
  }
  void solve(const std::string& file = "0001_dot.toy") const {
    place_.write(file, place_.read("own/0001_dot/solution.toy"));
  }
  std::string progress() const { return place_.read("home/.local/share/flashlab/progress.txt"); }
  const Workplace& place() const { return place_; }

 private:
  Workplace place_;
};

nlohmann::json entry(const Home& home, const std::string& id) {
  for (const auto& row : json_of(home.exercises("list --json"))) {
    if (row["id"] == id) return row;
  }
  return {};
}

/// Starts to watch, changes the file by the shell line, and waits for the end.
Outcome watch(const Home& home, const std::string& flags, const std::string& change) {
  return home.shell(
      "flashlab exercises watch --once " + flags +
      " >seen 2>&1 &\n"
      "for i in $(seq 100); do grep -q 'hint 0001' seen && break; sleep 0.05; done\n" +
      change + "\nwait $!\ncode=$?\ncat seen\nexit $code");
}

}  // namespace

TEST_CASE("the first key presses lead from a demonstration to the next exercise") {
  const Home home;
  const Outcome start = home.exercises("start");
  CHECK(start.code == 0);
  CHECK_THAT(start.out, contains("solved already"));
  const Outcome check = home.exercises("check");
  CHECK(check.code == 0);
  CHECK_THAT(check.out, contains("full marks: 10 of 10 points"));
  CHECK_THAT(check.out, contains("Next: flashlab start 0001_dot"));
  CHECK_THAT(home.exercises("list").out, contains("Go on with: flashlab start 0001_dot"));
  CHECK(home.exercises("start").code == 0);
  CHECK(home.place().read("0001_dot.toy") == home.place().read("own/0001_dot/starter.toy"));
}

TEST_CASE("a wrong file exits with 1 and a right one with 0") {
  const Home home;
  REQUIRE(home.exercises("start 1").code == 0);
  const Outcome wrong = home.exercises("check");
  CHECK(wrong.code == 1);
  CHECK_THAT(wrong.out, contains("flashlab hint 0001_dot"));
  home.solve();
  CHECK(home.exercises("check 0001_dot.toy").code == 0);
  const auto row = entry(home, "0001_dot");
  CHECK(row["status"] == "full");
  CHECK(row["checks"] == 2);
  CHECK(row["points"] == 10);
  CHECK(row["file"] == std::filesystem::canonical(home.place().path("0001_dot.toy")).string());
}

TEST_CASE("the best result is kept when a later one is worse") {
  const Home home;
  home.solve();
  REQUIRE(home.exercises("check dot").code == 0);
  home.place().write("0001_dot.toy", "nonsense\n");
  const Outcome worse = home.exercises("check dot");
  CHECK(worse.code == 1);
  CHECK_THAT(worse.out, contains("Your best so far: 10 of 10 points."));
  CHECK(entry(home, "0001_dot")["status"] == "full");
}

TEST_CASE("start never writes over anything") {
  const Home home;
  home.place().write("0001_dot.toy", "mine");
  const Outcome outcome = home.exercises("start 1");
  CHECK(outcome.code == 0);  // `next` may have written it
  CHECK_THAT(outcome.out, contains("0001_dot.toy is there already, and stays as it is\n"));
  CHECK_THAT(outcome.out, contains("flashlab check 0001_dot 0001_dot.toy"));
  const Outcome named = home.exercises("start 1 --to 0001_dot.toy");
  CHECK(named.code == 2);
  CHECK_THAT(named.err, contains("is there already and stays as it is"));
  CHECK(home.place().read("0001_dot.toy") == "mine");
  CHECK(home.progress().empty());
  std::filesystem::create_symlink("nowhere.toy", home.place().path("link.toy"));
  CHECK(home.exercises("start 1 --to link.toy").code == 2);
  CHECK_FALSE(std::filesystem::exists(home.place().path("nowhere.toy")));
}

TEST_CASE("start writes where it is told to and check finds it again") {
  const Home home;
  REQUIRE(home.exercises("start 1 --to 'a b/'").code == 0);
  CHECK(std::filesystem::exists(home.place().path("a b/0001_dot.toy")));
  home.solve("a b/0001_dot.toy");
  CHECK(home.shell("cd home && flashlab exercises check").code == 0);
  REQUIRE(home.exercises("start 1 --to mine.toy").code == 0);
  CHECK(home.exercises("check mine.toy").code == 1);
  CHECK(home.exercises("start 1 --to no/such/file.toy").code == 2);
}

TEST_CASE("names that fit nothing are told so with a near miss") {
  const Home home;
  CHECK_THAT(home.exercises("show 0001_dto").err, contains("did you mean 0001_dot?"));
  CHECK_THAT(home.exercises("chekc").err, contains("did you mean check?"));
  CHECK_THAT(home.exercises("check --jsno").err, contains("did you mean --json?"));
  for (const char* arguments :
       {"show nothing", "start 999", "hint ''x", "check none.toy", "check 1", "check", "chekc",
        "check 1 2 3", "hint 1 --level 5", "reset", "reset nothing", "watch none.toy"}) {
    CAPTURE(arguments);
    const Outcome outcome = home.exercises(arguments);
    CHECK(outcome.code == 2);
    CHECK_THAT(outcome.err, contains("flashlab: error: "));
  }
  CHECK_THAT(home.exercises("check own").err, contains("there is no exercise 'own'"));
}

TEST_CASE("help reaches the commands of exercises in every usual way") {
  const Home home;
  for (const char* line : {"flashlab exercises check --help", "flashlab help exercises check",
                           "flashlab exercises help check"}) {
    CAPTURE(line);
    CHECK_THAT(home.shell(line).out, contains("Usage: flashlab exercises check [ID] [FILE]"));
  }
  CHECK_THAT(home.exercises("--help").out, contains("Usage: flashlab exercises COMMAND"));
  CHECK(home.exercises("--json").out == home.exercises("list --json").out);
}

TEST_CASE("hints come one at a time and the last one only when it is wanted") {
  const Home home;
  for (const char* name : {"Hint 1 of 4", "Hint 2 of 4", "Hint 3 of 4"}) {
    CHECK_THAT(home.exercises("hint 1").out, contains(name));
  }
  const Outcome refused = home.exercises("hint 1");
  CHECK(refused.code == 2);
  CHECK(refused.out.empty());
  CHECK(entry(home, "0001_dot")["hints"] == 3);
  CHECK_THAT(home.exercises("hint 1 --yes").out, contains("Hint 4 of 4"));
  CHECK(entry(home, "0001_dot")["hints"] == 4);
  CHECK_THAT(home.exercises("hint 1 --again").out, contains("Hint 2 of 4"));
  CHECK_THAT(home.exercises("hint 1 --level 2").out, !contains("Hint 1 of 4"));
}

TEST_CASE("the solution is shown after asking only") {
  const Home home;
  const Outcome refused = home.exercises("solution 1");
  CHECK(refused.code == 2);
  CHECK(refused.out.empty());
  CHECK(entry(home, "0001_dot")["solution_seen"] == false);
  const Outcome shown = home.exercises("solution 1 --yes");
  CHECK(shown.out == home.place().read("own/0001_dot/solution.toy"));
  CHECK(entry(home, "0001_dot")["solution_seen"] == true);
}

TEST_CASE("show tells the machine and what earns the points") {
  const Home home;
  const std::string text = home.exercises("show 1").out;
  for (const char* part : {"A dot product", "LOAD, STORE, MAC_Z, MAC", ".input x[n]", "n = 16",
                           "cycles <= 3n + 1", "flashlab start 0001_dot"}) {
    CHECK_THAT(text, contains(part));
  }
  CHECK(json_of(home.exercises("show 1 --json"))["full_marks"]["loads"] == "2n");
}

TEST_CASE("what the path prints fits narrow terminals and needs neither colour nor Unicode") {
  const Home home;
  REQUIRE(home.exercises("start 1").code == 0);
  for (const char* arguments : {"list", "show 1", "hint 1 --level 1", "check"}) {
    CAPTURE(arguments);
    const std::string wide = home.exercises(arguments).out;
    CHECK(widest_line(wide) <= 80);
    CHECK_THAT(wide, !contains("\x1b"));
    CHECK(std::all_of(wide.begin(), wide.end(),
                      [](char c) { return static_cast<unsigned char>(c) < 0x80 || c == '\n'; }));
  }
  CHECK_THAT(home.exercises("list --color always").out, contains("\x1b["));
  CHECK_THAT(home.shell("NO_COLOR=1 flashlab exercises list").out, !contains("\x1b"));
}

TEST_CASE("without a home everything works and nothing is remembered") {
  const Home home;
  const Outcome outcome = home.shell("unset HOME\nflashlab exercises start 1");
  CHECK(outcome.code == 0);
  CHECK_THAT(outcome.err, contains("neither HOME nor XDG_DATA_HOME names a folder"));
  CHECK(home.shell("unset HOME\nflashlab exercises check 1").code == 1);
  CHECK(home.shell("unset HOME\nflashlab exercises list").code == 0);
}

TEST_CASE("a damaged progress file is kept and said to be damaged") {
  const Home home;
  REQUIRE(home.exercises("start 1").code == 0);
  home.place().write("home/.local/share/flashlab/progress.txt", "my notes\n");
  const Outcome outcome = home.exercises("check 1");
  CHECK(outcome.code == 1);
  CHECK_THAT(outcome.err, contains("line 1 cannot be read"));
  CHECK_THAT(home.progress(), contains("my notes\n"));
}

TEST_CASE("reset forgets an exercise and leaves the file") {
  const Home home;
  REQUIRE(home.exercises("start 1").code == 0);
  CHECK(home.exercises("reset 1").code == 0);
  CHECK(entry(home, "0001_dot")["status"] == "open");
  CHECK(std::filesystem::exists(home.place().path("0001_dot.toy")));
}

TEST_CASE("watch checks a file that is saved in place, by a new name, and by looking") {
  const std::string place = "cp own/0001_dot/solution.toy 0001_dot.toy";
  const std::string rename = "cp own/0001_dot/solution.toy new && mv new 0001_dot.toy";
  for (const std::string& change : {place, rename}) {
    for (const char* flags : {"", "--poll"}) {
      CAPTURE(change, flags);
      const Home home;
      REQUIRE(home.exercises("start 1").code == 0);
      const Outcome outcome = watch(home, flags, change);
      CHECK(outcome.code == 0);
      CHECK_THAT(outcome.out, contains("full marks: 10 of 10 points"));
      CHECK_THAT(outcome.out, !contains("\x1b"));
      CHECK(entry(home, "0001_dot")["checks"] == 2);
    }
  }
}

TEST_CASE("a file that is missing or half saved does not end watch") {
  const Home home;
  REQUIRE(home.exercises("start 1").code == 0);
  const std::string until =
      "() { for i in $(seq 100); do grep -q \"$1\" seen && break; "
      "sleep 0.05; done; }\n";
  const Outcome outcome = watch(home, "",
                                "until_seen" + until +
                                    "rm 0001_dot.toy; until_seen 'there is no file'\n"
                                    ": > 0001_dot.toy; until_seen 'is empty'\n"
                                    "echo nonsense > 0001_dot.toy");
  CHECK(outcome.code == 1);
  CHECK_THAT(outcome.out, contains("there is no file '0001_dot.toy'"));
  CHECK_THAT(outcome.out, contains("is empty; waiting for the next save"));
}

TEST_CASE("watch ends with 130 when it is interrupted") {
  const Home home;
  REQUIRE(home.exercises("start 1").code == 0);
  CHECK(home.code_after_interrupt("exec flashlab exercises watch 1") == 130);
}

TEST_CASE("flashlab alone names the tour at first and then where the learner is", "[learner]") {
  const Home home;
  const Outcome at_first = home.shell("flashlab");
  CHECK(at_first.code == 0);
  CHECK(at_first.out.find("flashlab tour") < at_first.out.find("flashlab next"));
  const Outcome next = home.shell("flashlab next");
  CHECK(next.code == 0);
  const Outcome then = home.shell("flashlab");
  CHECK_THAT(then.out, contains("exercises are done"));
  CHECK_THAT(then.out, contains("You are at 0000_solved"));
  CHECK_THAT(then.out, contains("your file 0000_solved.toy"));
  CHECK(then.out.find("flashlab tour") == std::string::npos);
}

TEST_CASE("flashlab next writes the file once and shows the problem each time", "[learner]") {
  const Home home;
  CHECK_THAT(home.shell("flashlab next").out, contains("Wrote 0000_solved.toy"));
  const Outcome again = home.shell("flashlab next");
  CHECK(again.code == 0);
  CHECK(again.out.find("Wrote") == std::string::npos);
  CHECK_THAT(again.out, contains("Go on with: flashlab check 0000_solved"));
}

TEST_CASE("the cost of a right program takes ten lines, and --explain has the rest") {
  const Home home;
  REQUIRE(home.exercises("start 4").code == 0);
  home.shell("cp " FLASHLAB_SOURCE_DIR
             "/exercises/04_outer_product/naive.toy 04_outer_product.toy");
  const Outcome brief = home.exercises("check");
  CHECK(brief.code == 0);
  CHECK_THAT(brief.out, contains("right, but costly: 6 of 10 points"));
  CHECK_THAT(brief.out, contains("The cost earns 0 of 4 points: all at full marks, none at the "
                                 "cost of the naive"));
  CHECK_THAT(brief.out, contains("flashlab check 04 --explain"));
  CHECK_THAT(brief.out, !contains("Your order of operations"));
  const std::size_t begin = brief.out.find("\n  cost "), end = brief.out.find("It is right");
  REQUIRE(begin < end);
  CHECK(std::count(brief.out.begin() + static_cast<std::ptrdiff_t>(begin) + 1,
                   brief.out.begin() + static_cast<std::ptrdiff_t>(end), '\n') <= 10);
  const Outcome full = home.exercises("check --explain");
  CHECK_THAT(full.out, contains("Your order of operations allows 28 cycles"));
  CHECK_THAT(full.out, contains("flashlab optimal --exercise 04 --along "));
}

TEST_CASE("the step-by-step command that --explain prints works") {
  const Home home;
  REQUIRE(home.exercises("start 4").code == 0);
  home.shell("cp " FLASHLAB_SOURCE_DIR
             "/exercises/04_outer_product/naive.toy 04_outer_product.toy");
  const std::string full = home.exercises("check --explain").out;
  const std::size_t at = full.find("flashlab optimal --exercise");
  REQUIRE(at != std::string::npos);
  CHECK(home.shell(full.substr(at, full.find('\n', at) - at)).code == 0);
}

TEST_CASE("the summary shows programs beside the proven best, and answers after a pass") {
  const Home home;
  home.shell("cp " FLASHLAB_SOURCE_DIR
             "/exercises/12_online_variance/solution.toy "
             "12_online_variance.toy");
  CHECK_THAT(home.exercises("summary").out, !contains("0/0"));
  REQUIRE(home.exercises("check 12").code == 0);
  const std::string text = home.exercises("summary").out;
  CHECK_THAT(text, contains("1 of 44 exercises done, 10 of "));
  CHECK(std::regex_search(text, std::regex("12_online_variance +10/10 +800 +800")));
  CHECK_THAT(text, contains("0/0, which is not a number"));
  CHECK(widest_line(home.exercises("summary --width 80").out) <= 80);
  CHECK(home.exercises("summary --html page.html").code == 0);
  const std::string page = home.place().read("page.html");
  CHECK_THAT(page, contains("<!DOCTYPE html>"));
  CHECK_THAT(page, contains("0/0, which is not a number"));
  CHECK_THAT(page, contains(".output variance[1]"));
}

TEST_CASE("a program whose file is gone is left out of the summary, with its points") {
  const Home home;
  home.solve();
  REQUIRE(home.exercises("check dot").code == 0);
  std::filesystem::remove(home.place().path("0001_dot.toy"));
  const Outcome outcome = home.exercises("summary");
  CHECK(outcome.code == 0);
  CHECK(std::regex_search(outcome.out, std::regex("0001_dot +10/10 *\n")));
}

TEST_CASE("the summary shows a class's cycles with the learner's own among them") {
  const Home home;
  home.shell("mkdir class && cp " FLASHLAB_SOURCE_DIR
             "/exercises/04_outer_product/naive.toy class/ada.toy && cp " FLASHLAB_SOURCE_DIR
             "/exercises/04_outer_product/solution.toy class/ben.toy && cp class/ada.toy "
             "04_outer_product.toy");
  REQUIRE(home.shell("flashlab grade 04 --all class --json class.json").code == 0);
  REQUIRE(home.exercises("check 04").code == 0);
  const std::string text = home.exercises("summary --class class.json").out;
  CHECK_THAT(text, contains("Students by cycles"));
  CHECK(std::regex_search(text, std::regex("28 \\|#+ 1 +[A-Z]*Y\n")));
  CHECK_THAT(text, contains("Y yours"));
  REQUIRE(home.exercises("summary --class class.json --html page.html").code == 0);
  CHECK_THAT(home.place().read("page.html"), contains("aria-label=\"Students by cycles\""));
}

TEST_CASE("a file that is no class's report is refused with the reason") {
  const Home home;
  const auto refused = [&](const std::string& text) {
    home.place().write("class.json", text);
    const Outcome outcome = home.exercises("summary --class class.json");
    CHECK(outcome.code == 2);
    CHECK_THAT(outcome.err, contains("class.json"));
    return outcome.err;
  };
  CHECK_THAT(refused("nonsense"), contains("it is not JSON from byte"));
  CHECK_THAT(refused("{}"), contains("a key is missing"));
  CHECK_THAT(refused(R"({"format": "flashlab-best", "version": 1})"), contains("another format"));
  CHECK_THAT(refused(R"({"format": "flashlab-grades", "version": 3})"), contains("version 3"));
  const std::string start = R"({"format": "flashlab-grades", "version": 4, "exercise": {"id": ")";
  CHECK_THAT(refused(start + R"(99_none"}, "summary": {"histograms": []}})"),
             contains("an exercise '99_none', which there is not"));
  CHECK_THAT(refused(start + R"(0001_dot"}, "summary": {"histograms": [{"counter": "cycles",
             "size": "", "marks": [], "bins": [{"low": -1, "high": 2, "open": false,
             "students": 1}]}]}})"),
             contains("-1 is not a count"));
}
