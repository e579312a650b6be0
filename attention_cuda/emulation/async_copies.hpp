// One thread's cp.async copies. Until the wait for its group, a copy's destination holds NaN: a
// reader that comes before the wait sees it, and so does one for whom the copy begins too early.
#pragma once

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
    for (; copy != under_way_.end() && copy->group < groups_closed_ - groups_under_way; ++copy) {
      if (copy->from == nullptr) {
        std::memset(copy->to, 0, kBytes);
      } else {
        std::memcpy(copy->to, copy->from, kBytes);
      }
    }
    under_way_.erase(under_way_.begin(), copy);
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
  };

  std::vector<Copy> under_way_;
  long groups_closed_ = 0;
};

}  // namespace flashlab::cuda::emulation
