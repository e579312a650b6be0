// What a call refuses beside bad tensors, and sizes beyond 32 bits.
#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "tests/attention_cpu/plain_tensors.hpp"
#include "tests/attention_cpu/running_variants.hpp"
#include "tests/catch_shim.hpp"

using namespace flashlab;
using namespace flashlab::test;

namespace {

/// Addresses without memory until they are touched.
class SparseMemory {
 public:
  explicit SparseMemory(std::size_t bytes)
      : bytes_(bytes),
        data_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
  SparseMemory(const SparseMemory&) = delete;
  SparseMemory& operator=(const SparseMemory&) = delete;
  ~SparseMemory() {
    if (exists()) munmap(data_, bytes_);
  }
  bool exists() const { return data_ != MAP_FAILED; }
  float* at(std::int64_t element) const { return static_cast<float*>(data_) + element; }

 private:
  std::size_t bytes_;
  void* data_;
};

constexpr std::int64_t kFar = (std::int64_t{1} << 32) + 64;  // elements

/// The same shape, heads kFar elements apart.
TensorView far_apart(const TensorView& tensor, float* data) {
  std::vector<std::int64_t> strides = row_major(tensor.shape);
  strides[1] = kFar;
  return view(data, tensor.shape, strides);
}

void copy_heads(const TensorView& from, const TensorView& to) {
  const std::int64_t count = std::min(from.strides[1], to.strides[1]);  // of one head
  for (std::int64_t h = 0; h < from.shape[1]; ++h) {
    std::memcpy(static_cast<float*>(to.data) + h * to.strides[1],
                static_cast<const float*>(from.data) + h * from.strides[1],
                static_cast<std::size_t>(count) * sizeof(float));
  }
}

/// Moves every tensor of one call into sparse memory and back again after it.
class FarTensors {
 public:
  explicit FarTensors(const SparseMemory& memory) : memory_(memory) {}
  TensorView operator()(const TensorView& tensor) {
    const TensorView far = far_apart(tensor, memory_.at(next_));
    next_ += 4096;
    copy_heads(tensor, far);
    moved_.push_back({tensor, far});
    return far;
  }
  void back() const {
    for (const auto& [near, far] : moved_) copy_heads(far, near);
  }

 private:
  struct Moved {
    TensorView near, far;
  };
  const SparseMemory& memory_;
  std::int64_t next_ = 0;
  std::vector<Moved> moved_;
};

}  // namespace

TEST_CASE("a variant of the other pass is refused", "[call]") {
  PlainTensors<float> tensors({1, 1, 1, 2, 2, 2});
  const auto message = [](const auto& call) -> std::string {
    try {
      call();
    } catch (const ProblemError& error) {
      return error.what();
    }
    return "accepted";
  };
  CHECK(message([&] { cpu::attention_forward("bwd-twopass", tensors.forward_tensors()); }) ==
        "variant: bwd-twopass: expected a forward variant");
  CHECK(message([&] { cpu::attention_backward("flash2", tensors.backward_tensors()); }) ==
        "variant: flash2: expected a backward variant");
  CHECK_THAT(message([&] { cpu::attention_forward("flash9", tensors.forward_tensors()); }),
             contains("variant: flash9: expected one of naive, fused-softmax, "));
}

TEST_CASE("a negative number of threads is refused", "[call]") {
  PlainTensors<float> tensors({1, 1, 1, 2, 2, 2});
  cpu::ExecutionOptions execution;
  execution.num_threads = -1;
  try {
    tensors.run("online", {}, execution);
    FAIL("accepted");
  } catch (const ProblemError& error) {
    CHECK(std::string(error.what()) == "num_threads: -1: expected 0 or more");
  }
}

TEST_CASE("a call without lse gives the same O", "[call]") {
  for (const std::string_view variant : variants_here(Pass::kForward)) {
    INFO(variant);
    PlainTensors<float> with({2, 2, 1, 20, 30, 16}), without = with;
    with.run(variant);
    ForwardTensors tensors = without.forward_tensors();
    tensors.lse = {};
    cpu::attention_forward(variant, tensors);
    CHECK(with.O == without.O);
  }
}

TEST_CASE("elements may lie more than 2^32 elements apart", "[call]") {
  const SparseMemory memory((kFar + (1 << 20)) * sizeof(float));
  if (!memory.exists()) FLASHLAB_SKIP("no 16 GiB of addresses here");
  for (const VariantInfo& variant : variants()) {
    const auto here = variants_here(variant.pass);
    if (std::find(here.begin(), here.end(), variant.name) == here.end()) continue;
    INFO(variant.name);
    PlainTensors<float> near({1, 2, 2, 33, 40, 16});
    near.run("online");
    PlainTensors<float> expected = near;
    expected.run(variant.name);
    FarTensors far(memory);
    if (variant.pass == Pass::kForward) {
      const ForwardTensors t = near.forward_tensors();
      cpu::attention_forward(variant.name, {far(t.Q), far(t.K), far(t.V), far(t.O), far(t.lse)});
    } else {
      const BackwardTensors t = near.backward_tensors();
      cpu::attention_backward(variant.name, {far(t.Q), far(t.K), far(t.V), far(t.O), far(t.lse),
                                             far(t.dO), far(t.dQ), far(t.dK), far(t.dV)});
    }
    far.back();
    const bool is_forward = variant.pass == Pass::kForward;
    CHECK((is_forward
               ? near.O == expected.O && near.lse == expected.lse
               : near.dQ == expected.dQ && near.dK == expected.dK && near.dV == expected.dV));
  }
}

TEST_CASE("the mask is exact beyond the integers that a float counts", "[call]") {
  // Two queries, of which the second sees one key more; each one's last key outweighs all others.
  constexpr std::int64_t kKeys = (1 << 24) + 1;
  std::vector<float> K(kKeys, 0.0f);
  K[kKeys - 2] = 40;
  K[kKeys - 1] = 80;
  const float q = 1, v = 1;
  for (const std::string_view variant : variants_here(Pass::kForward)) {
    INFO(variant);
    float O[2], lse[2];
    cpu::attention_forward(
        variant,
        {view(&q, {1, 1, 2, 1}, {0, 0, 0, 1}), view(K.data(), {1, 1, kKeys, 1}),
         view(&v, {1, 1, kKeys, 1}, {0, 0, 0, 1}), view(O, {1, 1, 2, 1}), view(lse, {1, 1, 2})},
        {Mask::kCausalBottomRight, 1.0, {}});
    CHECK((std::fabs(lse[0] - 40) < 1e-3 && std::fabs(lse[1] - 80) < 1e-3));
    CHECK((std::fabs(O[0] - 1) < 1e-3 && std::fabs(O[1] - 1) < 1e-3));
  }
}
