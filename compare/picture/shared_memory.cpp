// Draws the shared memory of a block, by kernel, tile and head_dim, and the GPU's limit.
#include <algorithm>
#include <compare>
#include <map>
#include <set>

#include "compare/picture/pictures.hpp"
#include "compare/picture/series.hpp"
#include "text/numbers.hpp"
#include "text/picture/axes.hpp"

namespace flashlab::compare {
namespace {

constexpr double kBarsTop = 66, kBarHeight = 15, kRowHeight = 23, kNameHeight = 28, kBarsLeft = 10;
constexpr double kBarLeft = 132,
                 kBarRight = picture::kPictureWidth - 50;  // room for a tile, for KiB
constexpr std::int64_t kKib = 1024;

struct Bar {
  std::int64_t head_dim = 0;
  int block_q = 0, block_kv = 0;
  std::int64_t bytes = 0;
  auto operator<=>(const Bar&) const = default;
  std::string text() const {
    const bool has_tile = block_q > 0 && block_kv > 0;
    return "d " + std::to_string(head_dim) +
           (has_tile ? ", " + std::to_string(block_q) + "×" + std::to_string(block_kv) : "");
  }
};

/// The bars under one name.
struct BarGroup {
  std::string name;
  std::string classes;
  std::vector<Bar> bars;
};

/// Pallas post, "Choosing Kernel and Embedding Size": 57 and 97 KB of tiles of 64, and 16 and 32 KB
/// of a second stage, for C = 64 and 128.
BarGroup pallas_group() {
  return {"the Pallas post's own sums, hatched",
          "hatched",
          {{64, 64, 64, 73 * kKib}, {128, 64, 64, 129 * kKib}}};
}
/// The limit of compute capabilities 8.6 and 8.9, which the Pallas post uses.
constexpr std::int64_t kSmallLimit = 99 * kKib;

/// Kernels by name, with their bars by head_dim.
std::vector<BarGroup> groups_of(const Comparison& comparison) {
  std::map<std::string, std::set<Bar>> bars;
  for (const Row& row : comparison.rows) {
    for (const Step& step : row.steps) {
      if (step.shared_bytes <= 0) continue;
      bars[step.name].insert({row.head_dim, step.block_q, step.block_kv, step.shared_bytes});
    }
  }
  std::vector<BarGroup> groups;
  for (const auto& [name, some] : bars) {
    groups.push_back({name, "filled c5", {some.begin(), some.end()}});
  }
  return groups;
}

std::string shared_memory_description(const std::vector<BarGroup>& groups,
                                      const gpu::GpuSpec& gpu) {
  const Bar* largest = nullptr;
  std::string text;
  for (const BarGroup& group : groups) {
    for (const Bar& bar : group.bars) {
      if (largest != nullptr && bar.bytes <= largest->bytes) continue;
      largest = &bar;
      text = "The largest is " + group.name + ", " + bar.text() + ", with " + kib_text(bar.bytes);
    }
  }
  if (gpu.shared_memory_per_block_bytes > 0) {
    text += "; " + gpu.name + " has " + kib_text(gpu.shared_memory_per_block_bytes);
  }
  return text + ".";
}

/// Maps bytes to the picture's width.
struct Scale {
  std::int64_t most = 1;
  double at(std::int64_t bytes) const {
    return kBarLeft +
           (kBarRight - kBarLeft) * static_cast<double>(bytes) / static_cast<double>(most);
  }
};

/// Returns the y coordinate below the group.
double draw_group(picture::Svg& svg, const Scale& scale, const BarGroup& group, double top) {
  svg.text({kBarsLeft, top + kNameHeight - 8}, group.name, "halo");
  double y = top + kNameHeight;
  for (const Bar& bar : group.bars) {
    const double right = scale.at(bar.bytes);
    svg.text({kBarLeft - 8, y + kBarHeight - 2}, bar.text(), "soft end");
    svg.rect({kBarLeft, y}, right - kBarLeft, kBarHeight, group.classes);
    svg.text({right + 6, y + kBarHeight - 2},
             ratio_text(static_cast<double>(bar.bytes) / static_cast<double>(kKib)), "halo");
    y += kRowHeight;
  }
  return y;
}

void draw_limit(picture::Svg& svg, double x, double bottom, std::string_view classes,
                const std::string& text) {
  svg.line({x, kBarsTop}, {x, bottom}, classes);
  svg.text({x + 4, bottom + picture::kLineHeight - 2}, text, "end");
}

}  // namespace

std::vector<Picture> draw_shared_memory(const Comparison& comparison, const gpu::GpuSpec& gpu) {
  std::vector<BarGroup> groups = groups_of(comparison);
  if (groups.empty()) return {};
  const std::string description = shared_memory_description(groups, gpu);
  groups.push_back(pallas_group());
  const std::int64_t limit = gpu.shared_memory_per_block_bytes;
  Scale scale{std::max(kSmallLimit, limit)};
  double bottom = kBarsTop;
  for (const BarGroup& group : groups) {
    for (const Bar& bar : group.bars) scale.most = std::max(scale.most, bar.bytes);
    bottom += kNameHeight + kRowHeight * static_cast<double>(group.bars.size());
  }
  picture::Svg svg(picture::kPictureWidth);
  svg.define_hatch();
  picture::draw_heading(svg, "Shared memory of a block",
                        "KiB, by kernel, head_dim and tile (queries × keys)");
  draw_limit(svg, scale.at(kSmallLimit), bottom, "ink dash", "8.6, 8.9: 99");
  if (limit > kSmallLimit) {
    draw_limit(
        svg, scale.at(limit), bottom, "roof",
        gpu.name + ": " + ratio_text(static_cast<double>(limit) / static_cast<double>(kKib)));
  }
  double y = kBarsTop;
  for (const BarGroup& group : groups) y = draw_group(svg, scale, group, y);
  return {
      {PictureKind::kSharedMemory, "shared_memory",
       svg.finish(bottom + picture::kLineHeight + 12, "Shared memory of a block", description)}};
}

}  // namespace flashlab::compare
