// What a comparison looks like: each picture an SVG file by itself, which a report can hold as
// well.
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
  std::string name;  // of a file, without ".svg": lower case, digits, underscores; no two the same
  std::string svg;
};

/// Times of another implementation, to stand beside ours.
struct PeerSeries {
  std::string name;  // "PyTorch, cuDNN"
  Pass pass = Pass::kForward;
  std::string dtype;  // of Row::dtype, products native
  std::int64_t head_dim = 0;
  bool is_causal = false;
  std::vector<std::pair<std::int64_t, double>> ms_at_length;  // N, milliseconds
};

struct PictureOptions {
  MachineModel machine;  // the roofs
  std::vector<PeerSeries> peers;
};

/// All that the rows allow, in the order of PictureKind: a picture of measured bytes needs measured
/// bytes. Values that no axis takes (NaN, zero, negative) are left out.
std::vector<Picture> draw_pictures(const Comparison& comparison, const PictureOptions& options);

/// FLOP/s over FLOP/byte, a picture for each pass, head_dim and mask.
std::vector<Picture> draw_rooflines(const Comparison& comparison, const MachineModel& machine);
/// Milliseconds over N, a picture for each pass, type, head_dim and mask.
std::vector<Picture> draw_times(const Comparison& comparison, const std::vector<PeerSeries>& peers);
/// Tensors and workspace over N, and at one N as areas.
std::vector<Picture> draw_memory(const Comparison& comparison);
/// Bytes counted against bytes measured, and their ratios.
std::vector<Picture> draw_bytes(const Comparison& comparison);
/// Shared memory of a block, by kernel, head_dim and tile.
std::vector<Picture> draw_shared_memory(const Comparison& comparison, const GpuSpec& gpu);
/// bwd-onepass beside bwd-twopass.
std::vector<Picture> draw_passes(const Comparison& comparison);
/// Predicted time over measured time, a strip for each variant.
std::vector<Picture> draw_time_ratios(const Comparison& comparison);

}  // namespace flashlab::compare
