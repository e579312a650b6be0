// The counters of one kind of GPU: which metrics it has, and their values for a range.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "compare/counters/counter_metrics.hpp"
#include "compare/cuda/cupti_library.hpp"

namespace flashlab::compare {

class ChipMetrics {
 public:
  /// Selects for each row of counter_metrics() the first name that the chip has. `availability`:
  /// the counters that this GPU's driver permits; empty: all of the chip's. Throws
  /// CountersUnavailable: a chip that the library does not know, or none of the metrics.
  ChipMetrics(const CuptiLibrary& cupti, std::string chip, std::vector<std::uint8_t> availability);
  ~ChipMetrics();
  ChipMetrics(const ChipMetrics&) = delete;
  ChipMetrics& operator=(const ChipMetrics&) = delete;

  std::span<const char* const> names() const { return names_; }
  /// Returns the hardware's configuration: which counters it counts in which pass.
  const std::vector<std::uint8_t>& configuration() const { return configuration_; }
  std::size_t num_passes() const { return num_passes_; }

  /// Returns the values of range number `range` from decoded counter data. A value that is not
  /// finite stays empty. Throws CountersUnavailable.
  CountedLaunch values_of(const std::vector<std::uint8_t>& counter_data, std::size_t range) const;

 private:
  CUpti_Profiler_Host_Object* new_host() const;
  void free_host(CUpti_Profiler_Host_Object* host) const;
  bool has(const char* metric) const;
  void configure();

  const CuptiLibrary& cupti_;
  std::string chip_;
  std::vector<std::uint8_t> availability_;
  std::vector<const char*> names_;
  std::vector<Counter> counters_;  // for each name
  CUpti_Profiler_Host_Object* host_ = nullptr;
  std::vector<std::uint8_t> configuration_;
  std::size_t num_passes_ = 0;
};

}  // namespace flashlab::compare
