// What is remembered of a learner, and what no accident may destroy.
#include "exercises/grader/grade/progress.hpp"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "tests/catch_shim.hpp"

namespace {

namespace fs = std::filesystem;
using namespace flashlab::exercises;
namespace toy = flashlab::toy;

class Folder {
 public:
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "flashlab-XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  fs::path file() const { return path_ / "progress.txt"; }
  const fs::path& path() const { return path_; }
  void write(const std::string& text) const { std::ofstream(file(), std::ios::binary) << text; }
  std::string text(const std::string& name = "progress.txt") const {
    std::ifstream stream(path_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  }

 private:
  fs::path path_;
};

void check_once(Progress& progress) { ++progress.entry("01_c00").checks; }

/// Runs `body` in `count` processes at once.
template <class Body>
void in_processes(int count, const Body& body) {
  for (int i = 0; i < count; ++i) {
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      body(i);
      _exit(0);
    }
  }
  for (int status = 0; wait(&status) > 0;) CHECK(status == 0);
}

}  // namespace

TEST_CASE("progress is read as it was written", "[progress]") {
  const Folder folder;
  ProgressFile(folder.path()).update([](Progress& progress) {
    ProgressEntry& entry = progress.entry("02 odd: name#");
    entry.state = ProgressState::kPassed;
    entry.points = 8.2;
    entry.checks = 12;
    entry.hints = 3;
    entry.solution_seen = true;
    entry.file = "/home/a b/100%\nx.toy";
    progress.set_current("02 odd: name#");
  });
  ProgressFile file(folder.path());
  const Progress progress = file.read();
  const ProgressEntry* entry = progress.find("02 odd: name#");
  REQUIRE(entry != nullptr);
  CHECK(entry->state == ProgressState::kPassed);
  CHECK(entry->points == 8.2);
  CHECK(entry->checks == 12);
  CHECK(entry->hints == 3);
  CHECK(entry->solution_seen);
  CHECK(entry->file == "/home/a b/100%\nx.toy");
  CHECK(progress.current() == "02 odd: name#");
  CHECK(file.notes().empty());
}

TEST_CASE("a progress line is what a person would write", "[progress]") {
  const Progress progress = Progress::parse(
      "current: 02_b\n"
      "01_a full points 10 checks 1 hints 0 file /home/a b/01_a.toy\n"
      "02_b   started");
  CHECK(progress.current() == "02_b");
  REQUIRE(progress.entries().size() == 2);
  CHECK(progress.passed("01_a"));
  CHECK(progress.find("01_a")->file == "/home/a b/01_a.toy");
  CHECK_FALSE(progress.passed("02_b"));
  CHECK(progress.damaged_lines().empty());
}

TEST_CASE("comments, blank and unreadable lines stay where they are", "[progress]") {
  const std::string text =
      "# mine\n"
      "\n"
      "current: 01_a\n"
      "01_a  full     points 10    checks 1    hints 0\n"
      "02_b  finished points 10\n"
      "  # a note\n"
      "03_c  started  points -1\n"
      "01_a  started\n";
  const Progress progress = Progress::parse(text);
  CHECK(progress.damaged_lines() == std::vector<std::size_t>{5, 7, 8});
  CHECK(progress.to_text() == text);
}

TEST_CASE("a line that was cut off is kept beside the new one", "[progress]") {
  const Folder folder;
  folder.write("01_c00 full points 10 che");
  ProgressFile file(folder.path());
  file.update(check_once);
  REQUIRE(file.notes().size() == 1);
  CHECK_THAT(file.notes().front(), flashlab::test::contains("line 1 cannot be read"));
  CHECK_THAT(folder.text(), flashlab::test::contains("01_c00 full points 10 che\n"));
  CHECK(Progress::parse(folder.text()).find("01_c00")->checks == 1);
}

TEST_CASE("a file that is no text is set aside and said to be", "[progress]") {
  const Folder folder;
  const std::string junk(
      "\x7f"
      "ELF\0\1\2",
      7);
  folder.write(junk);
  ProgressFile file(folder.path());
  CHECK(file.read().entries().empty());
  CHECK(folder.text() == junk);
  file.update(check_once);
  CHECK(folder.text("progress.txt.damaged") == junk);
  CHECK(file.read().find("01_c00")->checks == 1);
  CHECK_THAT(file.notes().back(), flashlab::test::contains("progress.txt.damaged"));
  folder.write(junk + "2");
  ProgressFile(folder.path()).update(check_once);
  CHECK(folder.text("progress.txt.damaged") == junk);
  CHECK(folder.text("progress.txt.damaged-2") == junk + "2");
}

