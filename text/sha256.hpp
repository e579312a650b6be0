// SHA-256 (FIPS 180-4): equal digests stand for equal texts, and nobody can find two texts that
// share one.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace flashlab {

using Digest = std::array<std::uint8_t, 32>;

Digest sha256(std::string_view text);

/// 64 digits, lower case.
std::string hex(const Digest& digest);

/// As a Content-Security-Policy writes it.
std::string base64(const Digest& digest);

}  // namespace flashlab
