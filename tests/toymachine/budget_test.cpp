// What a thread's work may take: time that ends inside any loop, memory that is counted.
#include "toymachine/budget/budget.hpp"

#include <gmpxx.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "exercises/isolation/sandbox.hpp"
#include "tests/toymachine/assembled.hpp"
#include "toymachine/count/counters.hpp"
#include "toymachine/language/assembler.hpp"
#include "toymachine/run/interpreter.hpp"

namespace flashlab::test {
namespace {

using toy::Budget;
using toy::BudgetExceeded;
using toy::Resource;

constexpr std::int64_t kMillisecond = 1'000'000;  // nanoseconds

/// Sixteen loops, each bounded by a quotient of the one outside: minutes of counting.
std::string quotients() {
  std::string text =
      ".isa attention\n.param n = 1000003\n.input x[1]\n.output o[1]\nfor i0 in 0..n\n";
  for (int i = 1; i < 16; ++i) {
    text += "for i" + std::to_string(i) + " in 0..floordiv(i" + std::to_string(i - 1) + ", " +
            std::to_string(2 + i % 3) + ") + 1\n";
  }
  text += "LOAD x[0], R0\n";
  for (int i = 0; i < 16; ++i) text += "end\n";
  return text + "STORE R0, o[0]\n";
}

/// What ended the work under these limits; nothing: it came to its end.
template <class Work>
std::optional<Resource> ended_by(const toy::BudgetLimits& limits, const Work& work) {
  try {
    const Budget budget(limits);
    work();
    return std::nullopt;
  } catch (const BudgetExceeded& over) {
    return over.resource();
  }
}

/// The allocations of a sanitizer cannot throw: the next check notices, which loops have anyway.
void check_under_sanitizers() {
  constexpr std::int64_t kEnoughToLook = 1 << 20;
  if (exercises::has_sanitizer()) toy::check_budget(kEnoughToLook);
}

}  // namespace

TEST_CASE("time ends a count that would take minutes, and soon") {
  const toy::BoundProgram program = bound(quotients());
  const std::int64_t begun = toy::thread_nanoseconds();
  CHECK(ended_by({200, 0}, [&] { (void)toy::count_executions(program); }) == Resource::kTime);
  const std::int64_t used = toy::thread_nanoseconds() - begun;
  CHECK(used >= 200 * kMillisecond);
  CHECK(used < 2000 * kMillisecond);  // sanitizers are slow
}

TEST_CASE("time ends a run that would take minutes") {
  const toy::BoundProgram program = bound(
      ".isa attention\n.param n = 4000000000\n.input x[1]\n.output o[1]\nLOAD x[0], R0\n"
      "for i in 0..n\nMAX R0, R0, R1\nMAX R0, R1, R0\nend\nSTORE R0, o[0]\n");
  std::vector<float> dram{1, 0};
  CHECK(ended_by({50, 0}, [&] { (void)toy::run(program, std::span<float>(dram)); }) ==
        Resource::kTime);
}

TEST_CASE("memory ends with an allocation, and is there again afterwards") {
  REQUIRE(toy::allocations_are_counted());
  const std::int64_t before = toy::allocated_bytes();
  std::vector<char> kept;
  const auto ended = ended_by({0, 1 << 20}, [&] {
    kept.resize(2 << 20);
    check_under_sanitizers();
  });
  CHECK(ended == Resource::kMemory);
  CHECK(kept.empty() != exercises::has_sanitizer());
  std::vector<char>().swap(kept);
  CHECK_FALSE(ended_by({0, 4 << 20}, [&] { kept.resize(2 << 20); }));
  CHECK(toy::allocated_bytes() - before >= 2 << 20);
  std::vector<char>().swap(kept);
  CHECK(toy::allocated_bytes() - before < 1 << 10);
}

TEST_CASE("a piece at a time passes the limit as one large piece does") {
  std::vector<std::unique_ptr<char[]>> pieces;
  CHECK(ended_by({0, 1 << 20}, [&] {
          for (int i = 0; i < 4096; ++i) {
            pieces.push_back(std::make_unique<char[]>(1024));
            check_under_sanitizers();
          }
        }) == Resource::kMemory);
  CHECK(pieces.size() > 500);
  CHECK(pieces.size() < 1024);
}

TEST_CASE("the memory of large numbers counts, too") {
  mpz_class number = 1;
  CHECK(ended_by({0, 1 << 20}, [&] {
          for (;;) {
            number *= number + 1;
            toy::check_budget(1 << 20);
          }
        }) == Resource::kMemory);
}

TEST_CASE("an inner budget ends before the outer one, and never lets it last longer") {
  const Budget outer({0, 1 << 20});
  const auto take = [](std::size_t bytes) {
    return [bytes] {
      const std::vector<char> v(bytes);
      check_under_sanitizers();
    };
  };
  CHECK(ended_by({0, 1 << 10}, take(1 << 14)) == Resource::kMemory);
  CHECK_FALSE(ended_by({0, 1 << 19}, take(1 << 14)));
  CHECK(ended_by({0, 1 << 30}, take(2 << 20)) == Resource::kMemory);
}

TEST_CASE("a budget says what was too much") {
  CHECK(std::string(BudgetExceeded(Resource::kTime, 2000).what()) ==
        "more than 2000 ms of processor time");
  CHECK(std::string(BudgetExceeded(Resource::kMemory, 256 << 20).what()) ==
        "more than 256 MiB of memory");
  CHECK(std::string(BudgetExceeded(Resource::kMemory, 1000).what()) ==
        "more than 1000 bytes of memory");
}

TEST_CASE("without a budget nothing ends") {
  { const Budget budget({1, 1}); }
  std::vector<char> kept(1 << 20);
  for (int i = 0; i < 1 << 20; ++i) toy::check_budget();
  CHECK(kept.size() == 1 << 20);
}

}  // namespace flashlab::test
