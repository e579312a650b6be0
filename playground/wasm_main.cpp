// The functions that the page's worker calls. Addresses are numbers of 32 bits there, and pointers of 64
// bits here, so they pass as doubles.
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "cli/requests/flashlab_call.h"

#define FLASHLAB_EXPORT extern "C" __attribute__((used, visibility("default")))

/// Returns the address of memory for a request of this many bytes; 0: there is none.
FLASHLAB_EXPORT double flashlab_text(double bytes) {
  return static_cast<double>(
      reinterpret_cast<std::uintptr_t>(std::malloc(static_cast<std::size_t>(bytes) + 1)));
}

/// Answers the request at that address, which is released. Returns the address of the answer, which ends
/// with a zero byte; 0: no memory for an answer.
FLASHLAB_EXPORT double flashlab_answer(double address, double bytes, double milliseconds,
                                       double most_bytes) {
  auto* const request = reinterpret_cast<char*>(static_cast<std::uintptr_t>(address));
  flashlab_limits limits{};
  limits.milliseconds = static_cast<std::int64_t>(milliseconds);
  limits.bytes = static_cast<std::int64_t>(most_bytes);
  const char* const answer = flashlab_call(request, static_cast<std::size_t>(bytes), &limits);
  std::free(request);
  return static_cast<double>(reinterpret_cast<std::uintptr_t>(answer));
}

/// Releases an answer.
FLASHLAB_EXPORT void flashlab_done(double address) {
  flashlab_free(reinterpret_cast<char*>(static_cast<std::uintptr_t>(address)));
}
