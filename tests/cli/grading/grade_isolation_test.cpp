// grade and check as a hostile class meets them: what dies, what is lost, what goes on.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "tests/cli/command.hpp"

namespace flashlab::test {
namespace {

namespace fs = std::filesystem;

/// A place with the template as exercise 91_dot, and a class whose texts all differ.
class HostileClass : public Workplace {
 public:
  explicit HostileClass(int students) {
    const fs::path source = fs::path(FLASHLAB_SOURCE_DIR) / "exercises" / "template";
    fs::create_directory(path("ex"));
    fs::copy(source, path("ex/91_dot"), fs::copy_options::recursive);
    fs::create_directory(path("class"));
    for (int i = 0; i < students; ++i) hand_in("s" + std::to_string(1000 + i), i % 3 == 0);
  }

  void hand_in(const std::string& name, bool wrong = false, const std::string& attack = "") const {
    std::string text =
        read(wrong ? "ex/91_dot/wrong/forgets_the_last.toy" : "ex/91_dot/solution.toy");
    text += "; " + name + "\n";
    if (!attack.empty()) text += "; # test: " + attack + "\n";
    write("class/" + name + ".toy", text);
  }

  Outcome grade(const std::string& arguments) const {
    return shell(
        "export FLASHLAB_TEST_WORKER=1 XDG_STATE_HOME=$PWD/state; flashlab grade 91 "
        "--exercises ex " +
        arguments);
  }

