// Formats numbers for pictures, tables and messages (with fmt, which headers do not include).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace flashlab {

/// Returns whether the value fits a logarithmic axis: above zero, and of a realistic size.
bool is_drawable(double value);

/// Returns "340 TFLOP/s", "4.28 TB/s", "2.1 GB": three digits without trailing zeros; "-" if the
/// value is not finite.
std::string si_text(double value, std::string_view unit);

/// Returns "2.1 GB".
std::string bytes_text(double bytes);

/// Returns "1.6 ms", "850 µs", "2.1 s".
std::string time_text(double milliseconds);

/// Returns "73 KiB".
std::string kib_text(std::int64_t bytes);

/// Returns "340", "12.4", "0.970": three significant digits, at most six decimals, no exponent.
std::string three_digits(double value);

/// Returns "2", "1.5", "0.01", "1e+20": at most this many digits.
std::string short_text(double number, int digits = 6);

/// Returns the shortest text that reads back as this number: "0.3", "0.30000000000000004", "1e+20".
std::string shortest_text(double number);
std::string shortest_text(float number);

/// Returns "2.00", "-1.50": this many decimals.
std::string fixed_text(double number, int decimals);

/// Returns "0.97", "12.4": three digits.
std::string ratio_text(double ratio);

/// Returns "94 %", rounded to an integer.
std::string percent_text(double share);

/// Returns a length for an axis: 4096 as "4k" (k is 1024), but 1500, which is no
/// multiple, as "1500".
std::string length_text(std::int64_t length);

}  // namespace flashlab
