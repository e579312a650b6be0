// Converts the signed numbers of events, values and cells to vector indices.
#pragma once

#include <cstddef>
#include <cstdint>

namespace flashlab::optimal::detail {

inline std::size_t at(std::int32_t index) { return static_cast<std::size_t>(index); }

}  // namespace flashlab::optimal::detail
