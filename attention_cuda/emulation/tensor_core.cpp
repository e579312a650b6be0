#include "attention_cuda/emulation/tensor_core.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <span>

#include "attention_cuda/emulation/fibers.hpp"
#include "attention_cuda/emulation/formats.hpp"

namespace flashlab::cuda::emulation {
namespace {

/// Tensor cores truncate the sum instead of rounding it, which biases the error.
float toward_zero(double value) {
  const float nearest = static_cast<float>(value);
  const bool is_too_far = std::fabs(static_cast<double>(nearest)) > std::fabs(value);
  return is_too_far ? std::nextafter(nearest, 0.f) : nearest;
}

constexpr int kM = 16, kN = 8;

/// One lane's registers.
struct Fragments {
  float* d;
  const std::uint32_t *a, *b;
};

/// An element of a row of A, or of a column of B.
struct Element {
  int along;  // its column in A, its row in B
  double value;
};

/// The 16-bit formats: two elements per register, k = 16.
template <class Stored>
struct Pairs {
  static constexpr int kK = 16, kElements = 2;

  static Element element(std::uint32_t bits, int in_group, int half, int i) {
    const auto stored = static_cast<std::uint16_t>(bits >> (16 * i));
    return {2 * in_group + 8 * half + i, to_float(Stored{stored})};
  }
};

/// tf32: the upper 19 bits of a register, k = 8.
struct Tf32 {
  static constexpr int kK = 8, kElements = 1;

  static Element element(std::uint32_t bits, int in_group, int half, int) {
    return {in_group + 4 * half, std::bit_cast<float>(bits & ~0x1FFFu)};
  }
};

template <class Kind>
struct Operands {
  double A[kM][Kind::kK], B[Kind::kK][kN], D[kM][kN];

  explicit Operands(Lanes<Fragments> lanes) {
    for (int l = 0; l < kWarpLanes; ++l) {
      const Fragments& own = *lanes[static_cast<std::size_t>(l)];
      const int group = l / 4, in_group = l % 4;
      for (int r = 0; r < 4; ++r) {
        const int row = group + 8 * (r % 2);
        for (int i = 0; i < Kind::kElements; ++i) {
          const Element element = Kind::element(own.a[r], in_group, r / 2, i);
          A[row][element.along] = element.value;
        }
        D[group + 8 * (r / 2)][2 * in_group + r % 2] = own.d[r];
      }
      for (int r = 0; r < 2; ++r) {
        for (int i = 0; i < Kind::kElements; ++i) {
          const Element element = Kind::element(own.b[r], in_group, r, i);
          B[element.along][group] = element.value;
        }
      }
    }
  }

  void multiply() {
    for (int m = 0; m < kM; ++m) {
      for (int k = 0; k < Kind::kK; ++k) {
        for (int n = 0; n < kN; ++n) D[m][n] += A[m][k] * B[k][n];
      }
    }
  }

  void store(Lanes<Fragments> lanes) const {
    for (int l = 0; l < kWarpLanes; ++l) {
      for (int r = 0; r < 4; ++r) {
        lanes[static_cast<std::size_t>(l)]->d[r] =
            toward_zero(D[l / 4 + 8 * (r / 2)][2 * (l % 4) + r % 2]);
      }
    }
  }
};

template <class Kind>
void mma(const char* name, float (&d)[4], const std::uint32_t (&a)[4],
         const std::uint32_t (&b)[2]) {
  Fragments own{d, a, b};
  warp_collective(name, own, [](Lanes<Fragments> lanes) {
    require_whole_warp(lanes, "mma");
    ++block_statistics().mmas;
    Operands<Kind> operands(lanes);
    operands.multiply();
    operands.store(lanes);
  });
}

/// One lane's part of ldmatrix: the row whose address it gives, and where its elements go.
struct MatrixLane {
  std::uint32_t* to;
  const unsigned char* row;
  std::size_t row_offset;  // in bytes, within shared memory
};

/// Returns the additional passes: eight rows need one pass for each row in the same banks.
int conflicts(std::span<MatrixLane*, 8> rows) {
  std::array<int, 8> rows_in_bank_group{};
  for (auto row = rows.begin(); row != rows.end(); ++row) {
    const std::size_t offset = (*row)->row_offset;
    const bool is_repeated = std::any_of(
        rows.begin(), row, [&](const MatrixLane* other) { return other->row_offset == offset; });
    if (!is_repeated) ++rows_in_bank_group[offset / 16 % 8];
  }
  return *std::max_element(rows_in_bank_group.begin(), rows_in_bank_group.end()) - 1;
}

template <bool kIsTransposed>
void load_matrices(Lanes<MatrixLane> lanes) {
  require_whole_warp(lanes, "ldmatrix");
  ++block_statistics().ldmatrices;
  for (std::size_t matrix = 0; matrix < 4; ++matrix) {
    const std::span<MatrixLane*, 8> rows(lanes.data() + 8 * matrix, 8);
    block_statistics().ldmatrix_conflicts += conflicts(rows);
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
      const std::size_t group = lane / 4, in_group = lane % 4;
      unsigned char* to = reinterpret_cast<unsigned char*>(lanes[lane]->to + matrix);
      if constexpr (kIsTransposed) {
        std::memcpy(to, rows[2 * in_group]->row + 2 * group, 2);
        std::memcpy(to + 2, rows[2 * in_group + 1]->row + 2 * group, 2);
      } else {
        std::memcpy(to, rows[group]->row + 4 * in_group, 4);
      }
    }
  }
}

}  // namespace

void mma_m16n8k16(BFloat16, float (&d)[4], const std::uint32_t (&a)[4],
                  const std::uint32_t (&b)[2]) {
  mma<Pairs<BFloat16>>("mma bf16", d, a, b);
}

void mma_m16n8k16(Float16, float (&d)[4], const std::uint32_t (&a)[4],
                  const std::uint32_t (&b)[2]) {
  mma<Pairs<Float16>>("mma fp16", d, a, b);
}

void mma_m16n8k8_tf32(float (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
  mma<Tf32>("mma tf32", d, a, b);
}

void ldmatrix_x4(std::uint32_t (&to)[4], const void* shared_row, bool is_transposed) {
  MatrixLane own{to, static_cast<const unsigned char*>(shared_row),
                 require_shared_16(shared_row, "ldmatrix")};
  if (is_transposed) {
    warp_collective("ldmatrix transposed", own,
                    [](Lanes<MatrixLane> lanes) { load_matrices<true>(lanes); });
  } else {
    warp_collective("ldmatrix", own, [](Lanes<MatrixLane> lanes) { load_matrices<false>(lanes); });
  }
}

}  // namespace flashlab::cuda::emulation
