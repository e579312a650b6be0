// wgmma: products of a warpgroup that go on while its threads do.
//
// A product begins when all 128 threads have issued it. From then until a thread has waited for
// its group, that thread's accumulators hold NaN, whose bits carry the product's number; so does
// what is computed from them. A change of such registers meanwhile is an error, and so is one of
// the registers of A until the product is complete.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "attention_cuda/emulation/async/async_operations.hpp"
#include "attention_cuda/emulation/async/shared_views.hpp"

namespace flashlab::cuda::emulation {

/// One thread's part of a product: 64 rows x num_columns, 16 deep.
struct WgmmaIssue {
  int num_columns = 0;
  bool is_bfloat16 = true;           // else fp16
  bool accumulates = false;          // D += A B, else D = A B
  bool is_a_transposed = false;      // A is M-major
  bool is_b_transposed = false;      // B is N-major
  float* d = nullptr;                // num_columns / 2 registers
  const std::uint32_t* a = nullptr;  // 4 registers; null: A is in shared memory
  std::uint64_t a_descriptor = 0, b_descriptor = 0;

  bool is_same_product(const WgmmaIssue& other) const;
};

class Warpgroups {
 public:
  static constexpr int kThreads = 128;

  void begin(int num_threads);
  void fence(int thread);
  void issue(int thread, const WgmmaIssue& issue, SharedViews& views, AsyncOperations& operations);
  void commit(int thread);
  /// Whether all threads of the warpgroup have issued what the thread waits for when it leaves at
  /// most `groups_in_flight` of its groups.
  bool can_wait(int thread, int groups_in_flight) const;
  /// Completes those products and gives the thread its results.
  void wait(int thread, int groups_in_flight, AsyncOperations& operations);
  /// Throws if the thread ends before it has waited for all its products.
  void require_finished(int thread) const;
  std::int64_t num_products() const { return num_products_; }

 private:
  struct Product {
    std::uint64_t number = 0;
    int num_issued = 0;
    std::array<WgmmaIssue, kThreads> parts;
    std::array<std::array<std::uint32_t, 4>, kThreads> a{};  // as they were when it was issued
    std::array<std::vector<float>, kThreads> before, results;
    std::array<std::shared_ptr<Product>, kThreads> previous;  // in flight on the same registers
    AsyncHandle operation;
  };
  using ProductHandle = std::shared_ptr<Product>;
  /// What the emulation knows of registers that products write.
  struct Registers {
    std::vector<float> values;  // at the last issue or wait
    std::uint64_t fences = 0;   // that the thread had executed then
    ProductHandle last;         // in flight; null: none
  };
  struct Thread {
    std::uint64_t issued = 0, fences = 0;
    std::vector<ProductHandle> open;                // issued and not committed
    std::deque<std::vector<ProductHandle>> groups;  // committed, the oldest first
    std::map<float*, Registers> registers;
  };
  struct Group {
    std::deque<ProductHandle> products;  // those that not all threads have issued
    std::uint64_t first = 0;             // number of the first of them
    AsyncHandle last;
  };

  void check_registers(int thread, const WgmmaIssue& issue, std::uint64_t number);
  void start(Group& group, const ProductHandle& product, int first_thread, SharedViews& views,
             AsyncOperations& operations);
  void land(int thread, const ProductHandle& product);

  std::vector<Thread> threads_;
  std::vector<Group> groups_;
  std::uint64_t next_number_ = 1;
  std::int64_t num_products_ = 0;
};

/// NaN whose bits carry a product's number.
float wgmma_poison(std::uint64_t number);
/// The number that such a NaN carries; 0 for other values.
std::uint64_t poisoned_by(float value);

}  // namespace flashlab::cuda::emulation
