// One thread's cp.async copies. From the start a copy's destination holds NaN: a reader that comes
// before the wait sees it, and so does one for whom the copy begins too early. The bytes arrive at
// the wait at the latest; at each barrier, one of four does.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

namespace flashlab::cuda::emulation {

class AsyncCopies {
 public:
  static constexpr std::size_t kBytes = 16;

  void issue(void* to, const void* from, bool is_there) {
    std::memset(to, 0xFF, kBytes);
    under_way_.push_back({to, is_there ? from : nullptr, groups_closed_});
  }
  void commit() { ++groups_closed_; }
  /// Leaves under way at most the newest closed groups, and what is in none yet.
  void wait(int groups_under_way) {
    auto copy = under_way_.begin();
    while (copy != under_way_.end() && copy->group < groups_closed_ - groups_under_way) {
      (copy++)->land();
    }
    under_way_.erase(under_way_.begin(), copy);
  }
  /// Some arrive before anybody waits for them, and then lie over what was written there meanwhile.
  void land_some() {
    std::erase_if(under_way_, [&](const Copy& copy) {
      draw_ = draw_ * 6364136223846793005u + 1442695040888963407u;
      if (draw_ >> 62 != 0) return false;
      copy.land();
      return true;
    });
  }
  void forget() {
    under_way_.clear();
    groups_closed_ = 0;
  }

 private:
  struct Copy {
    void* to;
    const void* from;  // null: zeros
    long group;

    void land() const {
      from == nullptr ? std::memset(to, 0, kBytes) : std::memcpy(to, from, kBytes);
    }
  };

  std::vector<Copy> under_way_;
  long groups_closed_ = 0;
  std::uint64_t draw_ = 1;
};

}  // namespace flashlab::cuda::emulation
