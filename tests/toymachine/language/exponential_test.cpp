#include "toymachine/language/exponential.hpp"

#include <cmath>
#include <limits>

#include "tests/catch_shim.hpp"

using flashlab::toy::detail::exponential;

namespace {

constexpr double kPlusInfinity = std::numeric_limits<double>::infinity();

/// |got - exact| in units of the last place of `exact`.
double ulps(long double got, long double exact, int mantissa_bits) {
  return static_cast<double>(std::fabs(got - exact) /
                             std::ldexp(1.0L, std::ilogb(exact) - mantissa_bits));
}

}  // namespace

TEST_CASE("exponential in float is within 1.1 ulp of the exact value") {
  double worst = 0;
  for (float x = -87; x < 88.7F; x += 0.000117F) {
    worst = std::max(worst, ulps(exponential(x), std::exp(static_cast<double>(x)), 23));
  }
  CHECK(worst < 1.1);
}

TEST_CASE("exponential in double is within 1.1 ulp of the exact value") {
  double worst = 0;
  for (double x = -708; x < 709.7; x += 0.00137) {
    worst = std::max(worst, ulps(exponential(x), std::exp(static_cast<long double>(x)), 52));
  }
  CHECK(worst < 1.1);
}

TEST_CASE("exponential at the ends: zero, subnormal, overflow, infinities, NaN") {
  CHECK(exponential(0.0F) == 1);
  CHECK(exponential(-0.0) == 1);
  CHECK(exponential(static_cast<float>(-kPlusInfinity)) == 0);
  CHECK(exponential(-kPlusInfinity) == 0);
  CHECK(exponential(kPlusInfinity) == kPlusInfinity);
  CHECK(exponential(88.8F) == static_cast<float>(kPlusInfinity));
  CHECK(exponential(709.79) == kPlusInfinity);
  CHECK(exponential(-103.0F) > 0);
  CHECK(exponential(-745.0) > 0);
  CHECK(exponential(-104.0F) == 0);
  CHECK(std::isnan(exponential(std::numeric_limits<float>::quiet_NaN())));
  CHECK(std::isnan(exponential(std::numeric_limits<double>::quiet_NaN())));
}
