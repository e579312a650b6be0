// Draws predicted over measured time: a strip for each variant and type.
#include <algorithm>

#include "compare/picture/pictures.hpp"
#include "compare/picture/ratio_strips.hpp"
#include "compare/picture/series.hpp"
#include "compare/rows/sweep.hpp"

namespace flashlab::compare {

std::vector<Picture> draw_time_ratios(const Comparison& comparison) {
  std::vector<RatioStrip> strips;
  for (const Row& row : comparison.rows) {
    const auto ratio = predicted_over_measured(row);
    if (!ratio) continue;
    const std::string name = row.variant + ", " + dtype_text(row);
    auto strip = std::find_if(strips.begin(), strips.end(),
                              [&](const RatioStrip& other) { return other.name == name; });
    if (strip == strips.end()) {
      strips.push_back({name, look_of(row.variant), {}});
      strip = strips.end() - 1;
    }
    strip->ratios.push_back(*ratio);
  }
  std::string svg =
      draw_ratio_strips(strips, {kCloseTime}, "Time: predicted over measured",
                        "one marker per row; the band: 15 % more or less", "predicted / measured");
  if (svg.empty()) return {};
  return {{PictureKind::kTimeRatio, "time_ratios", std::move(svg)}};
}

}  // namespace flashlab::compare
