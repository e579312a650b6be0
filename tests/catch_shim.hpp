// Catch2, whichever of 2.13 and 3.x the machine has, and what the two spell differently.
#pragma once

#include <iostream>
#include <string>

#if __has_include(<catch2/catch_all.hpp>)
#define FLASHLAB_CATCH_MAJOR 3
#include <catch2/catch_all.hpp>
#else
#define FLASHLAB_CATCH_MAJOR 2
#include <catch2/catch.hpp>
#endif

/// Ends the test case as skipped, which is not passed: FLASHLAB_SKIP("no browser is installed");
/// CTest knows a skipped test by the line that is printed here (SKIP_REGULAR_EXPRESSION), because
/// Catch2 has a SKIP of its own only since 3.3, and its exit code for one can also mean failures.
/// Call it in the body of the test case itself, before the first assertion.
#if defined(SKIP)
#define FLASHLAB_SKIP(reason)                                             \
  do {                                                                    \
    const std::string flashlab_skip_reason = (reason);                    \
    std::cout << "\ntest skipped: " << flashlab_skip_reason << std::endl; \
    SKIP(flashlab_skip_reason);                                           \
  } while (false)
#else
#define FLASHLAB_SKIP(reason)                                             \
  do {                                                                    \
    const std::string flashlab_skip_reason = (reason);                    \
    std::cout << "\ntest skipped: " << flashlab_skip_reason << std::endl; \
    return;                                                               \
  } while (false)
#endif

// g++ defines the first, clang answers the second.
#if defined(__SANITIZE_ADDRESS__)
#define FLASHLAB_HAS_ADDRESS_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FLASHLAB_HAS_ADDRESS_SANITIZER
#endif
#endif

namespace flashlab::test {

/// Matches text that has `part` in it: REQUIRE_THAT(message, contains("expected a register")).
inline auto contains(const std::string& part) {
#if FLASHLAB_CATCH_MAJOR == 3
  return Catch::Matchers::ContainsSubstring(part);
#else
  return Catch::Matchers::Contains(part);
#endif
}

}  // namespace flashlab::test
