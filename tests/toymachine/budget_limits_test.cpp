// A thread's account: the byte and the nanosecond at which a budget ends, and budgets in budgets.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "tests/catch_shim.hpp"
#include "toymachine/budget/budget.hpp"

namespace flashlab::toy {
namespace {

using detail::budget_account;

/// The message that ended the work; empty: none did. Allocates nothing while the budget holds.
std::array<char, 64> check_now(std::int64_t work) {
  std::array<char, 64> text{};
  try {
    check_budget(work);
  } catch (const BudgetExceeded& over) {
    std::string_view(over.what()).copy(text.data(), text.size() - 1);
  }
  return text;
}

/// As if this many bytes more were allocated.
std::string after_allocating(std::int64_t bytes) {
  budget_account.bytes += bytes;
  budget_account.work_left = 0;
  const std::array<char, 64> text = check_now(1);
  budget_account.bytes -= bytes;
  return text.data();
}

/// As if the time had ended then.
std::string at_deadline(std::int64_t deadline) {
  const std::int64_t before = budget_account.deadline;
  budget_account.deadline = deadline;
  budget_account.work_left = 0;
  const std::array<char, 64> text = check_now(1);
  budget_account.deadline = before;
  return text.data();
}

}  // namespace

TEST_CASE("as many bytes as a budget allows may be in use, and not one more", "[budget]") {
  constexpr std::int64_t kAllowed = std::int64_t{1} << 30;  // more than this test allocates
  const Budget budget({0, kAllowed});
  const std::int64_t room = budget_account.most_bytes - budget_account.bytes;
  budget_account.work_left = 0;
  budget_account.bytes += room;
  const std::array<char, 64> at_limit = check_now(1);
  budget_account.bytes += 1;
  budget_account.work_left = 0;
  const std::array<char, 64> beyond = check_now(1);
  budget_account.bytes -= room + 1;
  CHECK(room == kAllowed);
  CHECK(std::string(at_limit.data()).empty());
  CHECK(std::string(beyond.data()) == "more than 1024 MiB of memory");
}

TEST_CASE("the clock is read when the work between two checks is done", "[budget]") {
  const Budget budget({0, std::int64_t{1} << 30});
  budget_account.bytes += std::int64_t{1} << 31;
  budget_account.work_left = 0;
  constexpr std::int64_t kMessages = 100;  // more than the messages' allocations count as work
  const bool ended[] = {check_now(0)[0] != '\0', check_now(1)[0] != '\0',
                        check_now(detail::kWorkBetweenChecks - kMessages)[0] != '\0',
                        check_now(kMessages + 1)[0] != '\0'};
  budget_account.bytes -= std::int64_t{1} << 31;
  CHECK_FALSE(ended[0]);
  CHECK(ended[1]);
  CHECK_FALSE(ended[2]);
  CHECK(ended[3]);
}

TEST_CASE("time that is over ends the work, and time that is left does not", "[budget]") {
  const Budget budget({600'000, 0});
  CHECK(at_deadline(0) == "more than 600000 ms of processor time");
  CHECK(at_deadline(thread_nanoseconds()) == "more than 600000 ms of processor time");
  CHECK(at_deadline(thread_nanoseconds() + 600'000'000'000).empty());
  CHECK(at_deadline(INT64_MAX).empty());
}

TEST_CASE("memory is told before time if both are used up", "[budget]") {
  const Budget budget({600'000, std::int64_t{1} << 30});
  const std::int64_t deadline = budget_account.deadline;
  budget_account.deadline = 0;
  const std::string told = after_allocating(std::int64_t{1} << 31);
  budget_account.deadline = deadline;
  CHECK(told == "more than 1024 MiB of memory");
}

TEST_CASE("the stricter of two budgets is the one that is told", "[budget]") {
  constexpr std::int64_t kMany = std::int64_t{1} << 40;
  const Budget outer({600'000, std::int64_t{2} << 30});
  const std::int64_t deadline = budget_account.deadline, most = budget_account.most_bytes;
  {
    const Budget looser({700'000, std::int64_t{3} << 30});
    CHECK(budget_account.deadline == deadline);
    CHECK(budget_account.most_bytes == most);
    CHECK(after_allocating(kMany) == "more than 2048 MiB of memory");
    CHECK(at_deadline(0) == "more than 600000 ms of processor time");
  }
  {
    const Budget stricter({500'000, std::int64_t{1} << 30});
    CHECK(budget_account.deadline < deadline);
    CHECK(budget_account.most_bytes < most);
    CHECK(after_allocating(kMany) == "more than 1024 MiB of memory");
    CHECK(at_deadline(0) == "more than 500000 ms of processor time");
  }
  CHECK(budget_account.deadline == deadline);
  CHECK(budget_account.most_bytes == most);
  CHECK(after_allocating(kMany) == "more than 2048 MiB of memory");
  CHECK(at_deadline(0) == "more than 600000 ms of processor time");
}

TEST_CASE("a limit of 0, or one beyond what can be counted, is no limit", "[budget]") {
  const BudgetLimits none[] = {{0, 0}, {-1, -1}, {INT64_MAX, 0}};
  for (const BudgetLimits& limits : none) {
    const Budget budget(limits);
    CHECK(budget_account.deadline == INT64_MAX);
    CHECK(budget_account.most_bytes == INT64_MAX);
  }
}

TEST_CASE("a millisecond is a million nanoseconds of the thread's own time", "[budget]") {
  const std::int64_t begun = thread_nanoseconds();
  const Budget budget({1000, 0});
  const std::int64_t after = thread_nanoseconds();
  CHECK(begun > 0);
  CHECK(budget_account.deadline >= begun + 1'000'000'000);
  CHECK(budget_account.deadline <= after + 1'000'000'000);
}

TEST_CASE("memory is told in MiB only if it is whole ones", "[budget]") {
  constexpr std::int64_t kMebibyte = std::int64_t{1} << 20;
  const auto told = [](Resource resource, std::int64_t limit) {
    return std::string(BudgetExceeded(resource, limit).what());
  };
  CHECK(told(Resource::kMemory, kMebibyte) == "more than 1 MiB of memory");
  CHECK(told(Resource::kMemory, kMebibyte - 1) == "more than 1048575 bytes of memory");
  CHECK(told(Resource::kMemory, kMebibyte + 1) == "more than 1048577 bytes of memory");
  CHECK(told(Resource::kTime, kMebibyte) == "more than 1048576 ms of processor time");
  CHECK(BudgetExceeded(Resource::kTime, 1).resource() == Resource::kTime);
  CHECK(BudgetExceeded(Resource::kMemory, 1).resource() == Resource::kMemory);
}

}  // namespace flashlab::toy
