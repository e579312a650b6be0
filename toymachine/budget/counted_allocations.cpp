// Replaces the program's operator new and delete, and GMP's allocation functions, by malloc and
// free that count each thread's bytes (toymachine/budget/budget.hpp). Linked into programs, never
// into the library: a library must not replace its host's operator new.
//
// Under a sanitizer, malloc and its checks remain the sanitizer's, and hooks count its allocations.
// Hooks cannot throw, so an exceeded limit is noticed by the next check_budget().
#include <cstdlib>
#include <limits>
#include <new>

#include "toymachine/budget/budget.hpp"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) || \
    __has_feature(thread_sanitizer)
#define FLASHLAB_SANITIZER_ALLOCATES 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define FLASHLAB_SANITIZER_ALLOCATES 1
#endif
#if __has_include(<malloc.h>)
#include <malloc.h>
#elif __has_include(<malloc/malloc.h>)
#include <malloc/malloc.h>
#define malloc_usable_size malloc_size
#endif

namespace flashlab::toy::detail {
namespace {

/// The cost of an allocation in units of ten nanoseconds: the call, and writing to the memory.
std::int64_t work_of(std::size_t bytes) { return 5 + static_cast<std::int64_t>(bytes >> 8U); }

void count_new(std::size_t bytes) {
  budget_account.bytes += static_cast<std::int64_t>(bytes);
  budget_account.work_left -= work_of(bytes);
}

void count_deleted(std::size_t bytes) { budget_account.bytes -= static_cast<std::int64_t>(bytes); }

}  // namespace
}  // namespace flashlab::toy::detail

#ifdef FLASHLAB_SANITIZER_ALLOCATES

extern "C" {
std::size_t __sanitizer_get_allocated_size(const volatile void* p);
int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void*, std::size_t),
                                              void (*on_free)(const volatile void*));
}

namespace flashlab::toy::detail {
namespace {

void after_malloc(const volatile void* /*p*/, std::size_t bytes) { count_new(bytes); }
void before_free(const volatile void* p) {
  if (p != nullptr) count_deleted(__sanitizer_get_allocated_size(p));
}

[[maybe_unused]] const bool installed = [] {
  counts_allocations = __sanitizer_install_malloc_and_free_hooks(after_malloc, before_free) != 0;
  return true;
}();

}  // namespace
}  // namespace flashlab::toy::detail

#else

#include <gmp.h>

namespace flashlab::toy::detail {
namespace {

/// Throws like operator new. Returns null only if `throws` is false.
void* allocate(std::size_t bytes, std::size_t alignment) {
  BudgetAccount& account = budget_account;
  if (bytes > static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max()) ||
      account.bytes > account.most_bytes - static_cast<std::int64_t>(bytes)) {
    if (account.most_bytes == INT64_MAX) throw std::bad_alloc();
    throw BudgetExceeded(Resource::kMemory, account.limits.bytes);
  }
  check_budget(work_of(bytes));
  if (bytes == 0) bytes = 1;
  void* p = nullptr;
  if (alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__) {
    p = std::malloc(bytes);
  } else if (posix_memalign(&p, alignment, bytes) != 0) {
    p = nullptr;
  }
  if (p == nullptr) throw std::bad_alloc();
  account.bytes += static_cast<std::int64_t>(malloc_usable_size(p));
  return p;
}

void release(void* p) {
  if (p == nullptr) return;
  count_deleted(malloc_usable_size(p));
  std::free(p);
}

// GMP is C: exceptions must not pass through it, and it cannot handle a failed allocation. An
// exceeded limit is noticed by the next check_budget(). If there is no memory at all, the program
// ends, as it does in GMP's own functions.

[[noreturn]] void no_memory() {
  static constexpr char kMessage[] = "flashlab: error: not enough memory for a large number\n";
  std::fputs(kMessage, stderr);
  std::abort();
}

void* gmp_allocate(std::size_t bytes) {
  void* const p = std::malloc(bytes);
  if (p == nullptr) no_memory();
  count_new(malloc_usable_size(p));
  return p;
}

void* gmp_reallocate(void* p, std::size_t /*old_bytes*/, std::size_t bytes) {
  count_deleted(malloc_usable_size(p));
  void* const moved = std::realloc(p, bytes);
  if (moved == nullptr) no_memory();
  count_new(malloc_usable_size(moved));
  return moved;
}

void gmp_release(void* p, std::size_t /*bytes*/) { release(p); }

[[maybe_unused]] const bool installed = [] {
  mp_set_memory_functions(gmp_allocate, gmp_reallocate, gmp_release);
  counts_allocations = true;
  return true;
}();

}  // namespace
}  // namespace flashlab::toy::detail

// The replaceable functions; those missing here call one of these.

void* operator new(std::size_t bytes) { return flashlab::toy::detail::allocate(bytes, 1); }
void* operator new[](std::size_t bytes) { return flashlab::toy::detail::allocate(bytes, 1); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return flashlab::toy::detail::allocate(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return flashlab::toy::detail::allocate(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  try {
    return flashlab::toy::detail::allocate(bytes, 1);
  } catch (...) {
    return nullptr;
  }
}
void* operator new[](std::size_t bytes, const std::nothrow_t& tag) noexcept {
  return operator new(bytes, tag);
}
void operator delete(void* p) noexcept { flashlab::toy::detail::release(p); }
void operator delete[](void* p) noexcept { flashlab::toy::detail::release(p); }
void operator delete(void* p, std::size_t) noexcept { flashlab::toy::detail::release(p); }
void operator delete[](void* p, std::size_t) noexcept { flashlab::toy::detail::release(p); }
void operator delete(void* p, std::align_val_t) noexcept { flashlab::toy::detail::release(p); }
void operator delete[](void* p, std::align_val_t) noexcept { flashlab::toy::detail::release(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept {
  flashlab::toy::detail::release(p);
}
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept {
  flashlab::toy::detail::release(p);
}

#endif
