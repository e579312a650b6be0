// A search that is interrupted and gone on with, and what is no checkpoint of it.
#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "optimal/problem/value_algebra.hpp"
#include "optimal/solve/solve.hpp"
#include "tests/catch_shim.hpp"

namespace {

using namespace flashlab::optimal;  // NOLINT: a test of that namespace
using flashlab::toy::OperandRule;

/// A file that is not there at first, and not left.
class File {
 public:
  explicit File(const std::string& name)
      : path_(std::filesystem::temp_directory_path() /
              (name + std::to_string(std::hash<std::string>()(__FILE__)))) {
    std::filesystem::remove(path_);
  }
  ~File() { std::filesystem::remove(path_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  std::string path() const { return path_.string(); }
  bool is_there() const { return std::filesystem::exists(path_); }
  std::string bytes() const {
    std::ifstream in(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void write(const std::string& bytes) const {
    std::ofstream(path_, std::ios::binary).write(bytes.data(), std::ssize(bytes));
  }

 private:
  std::filesystem::path path_;
};

/// Runs `search` with limits that stop it when it has reported so often: once before each round but
/// its very first.
template <class Search>
Answer interrupted(const Search& search, const std::string& path, int rounds, unsigned jobs = 1) {
  std::atomic<bool> cancel{false};
  SolveLimits limits;
  limits.checkpoint = path;
  limits.jobs = jobs;
  limits.progress_every_s = 0;
  limits.progress = [&](const Progress&) {
    if (--rounds <= 0) cancel = true;
  };
  limits.cancel = &cancel;
  return search(limits);
}

void require_same(const Answer& answer, const Answer& expected) {
  REQUIRE(answer.verdict == expected.verdict);
  REQUIRE(answer.lower_cycles == expected.lower_cycles);
  REQUIRE(answer.upper_cycles == expected.upper_cycles);
  REQUIRE(answer.states == expected.states);
  REQUIRE(answer.program.has_value() == expected.program.has_value());
  if (answer.program) REQUIRE(answer.program->text == expected.program->text);
}

Answer solved_product(const SolveLimits& limits) {
  return solve({3, 2, 3}, {5, OperandRule::kPinned, false, {}}, limits);
}
Answer infeasible(const SolveLimits& limits) {
  return solve({3, 3, 3}, {2, OperandRule::kAny, false, {}}, limits);
}
Answer attention(const SolveLimits& limits) {
  static const ValueAlgebra algebra = one_query_attention(2);
  return solve(algebra, {5}, limits);
}

}  // namespace

TEST_CASE("a search that is interrupted again and again ends with the same answer") {
  const auto search = GENERATE(solved_product, infeasible, attention);
  const int rounds = GENERATE(4, 9);
  const File file("flashlab-checkpoint-again-");
  const Answer expected = search({});
  Answer answer;
  int runs = 0;
  do {
    answer = interrupted(search, file.path(), rounds, 1 + static_cast<unsigned>(runs) % 3);
    ++runs;
    REQUIRE(file.is_there() == (answer.verdict == Verdict::kBounded));
    REQUIRE(runs < 1000);
  } while (answer.verdict == Verdict::kBounded);
  require_same(answer, expected);
}

TEST_CASE("the number of threads changes nothing about an answer") {
  const auto search = GENERATE(solved_product, infeasible, attention);
  const Answer expected = search({});
  for (const unsigned jobs : {3U}) {
    SolveLimits limits;
    limits.jobs = jobs;
    require_same(search(limits), expected);
  }
}

TEST_CASE("a checkpoint that is damaged, cut off or another search's is refused") {
  const File file("flashlab-checkpoint-bad-");
  REQUIRE(interrupted(solved_product, file.path(), 12).verdict == Verdict::kBounded);
  const std::string good = file.bytes();
  REQUIRE(good.size() > 1000);
  SolveLimits limits;
  limits.checkpoint = file.path();
  for (std::size_t place = 0; place < good.size(); place += 1 + good.size() / 50) {
    std::string bad = good;
    bad[place] = static_cast<char>(bad[place] ^ 16);
    file.write(bad);
    REQUIRE_THROWS_AS(solved_product(limits), CheckpointError);
    file.write(good.substr(0, place));
    REQUIRE_THROWS_AS(solved_product(limits), CheckpointError);
  }
  file.write(good);
  CHECK_THROWS_WITH(attention(limits), file.path() + " is the checkpoint of another search");
  CHECK_THROWS_AS(solve({3, 2, 3}, {6, OperandRule::kPinned, false, {}}, limits), CheckpointError);
  CHECK(file.bytes() == good);
  CHECK(solved_product(limits).verdict == Verdict::kOptimal);
  CHECK_FALSE(file.is_there());
}

TEST_CASE("what is no checkpoint at all is said to be none", "[search]") {
  const File file("flashlab-checkpoint-none-");
  SolveLimits limits;
  limits.checkpoint = file.path();
  for (const std::string& text : {std::string("short"), std::string(200, 'x')}) {
    file.write(text);
    CHECK_THROWS_WITH(solved_product(limits), file.path() + " is not a checkpoint of a search");
  }
}

TEST_CASE("a checkpoint that cannot be written is an error before the search") {
  SolveLimits limits;
  limits.checkpoint = "/no/such/folder/file";
  CHECK_THROWS_AS(solved_product(limits), CheckpointError);
}

TEST_CASE("a search says how long it may take while its open states become fewer") {
  SolveLimits limits;
  limits.progress_every_s = 0;
  int with = 0, without = 0;
  limits.progress = [&](const Progress& progress) {
    if (progress.seconds_left) {
      CHECK(*progress.seconds_left >= 0);
      ++with;
    } else {
      ++without;
    }
  };
  CHECK(solved_product(limits).verdict == Verdict::kOptimal);
  CHECK(with > 0);
  CHECK(without > 0);
}
