#include "text/read_number.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tests/catch_shim.hpp"
#include "tests/seed.hpp"
#if __has_include(<fast_float/fast_float.h>)
#include "text/fast_float_number.hpp"
#endif

namespace {

using flashlab::read_number;
using flashlab::read_whole;
using namespace std::string_view_literals;

constexpr double kUntouched = -77.25;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Reading {
  std::size_t length = 0;
  std::errc code{};
  double value = kUntouched;
};

template <class Reader>
Reading reading(std::string_view text, const Reader& reader) {
  Reading result;
  const auto [end, code] = reader(text, result.value);
  result.length = static_cast<std::size_t>(end - text.data());
  result.code = code;
  return result;
}

Reading ours(std::string_view text) {
  return reading(text, [](std::string_view t, double& value) { return read_number(t, value); });
}

void check_same(const std::string& text, const Reading& read, const Reading& expected) {
  const bool same =
      read.length == expected.length && read.code == expected.code &&
      std::bit_cast<std::uint64_t>(read.value) == std::bit_cast<std::uint64_t>(expected.value);
  if (same) return;
  INFO("\"" << text << "\": read " << read.length << " characters as " << read.value
            << ", expected " << expected.length << " as " << expected.value);
  CHECK(read.code == expected.code);
  CHECK(same);
}

double number_of_bits(std::uint64_t bits) { return std::bit_cast<double>(bits); }

/// All digits of the point in the middle between a double above zero and the next one.
std::string middle_above(double value) {
  std::string text(1200, '\0');
  const long double middle =
      (static_cast<long double>(value) + std::nextafter(value, kInfinity)) / 2;
  const int length = std::snprintf(text.data(), text.size(), "%.1100Lg", middle);
  text.resize(static_cast<std::size_t>(length));
  return text;
}

/// Up to `most` digits behind a first one that is not zero, maybe a point, and the exponent.
std::string decimal(std::mt19937_64& random, std::uint64_t most, int exponent) {
  std::string text = random() % 2 == 0 ? "" : "-";
  text += static_cast<char>('1' + random() % 9);
  for (auto left = random() % most; left > 0; --left) {
    text += static_cast<char>('0' + random() % 10);
    if (random() % 20 == 0 && text.find('.') == std::string::npos) text += '.';
  }
  return text + "e" + std::to_string(exponent);
}

const std::vector<std::string> kOutOfRange = {
    "1e999",
    "-1e999",
    "1e309",
    "1.7976931348623159e308",
    "1e99999999999999999999",
    "1e-999",
    "-2.4703282292062327e-324",
    "1e-400",
    std::string(400, '9'),
    "0." + std::string(400, '0') + "1",
};

struct Case {
  std::string_view text;
  std::size_t length;
  double value;
};

}  // namespace

TEST_CASE("what a number is ends where no number can go on", "[number]") {
  for (const auto& [text, length, value] : std::vector<Case>{
           {"0"sv, 1, 0.0},
           {"-0"sv, 2, -0.0},
           {"2"sv, 1, 2},
           {"007"sv, 3, 7},
           {"0.1"sv, 3, 0.1},
           {".5"sv, 2, 0.5},
           {"5."sv, 2, 5},
           {"-1.5e3"sv, 6, -1500},
           {"1E+2"sv, 4, 100},
           {"1e"sv, 1, 1},
           {"1e+"sv, 1, 1},
           {"1e-x"sv, 1, 1},
           {"1.2.3"sv, 3, 1.2},
           {"1,5"sv, 1, 1},
           {"1 2"sv, 1, 1},
           {"1\0002"sv, 1, 1},
           {"0x10"sv, 1, 0},
           {"1'000"sv, 1, 1},
           {"48KiB"sv, 2, 48},
           {"inf"sv, 3, kInfinity},
           {"-inf"sv, 4, -kInfinity},
           {"INFinity"sv, 8, kInfinity},
           {"infinit"sv, 3, kInfinity},
           {"9007199254740993"sv, 16, 9007199254740992.0},  // halfway: to even
           {"1.7976931348623158e308"sv, 22, 1.7976931348623157e308},
           {"4.9e-324"sv, 8, std::numeric_limits<double>::denorm_min()},
           {"2.4703282292062328e-324"sv, 23, std::numeric_limits<double>::denorm_min()},
           {"0e999999999999999999999"sv, 23, 0.0},
           {"0.000e-5000"sv, 11, 0.0},
       }) {
    INFO(text);
    const Reading read = ours(text);
    CHECK(read.code == std::errc{});
    CHECK(read.length == length);
    CHECK(std::bit_cast<std::uint64_t>(read.value) == std::bit_cast<std::uint64_t>(value));
  }
  for (const std::string_view text : {"nan"sv, "-NaN"sv, "nan(ind)"sv}) {
    INFO(text);
    const Reading read = ours(text);
    CHECK(read.code == std::errc{});
    CHECK(read.length == text.size());
    CHECK(std::isnan(read.value));
  }
}

TEST_CASE("what is no number is left alone", "[number]") {
  for (const std::string_view text : {""sv, " 1"sv, "+1"sv, "-"sv, "."sv, "-."sv, "e5"sv, "--1"sv,
                                      "\0001"sv, "in"sv, "na"sv, "x"sv, "\t1"sv, "+inf"sv}) {
    INFO(text);
    const Reading read = ours(text);
    CHECK(read.code == std::errc::invalid_argument);
    CHECK(read.length == 0);
    CHECK(read.value == kUntouched);
  }
  double value = kUntouched;
  CHECK(read_number(std::string_view(), value).ec == std::errc::invalid_argument);
}

