#include "cli/attention/tensors.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <new>
#include <random>
#include <string>

#include "attention_cpu/half.hpp"
#include "cli/terminal/failure.hpp"

namespace flashlab::cli {
namespace {

/// Numbers per conversion: few, so that a tensor needs little additional memory.
constexpr std::int64_t kChunk = 4096;

void assign(const std::vector<double>& values, OwnedTensor& to) {
  to.generate([next = values.begin()]() mutable { return *next++; });
}

void copy(const OwnedTensor& from, OwnedTensor& to) { assign(from.values(), to); }

double rounded_to_tf32(double value) {
  constexpr std::uint32_t kHalf = 0x1000, kDropped = 0x1fff;  // of the 23 fraction bits
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  return std::bit_cast<float>((bits + kHalf) & ~kDropped);
}

}  // namespace

std::int64_t element_count(const char* name, const std::vector<std::int64_t>& shape) {
  constexpr std::int64_t kMost = std::int64_t{1} << 48;
  std::int64_t product = 1;
  for (const std::int64_t size : shape) {
    if (__builtin_mul_overflow(product, size, &product) || product > kMost) {
      throw request_failure(std::string(name) + " would have more than 2^48 elements",
                            "sizes whose tensors fit into memory");
    }
  }
  return product;
}

OwnedTensor::OwnedTensor(const char* name, DataType dtype, std::vector<std::int64_t> shape)
    : name_(name), dtype_(dtype), shape_(std::move(shape)), size_(element_count(name, shape_)) {
  const std::int64_t bytes = size_ * size_in_bytes(dtype);
  try {
    // new aligns large arrays to 16 bytes, which is enough for any element.
    data_.reset(new std::byte[static_cast<std::size_t>(bytes)]);
  } catch (const std::bad_alloc&) {
    throw Failure(kExitLimit, "flashlab: error: no memory for " + std::string(name) + ": " +
                                  std::to_string(bytes) + " bytes\n");
  }
}

TensorView OwnedTensor::view() const { return {data_.get(), dtype_, shape_, row_major(shape_)}; }

std::vector<double> OwnedTensor::values() const {
  std::vector<double> result;
  result.reserve(static_cast<std::size_t>(size_));
  for_each([&](double value) { result.push_back(value); });
  return result;
}

void OwnedTensor::for_each(const std::function<void(double)>& visit) const {
  if (dtype_ == DataType::kFloat64) {
    const double* const first = reinterpret_cast<const double*>(data_.get());
    std::for_each(first, first + size_, visit);
    return;
  }
  std::array<float, kChunk> chunk{};
  for (std::int64_t done = 0; done < size_; done += kChunk) {
    const std::int64_t count = std::min(kChunk, size_ - done);
    cpu::load_floats(data_.get() + done * size_in_bytes(dtype_), dtype_, count, chunk.data());
    std::for_each(chunk.begin(), chunk.begin() + count, visit);
  }
}

void OwnedTensor::generate(const std::function<double()>& next) {
  if (dtype_ == DataType::kFloat64) {
    std::generate_n(reinterpret_cast<double*>(data_.get()), size_, next);
    return;
  }
  std::array<float, kChunk> chunk{};
  for (std::int64_t done = 0; done < size_; done += kChunk) {
    const std::int64_t count = std::min(kChunk, size_ - done);
    std::generate_n(chunk.begin(), count, [&] { return static_cast<float>(next()); });
    cpu::store_floats(chunk.data(), count, data_.get() + done * size_in_bytes(dtype_), dtype_);
  }
}

void OwnedTensor::fill_with_nan() {
  generate([] { return std::numeric_limits<double>::quiet_NaN(); });
}

AttentionTensors::AttentionTensors(const AttentionProblem& p, DataType dtype)
    : Q("Q", dtype, {p.batch, p.num_heads, p.seqlen_q, p.head_dim}),
      K("K", dtype, {p.batch, p.num_kv_heads, p.seqlen_k, p.head_dim}),
      V("V", dtype, K.view().shape),
      dO("dO", dtype, Q.view().shape),
      O("O", dtype, Q.view().shape),
      lse("lse", dtype == DataType::kFloat64 ? dtype : DataType::kFloat32,
          {p.batch, p.num_heads, p.seqlen_q}),
      dQ("dQ", dtype, Q.view().shape),
      dK("dK", dtype, K.view().shape),
      dV("dV", dtype, K.view().shape) {}

ForwardTensors AttentionTensors::forward() const {
  return {Q.view(), K.view(), V.view(), O.view(), lse.view()};
}

BackwardTensors AttentionTensors::backward() const {
  return {Q.view(),  K.view(),  V.view(),  O.view(), lse.view(),
          dO.view(), dQ.view(), dK.view(), dV.view()};
}

std::vector<OwnedTensor*> AttentionTensors::outputs(Pass pass) {
  if (pass == Pass::kForward) return {&O, &lse};
  return {&dQ, &dK, &dV};
}

void AttentionTensors::draw_inputs(std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<double> normal;
  for (OwnedTensor* const input : {&Q, &K, &V, &dO}) {
    input->generate([&] { return normal(generator); });
  }
}

void AttentionTensors::copy_inputs(const AttentionTensors& other) {
  copy(other.Q, Q);
  copy(other.K, K);
  copy(other.V, V);
  copy(other.dO, dO);
}

void AttentionTensors::round_inputs_to_tf32() {
  for (OwnedTensor* const input : {&Q, &K, &V, &dO}) {
    std::vector<double> values = input->values();
    for (double& value : values) value = rounded_to_tf32(value);
    assign(values, *input);
  }
}

}  // namespace flashlab::cli
