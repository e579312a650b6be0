#include "attention_cuda/emulation/async/warpgroups.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "attention_cuda/emulation/async/tensor_map.hpp"
#include "attention_cuda/emulation/formats.hpp"

namespace flashlab::cuda::emulation {
namespace {

constexpr int kRows = 64, kDepth = 16;
constexpr std::uint32_t kPoisonBits = 0xFFC00000, kPoisonMask = 0x001FFFFF;
constexpr std::uint32_t kPoisonMark = 0x00200000;

/// A matrix of 16-bit elements in shared memory, as the bits of its descriptor say.
class Matrix {
 public:
  Matrix(std::uint64_t descriptor, bool is_transposed, const std::string& name)
      : first_((descriptor & 0x3FFF) << 4),
        leading_bytes_((descriptor >> 16 & 0x3FFF) << 4),
        stride_bytes_((descriptor >> 32 & 0x3FFF) << 4),
        is_transposed_(is_transposed) {
    const auto swizzle = descriptor >> 62, base_offset = descriptor >> 49 & 7;
    if (swizzle != 1) {
      throw std::logic_error(name + ": swizzle mode " + std::to_string(swizzle) +
                             " of a descriptor; only 1, of 128 bytes, is emulated");
    }
    if (base_offset != 0) {
      throw std::logic_error(name + ": base offset " + std::to_string(base_offset) +
                             " of a descriptor; expected 0, for tiles at multiples of 1024 bytes");
    }
  }

  /// The byte of element (row, k): row of A or column of B, and place along the sum.
  std::size_t at(int row, int k) const {
    const auto r = static_cast<std::size_t>(is_transposed_ ? k : row);
    const auto c = static_cast<std::size_t>(is_transposed_ ? row : k);
    return swizzled_128(first_ + c / 64 * leading_bytes_ + r / 8 * stride_bytes_ + r % 8 * 128 +
                        2 * (c % 64));
  }

  SharedRange range(int rows) const {
    SharedRange bytes{at(0, 0), at(0, 0)};
    for (int row = 0; row < rows; ++row) {
      for (int k = 0; k < kDepth; ++k) {
        bytes.begin = std::min(bytes.begin, at(row, k));
        bytes.end = std::max(bytes.end, at(row, k) + 2);
      }
    }
    return bytes;
  }

