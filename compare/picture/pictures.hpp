// The pictures of a comparison. Each is an SVG file of its own, which a report can also embed.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "results/machine_model.hpp"
#include "results/result_file.hpp"

namespace flashlab::compare {

enum class PictureKind : std::uint8_t {
  kRoofline,
  kTime,
  kMemory,
  kBytes,
  kSharedMemory,
  kPasses,
  kTimeRatio,
};

struct Picture {
  PictureKind kind = PictureKind::kRoofline;
  std::string name;  // file name without ".svg": lower case, digits, underscores; unique
  std::string svg;
};

/// Times of another implementation, drawn beside ours.
struct PeerSeries {
  std::string name;  // "PyTorch, cuDNN"
  Pass pass = Pass::kForward;
  std::string dtype;  // of Row::dtype, products native
  std::int64_t head_dim = 0;
  bool is_causal = false;
  std::vector<std::pair<std::int64_t, double>> ms_at_length;  // N, milliseconds
};

struct PictureOptions {
  MachineModel machine;  // for the roofs
  std::vector<PeerSeries> peers;
};

/// Draws all pictures that the rows allow, in the order of PictureKind. Pictures of measured bytes
/// need measured bytes. Values that do not fit an axis (NaN, zero, negative) are left out.
std::vector<Picture> draw_pictures(const Comparison& comparison, const PictureOptions& options);

/// Draws FLOP/s over FLOP/byte, a picture for each pass, head_dim and mask.
std::vector<Picture> draw_rooflines(const Comparison& comparison, const MachineModel& machine);
/// Draws milliseconds over N, a picture for each pass, type, head_dim and mask.
std::vector<Picture> draw_times(const Comparison& comparison, const std::vector<PeerSeries>& peers);
/// Draws tensors and workspace over N, and for one N as areas.
std::vector<Picture> draw_memory(const Comparison& comparison);
/// Draws counted against measured bytes, and their ratios.
std::vector<Picture> draw_bytes(const Comparison& comparison);
/// Draws the shared memory of a block, by kernel, head_dim and tile.
std::vector<Picture> draw_shared_memory(const Comparison& comparison, const gpu::GpuSpec& gpu);
/// Draws bwd-onepass beside bwd-twopass.
std::vector<Picture> draw_passes(const Comparison& comparison);
/// Draws predicted over measured time, a strip for each variant.
std::vector<Picture> draw_time_ratios(const Comparison& comparison);

}  // namespace flashlab::compare
