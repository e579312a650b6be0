// Where and when a benchmark ran, for its JSON file.
#pragma once

#include <array>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>

#include "attention_cuda/bench/json_text.hpp"
#include "attention_cuda/gpu.hpp"
#include "attention_cuda/kernel_listing.hpp"

namespace flashlab::bench {

inline std::string command_output(const std::string& command) {
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string text;
  std::array<char, 256> buffer{};
  while (pipe && std::fgets(buffer.data(), buffer.size(), pipe.get())) text += buffer.data();
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

/// Driver, clocks, temperature and power, under nvidia-smi's names.
inline std::string gpu_state() {
  return command_output(
      "nvidia-smi --query-gpu=driver_version,clocks.sm,clocks.mem,clocks.max.sm,clocks.max.mem,"
      "temperature.gpu,power.draw,power.limit --format=csv 2>/dev/null");
}

inline std::string utc_date() {
  const std::time_t now = std::time(nullptr);
  std::array<char, 32> date{};
  std::strftime(date.data(), date.size(), "%Y-%m-%d %H:%M UTC", std::gmtime(&now));
  return date.data();
}

/// The first keys of a result: command, date, commit, GPU, versions, and the GPU's state now.
/// commit  empty: that of the source folder
inline JsonObject run_context(const std::string& command, const std::string& commit,
                              const cuda::GpuInfo& gpu) {
  JsonObject context;
  context.add("format_version", 1.0)
      .add("command", command)
      .add("date", utc_date())
      .add("commit", commit.empty() ? command_output("git -C '" FLASHLAB_SOURCE_DIR
                                                     "' rev-parse --short HEAD 2>/dev/null")
                                    : commit)
      .add("gpu", gpu.name)
      .add("compute_capability", cuda::compute_capability_text(gpu.compute_capability))
      .add("cuda_of_driver", static_cast<double>(gpu.driver_version))
      .add("cuda", static_cast<double>(gpu.runtime_version))
      .add("compiler", __VERSION__)
      .add("gpu_before", gpu_state());
  return context;
}

/// Without a GPU the request is invalid, rather than a failed measurement.
inline cuda::GpuInfo gpu_here() {
  try {
    return cuda::current_gpu();
  } catch (const cuda::CudaError& error) {
    throw std::invalid_argument("no GPU to run on: " + error.error);
  }
}

inline void write_json(const std::string& path, const JsonObject& object) {
  std::ofstream file(path);
  file << object.text().text << "\n";
  if (!file.flush()) throw std::runtime_error(path + " cannot be written");
}

}  // namespace flashlab::bench