TEST_CASE("a number that no double can hold is read over and said to be out of range", "[number]") {
  for (const std::string& text : kOutOfRange) {
    INFO(text);
    const Reading read = ours(text + " ");
    CHECK(read.code == std::errc::result_out_of_range);
    CHECK(read.length == text.size());
    CHECK(read.value == kUntouched);
  }
}

TEST_CASE("every double is read back from its shortest and its longest digits", "[number]") {
  std::mt19937_64 random(flashlab::test::seeded(1));
  int num_wrong = 0;
  for (int i = 0; i < 100'000; ++i) {
    const double value = number_of_bits(random());
    if (!std::isfinite(value)) continue;
    char text[64];
    for (const int digits : {17, 25}) {
      std::snprintf(text, sizeof text, "%.*g", digits, value);
      num_wrong += ours(text).value != value;
    }
    const auto shortest = std::to_chars(text, text + sizeof text, value);
    num_wrong += ours({text, shortest.ptr}).value != value;
  }
  CHECK(num_wrong == 0);
}

TEST_CASE("halfway between two doubles the even one is read, and a digit decides", "[number]") {
  if (std::numeric_limits<long double>::digits < 64) FLASHLAB_SKIP("long double is a double here");
  std::mt19937_64 random(flashlab::test::seeded(2));
  for (int i = 0; i < 2'000; ++i) {
    // Where a long double holds the middle, and no exponent is written: 2^-10 to 2^45.
    const std::uint64_t bits = random();
    const double low = std::ldexp(1 + static_cast<double>(bits >> 12) / 0x1p52,
                                  static_cast<int>(random() % 55) - 10);
    const double high = std::nextafter(low, kInfinity);
    const std::string middle = middle_above(low);
    const bool low_is_even = (std::bit_cast<std::uint64_t>(low) & 1) == 0;
    check_same(middle, ours(middle), {middle.size(), {}, low_is_even ? low : high});
    const std::string above = middle + "0001";
    check_same(above, ours(above), {above.size(), {}, high});
    std::string below = middle;
    REQUIRE(below.back() == '5');  // behind the point: the middle is no double
    below.back() = '4';
    below += std::string(30, '9');
    check_same(below, ours(below), {below.size(), {}, low});
  }
  SUCCEED();
}

TEST_CASE("fast_float, made so, reads hostile texts as std::from_chars does", "[number]") {
#if !defined(__cpp_lib_to_chars)
  FLASHLAB_SKIP("this standard library reads no doubles");
#elif !__has_include(<fast_float/fast_float.h>)
  FLASHLAB_SKIP("fast_float is not installed, and not needed here");
#else
  const auto check = [](const std::string& text) {
    const Reading standard = reading(text, [](std::string_view t, double& value) {
      return std::from_chars(t.data(), t.data() + t.size(), value);
    });
    check_same(text, ours(text), standard);
    check_same(text, reading(text, flashlab::detail::read_with_fast_float), standard);
  };
  std::mt19937_64 random(flashlab::test::seeded(3));
  const std::vector<std::string_view> parts = {
      "0"sv,   "1"sv,   "9"sv,        "5"sv,        "."sv,   "e"sv,   "E"sv,
      "-"sv,   "+"sv,   "\0"sv,       " "sv,        ","sv,   "x"sv,   "inf"sv,
      "nan"sv, "ini"sv, "ty"sv,       "("sv,        ")"sv,   "_"sv,   "I"sv,
      "N"sv,   "F"sv,   "00000000"sv, "99999999"sv, "e30"sv, "e-3"sv, "2470328229206232"sv,
      "\xff"sv};
  for (int i = 0; i < 300'000; ++i) {
    std::string text;
    for (auto left = random() % 12; left > 0; --left) text += parts[random() % parts.size()];
    check(text);
  }
  for (int i = 0; i < 100'000; ++i) {  // about the ends of the range
    check(decimal(random, 30, static_cast<int>(random() % 700) - 350));
  }
  for (const std::string_view text : kOutOfRange) check(std::string(text));
  SUCCEED();
#endif
}

TEST_CASE("numbers are read as the C library reads them", "[number]") {
  std::mt19937_64 random(flashlab::test::seeded(4));
  for (int i = 0; i < 100'000; ++i) {
    const std::string text = decimal(random, 40, static_cast<int>(random() % 640) - 340);
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);  // in the C locale, as no test sets one
    const auto length = static_cast<std::size_t>(end - text.c_str());
    const bool fits = std::isfinite(value) && value != 0;
    check_same(
        text, ours(text),
        {length, fits ? std::errc{} : std::errc::result_out_of_range, fits ? value : kUntouched});
  }
  SUCCEED();
}

TEST_CASE("whole numbers are read in the width of what they go to", "[number]") {
  std::int64_t wide = 0;
  std::uint8_t narrow = 7;
  const std::string_view most = "9223372036854775807";
  CHECK(read_number(most, wide).ptr == most.data() + most.size());
  CHECK(wide == std::numeric_limits<std::int64_t>::max());
  CHECK(read_number("9223372036854775808", wide).ec == std::errc::result_out_of_range);
  CHECK(read_number("256", narrow).ec == std::errc::result_out_of_range);
  CHECK(read_number("-1", narrow).ec == std::errc::invalid_argument);
  CHECK(narrow == 7);
  CHECK(read_number("ff", narrow, 16).ec == std::errc{});
  CHECK(narrow == 255);
}

TEST_CASE("a text is read whole if it is one number and nothing else", "[number]") {
  std::int64_t whole = 0;
  double real = 0;
  CHECK((read_whole("-12", whole) && whole == -12));
  CHECK((read_whole("2.5", real) && real == 2.5));
  for (const char* const text : {"", " 1", "1 ", "2.5", "9223372036854775808"}) {
    CHECK_FALSE(read_whole(text, whole));
  }
}
