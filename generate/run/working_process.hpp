// Work in a process of its own, whose answer or error comes back.
#pragma once

#include <cstddef>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <span>

#include "system/child_process.hpp"
#include "system/descriptor.hpp"

namespace flashlab::generate {

/// Memory that a process shares with those that it starts.
class SharedBytes {
 public:
  /// Throws GpuMemoryError.
  explicit SharedBytes(std::size_t bytes);
  ~SharedBytes();
  SharedBytes(const SharedBytes&) = delete;
  SharedBytes& operator=(const SharedBytes&) = delete;
  std::span<std::byte> bytes() const { return {static_cast<std::byte*>(address_), bytes_}; }

 private:
  std::size_t bytes_;
  void* address_ = nullptr;
};

/// A process that works and sends its answer. Ends with its owner, which may be such a process
/// itself.
class WorkingProcess {
 public:
  /// Throws GpuError: no process can be started.
  explicit WorkingProcess(const std::function<nlohmann::json()>& work);

  /// Waits for the answer. Throws the errors of `work` and GpuTimeLimit, and GpuError if the process ends
  /// without an answer.
  nlohmann::json answer_within(double seconds);

 private:
  system::Descriptor channel_;
  system::ChildProcess process_;
};

/// Runs `work` in a process and returns its answer. Throws its errors.
nlohmann::json in_process(double seconds, const std::function<nlohmann::json()>& work);

}  // namespace flashlab::generate
