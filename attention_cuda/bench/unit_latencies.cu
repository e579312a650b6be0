// Measures the clocks from an instruction to its result, one dependent chain each, and the clock of the
// GPU under mma.sync with and without operands from shared memory. Prints one line for each.
//
//   nvcc -std=c++20 -O3 -arch=sm_90a -o unit_latencies attention_cuda/bench/unit_latencies.cu
//
// The values in gpu/sheets/gpus.json are from docs/results/unit_latencies_h200.json.
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr int kChain = 1024, kThreads = 128;

__device__ long long clocks_of_chain;
__device__ unsigned sink;

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "unit_latencies: %s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

__device__ unsigned shared_address(const void* shared) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}

/// Runs a chain of `step`, which maps a register to the next one.
template <class Step>
__device__ void time_chain(unsigned value, const Step& step) {
  const long long start = clock64();
#pragma unroll 8
  for (int i = 0; i < kChain; ++i) value = step(value);
  const long long end = clock64();
  if (threadIdx.x == 0) clocks_of_chain = end - start;
  if (value == 0x12345u) sink = value;  // keeps the chain
}

__global__ void load_shared() {
  __shared__ unsigned zeros[256];
  for (int i = static_cast<int>(threadIdx.x); i < 256; i += 32) zeros[i] = 0;
  __syncwarp();
  const unsigned at = shared_address(zeros);
  time_chain(0, [&](unsigned offset) {
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(offset) : "r"(at + offset));
    return offset;
  });
}

__global__ void load_matrix() {
  __shared__ __align__(16) unsigned zeros[256];
  for (int i = static_cast<int>(threadIdx.x); i < 256; i += 32) zeros[i] = 0;
  __syncwarp();
  const unsigned at = shared_address(zeros) + threadIdx.x * 16;
  time_chain(0, [&](unsigned offset) {
    unsigned r[4];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(at + offset));
    return r[0];
  });
}

__device__ void multiply(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__global__ void multiply_chain() {
  const unsigned a[4] = {threadIdx.x, 2, 3, 4}, b[2] = {5, threadIdx.x};
  float d[4] = {};
  time_chain(0, [&](unsigned) {
    multiply(d, a, b);
    return 0u;
  });
  if (d[0] == 1.5f) sink = 1;
}

__global__ void exponentiate() {
  time_chain(threadIdx.x, [](unsigned bits) {
    float x = __uint_as_float(bits);
    asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(x));
    return __float_as_uint(x);
  });
}

__global__ void shuffle() {
  time_chain(threadIdx.x, [](unsigned x) { return __shfl_xor_sync(~0U, x, 1); });
}

__global__ void barrier() {
  time_chain(0, [](unsigned x) {
    __syncthreads();
    return x;
  });
}

/// Each word has the index of the next one.
__global__ void chase(const unsigned* words) {
  time_chain(0, [&](unsigned index) {
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(index) : "l"(words + index));
    return index;
  });
}

/// Eight products per round; kLoads: and three ldmatrix. Prints the clock of the GPU.
template <bool kLoads>
__global__ void __launch_bounds__(kThreads) multiply_all(int num_rounds, double* ghz) {
  __shared__ __align__(128) unsigned operands[4096];
  for (int i = static_cast<int>(threadIdx.x); i < 4096; i += kThreads) {
    const unsigned bits = static_cast<unsigned>(i + blockIdx.x) * 2654435761u;
    operands[i] = (bits & 0x807f807fu) | 0x3f003f00u;  // bf16 numbers in [0.5, 1), of either sign
  }
  __syncthreads();
  const unsigned at = shared_address(operands) + threadIdx.x % 32 * 16;
  unsigned a[2][4], b[4][2];
  for (int i = 0; i < 8; ++i) a[i / 4][i % 4] = b[i / 2][i % 2] = operands[threadIdx.x * 8 + i];
  float d[2][4][4] = {};
  const long long start = clock64();
  unsigned long long start_ns, end_ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start_ns));
  for (int round = 0; round < num_rounds; ++round) {
    if (kLoads) {
      const auto load = [&](unsigned offset, unsigned& w, unsigned& x, unsigned& y, unsigned& z) {
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(w), "=r"(x), "=r"(y), "=r"(z)
                     : "r"(at + offset));
      };
      const unsigned turn = static_cast<unsigned>(round) % 16 * 1024;
      load(turn, b[0][0], b[0][1], b[1][0], b[1][1]);
      load((turn + 512) % 16384, b[2][0], b[2][1], b[3][0], b[3][1]);
      load((turn + 1024) % 16384, a[0][0], a[0][1], a[0][2], a[0][3]);
    }
