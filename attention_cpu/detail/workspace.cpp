#include "attention_cpu/detail/workspace.hpp"

#include <omp.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <cstdlib>
#include <limits>
#include <new>
#include <string>

#include "attention_cpu/attention.hpp"

namespace flashlab::cpu::detail {
namespace {

constexpr std::int64_t kAlignment = 64;              // a cache line, and the widest vector
constexpr std::int64_t kHugePage = 2 * 1024 * 1024;  // on x86-64

class OutOfMemory : public std::bad_alloc {
 public:
  explicit OutOfMemory(double bytes)
      : text_("out of memory: a workspace of " + std::to_string(bytes / (1 << 30)) + " GiB") {}
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

}  // namespace

struct Workspace::Block {
  Block* older;
};
static_assert(sizeof(void*) <= kAlignment);

Workspace::~Workspace() {
  while (newest_ != nullptr) {
    Block* const older = newest_->older;
    std::free(newest_);
    newest_ = older;
  }
}

void* Workspace::allocate_bytes(std::int64_t count, std::int64_t size) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 2;
  if (count < 0 || count > kMost / size - kAlignment) {
    throw OutOfMemory(static_cast<double>(count) * static_cast<double>(size));
  }
  const std::int64_t bytes = (count * size + kAlignment - 1) / kAlignment * kAlignment;
  // Uses huge pages for large memory: a page fault every 4 KiB would take a third of a short call.
  const bool is_large = bytes >= 2 * kHugePage;
  const std::int64_t alignment = is_large ? kHugePage : kAlignment;
  const std::int64_t rounded = (kAlignment + bytes + alignment - 1) / alignment * alignment;
  void* const memory =
      std::aligned_alloc(static_cast<std::size_t>(alignment), static_cast<std::size_t>(rounded));
  if (memory == nullptr) throw OutOfMemory(static_cast<double>(bytes));
#if defined(__linux__)
  if (is_large) madvise(memory, static_cast<std::size_t>(rounded), MADV_HUGEPAGE);
#endif
  newest_ = new (memory) Block{newest_};
  bytes_ += bytes;
  return static_cast<char*>(memory) + kAlignment;
}

struct Progress::State {
  const ExecutionOptions& options;
  std::atomic<std::int64_t> done{0};
  std::int64_t total = 1;
  int pass = 0, num_passes = 1;
};

Progress::Progress(const ExecutionOptions& options) : state_(new State{options}) {}

Progress::~Progress() { delete state_; }

void Progress::begin(std::int64_t total, int pass, int num_passes) {
  state_->done = 0;
  state_->total = total > 0 ? total : 1;
  state_->pass = pass;
  state_->num_passes = num_passes;
}

void Progress::finished(std::int64_t units) {
  const std::int64_t done = state_->done.fetch_add(units, std::memory_order_relaxed) + units;
  if (omp_get_thread_num() != 0 || !state_->options.progress) return;
  const double share = static_cast<double>(done) / static_cast<double>(state_->total);
  state_->options.progress((state_->pass + share) / state_->num_passes);
}

bool Progress::cancelled() const {
  const std::atomic<bool>* const flag = state_->options.cancelled;
  return flag != nullptr && flag->load(std::memory_order_relaxed);
}

}  // namespace flashlab::cpu::detail
