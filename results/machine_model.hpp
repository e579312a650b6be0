// A GPU as a set of rates for predictions, each from the data sheet or measured.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "gpu/sheets/gpu_specs.hpp"

namespace flashlab::compare {

/// Rates that --calibrate measured on one GPU with small kernels, none of which is attention. Rates
/// are per second. A missing rate was not measured.
struct Calibration {
  std::string gpu_name;  // "NVIDIA H200"
  std::string date, driver, cuda;
  std::optional<double> dram_copy_bytes_per_s;  // bytes read and bytes written
  std::optional<double> dram_read_bytes_per_s;
  std::optional<double> sm_bytes_per_s;      // L2 to the multiprocessors, data in L2
  std::optional<double> shared_bytes_per_s;  // shared memory to registers
  /// To floats in L2 that additions change, from registers and, in bulk, from shared memory.
  std::optional<double> additions_bytes_per_s, bulk_additions_bytes_per_s;
  /// mma.sync from registers, and fused multiply-adds: "bf16", "fp16", "float", "float tf32";
  /// wgmma from shared memory: "bf16 wgmma", "fp16 wgmma".
  std::map<std::string, double> flops_per_s;
  std::optional<double> elementwise_per_s;  // additions and maxima, alternating
  std::optional<double> exps_per_s;         // 2^x
  std::optional<double> divisions_per_s;    // a / b with IEEE rounding
  std::optional<double> launch_s;           // from the start of one empty kernel to the next
  std::optional<std::int64_t> l2_bytes;     // reported by the device
};

struct Rate {
  double per_s = 0;
  bool is_measured = false;  // false: from the data sheet
};

struct MachineModel {
  gpu::GpuSpec gpu;
  std::optional<Rate> dram_copy, dram_read, sm, shared, elementwise, exps, divisions, additions,
      bulk_additions;
  std::map<std::string, Rate> products;  // by the keys of Calibration::flops_per_s
  std::optional<double> launch_s;        // nothing: predictions ignore launches

  /// Returns the rate of products of this type: ("bf16", "native"), ("float", "tf32"). A product of
  /// "tf32x3" is three of tf32. An instruction ("wgmma") has its own rate if that was measured, and
  /// otherwise the data sheet's. Throws std::invalid_argument if the GPU has no rate for the type.
  Rate product_rate(std::string_view dtype, std::string_view product_kind,
                    std::string_view instruction = {}) const;
};

/// Returns the current time, "2026-11-21T21:20:00Z".
std::string utc_now();

/// Returns the data sheet's rates at the boost clock, replaced by measured rates where available.
/// Data sheets lack the rates of L2 to the multiprocessors, divisions and launches.
MachineModel machine_model(const gpu::GpuSpec& gpu,
                           const std::optional<Calibration>& calibration = {});

}  // namespace flashlab::compare
