// mbarrier objects: phases of arrivals and of bytes that asynchronous copies complete.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace flashlab::cuda::emulation {

/// The mbarriers of a block, by their place in shared memory. Every error is a std::logic_error
/// that names the place.
class Mbarriers {
 public:
  void init(std::size_t at, int num_arrivals, int thread);
  /// fence.mbarrier_init of a thread: asynchronous copies may use what it initialised.
  void fence_init(int thread);
  void arrive(std::size_t at);
  /// Adds to the bytes that the current phase waits for.
  void expect(std::size_t at, std::int64_t bytes);
  /// An asynchronous copy wrote this many bytes.
  void complete(std::size_t at, std::int64_t bytes);
  /// Throws unless an asynchronous copy may use the barrier.
  void require_fenced(std::size_t at, const std::string& user) const;
  /// Whether the phase of this parity is complete. The phase before the first counts as complete.
  bool is_complete(std::size_t at, unsigned parity) const;
  /// "the mbarrier at byte 64: phase 2 misses 1 of 2 arrivals and 4096 bytes".
  std::string missing(std::size_t at) const;
  void forget() { barriers_.clear(); }

 private:
  struct Barrier {
    int num_arrivals = 0, missing_arrivals = 0, initialised_by = 0;
    std::int64_t missing_bytes = 0;  // below 0: bytes that came before they were expected
    std::uint64_t phase = 0;
    bool is_fenced = false;
  };
  Barrier& at_place(std::size_t at);
  const Barrier& at_place(std::size_t at) const;
  static void end_phase_if_complete(Barrier& barrier);

  std::map<std::size_t, Barrier> barriers_;
};

}  // namespace flashlab::cuda::emulation
