#include "optimal/search/workers.hpp"

#include <utility>

namespace flashlab::optimal::detail {

Workers::~Workers() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  begun_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Workers::run(std::size_t count, const Task& task) {
  if (threads_.empty()) {
    for (unsigned worker = 1; worker < jobs_; ++worker) {
      threads_.emplace_back([this, worker] { work(worker); });
    }
  }
  {
    const std::lock_guard lock(mutex_);
    task_ = &task;
    count_ = count;
    next_ = 0;
    busy_ = threads_.size();
    ++round_;
  }
  begun_.notify_all();
  take_tasks(0);
  std::unique_lock lock(mutex_);
  done_.wait(lock, [&] { return busy_ == 0; });
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void Workers::work(unsigned worker) {
  for (std::uint64_t seen = 0;;) {
    {
      std::unique_lock lock(mutex_);
      begun_.wait(lock, [&] { return is_over_ || round_ != seen; });
      if (is_over_) return;
      seen = round_;
    }
    take_tasks(worker);
    const std::lock_guard lock(mutex_);
    if (--busy_ == 0) done_.notify_one();
  }
}

void Workers::take_tasks(unsigned worker) {
  for (std::size_t number; (number = next_++) < count_;) {
    try {
      (*task_)(number, worker);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
      next_ = count_;
    }
  }
}

}  // namespace flashlab::optimal::detail
