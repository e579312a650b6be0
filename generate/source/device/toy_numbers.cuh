// The machine's arithmetic on a GPU, bit for bit, and numbers in DRAM. Each operation is rounded by
// itself. Loads and stores go past the first-level cache (__ldcg, __stcg), so that every request
// crosses the border of the multiprocessor, as the machine counts it.
#ifndef FLASHLAB_TOY_NUMBERS
#define FLASHLAB_TOY_NUMBERS

namespace toy {

using Index = long long;

__device__ inline float add(float a, float b) { return __fadd_rn(a, b); }
__device__ inline float subtract(float a, float b) { return __fsub_rn(a, b); }
__device__ inline float multiply(float a, float b) { return __fmul_rn(a, b); }
__device__ inline float divide(float a, float b) { return __fdiv_rn(a, b); }
__device__ inline double add(double a, double b) { return __dadd_rn(a, b); }
__device__ inline double subtract(double a, double b) { return __dsub_rn(a, b); }
__device__ inline double multiply(double a, double b) { return __dmul_rn(a, b); }
__device__ inline double divide(double a, double b) { return __ddiv_rn(a, b); }

__device__ inline Index smaller(Index a, Index b) { return b < a ? b : a; }
__device__ inline Index larger(Index a, Index b) { return a < b ? b : a; }
__device__ inline Index floor_divide(Index a, Index b) { return a / b - (a % b < 0 ? 1 : 0); }
__device__ inline Index ceil_divide(Index a, Index b) { return a / b + (a % b > 0 ? 1 : 0); }

__device__ inline float minus_infinity() { return __int_as_float(0xff800000); }

/// e^x as the machine computes it (toymachine/language/exponential.hpp): the same bits.
__device__ inline float exponential_of(float x) {
  const float kRounder = 12582912.0f;  // 1.5 * 2^23: adding it rounds to the nearest integer
  const float largest = 120.0f;        // beyond this, the result is +inf or 0 anyway
  const float inside = x > largest ? largest : x < -largest ? -largest : x;
  const float shifted = add(multiply(inside, 1.44269504088896341f), kRounder);
  const float k = subtract(shifted, kRounder);
  const float r =
      subtract(subtract(inside, multiply(k, 0.693359375f)), multiply(k, -2.12194440e-4f));
  float q = 1.0f / 5040.0f;
  q = add(multiply(q, r), 1.0f / 720.0f);
  q = add(multiply(q, r), 1.0f / 120.0f);
  q = add(multiply(q, r), 1.0f / 24.0f);
  q = add(multiply(q, r), 1.0f / 6.0f);
  q = add(multiply(q, r), 0.5f);
  const float e = add(add(multiply(multiply(q, r), r), r), 1.0f);
  const int exponent = __float_as_int(shifted) - __float_as_int(kRounder);
  const int half = exponent >> 1;  // two factors: subnormal results are right
  const float first = __int_as_float((half + 127) << 23);
  return multiply(multiply(e, first), __int_as_float((exponent - half + 127) << 23));
}
__device__ inline double exponential_of(double x) {
  const double kRounder = 6755399441055744.0;  // 1.5 * 2^52
  const double largest = 800.0;
  const double inside = x > largest ? largest : x < -largest ? -largest : x;
  const double shifted = add(multiply(inside, 1.44269504088896340736), kRounder);
  const double k = subtract(shifted, kRounder);
  const double r = subtract(subtract(inside, multiply(k, 6.93145751953125e-1)),
                            multiply(k, 1.42860682030941723212e-6));
  double factorial = 6227020800.0;  // 13!
  double q = divide(1.0, factorial);
  for (int n = 13; n > 2; --n) {
    factorial = divide(factorial, static_cast<double>(n));
    q = add(multiply(q, r), divide(1.0, factorial));
  }
  const double e = add(add(multiply(multiply(q, r), r), r), 1.0);
  const Index exponent = __double_as_longlong(shifted) - __double_as_longlong(kRounder);
  const Index half = exponent >> 1;
  const double first = __longlong_as_double((half + 1023) << 52);
  return multiply(multiply(e, first), __longlong_as_double((exponent - half + 1023) << 52));
}

// Memory -------------------------------------------------------------------------------------------

struct Bf16 {
  unsigned short bits;
};
struct Fp16 {
  unsigned short bits;
};

/// The value of the number's bits; all shifts are exact.
__device__ inline float value_of(Bf16 x) { return __int_as_float(static_cast<int>(x.bits) << 16); }
__device__ inline float value_of(Fp16 x) {
  const int sign = (x.bits & 0x8000) << 16, magnitude = x.bits & 0x7fff;
  if (magnitude >= 0x7c00) return __int_as_float(sign | 0x7f800000 | (magnitude & 0x3ff) << 13);
  // The exponents differ by 112; a product with 2^112 also gives subnormal numbers their value.
  const float scaled = multiply(__int_as_float(magnitude << 13), __int_as_float((112 + 127) << 23));
  return __int_as_float(__float_as_int(scaled) | sign);
}

/// Rounds to the nearest, ties to even.
__device__ inline Bf16 rounded_to(float x, Bf16) {
  const unsigned bits = static_cast<unsigned>(__float_as_int(x));
  return {static_cast<unsigned short>((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
}
__device__ inline Fp16 rounded_to(float x, Fp16) {
  const unsigned all = static_cast<unsigned>(__float_as_int(x));
  const unsigned sign = all >> 16 & 0x8000, magnitude = all & 0x7fffffff;
  if (magnitude >= 0x477ff000) return {static_cast<unsigned short>(sign | 0x7c00)};  // infinity
  unsigned bits;
  if (magnitude < 0x38800000) {  // subnormal: adding 0.5 rounds to multiples of 2^-24
    const float half = add(__int_as_float(static_cast<int>(magnitude)), 0.5f);
    bits = static_cast<unsigned>(__float_as_int(half)) - 0x3f000000;
  } else {
    bits = (magnitude - 0x38000000 + 0xfff + (magnitude >> 13 & 1)) >> 13;
  }
  return {static_cast<unsigned short>(sign | bits)};
}

__device__ inline float read(const float* from) { return __ldcg(from); }
__device__ inline double read(const double* from) { return __ldcg(from); }
__device__ inline float read(const Bf16* from) { return value_of(Bf16{__ldcg(&from->bits)}); }
__device__ inline float read(const Fp16* from) { return value_of(Fp16{__ldcg(&from->bits)}); }
template <class Real>
__device__ inline void write(float* to, Real value) {
  __stcg(to, static_cast<float>(value));
}
__device__ inline void write(double* to, double value) { __stcg(to, value); }
__device__ inline void write(Bf16* to, float value) {
  __stcg(&to->bits, rounded_to(value, *to).bits);
}
__device__ inline void write(Fp16* to, float value) {
  __stcg(&to->bits, rounded_to(value, *to).bits);
}

}  // namespace toy

#endif  // FLASHLAB_TOY_NUMBERS