  /// Files of gradings that were broken off, or go on.
  std::size_t journals() const {
    std::size_t count = 0;
    for (const auto& entry : fs::directory_iterator(path(""))) {
      count += entry.path().filename().string().starts_with(".class.grading-") ? 1 : 0;
    }
    return count;
  }
};

/// kill -9 for a grading of the class, after some milliseconds.
void kill_grading(const HostileClass& place, int milliseconds) {
  const pid_t child = fork();
  if (child == 0) {
    if (chdir(place.path("").c_str()) != 0) _exit(126);
    setenv("XDG_STATE_HOME", place.path("state").c_str(), 1);
    execl(FLASHLAB_BINARY, "flashlab", "grade", "91", "--exercises", "ex", "--all", "class", "-q",
          "--json", "killed.json", "-j2", nullptr);
    _exit(127);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
}

/// Milliseconds that a call takes. A build with sanitizers takes fifty times as many as another.
template <typename Call>
int milliseconds_of(const Call& call) {
  const auto start = std::chrono::steady_clock::now();
  call();
  return static_cast<int>((std::chrono::steady_clock::now() - start) /
                          std::chrono::milliseconds(1));
}

}  // namespace

TEST_CASE("a class with a crashing, a hanging and a greedy file has three rows that say so",
          "[isolation]") {
  const HostileClass place(4);
  place.hand_in("crash", false, "crash");
  place.hand_in("hang", false, "hang");
  place.hand_in("exit", false, "exit");
  const Outcome outcome =
      place.grade("--all class --time-limit 0.3 --json r.json --csv r.csv --html r.html");
  CHECK(outcome.code == 0);
  const auto report = nlohmann::json::parse(place.read("r.json"));
  REQUIRE(report["students"].size() == 7);
  CHECK(report["summary"]["outcomes"]["crashed"] == 2);
  CHECK(report["summary"]["outcomes"]["limit"] == 1);
  CHECK(report["summary"]["outcomes"]["full"] == 2);
  CHECK_THAT(place.read("r.csv"), contains("\"crash\",\"crashed\",0,10"));
  CHECK_THAT(place.read("r.html"), contains("SIGSEGV") && contains("exited with code 5") &&
                                       contains("more than 300 ms of processor time"));
  const std::string isolation = report["summary"]["isolation"];
  CHECK_THAT(isolation, contains("worker process"));
  CHECK_THAT(place.read("r.html"), contains("Isolation: " + isolation));
  CHECK(place.journals() == 0);
}

TEST_CASE("a grading that is killed goes on with --resume, and reports the same bytes",
          "[isolation]") {
  const HostileClass place(150);
  const int whole = milliseconds_of(
      [&] { REQUIRE(place.grade("--all class -q --json whole.json --csv whole.csv").code == 0); });
  bool resumed_some = false;
  for (const int percent : {1, 15, 30, 45, 60, 90}) {
    CAPTURE(percent, whole);
    kill_grading(place, whole * percent / 100);
    const Outcome outcome = place.grade("--all class --resume --json again.json --csv again.csv");
    CHECK(outcome.code == 0);
    resumed_some |= outcome.err.find("taken over from an earlier grading: ") != std::string::npos;
    CHECK(place.read("again.json") == place.read("whole.json"));
    CHECK(place.read("again.csv") == place.read("whole.csv"));
    CHECK(place.journals() == 0);
  }
  CHECK(resumed_some);
}

TEST_CASE("what was broken off is not taken over unasked, but is said", "[isolation]") {
  const HostileClass place(5);
  // A kill can come before the first result. A report that cannot be written comes after the last.
  REQUIRE(place.grade("--all class -q --json nowhere/r.json").code == 2);
  REQUIRE(place.journals() == 1);
  const Outcome outcome = place.grade("--all class --json again.json");
  CHECK(outcome.code == 0);
  CHECK_THAT(outcome.err,
             contains("was interrupted; --resume would have taken over its 5 results"));
  CHECK(place.journals() == 0);
}

TEST_CASE("a report that cannot be written leaves the journal to go on from", "[isolation]") {
  const HostileClass place(5);
  CHECK(place.grade("--all class -q --json nowhere/r.json").code == 2);
  CHECK(place.journals() == 1);
  const Outcome outcome = place.grade("--all class --resume --json r.json");
  CHECK(outcome.code == 0);
  CHECK_THAT(outcome.err, contains("taken over from an earlier grading: 5 results"));
  CHECK(place.journals() == 0);
}

TEST_CASE("two gradings of a class at once do not disturb each other", "[isolation]") {
  const HostileClass place(60);
  const Outcome both = place.shell(
      "export XDG_STATE_HOME=$PWD/state; for i in 1 2; do flashlab grade 91 --exercises ex --all "
      "class -q --resume --json $i.json & done; wait; cmp 1.json 2.json");
  INFO(both.out << both.err << place.read("1.json").substr(0, 300)
                << place.read("2.json").substr(0, 300));
  CHECK(both.code == 0);
  CHECK(place.read("1.json").size() > 1000);
  CHECK(place.journals() == 0);
}

TEST_CASE("check survives what it checks", "[isolation]") {
  const HostileClass place(0);
  place.hand_in("mine", false, "crash");
  const Outcome outcome = place.shell(
      "export FLASHLAB_TEST_WORKER=1 HOME=$PWD; flashlab exercises check 91 class/mine.toy "
      "--exercises ex");
  CHECK(outcome.code == 1);
  CHECK_THAT(outcome.out, contains("crashed the grader") && contains("SIGSEGV"));
}

TEST_CASE("without workers the verdicts are the same, and the report says so", "[isolation]") {
  const HostileClass place(6);
  CHECK(place.grade("--all class -q --csv a.csv").code == 0);
  CHECK(place.grade("--all class -q --csv b.csv --in-process --json b.json").code == 0);
  CHECK(place.read("a.csv") == place.read("b.csv"));
  CHECK_THAT(place.read("b.json"), contains("none: all submissions in one process"));
}

TEST_CASE("limits that are none are refused", "[isolation]") {
  const HostileClass place(1);
  CHECK_THAT(place.grade("--all class --memory-limit 1KiB").err, contains("16MiB to 64GiB"));
  CHECK_THAT(place.grade("--all class --memory-limit much").err,
             contains("'much' is not a valid size"));
  CHECK(place.grade("--all class --time-limit 0").code == 2);
  CHECK_THAT(place.grade("class/s1000.toy --resume").err, contains("--all DIR as well"));
}

TEST_CASE("the time limit on the command line replaces the exercise's", "[isolation]") {
  const HostileClass place(1);
  place.hand_in("hang", false, "hang");
  CHECK_THAT(place.grade("class/hang.toy --time-limit 0.05").out,
             contains("grading takes more than 50 ms of processor time"));
}

TEST_CASE("the worker is hidden, and ends when nobody talks to it", "[isolation]") {
  CHECK(flashlab("--help").out.find("grading-worker") == std::string::npos);
  CHECK(flashlab("grading-worker < /dev/null").code == 0);
}

}  // namespace flashlab::test