 private:
  std::size_t first_, leading_bytes_, stride_bytes_;
  bool is_transposed_;
};

double number_of(std::uint16_t bits, bool is_bfloat16) {
  return is_bfloat16 ? to_float(BFloat16{bits}) : to_float(Float16{bits});
}

/// Row and column in D of register i of a thread.
int row_of(int thread, int i) { return thread / 32 * 16 + thread % 32 / 4 + i / 2 % 2 * 8; }
int column_of(int thread, int i) { return i / 4 * 8 + thread % 4 * 2 + i % 2; }

/// Row and column in A of half `half` of register i of a thread.
int a_row_of(int thread, int i) { return thread / 32 * 16 + thread % 32 / 4 + i % 2 * 8; }
int a_column_of(int thread, int i, int half) { return thread % 4 * 2 + i / 2 * 8 + half; }

/// The sum of a product's terms, truncated as tensor cores do.
float truncated(double value) {
  const auto nearest = static_cast<float>(value);
  const bool is_too_far = std::abs(static_cast<double>(nearest)) > std::abs(value);
  return is_too_far ? std::nextafter(nearest, 0.F) : nearest;
}

std::string product_text(std::uint64_t number) { return "wgmma " + std::to_string(number); }

}  // namespace

float wgmma_poison(std::uint64_t number) {
  return std::bit_cast<float>(kPoisonBits | kPoisonMark |
                              static_cast<std::uint32_t>(number & kPoisonMask));
}

std::uint64_t poisoned_by(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const bool is_poison = (bits & ~kPoisonMask) == (kPoisonBits | kPoisonMark);
  return is_poison && bits != ~0U ? bits & kPoisonMask : 0;
}

bool WgmmaIssue::is_same_product(const WgmmaIssue& other) const {
  return num_columns == other.num_columns && is_bfloat16 == other.is_bfloat16 &&
         accumulates == other.accumulates && is_a_transposed == other.is_a_transposed &&
         is_b_transposed == other.is_b_transposed && (a == nullptr) == (other.a == nullptr) &&
         a_descriptor == other.a_descriptor && b_descriptor == other.b_descriptor;
}

void Warpgroups::begin(int num_threads) {
  threads_.assign(static_cast<std::size_t>(num_threads), {});
  groups_.assign(static_cast<std::size_t>((num_threads + kThreads - 1) / kThreads), {});
  next_number_ = 1;
}

void Warpgroups::fence(int thread) { ++threads_[static_cast<std::size_t>(thread)].fences; }

/// Registers that changed since the emulation last saw them need a wgmma.fence, and registers that a
/// product in flight writes must not change at all.
void Warpgroups::check_registers(int thread, const WgmmaIssue& issue, std::uint64_t number) {
  Thread& own = threads_[static_cast<std::size_t>(thread)];
  const auto count = static_cast<std::size_t>(issue.num_columns) / 2;
  const auto [entry, is_new] = own.registers.try_emplace(issue.d);
  Registers& known = entry->second;
  const bool has_changed =
      known.values.size() != count || std::memcmp(known.values.data(), issue.d, 4 * count) != 0;
  if (has_changed && known.last != nullptr) {
    throw std::logic_error(product_text(number) + " finds its accumulators changed while " +
                           product_text(known.last->number) + " was in flight");
  }
  if (has_changed && (own.fences == 0 || (!is_new && known.fences == own.fences))) {
    throw std::logic_error(product_text(number) +
                           " reads accumulators that changed since the last wgmma.fence");
  }
}

void Warpgroups::issue(int thread, const WgmmaIssue& issue, SharedViews& views,
                       AsyncOperations& operations) {
  Thread& own = threads_[static_cast<std::size_t>(thread)];
  Group& group = groups_[static_cast<std::size_t>(thread / kThreads)];
  if (own.fences == 0) throw std::logic_error("wgmma before any wgmma.fence");
  const std::uint64_t place = own.issued++ - group.first;
  while (group.products.size() <= place) {
    group.products.push_back(std::make_shared<Product>());
    group.products.back()->number = next_number_++;
  }
  const ProductHandle product = group.products[place];
  const int first_thread = thread / kThreads * kThreads;
  const auto part = static_cast<std::size_t>(thread - first_thread);
  if (product->num_issued > 0) {
    const WgmmaIssue& other = product->parts[static_cast<std::size_t>(
        std::find_if(product->parts.begin(), product->parts.end(),
                     [](const WgmmaIssue& p) { return p.d != nullptr; }) -
        product->parts.begin())];
    if (!issue.is_same_product(other)) {
      throw std::logic_error("threads of one warpgroup differ in " + product_text(product->number));
    }
  }
  check_registers(thread, issue, product->number);
  const auto count = static_cast<std::size_t>(issue.num_columns) / 2;
  product->parts[part] = issue;
  product->before[part].assign(issue.d, issue.d + count);
  if (issue.a != nullptr) std::copy_n(issue.a, 4, product->a[part].begin());
  Registers& known = own.registers[issue.d];
  product->previous[part] = known.last;
  std::fill_n(issue.d, count, wgmma_poison(product->number));
  known = {{issue.d, issue.d + count}, own.fences, product};
  own.open.push_back(product);
  if (++product->num_issued < kThreads) return;
  start(group, product, first_thread, views, operations);
  group.products.pop_front();  // threads issue in order, so it is the first
  ++group.first;
}

void Warpgroups::start(Group& group, const ProductHandle& product, int first_thread,
                       SharedViews& views, AsyncOperations& operations) {
  ++num_products_;
  const WgmmaIssue& first = product->parts.front();
  const std::string name = product_text(product->number) + " of threads " +
                           std::to_string(first_thread) + " to " +
                           std::to_string(first_thread + kThreads - 1);
  const Matrix B(first.b_descriptor, first.is_b_transposed, name);
  auto operation = std::make_shared<AsyncOperation>();
  operation->name = name;
  operation->before = group.last;
  operation->reads.push_back(B.range(first.num_columns));
  if (first.a == nullptr)
    operation->reads.push_back(
        Matrix(first.a_descriptor, first.is_a_transposed, name).range(kRows));
  Product* const own = product.get();
  operation->read = [own, name, first_thread, &views] {
    const WgmmaIssue& what = own->parts.front();
    std::vector<double> A(kRows * kDepth), Bs(static_cast<std::size_t>(what.num_columns) * kDepth);
    const auto load = [&](std::uint64_t descriptor, bool is_transposed, int rows, double* to) {
      const Matrix matrix(descriptor, is_transposed, name);
      views.require_fenced(matrix.range(rows), name);
      for (int row = 0; row < rows; ++row) {
        for (int k = 0; k < kDepth; ++k) {
          std::uint16_t bits = 0;
          std::memcpy(&bits, views.async_bytes() + matrix.at(row, k), 2);
          to[row * kDepth + k] = number_of(bits, what.is_bfloat16);
        }
      }
    };
    load(what.b_descriptor, what.is_b_transposed, what.num_columns, Bs.data());
    if (what.a == nullptr) load(what.a_descriptor, what.is_a_transposed, kRows, A.data());
    for (std::size_t t = 0; t < kThreads && what.a != nullptr; ++t) {
      if (std::memcmp(own->parts[t].a, own->a[t].data(), 16) != 0) {
        throw std::logic_error(name + ": thread " +
                               std::to_string(static_cast<std::size_t>(first_thread) + t) +
                               " changed registers of A before the product was complete");
      }
      for (int i = 0; i < 4; ++i) {
        for (int half = 0; half < 2; ++half) {
          const auto bits =
              static_cast<std::uint16_t>(own->a[t][static_cast<std::size_t>(i)] >> 16 * half);
          const int at =
              a_row_of(static_cast<int>(t), i) * kDepth + a_column_of(static_cast<int>(t), i, half);
          A[static_cast<std::size_t>(at)] = number_of(bits, what.is_bfloat16);
        }
      }
    }
    const auto count = static_cast<std::size_t>(what.num_columns) / 2;
    for (std::size_t t = 0; t < kThreads; ++t) {
      // Registers in flight hold poison; their value is then the result of the product before.
      std::vector<float>& result = own->results[t];
      result.resize(count);
      const ProductHandle previous = std::move(own->previous[t]);
      const std::vector<float>& before = previous ? previous->results[t] : own->before[t];
      for (std::size_t i = 0; i < count; ++i) {
        const double* const a =
            A.data() + row_of(static_cast<int>(t), static_cast<int>(i)) * kDepth;
        const double* const b =
            Bs.data() + column_of(static_cast<int>(t), static_cast<int>(i)) * kDepth;
        double sum = what.accumulates ? before[i] : 0;
        for (int k = 0; k < kDepth; ++k) sum += a[k] * b[k];
        result[i] = truncated(sum);
      }
    }
  };
  operation->write = [] {};
  product->operation = operation;
  operations.issue(operation);
  group.last = operation;
}

void Warpgroups::commit(int thread) {
  Thread& own = threads_[static_cast<std::size_t>(thread)];
  own.groups.push_back(std::move(own.open));
  own.open.clear();
}

bool Warpgroups::can_wait(int thread, int groups_in_flight) const {
  const Thread& own = threads_[static_cast<std::size_t>(thread)];
  const auto kept = static_cast<std::size_t>(groups_in_flight);
  for (std::size_t g = 0; g + kept < own.groups.size(); ++g) {
    for (const ProductHandle& product : own.groups[g]) {
      if (product->num_issued < kThreads) return false;
    }
  }
  return true;
}

void Warpgroups::wait(int thread, int groups_in_flight, AsyncOperations& operations) {
  Thread& own = threads_[static_cast<std::size_t>(thread)];
  while (own.groups.size() > static_cast<std::size_t>(groups_in_flight)) {
    for (const ProductHandle& product : own.groups.front()) {
      operations.complete(product->operation);
      land(thread, product);
    }
    own.groups.pop_front();
  }
}

/// Gives a thread its results, unless a later product still writes the same registers.
void Warpgroups::land(int thread, const ProductHandle& product) {
  Thread& own = threads_[static_cast<std::size_t>(thread)];
  const auto part = static_cast<std::size_t>(thread % kThreads);
  const WgmmaIssue& issue = product->parts[part];
  Registers& known = own.registers[issue.d];
  if (known.last != product) return;
  const auto count = static_cast<std::size_t>(issue.num_columns) / 2;
  if (std::memcmp(known.values.data(), issue.d, 4 * count) != 0) {
    throw std::logic_error("accumulators changed while " + product_text(product->number) +
                           " was in flight");
  }
  std::copy_n(product->results[part].begin(), count, issue.d);
  known = {product->results[part], own.fences, nullptr};
}

void Warpgroups::require_finished(int thread) const {
  const Thread& own = threads_[static_cast<std::size_t>(thread)];
  if (own.open.empty() && own.groups.empty()) return;
  throw std::logic_error("the thread ends before it waited for its wgmma");
}

}  // namespace flashlab::cuda::emulation
