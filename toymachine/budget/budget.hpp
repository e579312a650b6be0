// Limits on the processor time and memory of a thread's work. Loops whose length a program decides
// call check_budget(). With the counting operator new (CMake target flashlab_counted_allocations),
// every allocation calls it too, and its bytes are counted.
//
//   toy::Budget budget({2000, 256 << 20});  // of this thread, from here to the end of the block
//   toy::assemble(...);                     // throws BudgetExceeded
//
// Code that throws BudgetExceeded leaves no thread, store or cache in a state that
// affects later work.
#pragma once

#include <array>
#include <cstdint>
#include <exception>

namespace flashlab::toy {

struct BudgetLimits {
  std::int64_t milliseconds = 0;  // of the thread's processor time; 0: no limit
  std::int64_t bytes = 0;         // in addition to the bytes already allocated; 0: no limit
};

enum class Resource : std::uint8_t { kTime, kMemory };

/// Thrown by the check that finds an exceeded limit. Allocates nothing.
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

/// Limits the current thread until it is destroyed. Budgets may be nested: an inner budget never
/// allows more than the outer one has left. Destroy them in reverse order.
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

/// Whether this program's allocations are counted. If not, Budget limits only time.
bool allocations_are_counted();

/// Bytes that the thread has allocated and not released. Memory released by other threads counts
/// for those threads.
std::int64_t allocated_bytes();

/// Nanoseconds of processor time used by the thread, so that the load of the machine
/// does not matter.
std::int64_t thread_nanoseconds();

namespace detail {

/// One thread's account.
struct BudgetAccount {
  std::int64_t bytes = 0;               // allocated and not released
  std::int64_t most_bytes = INT64_MAX;  // limit on `bytes`
  std::int64_t deadline = INT64_MAX;    // limit on thread_nanoseconds()
  std::int64_t work_left = 0;           // until the clock is read again
  BudgetLimits limits;                  // as given, for the message
};
extern constinit thread_local BudgetAccount budget_account;

/// Set by the counting operator new, before main.
extern bool counts_allocations;

/// Reads the clock; throws if the time is used up, or if more memory is in use than allowed.
void check_clock();

/// Work between two reads of the clock: some tenths of a millisecond.
inline constexpr std::int64_t kWorkBetweenChecks = 1 << 13;

}  // namespace detail

/// Call this where a program decides the number of repetitions, with the approximate time since the
/// last call in units of ten nanoseconds. Throws BudgetExceeded.
inline void check_budget(std::int64_t work = 1) {
  detail::budget_account.work_left -= work;
  if (detail::budget_account.work_left < 0) [[unlikely]] {
    detail::check_clock();
  }
}

}  // namespace flashlab::toy
