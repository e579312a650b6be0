#include "toymachine/budget/budget.hpp"

#include <cinttypes>
#include <cstdio>
#include <ctime>

namespace flashlab::toy {

namespace detail {
constinit thread_local BudgetAccount budget_account;
bool counts_allocations = false;
}  // namespace detail

namespace {

using detail::budget_account;

/// Returns the sum, or the largest value on overflow.
std::int64_t later(std::int64_t start, std::int64_t by) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(start, by, &sum) ? INT64_MAX : sum;
}

}  // namespace

BudgetExceeded::BudgetExceeded(Resource resource, std::int64_t limit) : resource_(resource) {
  constexpr std::int64_t kMebibyte = std::int64_t{1} << 20;
  const bool in_mebibytes = resource == Resource::kMemory && limit % kMebibyte == 0;
  const char* const format = resource == Resource::kTime ? "more than %" PRId64
                                                           " ms of processor time"
                             : in_mebibytes ? "more than %" PRId64 " MiB of memory"
                                            : "more than %" PRId64 " bytes of memory";
  std::snprintf(what_.data(), what_.size(), format, in_mebibytes ? limit / kMebibyte : limit);
}

Budget::Budget(const BudgetLimits& limits)
    : outer_limits_(budget_account.limits),
      outer_deadline_(budget_account.deadline),
      outer_most_bytes_(budget_account.most_bytes) {
  if (limits.milliseconds > 0) {
    std::int64_t nanoseconds = 0;
    if (__builtin_mul_overflow(limits.milliseconds, std::int64_t{1'000'000}, &nanoseconds)) {
      nanoseconds = INT64_MAX;
    }
    const std::int64_t deadline = later(thread_nanoseconds(), nanoseconds);
    if (deadline < budget_account.deadline) {
      budget_account.deadline = deadline;
      budget_account.limits.milliseconds = limits.milliseconds;
    }
  }
  if (limits.bytes > 0) {
    const std::int64_t most = later(budget_account.bytes, limits.bytes);
    if (most < budget_account.most_bytes) {
      budget_account.most_bytes = most;
      budget_account.limits.bytes = limits.bytes;
    }
  }
  budget_account.work_left = 0;
}

Budget::~Budget() {
  budget_account.limits = outer_limits_;
  budget_account.deadline = outer_deadline_;
  budget_account.most_bytes = outer_most_bytes_;
  budget_account.work_left = 0;
}

bool allocations_are_counted() { return detail::counts_allocations; }

std::int64_t allocated_bytes() { return budget_account.bytes; }

std::int64_t thread_nanoseconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

void detail::check_clock() {
  budget_account.work_left = kWorkBetweenChecks;
  if (budget_account.bytes > budget_account.most_bytes) {
    throw BudgetExceeded(Resource::kMemory, budget_account.limits.bytes);
  }
  if (budget_account.deadline == INT64_MAX || thread_nanoseconds() < budget_account.deadline)
    return;
  throw BudgetExceeded(Resource::kTime, budget_account.limits.milliseconds);
}

}  // namespace flashlab::toy
