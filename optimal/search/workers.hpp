// Threads that share a list of tasks.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace flashlab::optimal::detail {

class Workers {
 public:
  /// The caller is one of the workers. The other threads start at the first call of run().
  explicit Workers(unsigned jobs) : jobs_(jobs < 1 ? 1 : jobs) {}
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  unsigned jobs() const { return jobs_; }
  /// Calls task(number, worker) for each number below `count`, in no particular order. Returns when
  /// all tasks are done. Rethrows the exception of the first task that fails.
  using Task = std::function<void(std::size_t number, unsigned worker)>;
  void run(std::size_t count, const Task& task);

 private:
  void work(unsigned worker);
  void take_tasks(unsigned worker);

  unsigned jobs_;
  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable begun_, done_;
  std::uint64_t round_ = 0;  // the current round of tasks; threads wait for it to change
  std::size_t busy_ = 0;
  bool is_over_ = false;
  std::exception_ptr failure_;
  const Task* task_ = nullptr;
  std::size_t count_ = 0;
  std::atomic<std::size_t> next_{0};
};

}  // namespace flashlab::optimal::detail
