#include <filesystem>

#include "attention_cuda/attention.hpp"

namespace flashlab::cuda {

CudaError::CudaError(std::string_view failed_call, std::string_view what_happened,
                     std::source_location where)
    : std::runtime_error(std::string(failed_call) + ": " + std::string(what_happened) + " (" +
                         std::filesystem::path(where.file_name()).filename().string() + ":" +
                         std::to_string(where.line()) + ")"),
      call(failed_call),
      error(what_happened) {}

}  // namespace flashlab::cuda