TEST_CASE("a folder in the place of the file is left alone", "[progress]") {
  const Folder folder;
  fs::create_directories(folder.file() / "inside");
  ProgressFile file(folder.path());
  CHECK(file.update(check_once).find("01_c00")->checks == 1);
  CHECK(fs::is_directory(folder.file() / "inside"));
  REQUIRE(file.notes().size() == 1);
  CHECK_THAT(file.notes().front(), flashlab::test::contains("is a folder"));
}

TEST_CASE("a read-only file is not replaced", "[progress]") {
  const Folder folder;
  folder.write("01_c00 started checks 4\n");
  REQUIRE(chmod(folder.file().c_str(), 0444) == 0);
  ProgressFile file(folder.path());
  CHECK(file.update(check_once).find("01_c00")->checks == 5);
  CHECK(folder.text() == "01_c00 started checks 4\n");
  REQUIRE(file.notes().size() == 1);
  CHECK_THAT(file.notes().front(), flashlab::test::contains("is read-only"));
}

TEST_CASE("without a folder nothing is remembered and that is said", "[progress]") {
  ProgressFile file(std::nullopt);
  CHECK(file.update(check_once).find("01_c00")->checks == 1);
  CHECK(file.read().entries().empty());
  REQUIRE(file.notes().size() == 1);
  CHECK_THAT(file.notes().front(), flashlab::test::contains("neither HOME nor XDG_DATA_HOME"));
}

TEST_CASE("a file in the place of the folder is left alone", "[progress]") {
  const Folder folder;
  folder.write("mine");
  ProgressFile file(folder.file());
  file.update(check_once);
  CHECK(folder.text() == "mine");
  CHECK_FALSE(file.notes().empty());
}

TEST_CASE("a progress file that is a link stays one", "[progress]") {
  const Folder folder, elsewhere;
  elsewhere.write("01_c00 started checks 4\n");
  fs::create_symlink(elsewhere.file(), folder.file());
  ProgressFile(folder.path()).update(check_once);
  CHECK(fs::is_symlink(folder.file()));
  CHECK(Progress::parse(elsewhere.text()).find("01_c00")->checks == 5);
}

TEST_CASE("results and predictions are read as they were written", "[progress]") {
  const Folder folder;
  const ProgressResult result{"02 odd: name#",
                              "2026-11-28T10:00:00Z",
                              8.25,
                              {{"cycles", 25}, {"k.loads", toy::Count("123456789012345678901")}},
                              "/home/a b/file points 3.toy"};
  ProgressFile(folder.path()).update([&](Progress& progress) {
    progress.add_result(result);
    progress.predict("02 odd: name#", {{"loads", "3*n + 1"}, {"cycles", "7"}});
  });
  ProgressFile file(folder.path());
  const Progress progress = file.read();
  CHECK(file.notes().empty());
  const auto results = progress.results_of("02 odd: name#");
  REQUIRE(results.size() == 1);
  CHECK(results[0].when == result.when);
  CHECK(results[0].points == 8.25);
  CHECK(results[0].costs == result.costs);
  CHECK(results[0].file == result.file);
  CHECK(progress.predictions_of("02 odd: name#") ==
        Predictions{{"loads", "3*n + 1"}, {"cycles", "7"}});
  CHECK(progress.predictions_of("01_a").empty());
}

TEST_CASE("results that cannot be read are kept, and named", "[progress]") {
  const std::string text =
      "current: 01_a\n"
      "result: 01_a 2026-11-28T10:00:00Z points 10 cycles 7\n"
      "result: 01_a yesterday points 10 cycles 7\n"
      "result: 01_a 2026-11-28T10:00:00Z points 10 cycles -7\n"
      "result: 01_a 2026-11-28T10:00:00Z points 10 cyc\n"
      "predicted: 01_a loads\n"
      "predicted: 01_a loads=12\n"
      "predicted: 01_a loads=13\n";
  const Progress progress = Progress::parse(text);
  CHECK(progress.damaged_lines() == std::vector<std::size_t>{3, 4, 5, 6, 8});
  CHECK(progress.to_text() == text);
  CHECK(progress.results_of("01_a").size() == 1);
  CHECK(progress.predictions_of("01_a").at("loads") == "12");
}

TEST_CASE("the same result again is not kept twice, and a new one comes last", "[progress]") {
  Progress progress;
  const auto add = [&](const char* when, int cycles, const char* file) {
    progress.add_result({"01_a", when, 10, {{"cycles", cycles}}, file});
  };
  add("2026-11-28T10:00:00Z", 28, "a.toy");
  add("2026-11-28T10:01:00Z", 28, "a.toy");
  add("2026-11-28T10:02:00Z", 22, "b.toy");
  add("2026-11-28T10:03:00Z", 28, "a.toy");
  const auto results = progress.results_of("01_a");
  REQUIRE(results.size() == 3);
  CHECK(results.front().when == "2026-11-28T10:00:00Z");
  CHECK(results.back().when == "2026-11-28T10:03:00Z");
}

