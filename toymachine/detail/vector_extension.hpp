// Which vector instructions this processor has.
#pragma once

#include <cstdint>

namespace flashlab::toy::detail {

enum class VectorExtension : std::uint8_t { kNone, kAvx2, kAvx512 };

/// The best one that the kernels were also compiled for.
VectorExtension vector_extension();

}  // namespace flashlab::toy::detail
