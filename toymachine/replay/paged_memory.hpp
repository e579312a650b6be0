// The DRAM of a run, and its contents at several steps. Pages that did not change are kept once, and
// cells get their first values when they are needed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "toymachine/bind/bound_program.hpp"
#include "toymachine/execute/dram.hpp"

namespace flashlab::toy::detail {

template <class Cell>
class PagedMemory {
 public:
  using Page = std::vector<Cell>;
  /// Null: as before the first step.
  using Contents = std::vector<std::shared_ptr<const Page>>;

  PagedMemory(const BoundProgram& program, InitialDram initial)
      : arrays_(program.arrays),
        initial_(std::move(initial)),
        size_(static_cast<std::size_t>(program.dram_elements)),
        cells_(std::make_unique_for_overwrite<Cell[]>(size_)),
        ready_(program.arrays.size(), 0) {
    constexpr std::int64_t kFewest = 1024, kMostPages = 8192;
    while ((kFewest << shift_) * kMostPages < program.dram_elements) ++shift_;
    page_ = static_cast<std::size_t>(kFewest << shift_);
    shift_ += 10;
    base_.resize((size_ + page_ - 1) / page_);
    changed_.assign(base_.size(), 0);
  }

  /// Those for which need() was not called have no values.
  std::span<Cell> cells() { return {cells_.get(), size_}; }

  /// Gives these cells their first values, unless they have some. The others of an array get theirs
  /// in order, because random inputs are drawn one after the other.
  void need(std::int64_t first, std::int64_t count) {
    if (is_complete_) return;
    for (std::size_t i = 0; i < arrays_.size(); ++i) {
      const BoundArray& array = arrays_[i];
      if (array.offset >= first + count || array.offset + array.size <= first) continue;
      constexpr std::int64_t kFewestAtOnce = 1024;
      const std::int64_t end = std::min(first + count - array.offset, array.size);
      if (end <= ready_[i]) continue;
      make_ready(i, std::min(std::max(end, ready_[i] + kFewestAtOnce), array.size));
    }
  }
  void need_all() {
    for (std::size_t i = 0; i < arrays_.size(); ++i) make_ready(i, arrays_[i].size);
    is_complete_ = true;
  }
  bool is_complete() const { return is_complete_; }

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
      need(static_cast<std::int64_t>(i * page_), std::ssize(now));
      if (base_[i] && std::memcmp(base_[i]->data(), now.data(), now.size_bytes()) == 0) continue;
      base_[i] = std::make_shared<Page>(now.begin(), now.end());
      if (new_bytes) *new_bytes += static_cast<std::int64_t>(now.size_bytes());
    }
    return base_;
  }

  void restore(const Contents& contents) {
    for (std::size_t i = 0; i < base_.size(); ++i) {
      if (changed_[i] == 0 && base_[i] == contents[i]) continue;
      if (contents[i]) {
        std::copy(contents[i]->begin(), contents[i]->end(), page(i).begin());
      } else {
        reset(i);
      }
      base_[i] = contents[i];
      changed_[i] = 0;
    }
  }

 private:
  std::span<Cell> page(std::size_t i) {
    return cells().subspan(i * page_, std::min(page_, size_ - i * page_));
  }

  void make_ready(std::size_t i, std::int64_t end) {
    fill(i, ready_[i], end);
    ready_[i] = end;
  }
  void fill(std::size_t i, std::int64_t first, std::int64_t end) {
    initial_.fill(i, first,
                  cells().subspan(static_cast<std::size_t>(arrays_[i].offset + first),
                                  static_cast<std::size_t>(end - first)));
  }

  /// Gives a page its first values again. Inputs never change.
  void reset(std::size_t i) {
    const auto begin = static_cast<std::int64_t>(i * page_), end = begin + std::ssize(page(i));
    for (std::size_t at = 0; at < arrays_.size(); ++at) {
      const BoundArray& array = arrays_[at];
      const std::int64_t first = std::max<std::int64_t>(begin - array.offset, 0);
      const std::int64_t last = std::min(end - array.offset, ready_[at]);
      if (array.role != ArrayRole::kInput && first < last) fill(at, first, last);
    }
  }

  const std::vector<BoundArray>& arrays_;
  InitialDram initial_;
  std::size_t size_ = 0;
  std::unique_ptr<Cell[]> cells_;
  std::vector<std::int64_t> ready_;  // by array: elements that have their values
  bool is_complete_ = false;
  std::size_t page_ = 0;  // cells of a page: two to the power of shift_
  int shift_ = 0;
  Contents base_;              // as the cells are in the pages that did not change since
  std::vector<char> changed_;  // by page
};

}  // namespace flashlab::toy::detail
