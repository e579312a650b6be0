// Products of tiles on tensor cores (level 1), of compute capability 8.0 and, in fp16, 7.5. The factors
// are rounded to 16 bits; sums are in float.
//
// A warp computes 32 rows and 8 columns at a time: two instructions that share the right factor. Its
// rows, columns and terms are interleaved: lane l, with g = l / 4 and t = l % 4, has rows 4 g + h and
// terms t + 4 j, so that the 32 lanes read 32 different banks, whatever the odd length of a row.
//
// Source  PTX ISA, "Matrix multiply-accumulate operation using mma instruction"
#ifndef FLASHLAB_TENSOR_PRODUCTS
#define FLASHLAB_TENSOR_PRODUCTS

namespace toy {

// One instruction ------------------------------------------------------------------------------------

/// Two numbers in 16 bits; the first one is in the lower half.
__device__ inline unsigned pair_of(Bf16, float first, float second) {
#if defined(__CUDACC__) && __CUDA_ARCH__ >= 800
  unsigned pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
  return pair;
#else
  return rounded_to(first, Bf16()).bits | static_cast<unsigned>(rounded_to(second, Bf16()).bits)
                                              << 16;
#endif
}
__device__ inline unsigned pair_of(Fp16, float first, float second) {
#if defined(__CUDACC__) && __CUDA_ARCH__ >= 800
  unsigned pair;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
  return pair;
#else
  return rounded_to(first, Fp16()).bits | static_cast<unsigned>(rounded_to(second, Fp16()).bits)
                                              << 16;
#endif
}

/// d += a b for a warp: 16 x 16 times 16 x 8. Lane l holds the terms 2 t, 2 t + 1, 2 t + 8, 2 t + 9.
__device__ inline void multiply_add(Bf16, float (&d)[4], const unsigned (&a)[4],
                                    const unsigned (&b)[2]) {
#ifdef __CUDACC__
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
  flashlab::cuda::emulation::mma_m16n8k16(flashlab::BFloat16{}, d, a, b);
#endif
}
__device__ inline void multiply_add(Fp16, float (&d)[4], const unsigned (&a)[4],
                                    const unsigned (&b)[2]) {
#if !defined(__CUDACC__)
  flashlab::cuda::emulation::mma_m16n8k16(flashlab::Float16{}, d, a, b);
#elif __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else  // 8 terms at a time
  for (int half = 0; half < 2; ++half) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
        "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[2 * half]), "r"(a[2 * half + 1]), "r"(b[half]));
  }
#endif
}

// A product of tiles ---------------------------------------------------------------------------------

/// A product whose factors are rounded to Factor. set() computes it on tensor cores; its elements one
/// by one are for all other places.
template <class Factor, class A, class B>
struct TensorProduct {
  A a;
  B b;
  int rows, cols;
  __device__ float operator()(int row, int col) const {
    float sum = 0;
    for (int k = 0; k < a.cols; ++k) {
      sum = add(sum, multiply(value_of(rounded_to(a(row, k), Factor())),
                              value_of(rounded_to(b(k, col), Factor()))));
    }
    return sum;
  }
};
template <class Factor, class A, class B>
__device__ inline TensorProduct<Factor, A, B> tensor_product(const A& a, const B& b) {
  return {a, b, a.rows, b.cols};
}

/// An element of a factor, and 0 beyond its edges.
template <class Operand>
__device__ inline float inside(const Operand& a, int row, int col) {
  return row < a.rows && col < a.cols ? a(row, col) : 0.0f;
}

/// target = a b + c, where c's elements are read where they are written, or c is one number.
template <class Factor, class A, class B, class C>
__device__ inline void multiply_tiles(Tile<float>& target, const A& a, const B& b, const C& c) {
  constexpr int kRows = 32, kCols = 8, kTerms = 16, kInterleaved = 4;
  const int lane = static_cast<int>(threadIdx.x) % 32, group = lane / 4, in_group = lane % 4;
  const int warps = static_cast<int>(blockDim.x) / 32;
  const Tile<float> result{target.data, a.rows, b.cols};
  // Four parts of 8 columns are interleaved: 4 g + part.
  const int parts = (result.cols + 31) / 32 * kInterleaved;
  const int all = (result.rows + kRows - 1) / kRows * parts;
  for (int at = static_cast<int>(threadIdx.x) / 32; at < all; at += warps) {
    const int first_row = at / parts * kRows + kInterleaved * group;
    const int part = at % parts;
    const int first_col = part / kInterleaved * (kCols * kInterleaved) + part % kInterleaved;
    if (first_col >= result.cols) continue;
    float d[2][4] = {};
    for (int k = in_group; k - in_group < a.cols; k += kTerms) {
      unsigned right[2];
      for (int half = 0; half < 2; ++half) {
        const int col = first_col + kInterleaved * group, term = k + 8 * half;
        right[half] = pair_of(Factor(), inside(b, term, col), inside(b, term + 4, col));
      }
      for (int i = 0; i < 2; ++i) {
        unsigned left[4];
        for (int r = 0; r < 4; ++r) {
          const int row = first_row + 2 * i + r % 2, term = k + 8 * (r / 2);
          left[r] = pair_of(Factor(), inside(a, row, term), inside(a, row, term + 4));
        }
        multiply_add(Factor(), d[i], left, right);
      }
    }
    for (int i = 0; i < 2; ++i) {
      for (int r = 0; r < 4; ++r) {
        const int row = first_row + 2 * i + r / 2;
        const int col = first_col + kInterleaved * (2 * in_group + r % 2);
        if (row >= result.rows || col >= result.cols) continue;
        result.at(row, col) = add(d[i][r], repeated(c, row, col));
      }
    }
  }
  __syncthreads();
  target.rows = result.rows;
  target.cols = result.cols;
}

template <class Factor, class A, class B>
__device__ inline void set(Tile<float>& target, const TensorProduct<Factor, A, B>& product) {
  multiply_tiles<Factor>(target, product.a, product.b, scalar(0.0f));
}
template <class Factor, class A, class B, class C>
__device__ inline void set(Tile<float>& target,
                           const Elementwise<Add, TensorProduct<Factor, A, B>, C>& sum) {
  if (sum.b.rows == 1 && sum.b.cols == 1) {  // perhaps the target, which is overwritten
    const float number = sum.b(0, 0);
    __syncthreads();
    multiply_tiles<Factor>(target, sum.a.a, sum.a.b, scalar(number));
  } else if (target.rows == sum.rows && target.cols == sum.cols) {
    multiply_tiles<Factor>(target, sum.a.a, sum.a.b, sum.b);
  } else {
    set<float, Elementwise<Add, TensorProduct<Factor, A, B>, C>>(target, sum);
  }
}

}  // namespace toy

#endif  // FLASHLAB_TENSOR_PRODUCTS
