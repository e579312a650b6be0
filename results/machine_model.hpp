// A GPU as the predictions see it: a few rates, each from its data sheet or measured.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "gpus/gpu_specs.hpp"

namespace flashlab::compare {

/// What --calibrate measured on one GPU with kernels of its own, none of which is attention. Rates
/// per second; a rate that is missing was not measured.
struct Calibration {
  std::string gpu_name;  // "NVIDIA H200"
  std::string date, driver, cuda;
  std::optional<double> dram_copy_bytes_per_s;  // read and written, both counted
  std::optional<double> dram_read_bytes_per_s;
  std::optional<double> sm_bytes_per_s;      // L2 to the multiprocessors, data that L2 holds
  std::optional<double> shared_bytes_per_s;  // shared memory to registers
  /// mma.sync from registers, and fused multiply-adds: "bf16", "fp16", "float", "float tf32".
  std::map<std::string, double> flops_per_s;
  std::optional<double> elementwise_per_s;  // additions and maxima, in turn
  std::optional<double> exps_per_s;         // 2^x
  std::optional<double> divisions_per_s;    // a / b, rounded as IEEE asks
  std::optional<double> launch_s;           // from one empty kernel's start to the next one's
  std::optional<std::int64_t> l2_bytes;     // as the device says
};

struct Rate {
  double per_s = 0;
  bool is_measured = false;  // else: data sheet
};

struct MachineModel {
  GpuSpec gpu;
  std::optional<Rate> dram_copy, dram_read, sm, shared, elementwise, exps, divisions;
  std::map<std::string, Rate> products;  // by the keys of Calibration::flops_per_s
  std::optional<double> launch_s;        // nothing: launches cost nothing in predictions

  /// Of products of this type: ("bf16", "native"), ("float", "tf32"). A product of "tf32x3" is
  /// three of tf32. Throws std::invalid_argument: a type that the GPU has no rate of.
  Rate product_rate(std::string_view dtype, std::string_view product_kind) const;
};

/// The data sheet at the boost clock, and over it what was measured. No sheet has the rates of L2
/// to the multiprocessors, of divisions and of launches.
MachineModel machine_model(const GpuSpec& gpu, const std::optional<Calibration>& calibration = {});

}  // namespace flashlab::compare
