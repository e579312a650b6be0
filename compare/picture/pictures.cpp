#include "compare/picture/pictures.hpp"

#include <algorithm>
#include <iterator>

namespace flashlab::compare {

std::vector<Picture> draw_pictures(const Comparison& comparison, const PictureOptions& options) {
  std::vector<Picture> pictures;
  const auto add = [&](std::vector<Picture> some) {
    std::move(some.begin(), some.end(), std::back_inserter(pictures));
  };
  add(draw_rooflines(comparison, options.machine));
  add(draw_times(comparison, options.peers));
  add(draw_memory(comparison));
  add(draw_bytes(comparison));
  add(draw_shared_memory(comparison, options.machine.gpu));
  add(draw_passes(comparison));
  add(draw_time_ratios(comparison));
  return pictures;
}

}  // namespace flashlab::compare