TEST_CASE("of very many results the oldest goes that is not the best of its file", "[progress]") {
  Progress progress;
  const auto add = [&](std::size_t cycles, const char* file) {
    progress.add_result(
        {"01_a", "2026-11-28T10:00:00Z", 10, {{"cycles", toy::Count(cycles)}}, file});
  };
  add(20, "best.toy");
  for (std::size_t i = 0; i < kMostResults + 5; ++i) add(100 + i, "other.toy");
  const auto results = progress.results_of("01_a");
  REQUIRE(results.size() == kMostResults);
  CHECK(results[0].costs.at("cycles") == 20);
  CHECK(results[1].costs.at("cycles") == 100);  // the best of the other file
  CHECK(results[2].costs.at("cycles") == 107);
  CHECK(results.back().costs.at("cycles") == 100 + kMostResults + 4);
}

TEST_CASE("more points are better, then fewer cycles, then fewer loads", "[progress]") {
  const auto result = [](double points, int cycles, int loads) {
    return ProgressResult{"01_a", {}, points, {{"cycles", cycles}, {"loads", loads}}, {}};
  };
  CHECK(is_better(result(10, 30, 9), result(9, 20, 4)));
  CHECK(is_better(result(10, 20, 9), result(10, 21, 4)));
  CHECK(is_better(result(10, 20, 8), result(10, 20, 9)));
  CHECK_FALSE(is_better(result(10, 20, 9), result(10, 20, 9)));
}

TEST_CASE("forgetting an exercise forgets its results and predictions", "[progress]") {
  Progress progress = Progress::parse(
      "01_a full\nresult: 01_a 2026-11-28T10:00:00Z points 10\npredicted: 01_a loads=12\n"
      "result: 02_b 2026-11-28T10:00:00Z points 10\n");
  progress.forget("01_a");
  CHECK(progress.results_of("01_a").empty());
  CHECK(progress.predictions_of("01_a").empty());
  CHECK(progress.results_of("02_b").size() == 1);
}

TEST_CASE("forgetting an exercise leaves the others", "[progress]") {
  Progress progress = Progress::parse("current: 01_a\n# mine\n01_a full\n02_b started\n");
  CHECK(progress.forget("01_a"));
  CHECK_FALSE(progress.forget("01_a"));
  CHECK(progress.find("01_a") == nullptr);
  CHECK(progress.find("02_b") != nullptr);
  CHECK(progress.current().empty());
}

TEST_CASE("processes that write at once lose nothing of each other", "[progress]") {
  constexpr int kProcesses = 12, kChanges = 15;
  const Folder folder;
  in_processes(kProcesses, [&](int process) {
    for (int i = 0; i < kChanges; ++i) {
      ProgressFile(folder.path()).update([&](Progress& progress) {
        check_once(progress);
        progress.add_result(
            {"01_c00", "2026-11-28T10:00:00Z", 10, {{"cycles", i}}, std::to_string(process)});
        ++progress.entry("own_" + std::to_string(process)).hints;
      });
    }
  });
  const Progress progress = ProgressFile(folder.path()).read();
  CHECK(progress.find("01_c00")->checks == kProcesses * kChanges);
  CHECK(progress.results_of("01_c00").size() == kProcesses * kChanges);
  for (int i = 0; i < kProcesses; ++i) {
    REQUIRE(progress.find("own_" + std::to_string(i)) != nullptr);
    CHECK(progress.find("own_" + std::to_string(i))->hints == kChanges);
  }
}

TEST_CASE("a process that was killed while writing stops no other", "[progress]") {
  const Folder folder;
  std::ofstream(folder.path() / "progress.txt.part") << "half a li";
  ProgressFile file(folder.path());
  file.update(check_once);
  CHECK(file.notes().empty());
  CHECK(file.read().find("01_c00")->checks == 1);
}

TEST_CASE("the progress folder follows XDG_DATA_HOME, then HOME", "[progress]") {
  in_processes(1, [](int) {
    setenv("HOME", "/home/ada", 1);
    setenv("XDG_DATA_HOME", "/data", 1);
    bool good = progress_folder() == fs::path("/data/flashlab");
    setenv("XDG_DATA_HOME", "relative", 1);
    good = good && progress_folder() == fs::path("/home/ada/.local/share/flashlab");
    unsetenv("XDG_DATA_HOME");
    good = good && progress_folder() == fs::path("/home/ada/.local/share/flashlab");
    unsetenv("HOME");
    good = good && !progress_folder();
    _exit(good ? 0 : 1);
  });
}
