// The DRAM of a run, and its contents at several steps. Pages that did not change are kept once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "toymachine/bind/bound_program.hpp"

namespace flashlab::toy::detail {

template <class Cell>
class PagedMemory {
 public:
  using Page = std::vector<Cell>;
  /// Null: a page of inputs alone, which never change.
  using Contents = std::vector<std::shared_ptr<const Page>>;

  PagedMemory(const BoundProgram& program, std::vector<Cell> cells) : cells_(std::move(cells)) {
    constexpr std::int64_t kFewest = 1024, kMostPages = 8192;
    while ((kFewest << shift_) * kMostPages < std::ssize(cells_)) ++shift_;
    page_ = static_cast<std::size_t>(kFewest << shift_);
    shift_ += 10;
    base_.resize((cells_.size() + page_ - 1) / page_);
    changed_.assign(base_.size(), 0);
    for (const BoundArray& array : program.arrays) {
      if (array.role != ArrayRole::kInput) mark(array.offset, array.size);
    }
    save();
  }

  std::span<Cell> cells() { return cells_; }
  std::span<const Cell> cells() const { return cells_; }

  /// Call for all cells that are written.
  void mark(std::int64_t first, std::int64_t count) {
    if (count <= 0) return;
    for (std::int64_t page = first >> shift_; page <= (first + count - 1) >> shift_; ++page) {
      changed_[static_cast<std::size_t>(page)] = 1;
    }
  }

  /// Returns the contents now. `new_bytes` is increased by what they take besides earlier ones.
  Contents save(std::int64_t* new_bytes = nullptr) {
    for (std::size_t i = 0; i < base_.size(); ++i) {
      if (std::exchange(changed_[i], 0) == 0) continue;
      const auto now = page(i);
      const auto is = [&](const std::shared_ptr<const Page>& other) {
        return other && other->size() == now.size() &&
               std::memcmp(other->data(), now.data(), now.size_bytes()) == 0;
      };
      if (is(base_[i])) continue;
      if (i > 0 && is(base_[i - 1])) {  // such as those that were never written
        base_[i] = base_[i - 1];
        continue;
      }
      base_[i] = std::make_shared<Page>(now.begin(), now.end());
      if (new_bytes) *new_bytes += static_cast<std::int64_t>(now.size_bytes());
    }
    return base_;
  }

  void restore(const Contents& contents) {
    for (std::size_t i = 0; i < base_.size(); ++i) {
      if (changed_[i] == 0 && base_[i] == contents[i]) continue;
      std::copy(contents[i]->begin(), contents[i]->end(), page(i).begin());
      base_[i] = contents[i];
      changed_[i] = 0;
    }
  }

 private:
  std::span<Cell> page(std::size_t i) {
    return std::span<Cell>(cells_).subspan(i * page_, std::min(page_, cells_.size() - i * page_));
  }

  std::vector<Cell> cells_;
  std::size_t page_ = 0;  // cells of a page: two to the power of shift_
  int shift_ = 0;
  Contents base_;              // as the cells are in the pages that did not change since
  std::vector<char> changed_;  // by page
};

}  // namespace flashlab::toy::detail
