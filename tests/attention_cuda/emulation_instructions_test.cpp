// What stands in for PTX in the emulated GPU means what the instructions mean.
#include <cuda_runtime.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <ios>
#include <iterator>
#include <limits>
#include <random>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "attention/tensor.hpp"
#include "attention_cuda/emulation/emulation.hpp"
#include "attention_cuda/ptx/convert.cuh"
#include "attention_cuda/ptx/cp_async.cuh"
#include "attention_cuda/ptx/exp2.cuh"
#include "attention_cuda/ptx/ldmatrix.cuh"
#include "attention_cuda/ptx/mma.cuh"
#include "attention_cuda/ptx/shared_memory.cuh"
#include "tests/attention_cpu/half_formats.hpp"
#include "tests/attention_cuda/emulated_launch.hpp"
#include "tests/catch_shim.hpp"
#include "tests/seed.hpp"

namespace emulation = flashlab::cuda::emulation;
namespace ptx = flashlab::cuda::ptx;
using flashlab::BFloat16;
using flashlab::Float16;
using flashlab::test::contains, flashlab::test::kFullMask;
using flashlab::test::launch, flashlab::test::shared_as;

namespace {

// cp.async

/// What 16 bytes of shared memory held before a wait for all but kGroupsUnderWay groups and after.
template <int kGroupsUnderWay>
__global__ void copy_kernel(const std::uint32_t* from, std::uint32_t* to, bool is_there) {
  auto* sWords = shared_as<std::uint32_t>() + 8 * threadIdx.x;
  for (int i = 0; i < 8; ++i) sWords[i] = 7;
  ptx::cp_async_16(sWords, from, is_there);
  ptx::cp_async_commit();
  ptx::cp_async_16(sWords + 4, from + 4, is_there);
  ptx::cp_async_commit();
  to[0] = sWords[0];
  ptx::cp_async_wait<kGroupsUnderWay>();
  to[1] = sWords[3];
  to[2] = sWords[7];
}

template <int kGroupsUnderWay>
std::array<std::uint32_t, 3> copied(bool is_there) {
  alignas(16) const std::uint32_t from[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  std::array<std::uint32_t, 3> to{};
  REQUIRE(launch(1, 1, 32, copy_kernel<kGroupsUnderWay>, from, to.data(), is_there) == cudaSuccess);
  return to;
}

// Tensor cores

constexpr int kM = 16, kN = 8;

template <class Element>
struct Bf16OrFp16 {
  static constexpr int kK = 16;

  /// Elements of two neighbouring columns k of A, or rows k of B.
  static std::uint32_t load(const float* matrix, int line, int k, int line_stride, int k_stride) {
    const float* first = matrix + line * line_stride + k * k_stride;
    return ptx::pack(Element{}, first[0], first[k_stride]);
  }
  static int k_of(int in_group, int half) { return 2 * in_group + 8 * half; }
  static void multiply(float (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
    ptx::mma_m16n8k16(Element{}, d, a, b);
  }
};

struct Tf32 {
  static constexpr int kK = 8;

  static std::uint32_t load(const float* matrix, int line, int k, int line_stride, int k_stride) {
    return __float_as_uint(matrix[line * line_stride + k * k_stride]);
  }
  static int k_of(int in_group, int half) { return in_group + 4 * half; }
  static void multiply(float (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
    ptx::mma_m16n8k8_tf32(d, a, b);
  }
};

/// D += A B with A [16, k], B [k, 8], D [16, 8], all row by row.
template <class Kind>
__global__ void mma_kernel(const float* mA, const float* mB, float* mD) {
  const int lane = static_cast<int>(threadIdx.x), group = lane / 4, in_group = lane % 4;
  std::uint32_t a[4], b[2];
  for (int i = 0; i < 4; ++i) {
    a[i] = Kind::load(mA, group + 8 * (i % 2), Kind::k_of(in_group, i / 2), Kind::kK, 1);
  }
  for (int i = 0; i < 2; ++i) b[i] = Kind::load(mB, group, Kind::k_of(in_group, i), 1, kN);
  float* corner = mD + group * kN + 2 * in_group;
  float d[4] = {corner[0], corner[1], corner[8 * kN], corner[8 * kN + 1]};
  Kind::multiply(d, a, b);
  corner[0] = d[0];
  corner[1] = d[1];
  corner[8 * kN] = d[2];
  corner[8 * kN + 1] = d[3];
}

/// Compares with the plain product of small integers, which every format holds exactly.
template <class Kind>
void check_product() {
  std::mt19937 random(flashlab::test::seeded(5));
  const auto fill = [&](int count) {
    std::vector<float> values(static_cast<std::size_t>(count));
    for (float& value : values) value = static_cast<float>(static_cast<int>(random() % 33) - 16);
    return values;
  };
  const auto A = fill(kM * Kind::kK), B = fill(Kind::kK * kN);
  auto D = fill(kM * kN);
  auto expected = D;
  for (std::size_t m = 0; m < kM; ++m) {
    for (std::size_t n = 0; n < kN; ++n) {
      for (std::size_t k = 0; k < Kind::kK; ++k) {
        expected[m * kN + n] += A[m * Kind::kK + k] * B[k * kN + n];
      }
    }
  }
  REQUIRE(launch(1, 32, 0, mma_kernel<Kind>, A.data(), B.data(), D.data()) == cudaSuccess);
  CHECK(D == expected);
}

/// Four matrices of rows `stride` bytes apart; element (i, j) of matrix m is 100 m + 10 i + j.
__global__ void ldmatrix_kernel(std::uint32_t* to, int stride, bool is_transposed) {
  const int lane = static_cast<int>(threadIdx.x);
  unsigned char* row = ptx::shared_memory() + lane * stride;
  for (int j = 0; j < 8; ++j) {
    reinterpret_cast<std::uint16_t*>(row)[j] =
        static_cast<std::uint16_t>(100 * (lane / 8) + 10 * (lane % 8) + j);
  }
  __syncwarp();
  std::uint32_t own[4];
  if (is_transposed) {
    ptx::ldmatrix_x4_transposed(own, row);
  } else {
    ptx::ldmatrix_x4(own, row);
  }
  for (int i = 0; i < 4; ++i) to[4 * lane + i] = own[i];
}

std::vector<std::uint32_t> loaded_matrices(int stride, bool is_transposed) {
  std::vector<std::uint32_t> to(32 * 4);
  REQUIRE(launch(1, 32, static_cast<std::size_t>(32 * stride), ldmatrix_kernel, to.data(), stride,
                 is_transposed) == cudaSuccess);
  return to;
}

constexpr std::uint32_t packed(std::uint32_t low, std::uint32_t high) { return low | high << 16; }

}  // namespace

TEST_CASE("a copy arrives at the wait for its group and is NaN before", "[emulation]") {
  CHECK(copied<0>(true) == std::array<std::uint32_t, 3>{kFullMask, 4, 8});
  CHECK(copied<1>(true) == std::array<std::uint32_t, 3>{kFullMask, 4, kFullMask});
  CHECK(copied<2>(true) == std::array<std::uint32_t, 3>{kFullMask, kFullMask, kFullMask});
  CHECK(copied<0>(false) == std::array<std::uint32_t, 3>{kFullMask, 0, 0});
}

TEST_CASE("mma of every kind is the plain product", "[emulation]") {
  check_product<Bf16OrFp16<BFloat16>>();
  check_product<Bf16OrFp16<Float16>>();
  check_product<Tf32>();
}

TEST_CASE("a tf32 product reads the upper 19 bits of its operands", "[emulation]") {
  std::vector<float> A(kM * 8, std::bit_cast<float>(0x3F801FFFu)), B(8 * kN, 1.f), D(kM * kN, 0.f);
  REQUIRE(launch(1, 32, 0, mma_kernel<Tf32>, A.data(), B.data(), D.data()) == cudaSuccess);
  CHECK(D == std::vector<float>(kM * kN, 8.f));
}

TEST_CASE("ldmatrix deals out rows, transposed it deals out columns", "[emulation]") {
  const auto plain = loaded_matrices(16, false), transposed = loaded_matrices(16, true);
  for (std::uint32_t i = 0; i < 128; ++i) {
    const std::uint32_t group = i / 4 / 4, in_group = i / 4 % 4, matrix = 100 * (i % 4);
    const std::uint32_t right = matrix + 10 * group + 2 * in_group;
    CHECK(plain[i] == packed(right, right + 1));
    const std::uint32_t down = matrix + 20 * in_group + group;
    CHECK(transposed[i] == packed(down, down + 10));
  }
}

TEST_CASE("conflicts of ldmatrix are counted", "[emulation]") {
  for (const auto& [stride, expected] : {std::pair(16, 0), {32, 4}, {128, 28}, {144, 0}}) {
    INFO("rows " << stride << " bytes apart");
    emulation::reset_statistics();
    loaded_matrices(stride, false);
    CHECK(emulation::statistics().ldmatrices == 1);
    CHECK(emulation::statistics().ldmatrix_conflicts == expected);
  }
}

TEST_CASE("conversions round to the nearest, ties to even", "[emulation]") {
  using flashlab::test::kBFloat16Format, flashlab::test::kFloat16Format;
  std::mt19937 random(flashlab::test::seeded(3));
  for (int i = 0; i < 100'000; ++i) {
    // Of every other value the lower half is that of a tie in one of the formats.
    auto bits = static_cast<std::uint32_t>(random());
    const std::uint32_t exponent = 100u + bits % 44;
    if (i % 4 == 0) bits = (bits & 0xFFFF0000u) | 0x8000u;
    if (i % 4 == 1) bits = (bits & 0x83FFE000u) | 0x1000u | exponent << 23;
    const float value = std::bit_cast<float>(bits);
    if (std::isnan(value)) continue;
    const std::uint32_t bf16 = ptx::pack(BFloat16{}, value, 1.f);
    const std::uint32_t fp16 = ptx::pack(Float16{}, 1.f, value);
    if ((bf16 & 0xFFFF) != flashlab::test::nearest(value, kBFloat16Format) ||
        fp16 >> 16 != flashlab::test::nearest(value, kFloat16Format)) {
      FAIL("of " << std::hexfloat << value);
    }
  }
  CHECK(ptx::from_float<BFloat16>(NAN).bits == 0x7FFF);
  CHECK(ptx::from_float<Float16>(NAN).bits == 0x7FFF);
}

TEST_CASE("16-bit elements become the floats that they stand for", "[emulation]") {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const auto stored = static_cast<std::uint16_t>(bits);
    const double fp16 = flashlab::test::value_of(stored, flashlab::test::kFloat16Format);
    const double bf16 = flashlab::test::value_of(stored, flashlab::test::kBFloat16Format);
    const auto is_same = [](double x, double y) {
      return std::isnan(x) ? std::isnan(y) : x == y && std::signbit(x) == std::signbit(y);
    };
    if (!is_same(fp16, ptx::to_float(Float16{stored})) ||
        !is_same(bf16, ptx::to_float(BFloat16{stored}))) {
      FAIL("of the bits " << bits);
    }
  }
  SUCCEED();
}

TEST_CASE("tf32 rounds ties away from zero", "[emulation]") {
  CHECK(ptx::to_tf32(std::bit_cast<float>(0x3F801000u)) == 0x3F802000u);
  CHECK(ptx::to_tf32(std::bit_cast<float>(0xBF801000u)) == 0xBF802000u);
  CHECK(ptx::to_tf32(std::bit_cast<float>(0x3F800FFFu)) == 0x3F800000u);
  CHECK(ptx::to_tf32(INFINITY) == 0x7F800000u);
  CHECK(std::isnan(std::bit_cast<float>(ptx::to_tf32(NAN))));
}

TEST_CASE("the fast power of two flushes subnormal results", "[emulation]") {
  CHECK(ptx::exp2_approximate(3.f) == 8.f);
  CHECK(ptx::exp2_approximate(-126.f) == std::numeric_limits<float>::min());
  CHECK(ptx::exp2_approximate(-126.5f) == 0.f);
  CHECK(ptx::exp2_approximate(-INFINITY) == 0.f);
  CHECK(std::isnan(ptx::exp2_approximate(NAN)));
}

TEST_CASE("every instruction has its stand-in", "[emulation][structure]") {
  namespace fs = std::filesystem;
  const fs::path root = FLASHLAB_SOURCE_DIR;
  const auto read = [](const fs::path& path) {
    std::ifstream file(path);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const std::regex function("__forceinline__ \\S+ (\\w+)[(<]");
  int functions = 0;
  for (const auto& entry : fs::directory_iterator(root / "attention_cuda" / "ptx")) {
    const std::string real = read(entry.path());
    const std::string stand_in = read(root / "attention_cuda" / "emulation" / "attention_cuda" /
                                      "ptx" / entry.path().filename());
    for (std::sregex_iterator found(real.begin(), real.end(), function), end; found != end;
         ++found) {
      INFO(entry.path().filename());
      CHECK_THAT(stand_in, contains((*found)[1].str()));
      ++functions;
    }
  }
  CHECK(functions > 10);
}
