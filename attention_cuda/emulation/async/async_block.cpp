#include "attention_cuda/emulation/async/async_block.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <utility>

#include "attention_cuda/emulation/fibers.hpp"

namespace flashlab::cuda::emulation {
namespace {

using Coordinates = std::vector<std::int32_t>;

/// The bytes of a box: a swizzle exchanges chunks within 1024 bytes only.
SharedRange box_range(std::size_t shared_at, const TensorMap& map) {
  return {shared_at, shared_at + map.box_bytes()};
}

}  // namespace

void AsyncBlock::begin(std::span<unsigned char> shared, int num_threads) {
  shared_ = shared;
  num_threads_ = num_threads;
  early_writes_.clear();
  if (!is_used_) return;
  is_used_ = false;
  views_.end();
  operations_.forget();
  mbarriers_.forget();
  named_barriers_.forget();
}

AsyncBlock& AsyncBlock::used() {
  if (!is_used_) {
    is_used_ = true;
    next_copy_ = 1;
    views_.begin(shared_);
    for (const EarlyWrite& write : early_writes_) views_.wrote(write.thread, write.bytes);
    early_writes_.clear();
    registers_.begin(num_threads_);
    warpgroups_.begin(num_threads_);
    stores_.assign(static_cast<std::size_t>(num_threads_), {});
  }
  return *this;
}

void AsyncBlock::wrote_shared(int thread, SharedRange bytes, const char* instruction) {
  if (!is_used_) {  // perhaps the block has nothing asynchronous, and no fence will read this
    early_writes_.push_back({thread, bytes});
    return;
  }
  operations_.require_unused(bytes, instruction + (" of thread " + std::to_string(thread)));
  views_.wrote(thread, bytes);
}

void AsyncBlock::fence_proxy(int thread) { used().views_.fence(thread); }

void AsyncBlock::load_box(int thread, std::size_t shared_at, const TensorMap& map,
                          std::size_t mbarrier_at, std::span<const std::int32_t> coordinates) {
  used();
  auto operation = std::make_shared<AsyncOperation>();
  operation->name =
      "bulk load " + std::to_string(next_copy_++) + " of thread " + std::to_string(thread);
  map.require_aligned(shared_at, "cp.async.bulk.tensor");
  const SharedRange bytes = box_range(shared_at, map);
  if (bytes.end > shared_.size())
    throw std::logic_error(operation->name + " ends outside shared memory");
  mbarriers_.require_fenced(mbarrier_at, operation->name);
  operation->writes.push_back(bytes);
  map.for_each(shared_at, coordinates, [&](std::size_t, const unsigned char* from) {
    if (from != nullptr) block_statistics().l2_loaded_bytes += map.element_bytes;
  });
  const auto box = std::make_shared<std::vector<unsigned char>>(map.box_bytes());
  // Elements in the order of shared memory, from the box's first byte on.
  operation->read = [box, map, shared_at,
                     at = Coordinates(coordinates.begin(), coordinates.end())] {
    const auto element = static_cast<std::size_t>(map.element_bytes);
    map.for_each(shared_at, at, [&](std::size_t to, const unsigned char* from) {
      unsigned char* const place = box->data() + (to - shared_at);
      from == nullptr ? std::memset(place, 0, element) : std::memcpy(place, from, element);
    });
  };
  operation->write = [this, box, shared_at, mbarrier_at] {
    views_.write(shared_at, *box);
    mbarriers_.complete(mbarrier_at, static_cast<std::int64_t>(box->size()));
  };
  operations_.issue(operation);
  views_.poison(bytes);
}

void AsyncBlock::store_box(int thread, std::size_t shared_at, const TensorMap& map,
                           std::span<const std::int32_t> coordinates) {
  used();
  auto operation = std::make_shared<AsyncOperation>();
  operation->name =
      "bulk store " + std::to_string(next_copy_++) + " of thread " + std::to_string(thread);
  map.require_aligned(shared_at, "cp.async.bulk.tensor");
  const SharedRange bytes = box_range(shared_at, map);
  if (bytes.end > shared_.size())
    throw std::logic_error(operation->name + " begins outside shared memory");
  operation->reads.push_back(bytes);
  const auto box = std::make_shared<std::vector<unsigned char>>(map.box_bytes());
  operation->read = [this, box, shared_at, name = operation->name] {
    views_.read(shared_at, *box, name);
  };
  operation->write = [box, map, shared_at,
                      at = Coordinates(coordinates.begin(), coordinates.end())] {
    map.for_each(shared_at, at, [&](std::size_t from, unsigned char* to) {
      if (to != nullptr) {
        std::memcpy(to, box->data() + (from - shared_at),
                    static_cast<std::size_t>(map.element_bytes));
      }
    });
  };
  operations_.issue(operation);
  stores_[static_cast<std::size_t>(thread)].open.push_back(std::move(operation));
}

void AsyncBlock::add_floats(int thread, std::size_t shared_at, std::span<float> to) {
  used();
  auto operation = std::make_shared<AsyncOperation>();
  operation->name =
      "bulk addition " + std::to_string(next_copy_++) + " of thread " + std::to_string(thread);
  if (shared_at % 16 != 0) {
    throw std::logic_error(operation->name + " at byte " + std::to_string(shared_at) +
                           " of shared memory; expected a multiple of 16");
  }
  operation->reads.push_back({shared_at, shared_at + to.size_bytes()});
  const auto added = std::make_shared<std::vector<float>>(to.size());
  operation->read = [this, added, shared_at, name = operation->name] {
    const auto bytes = std::as_writable_bytes(std::span(*added));
    views_.read(shared_at, {reinterpret_cast<unsigned char*>(bytes.data()), bytes.size()}, name);
  };
  operation->write = [added, to] {
    for (std::size_t k = 0; k < to.size(); ++k) {
      std::atomic_ref<float>(to[k]).fetch_add((*added)[k], std::memory_order_relaxed);
    }
  };
  operations_.issue(operation);
  stores_[static_cast<std::size_t>(thread)].open.push_back(std::move(operation));
}

void AsyncBlock::copy_to(AsyncBlock& other, int thread, std::size_t from_at, std::size_t to_at,
                         std::size_t bytes, std::size_t mbarrier_at) {
  used();
  other.used();
  const std::string name = "bulk copy " + std::to_string(next_copy_++) + " of thread " +
                           std::to_string(thread) + " to another block";
  if (from_at % 16 != 0 || to_at % 16 != 0 || bytes % 16 != 0 || bytes == 0) {
    throw std::logic_error(name + ": from byte " + std::to_string(from_at) + " to byte " +
                           std::to_string(to_at) + ", " + std::to_string(bytes) +
                           " bytes; expected multiples of 16");
  }
  other.mbarriers_.require_fenced(mbarrier_at, name);
  const auto copied = std::make_shared<std::vector<unsigned char>>(bytes);
  auto reading = std::make_shared<AsyncOperation>();
  reading->name = name;
  reading->reads.push_back({from_at, from_at + bytes});
  reading->read = [this, copied, from_at, name] { views_.read(from_at, *copied, name); };
  reading->write = [] {};
  auto writing = std::make_shared<AsyncOperation>();
  writing->name = name;
  writing->writes.push_back({to_at, to_at + bytes});
  writing->before = reading;
  writing->read = [] {};
  writing->write = [&other, copied, to_at, mbarrier_at] {
    other.views_.write(to_at, *copied);
    other.mbarriers_.complete(mbarrier_at, static_cast<std::int64_t>(copied->size()));
  };
  operations_.issue(reading);
  other.operations_.issue(writing);
  other.views_.poison({to_at, to_at + bytes});
}

void AsyncBlock::commit_stores(int thread) {
  Stores& own = used().stores_[static_cast<std::size_t>(thread)];
  own.groups.push_back(std::move(own.open));
  own.open.clear();
}

void AsyncBlock::wait_stores(int thread, int groups_in_flight, bool only_reads) {
  Stores& own = used().stores_[static_cast<std::size_t>(thread)];
  const auto kept = static_cast<std::size_t>(groups_in_flight);
  for (std::size_t group = 0; group + kept < own.groups.size(); ++group) {
    for (const AsyncHandle& store : own.groups[group]) operations_.complete(store, only_reads);
  }
  while (!only_reads && own.groups.size() > kept) own.groups.pop_front();
}

void AsyncBlock::require_stores_complete(int thread, const char* what) {
  const Stores& own = used().stores_[static_cast<std::size_t>(thread)];
  if (own.open.empty() && own.groups.empty()) return;
  throw std::logic_error(std::string(what) +
                         " while bulk stores of the thread are in flight: it has "
                         "not waited until they are complete");
}

void AsyncBlock::thread_ends(int thread) const {
  if (!is_used_) return;
  warpgroups_.require_finished(thread);
  const Stores& own = stores_[static_cast<std::size_t>(thread)];
  const auto has_read = [](const AsyncHandle& store) { return store->has_read; };
  bool all_read = std::all_of(own.open.begin(), own.open.end(), has_read) && own.open.empty();
  for (const auto& group : own.groups) {
    all_read = all_read && std::all_of(group.begin(), group.end(), has_read);
  }
  if (!all_read) {
    throw std::logic_error("the thread ends while its bulk stores may still read shared memory");
  }
}

void AsyncBlock::block_ends() const {
  if (!is_used_) return;
  for (const AsyncHandle& operation : operations_.in_flight()) {
    if (!operation->writes.empty()) {
      throw std::logic_error("the block ends while " + operation->name + " is in flight");
    }
  }
}

}  // namespace flashlab::cuda::emulation
