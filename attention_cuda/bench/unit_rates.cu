// Measures how many clocks of a scheduler an instruction of a warp takes, with two warps per scheduler: one
// kind of instruction at a time, or two in turn, which tells whether they share a unit. Prints one line for each.
//
//   nvcc -std=c++20 -O3 -arch=sm_90 -o unit_rates attention_cuda/bench/unit_rates.cu
//
// Each warp has eight chains, so that none waits for a result. The values in gpu/sheets/gpus.json are from
// docs/results/unit_rates_h200.json.
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

constexpr int kChains = 8, kThreads = 256, kRounds = 1024, kUnrolled = 8;

__device__ long long clocks_of_block;
__device__ std::uint32_t sink;
__constant__ uint2 constants[64];

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "unit_rates: %s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

/// The registers of a thread: floats, whole numbers, indices of constants (all 0), and an address.
struct Registers {
  float floats[kChains], outer[kChains][kChains], x, y;
  std::uint32_t wholes[kChains], indices[kChains], z, shared;
};

__device__ Registers registers(const float* numbers, std::uint32_t one) {
  Registers r;
  for (int i = 0; i < kChains; ++i) {
    r.wholes[i] = one * threadIdx.x + i;
    r.indices[i] = (one - 1) * threadIdx.x;
    r.floats[i] = static_cast<float>(r.wholes[i]);
    for (int k = 0; k < kChains; ++k) r.outer[i][k] = r.floats[i] * k;
  }
  r.x = -1 + 1e-6F * one;
  r.y = 0.5F * one;
  r.z = 3 * one + 1;
  r.shared = static_cast<std::uint32_t>(__cvta_generic_to_shared(numbers)) + threadIdx.x % 32 * 4;
  return r;
}

struct MultiplyAdds {
  static constexpr int kCount = kChains;
  static __device__ void step(Registers& r) {
    for (float& f : r.floats)
      asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(f) : "f"(r.x), "f"(r.y));
  }
};
struct OuterProduct {
  static constexpr int kCount = kChains * kChains;
  static __device__ void step(Registers& r) {
#pragma unroll
    for (int i = 0; i < kChains; ++i) {
#pragma unroll
      for (int k = 0; k < kChains; ++k) {
        asm volatile("fma.rn.f32 %0, %1, %2, %0;"
                     : "+f"(r.outer[i][k])
                     : "f"(r.floats[i]), "f"(__uint_as_float(r.wholes[k])));
      }
    }
  }
};
struct Logic {
  static constexpr int kCount = kChains;
  static __device__ void step(Registers& r) {
    for (auto& w : r.wholes)
      asm volatile("lop3.b32 %0, %0, %1, %2, 0x96;" : "+r"(w) : "r"(r.z), "r"(r.shared));
  }
};
struct WholeMultiplyAdds {
  static constexpr int kCount = kChains;
  static __device__ void step(Registers& r) {
    for (auto& w : r.wholes)
      asm volatile("mad.lo.u32 %0, %0, %1, %2;" : "+r"(w) : "r"(r.z), "r"(r.shared));
  }
};
struct Constants {
  static constexpr int kCount = kChains;
  static __device__ void step(Registers& r) {
    for (auto& index : r.indices) {
      const uint2 constant = constants[index];
      index = constant.x ^ constant.y;
    }
  }
};
struct SharedLoads {
  static constexpr int kCount = kChains;
  static __device__ void step(Registers& r) {
    for (auto& w : r.wholes) {
      std::uint32_t loaded = 0;
      asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(loaded) : "r"(r.shared));
      w ^= loaded;
    }
  }
};
struct Shuffles {
  static constexpr int kCount = kChains;
  static __device__ void step(Registers& r) {
    for (auto& w : r.wholes) w = __shfl_xor_sync(0xffffffffU, w, 1);
  }
};
struct Exponentials {
  static constexpr int kCount = kChains;
  static __device__ void step(Registers& r) {
    for (float& f : r.floats) asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(f));
  }
};
template <class First, class Second>
struct Both {  // counted as pairs
  static constexpr int kCount = First::kCount;
  static __device__ void step(Registers& r) {
    First::step(r);
    Second::step(r);
  }
};

template <class Kind>
__global__ void __launch_bounds__(kThreads) rate_kernel(std::uint32_t one) {
  __shared__ float numbers[kThreads];
  numbers[threadIdx.x] = 0;
  Registers r = registers(numbers, one);
  __syncthreads();
  const long long start = clock64();
#pragma unroll 1
  for (int round = 0; round < kRounds; ++round) {
#pragma unroll
    for (int k = 0; k < kUnrolled; ++k) Kind::step(r);
  }
  __syncthreads();
  if (threadIdx.x == 0) clocks_of_block = clock64() - start;
  std::uint32_t result = 0;  // keeps the chains
  for (int i = 0; i < kChains; ++i) {
    result ^= r.wholes[i] ^ r.indices[i] ^ __float_as_uint(r.floats[i]);
    for (int k = 0; k < kChains; ++k) result ^= __float_as_uint(r.outer[i][k]);
  }
  if (result == 0x12345U) sink = result;
}

template <class Kind>
void measure(const char* name) {
  long long clocks = 0;
  for (int run = 0; run < 2; ++run) {  // the first one loads the code
    rate_kernel<Kind><<<1, kThreads>>>(1);
    check(cudaGetLastError(), name);
    check(cudaMemcpyFromSymbol(&clocks, clocks_of_block, sizeof(clocks)), name);
  }
  constexpr double kWarpsOfScheduler = kThreads / 32 / 4.0;
  std::printf("%-36s %6.2f\n", name,
              static_cast<double>(clocks) / kRounds / kUnrolled / Kind::kCount / kWarpsOfScheduler);
}

}  // namespace

int main() {
  std::printf("clocks of a scheduler per instruction of a warp\n");
  measure<MultiplyAdds>("multiply-adds");
  measure<OuterProduct>("multiply-adds of an outer product");
  measure<Logic>("logic of whole numbers");
  measure<WholeMultiplyAdds>("multiply-adds of whole numbers");
  measure<Constants>("constants");
  measure<SharedLoads>("shared memory");
  measure<Shuffles>("shuffles");
  measure<Exponentials>("exponentials");
  measure<Both<Constants, SharedLoads>>("constants and shared memory");
  measure<Both<Constants, Exponentials>>("constants and exponentials");
  measure<Both<SharedLoads, Shuffles>>("shared memory and shuffles");
  return 0;
}
