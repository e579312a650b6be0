// Named barriers (bar.sync, bar.arrive) and the registers that setmaxnreg moves between warps.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace flashlab::cuda::emulation {

/// Barriers 0 to 15 of a block. Errors are std::logic_error.
class NamedBarriers {
 public:
  static constexpr int kCount = 16;

  /// Notes the arrival of a thread; returns the number of the barrier's current round.
  std::uint64_t arrive(int id, int num_threads);
  bool is_over(int id, std::uint64_t round) const;
  std::string missing(int id) const;
  void forget() { barriers_ = {}; }

 private:
  struct Barrier {
    int expected = 0, arrived = 0;  // expected: 0 between rounds
    std::uint64_t round = 0;
  };
  std::array<Barrier, kCount> barriers_;
};

/// The registers of a block. A launch gives every warp the same share; setmaxnreg changes it.
class RegisterPool {
 public:
  void begin(int num_threads);
  /// The launch gives each thread this many, if several blocks share a multiprocessor. Throws
  /// std::logic_error if a block has fewer, or after a setmaxnreg.
  void limit(int registers);
  /// setmaxnreg.dec of a warp. Throws std::logic_error unless `registers` is allowed and not larger
  /// than the warp's share, and the same for all warps of its warpgroup.
  void release(int warp, int registers);
  /// setmaxnreg.inc, the check; then take() once has() is true.
  void request(int warp, int registers);
  bool has(int warp, int registers) const;
  void take(int warp, int registers);
  std::string missing(int warp, int registers) const;

 private:
  void check(int warp, int registers, const char* operation);

  std::vector<int> share_;               // by warp: registers per thread
  std::vector<std::vector<int>> asked_;  // by warp: the values of its setmaxnreg, in order
  int free_ = 0;                         // registers per thread of a warp that nobody has
};

}  // namespace flashlab::cuda::emulation
