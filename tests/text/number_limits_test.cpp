// Numbers as text at the limits between their forms: where a digit, a prefix or a sign changes.
#include <cmath>
#include <limits>
#include <string>

#include "tests/catch_shim.hpp"
#include "text/numbers.hpp"

namespace flashlab::test {
namespace {

struct NumberLimit {
  double value;
  const char* text;
};

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();
constexpr double kEndless = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("a number below one has as many decimals as three digits need, up to six", "[text]") {
  const NumberLimit limits[] = {
      {99.95, "100"},         {-99.95, "-100"},        {99.9, "99.9"},      {9.99, "9.99"},
      {0.9994, "0.999"},      {0.0999, "0.0999"},      {0.01234, "0.0123"}, {0.001234, "0.00123"},
      {0.000123, "0.000123"}, {0.0000123, "0.000012"}, {-1, "-1.00"},       {1000000, "1000000"}};
  for (const NumberLimit& limit : limits) CHECK(three_digits(limit.value) == limit.text);
}

TEST_CASE("every prefix of a unit begins where three digits reach it", "[text]") {
  const NumberLimit limits[] = {
      {9.99e20, "999 EB"}, {1e18, "1 EB"},  {1e15, "1 PB"},     {1e12, "1 TB"}, {1e9, "1 GB"},
      {1e6, "1 MB"},       {999.6, "1 kB"}, {999.4, "999 B"},   {100, "100 B"}, {1, "1 B"},
      {0.9996, "1 B"},     {0.5, "500 mB"}, {2.5e-3, "2.5 mB"}, {4e-6, "4 µB"}, {1e-9, "1 nB"},
      {9e-10, "0 B"},      {-9e-10, "0 B"}, {-2000, "-2 kB"},   {1e21, "-"},    {-1e21, "-"},
      {kNoNumber, "-"},    {-kEndless, "-"}};
  for (const NumberLimit& limit : limits) CHECK(si_text(limit.value, "B") == limit.text);
}

TEST_CASE("ratios have a prefix from a million on, and what is no number is a dash", "[text]") {
  const NumberLimit limits[] = {{0, "0"},           {2.5, "2.5"},    {100, "100"},
                                {999999, "999999"}, {1e6, "1 M"},    {-1e6, "-1 M"},
                                {-0.5, "-0.5"},     {kEndless, "-"}, {kNoNumber, "-"}};
  for (const NumberLimit& limit : limits) CHECK(ratio_text(limit.value) == limit.text);
}

TEST_CASE("shares are whole percentages within a million on either side", "[text]") {
  const NumberLimit limits[] = {{0, "0 %"},           {0.004, "0 %"},         {0.006, "1 %"},
                                {0.5, "50 %"},        {1, "100 %"},           {-0.25, "-25 %"},
                                {1e7, "100000000 %"}, {-1e7, "-100000000 %"}, {kEndless, "-"},
                                {kNoNumber, "-"}};
  for (const NumberLimit& limit : limits) CHECK(percent_text(limit.value) == limit.text);
}

TEST_CASE("only multiples of 1024 are written with a k", "[text]") {
  CHECK(length_text(0) == "0");
  CHECK(length_text(512) == "512");
  CHECK(length_text(1023) == "1023");
  CHECK(length_text(1024) == "1k");
  CHECK(length_text(1025) == "1025");
  CHECK(length_text(2047) == "2047");
  CHECK(length_text(131072) == "128k");
  CHECK(kib_text(0) == "0 KiB");
  CHECK(kib_text(512) == "0.5 KiB");
  CHECK(kib_text(1024) == "1 KiB");
  CHECK(kib_text(102400) == "100 KiB");
}

TEST_CASE("times and bytes keep their scale", "[text]") {
  CHECK(time_text(1) == "1 ms");
  CHECK(time_text(1000) == "1 s");
  CHECK(time_text(0) == "0 s");
  CHECK(bytes_text(1) == "1 B");
  CHECK(bytes_text(1e3) == "1 kB");
  CHECK(short_text(123456) == "123456");
  CHECK(short_text(1234567) == "1.23457e+06");
  CHECK(short_text(1e20) == "1e+20");
}

TEST_CASE("a logarithmic axis takes neither zero nor what is beyond its ends", "[text]") {
  CHECK_FALSE(is_drawable(0));
  CHECK_FALSE(is_drawable(-1));
  CHECK_FALSE(is_drawable(1e-30));
  CHECK(is_drawable(std::nextafter(1e-30, 1)));
  CHECK(is_drawable(1));
  CHECK(is_drawable(std::nextafter(1e30, 1)));
  CHECK_FALSE(is_drawable(1e30));
  CHECK_FALSE(is_drawable(kNoNumber));
}

}  // namespace flashlab::test
