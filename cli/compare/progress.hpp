// How far a sweep is.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <iostream>

#include "results/comparison.hpp"
#include "text/visible.hpp"

namespace flashlab::cli {

/// Shows "3 of 40, flash2, …; 2 min left".
class MeasuringProgress {
 public:
  explicit MeasuringProgress(std::size_t num_all) : num_all_(num_all) {}
  void starts(std::size_t index, const compare::Row& row) {
    using std::chrono::duration;
    const double elapsed = duration<double>(std::chrono::steady_clock::now() - start_).count();
    std::cerr << index + 1 << " of " << num_all_ << ": " << printable(key_of(row));
    if (num_done_ > 0) {
      const double left = elapsed / num_done_ * static_cast<double>(num_all_ - index);
      std::cerr << "; about " << std::max(1, static_cast<int>(left)) << " s left";
    }
    std::cerr << std::endl;
    ++num_done_;
  }

 private:
  std::size_t num_all_;
  int num_done_ = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace flashlab::cli
