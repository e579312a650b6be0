// What a measurement needs besides the program: kernels that draw inputs, and that count the numbers
// which are NaN. They follow the functions of toy_numbers.cuh.
#ifndef FLASHLAB_MEASURING
#define FLASHLAB_MEASURING

namespace toy {

__device__ inline Index first_element() {
  return static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ inline Index all_threads() { return static_cast<Index>(gridDim.x) * blockDim.x; }

/// A number of [-1, 1): a multiple of 2^-23, which a float holds. The hash is SplitMix64
/// (Steele, Lea, Flood 2014); drawn_number() in generate/run/drawn_inputs.cpp computes the same.
__device__ inline float drawn_number(unsigned long long stream, Index element) {
  unsigned long long x = stream + static_cast<unsigned long long>(element) * 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  x = x ^ (x >> 31);
  return static_cast<float>(static_cast<int>(x >> 40) - (1 << 23)) * 1.1920928955078125e-7f;
}

/// The number in the range whose middle and half width are the two floats in `range`, the middle in the
/// lower 32 bits.
__device__ inline float in_range(float number, unsigned long long range) {
  const float middle = __int_as_float(static_cast<int>(range & 0xffffffffull));
  const float half = __int_as_float(static_cast<int>(range >> 32));
  return __fadd_rn(middle, __fmul_rn(half, number));
}

__device__ inline float rounded_to(float x, float) { return x; }
__device__ inline double rounded_to(float x, double) { return x; }
template <class Element>
__device__ inline void draw(Element* to, Index count, unsigned long long stream,
                            unsigned long long range) {
  for (Index i = first_element(); i < count; i += all_threads()) {
    to[i] = rounded_to(in_range(drawn_number(stream, i), range), Element());
  }
}

__device__ inline bool is_nan(float x) { return !(x == x); }
__device__ inline bool is_nan(double x) { return !(x == x); }
__device__ inline bool is_nan(Bf16 x) { return (x.bits & 0x7fff) > 0x7f80; }
__device__ inline bool is_nan(Fp16 x) { return (x.bits & 0x7fff) > 0x7c00; }
template <class Element>
__device__ inline void count_nan(const Element* from, Index count, unsigned long long* found) {
  unsigned long long mine = 0;
  for (Index i = first_element(); i < count; i += all_threads()) {
    if (is_nan(from[i])) ++mine;
  }
  if (mine > 0) atomicAdd(found, mine);
}

}  // namespace toy

extern "C" __global__ void measure_draw_float(float* to, toy::Index count,
                                              unsigned long long stream, unsigned long long range) {
  toy::draw(to, count, stream, range);
}
extern "C" __global__ void measure_draw_double(double* to, toy::Index count,
                                               unsigned long long stream,
                                               unsigned long long range) {
  toy::draw(to, count, stream, range);
}
extern "C" __global__ void measure_draw_bf16(toy::Bf16* to, toy::Index count,
                                             unsigned long long stream, unsigned long long range) {
  toy::draw(to, count, stream, range);
}
extern "C" __global__ void measure_draw_fp16(toy::Fp16* to, toy::Index count,
                                             unsigned long long stream, unsigned long long range) {
  toy::draw(to, count, stream, range);
}
extern "C" __global__ void measure_count_nan_float(const float* from, toy::Index count,
                                                   unsigned long long* found) {
  toy::count_nan(from, count, found);
}
extern "C" __global__ void measure_count_nan_double(const double* from, toy::Index count,
                                                    unsigned long long* found) {
  toy::count_nan(from, count, found);
}
extern "C" __global__ void measure_count_nan_bf16(const toy::Bf16* from, toy::Index count,
                                                  unsigned long long* found) {
  toy::count_nan(from, count, found);
}
extern "C" __global__ void measure_count_nan_fp16(const toy::Fp16* from, toy::Index count,
                                                  unsigned long long* found) {
  toy::count_nan(from, count, found);
}

#endif  // FLASHLAB_MEASURING
