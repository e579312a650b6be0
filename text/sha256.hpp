// SHA-256 (FIPS 180-4). Equal digests mean equal texts: nobody can find two texts with
// the same digest.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace flashlab {

using Digest = std::array<std::uint8_t, 32>;

Digest sha256(std::string_view text);

/// Returns 64 lower-case digits.
std::string hex(const Digest& digest);

/// Returns base64, for a Content-Security-Policy.
std::string base64(const Digest& digest);

}  // namespace flashlab
