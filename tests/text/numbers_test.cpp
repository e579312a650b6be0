// Numbers with units, as tables and pictures print them.
#include "text/numbers.hpp"

#include <limits>

#include "tests/catch_shim.hpp"

namespace flashlab::test {

TEST_CASE("three digits count, and no exponent is printed", "[text]") {
  CHECK(three_digits(1234) == "1234");
  CHECK(three_digits(99.96) == "100");
  CHECK(three_digits(99.94) == "99.9");
  CHECK(three_digits(9.996) == "10.0");
  CHECK(three_digits(0.97) == "0.970");
  CHECK(three_digits(-0.01234) == "-0.0123");
  CHECK(three_digits(1e-9) == "0.000000");
  CHECK(three_digits(0) == "0");
}

TEST_CASE("units have prefixes of SI, and no zeros at the end", "[text]") {
  CHECK(si_text(340e12, "FLOP/s") == "340 TFLOP/s");
  CHECK(si_text(4.28e12, "B/s") == "4.28 TB/s");
  CHECK(si_text(999.96, "B") == "1 kB");
  CHECK(si_text(999.96e9, "B") == "1 TB");
  CHECK(si_text(0, "B") == "0 B");
  CHECK(si_text(1e300, "B") == "-");
  CHECK(si_text(std::numeric_limits<double>::infinity(), "B") == "-");
  CHECK(bytes_text(2.1e9) == "2.1 GB");
  CHECK(time_text(1.6) == "1.6 ms");
  CHECK(time_text(0.85) == "850 µs");
  CHECK(time_text(23510) == "23.5 s");
  CHECK(kib_text(73 * 1024) == "73 KiB");
  CHECK(ratio_text(0.97) == "0.97");
  CHECK(percent_text(0.938) == "94 %");
  CHECK(length_text(4096) == "4k");
  CHECK(length_text(1500) == "1500");
}

TEST_CASE("a number has at most six digits in a sentence", "[text]") {
  CHECK(short_text(2) == "2");
  CHECK(short_text(0.01) == "0.01");
  CHECK(short_text(1.0 / 3) == "0.333333");
  CHECK(short_text(1.0 / 3, 2) == "0.33");
  CHECK(short_text(0.1, 17) == "0.10000000000000001");
}

TEST_CASE("a number has the decimals that are asked for", "[text]") {
  CHECK(fixed_text(2, 2) == "2.00");
  CHECK(fixed_text(-0.25, 1) == "-0.2");
  CHECK(fixed_text(0.5, 0) == "0");
  CHECK(fixed_text(1e9, 0) == "1000000000");
}

}  // namespace flashlab::test
