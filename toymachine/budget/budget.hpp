// How much processor time and memory a thread's work may take. Loops whose length a program decides
// call check_budget(); where operator new is the counting one (CMake target
// flashlab_counted_allocations), every allocation does, too, and its bytes are counted.
//
//   toy::Budget budget({2000, 256 << 20});  // of this thread, from here to the end of the block
//   toy::assemble(...);                     // throws BudgetExceeded
//
// Nothing that throws it leaves a thread, a store or a cache in a state that later work would meet.
#pragma once

#include <array>
#include <cstdint>
#include <exception>

namespace flashlab::toy {

struct BudgetLimits {
  std::int64_t milliseconds = 0;  // of the thread's processor time; 0: no limit
  std::int64_t bytes = 0;         // beyond what the thread had allocated before; 0: no limit
};

enum class Resource : std::uint8_t { kTime, kMemory };

/// Thrown by the check that finds a limit passed. Allocates nothing.
class BudgetExceeded : public std::exception {
 public:
  BudgetExceeded(Resource resource, std::int64_t limit);
  Resource resource() const { return resource_; }
  /// "more than 2000 ms of processor time", "more than 256 MiB of memory".
  const char* what() const noexcept override { return what_.data(); }

 private:
  Resource resource_;
  std::array<char, 64> what_{};
};

/// Limits the thread that makes it, until it is destroyed. Budgets may lie inside each other: an
/// inner one never allows more than what is left of the outer one. Destroy them in reverse order.
class Budget {
 public:
  explicit Budget(const BudgetLimits& limits);
  ~Budget();
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;

 private:
  BudgetLimits outer_limits_;
  std::int64_t outer_deadline_, outer_most_bytes_;
};

/// Whether this program's allocations are counted: without, Budget limits time alone.
bool allocations_are_counted();

/// Bytes that the thread has allocated and not released; what other threads release counts for
/// them.
std::int64_t allocated_bytes();

/// Nanoseconds of processor time that the thread has had: a loaded machine changes no verdict.
std::int64_t thread_nanoseconds();

namespace detail {

/// One thread's account.
struct BudgetAccount {
  std::int64_t bytes = 0;               // allocated and not released
  std::int64_t most_bytes = INT64_MAX;  // of `bytes`
  std::int64_t deadline = INT64_MAX;    // of thread_nanoseconds()
  std::int64_t work_left = 0;           // until the clock is read
  BudgetLimits limits;                  // as they were given, for the message
};
extern constinit thread_local BudgetAccount budget_account;

/// Set by the counting operator new, before main.
extern bool counts_allocations;

/// Reads the clock; throws when the time is over, or more memory is in use than allowed.
void check_clock();

/// Work between two looks at the clock: some tenths of a millisecond.
inline constexpr std::int64_t kWorkBetweenChecks = 1 << 13;

}  // namespace detail

/// To be called where a program decides how often: with about how many times ten nanoseconds passed
/// since the last call. Throws BudgetExceeded.
inline void check_budget(std::int64_t work = 1) {
  detail::budget_account.work_left -= work;
  if (detail::budget_account.work_left < 0) [[unlikely]] {
    detail::check_clock();
  }
}

}  // namespace flashlab::toy
