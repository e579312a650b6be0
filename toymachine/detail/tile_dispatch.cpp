// Which build of the tile kernels runs here.
#include "toymachine/detail/tile_kernels.hpp"
#include "toymachine/detail/vector_extension.hpp"

namespace flashlab::toy::detail {

namespace baseline {
extern const TileKernels<float> kFloatTiles;
extern const TileKernels<double> kDoubleTiles;
}  // namespace baseline
#ifdef FLASHLAB_X86_LANES
namespace avx2 {
extern const TileKernels<float> kFloatTiles;
extern const TileKernels<double> kDoubleTiles;
}  // namespace avx2
namespace avx512 {
extern const TileKernels<float> kFloatTiles;
extern const TileKernels<double> kDoubleTiles;
}  // namespace avx512
#endif

template <>
const TileKernels<float>& tile_kernels<float>() {
#ifdef FLASHLAB_X86_LANES
  if (vector_extension() == VectorExtension::kAvx512) return avx512::kFloatTiles;
  if (vector_extension() == VectorExtension::kAvx2) return avx2::kFloatTiles;
#endif
  return baseline::kFloatTiles;
}

template <>
const TileKernels<double>& tile_kernels<double>() {
#ifdef FLASHLAB_X86_LANES
  if (vector_extension() == VectorExtension::kAvx512) return avx512::kDoubleTiles;
  if (vector_extension() == VectorExtension::kAvx2) return avx2::kDoubleTiles;
#endif
  return baseline::kDoubleTiles;
}

}  // namespace flashlab::toy::detail
