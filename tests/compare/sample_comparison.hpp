// A comparison as a sweep would leave it, for tests of what is drawn and written from one. Its
// times and bytes follow simple formulas; they are nobody's measurements.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "results/machine_model.hpp"
#include "results/result_file.hpp"

namespace flashlab::test {

struct SampleOptions {
  std::vector<std::int64_t> lengths = {512, 1024, 2048, 4096, 8192, 16384, 32768, 65536};
  std::vector<std::int64_t> head_dims = {64, 128};
  std::vector<std::string> dtypes = {"bf16", "float"};
  bool is_measured = true;
  bool has_counters = true;
  int num_steps = 1;  // of each row
};

compare::Comparison sample_comparison(const SampleOptions& options = {});

/// Rates of the size of an H200's: its data sheet's, and as if measured.
compare::MachineModel sample_machine(bool is_measured);

}  // namespace flashlab::test
