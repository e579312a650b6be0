// Numbers as pictures, tables and messages print them (on fmt, which stays out of headers).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace flashlab {

/// Can stand on a logarithmic axis: above zero, and of a size that anything here has.
bool is_drawable(double value);

/// "340 TFLOP/s", "4.28 TB/s", "2.1 GB": three digits, without zeros at the end. A value that is
/// not finite: "-".
std::string si_text(double value, std::string_view unit);

/// "2.1 GB".
std::string bytes_text(double bytes);

/// "1.6 ms", "850 µs", "2.1 s".
std::string time_text(double milliseconds);

/// "73 KiB".
std::string kib_text(std::int64_t bytes);

/// "340", "12.4", "0.970": three significant digits, at most six decimals, never an exponent.
std::string three_digits(double value);

/// "2", "1.5", "0.01", "1e+20": at most six digits.
std::string short_text(double number);

/// "0.97", "12.4": three digits.
std::string ratio_text(double ratio);

/// "94 %", whole.
std::string percent_text(double share);

/// "4096" as it stands on an axis: "4k", of 1024; what is no multiple of it stays "1500".
std::string length_text(std::int64_t length);

}  // namespace flashlab