#pragma unroll
    for (int i = 0; i < 8; ++i) multiply(d[i / 4][i % 4], a[i / 4], b[i % 4]);
  }
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(end_ns));
  float sum = 0;
  for (int i = 0; i < 32; ++i) sum += d[i / 16][i / 4 % 4][i % 4];
  if (sum == 1.5f) sink = 1;
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    *ghz = static_cast<double>(clock64() - start) / static_cast<double>(end_ns - start_ns);
  }
}

template <class... Arguments>
void time_kernel(const char* name, void (*kernel)(Arguments...), int num_threads,
                 Arguments... arguments) {
  long long clocks = 0;
  for (int run = 0; run < 2; ++run) {  // the first one fills the caches
    kernel<<<1, num_threads>>>(arguments...);
    check(cudaDeviceSynchronize(), name);
  }
  check(cudaMemcpyFromSymbol(&clocks, clocks_of_chain, sizeof clocks), name);
  std::printf("%s: %.1f clocks\n", name, static_cast<double>(clocks) / kChain);
}

template <bool kLoads>
void time_load(const char* name, int num_sms) {
  constexpr int kBlocksPerSm = 4, kRounds = 1 << 22;
  double *ghz = nullptr, result = 0;
  check(cudaMallocManaged(&ghz, sizeof *ghz), name);
  multiply_all<kLoads><<<kBlocksPerSm * num_sms, kThreads>>>(kRounds, ghz);
  check(cudaDeviceSynchronize(), name);
  result = *ghz;
  check(cudaFree(ghz), name);
  std::printf("%s: %.3f GHz\n", name, result);
}

/// A cycle through kChain words, far apart in 3 GiB.
unsigned* far_words() {
  constexpr std::size_t kBytes = std::size_t{3} << 30;
  unsigned* words = nullptr;
  check(cudaMalloc(&words, kBytes), "cudaMalloc");
  std::size_t at = 0;
  for (int i = 1; i <= kChain; ++i) {
    const std::size_t next =
        i == kChain ? 0 : std::size_t{2654435761u} * i % (kBytes / 4) / 32 * 32;
    const auto index = static_cast<unsigned>(next);
    check(cudaMemcpy(words + at, &index, sizeof index, cudaMemcpyHostToDevice), "cudaMemcpy");
    at = next;
  }
  return words;
}

}  // namespace

int main() {
  int num_sms = 0;
  check(cudaDeviceGetAttribute(&num_sms, cudaDevAttrMultiProcessorCount, 0), "device");
  time_kernel("ld.shared", load_shared, 32);
  time_kernel("ldmatrix", load_matrix, 32);
  time_kernel("mma.sync, bf16", multiply_chain, 32);
  time_kernel("ex2", exponentiate, 32);
  time_kernel("shuffle", shuffle, 32);
  time_kernel("barrier of 128 threads", barrier, kThreads);
  unsigned* const words = far_words();
  const unsigned* const read = words;
  time_kernel("load from L2", chase, 1, read);
  check(cudaFree(words), "cudaFree");
  time_load<false>("mma.sync", num_sms);
  time_load<true>("mma.sync with ldmatrix", num_sms);
}
