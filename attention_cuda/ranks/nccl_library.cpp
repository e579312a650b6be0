#include "attention_cuda/ranks/nccl_library.hpp"

#include <cstdlib>

#include "system/opened_library.hpp"

namespace flashlab::cuda {
namespace {

constexpr int kOldestVersion = 21800;
constexpr const char* kUsualName = "libnccl.so.2";

std::string version_text(int version) {  // 21800: 2.18.0
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

system::OpenedLibrary open_library(const char* wish) {
  const bool is_named = wish != nullptr && *wish != '\0';
  const char* const name = is_named ? wish : kUsualName;
  if (!is_named) {
    const auto library = system::OpenedLibrary::of_process(name);
    if (library) return library;
  }
  // NCCL would set up NVLink multicast, which transfers from rank to rank do not use.
  setenv("NCCL_NVLS_ENABLE", "0", 0);
  const system::OpenedLibrary library({name});
  if (library) return library;
  throw CudaError("dlopen", "NCCL is not found (" + library.why_not() +
                                "); FLASHLAB_NCCL_LIBRARY says where libnccl.so.2 is");
}

}  // namespace

NcclLibrary open_nccl_library(const char* path) {
  const system::OpenedLibrary library = open_library(path);
  const auto function = [&](auto& pointer, const char* name) {
    if (!library.find(pointer, name)) {
      throw CudaError("dlsym", std::string("NCCL has no ") + name);
    }
  };
  NcclLibrary result = {};
  function(result.get_version, "ncclGetVersion");
  int version = 0;
  result.get_version(&version);
  if (version < kOldestVersion) {
    throw CudaError("ncclGetVersion", "NCCL " + version_text(version) + ": expected " +
                                          version_text(kOldestVersion) + " or later");
  }
  function(result.get_unique_id, "ncclGetUniqueId");
  function(result.init_rank, "ncclCommInitRankConfig");
  function(result.get_async_error, "ncclCommGetAsyncError");
  function(result.abort, "ncclCommAbort");
  function(result.count, "ncclCommCount");
  function(result.user_rank, "ncclCommUserRank");
  function(result.group_start, "ncclGroupStart");
  function(result.group_end, "ncclGroupEnd");
  function(result.send, "ncclSend");
  function(result.receive, "ncclRecv");
  function(result.all_gather, "ncclAllGather");
  function(result.error_string, "ncclGetErrorString");
  return result;
}

const NcclLibrary& nccl() {
  static const NcclLibrary library = open_nccl_library(std::getenv("FLASHLAB_NCCL_LIBRARY"));
  return library;
}

std::string why_no_nccl() {
  try {
    nccl();
    return "";
  } catch (const CudaError& error) {
    return error.error;
  }
}

}  // namespace flashlab::cuda
