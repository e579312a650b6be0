// Selects the build of the tile kernels.
#include "toymachine/execute/tile_kernels.hpp"
#include "toymachine/execute/vector_extension.hpp"

namespace flashlab::toy::detail {

namespace baseline {
extern const TileKernels<float> kFloatTiles;
extern const TileKernels<double> kDoubleTiles;
}  // namespace baseline
namespace avx2 {
extern const TileKernels<float> kFloatTiles;
extern const TileKernels<double> kDoubleTiles;
}  // namespace avx2
namespace avx512 {
extern const TileKernels<float> kFloatTiles;
extern const TileKernels<double> kDoubleTiles;
}  // namespace avx512

template <>
const TileKernels<float>& tile_kernels<float>() {
  return FLASHLAB_FASTEST(kFloatTiles);
}

template <>
const TileKernels<double>& tile_kernels<double>() {
  return FLASHLAB_FASTEST(kDoubleTiles);
}

}  // namespace flashlab::toy::detail
