// Detects the vector instructions of this processor.
#pragma once

#include <cstdint>

namespace flashlab::toy::detail {

enum class VectorExtension : std::uint8_t { kNone, kAvx2, kAvx512 };

/// Returns the best extension for which the kernels were also compiled. Throws std::runtime_error
/// if they were compiled only for other processors.
VectorExtension vector_extension();

/// Returns the fastest of the builds of one table that runs here; null: not compiled.
template <class Table>
const Table& fastest(const Table* baseline, const Table* avx2, const Table* avx512) {
  switch (vector_extension()) {
    case VectorExtension::kAvx512:
      return *avx512;
    case VectorExtension::kAvx2:
      return *avx2;
    case VectorExtension::kNone:
      break;
  }
  return *baseline;
}

}  // namespace flashlab::toy::detail

// FLASHLAB_FASTEST(kTable) is the fastest of baseline::kTable, avx2::kTable and avx512::kTable.
#ifdef FLASHLAB_HAS_BASELINE
#define FLASHLAB_BASELINE_BUILD(table) &baseline::table
#else
#define FLASHLAB_BASELINE_BUILD(table) static_cast<decltype(&baseline::table)>(nullptr)
#endif
#ifdef FLASHLAB_HAS_AVX2
#define FLASHLAB_AVX2_BUILD(table) &avx2::table
#else
#define FLASHLAB_AVX2_BUILD(table) static_cast<decltype(&avx2::table)>(nullptr)
#endif
#ifdef FLASHLAB_HAS_AVX512
#define FLASHLAB_AVX512_BUILD(table) &avx512::table
#else
#define FLASHLAB_AVX512_BUILD(table) static_cast<decltype(&avx512::table)>(nullptr)
#endif
#define FLASHLAB_FASTEST(table)                                                              \
  flashlab::toy::detail::fastest(FLASHLAB_BASELINE_BUILD(table), FLASHLAB_AVX2_BUILD(table), \
                                 FLASHLAB_AVX512_BUILD(table))
