#include <filesystem>

#include "attention_cuda/attention.hpp"
#include "attention_cuda/gpu.hpp"

namespace flashlab::cuda {

CudaError::CudaError(std::string_view failed_call, std::string_view what_happened,
                     std::source_location where)
    : std::runtime_error(std::string(failed_call) + ": " + std::string(what_happened) + " (" +
                         std::filesystem::path(where.file_name()).filename().string() + ":" +
                         std::to_string(where.line()) + ")"),
      call(failed_call),
      error(what_happened) {}

CudaError::CudaError(std::string_view failed_call, std::string_view what_happened,
                     const std::string& message)
    : std::runtime_error(message), call(failed_call), error(what_happened) {}

NoDeviceMemory::NoDeviceMemory(const std::string& owner, std::size_t bytes)
    : NoDeviceMemory("no device memory for " + owner + ": " + std::to_string(bytes) + " bytes") {}

}  // namespace flashlab::cuda
