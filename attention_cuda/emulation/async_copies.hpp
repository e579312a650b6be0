// The cp.async copies of one thread. From its start, a copy's destination contains NaN. So a read
// before the wait gives NaN, and so does a read of data that is overwritten too early. The bytes
// arrive at the wait at the latest; at each barrier, one copy in four arrives.
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
  /// Completes all copies except those in the newest groups and in no closed group.
  void wait(int groups_under_way) {
    auto copy = under_way_.begin();
    while (copy != under_way_.end() && copy->group < groups_closed_ - groups_under_way) {
      (copy++)->land();
    }
    under_way_.erase(under_way_.begin(), copy);
  }
  /// Completes some copies before any wait. They overwrite what was written there in between.
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
