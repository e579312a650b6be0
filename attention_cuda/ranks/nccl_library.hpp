// NCCL, opened when it is first needed: the few functions that ranks use.
//
// Found    $FLASHLAB_NCCL_LIBRARY; or the one that the process has, such as PyTorch's; or libnccl.so.2
//          where the dynamic linker looks
// Version  2.18 or later
// Source   nccl.h of NCCL 2.18 and 2.28, whose functions and first members of ncclConfig_t agree
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "attention_cuda/attention.hpp"

struct ncclComm;

namespace flashlab::cuda {

/// An ncclComm_t.
using NcclComm = ncclComm*;

/// An ncclUniqueId.
struct NcclId {
  std::array<char, 128> bytes{};
};

/// The first members of an ncclConfig_t, those of version 2.18.
struct NcclConfig {
  static constexpr int kUndefined = -2147483647 - 1;  // NCCL_CONFIG_UNDEF_INT

  std::size_t size = sizeof(NcclConfig);
  unsigned magic = 0xcafebeef;
  unsigned version = 21800;
  int blocking = 0;
  int cga_cluster_size = kUndefined;
  int min_ctas = kUndefined;
  int max_ctas = kUndefined;
  const char* net_name = nullptr;
  int split_share = kUndefined;
};

/// Each returns an ncclResult_t.
struct NcclLibrary {
  static constexpr int kSuccess = 0, kInProgress = 7, kUint8 = 1;  // kUint8: an ncclDataType_t

  int (*get_version)(int* version);
  int (*get_unique_id)(NcclId* id);
  int (*init_rank)(NcclComm* comm, int num_ranks, NcclId id, int rank, NcclConfig* config);
  int (*get_async_error)(NcclComm comm, int* error);
  int (*abort)(NcclComm comm);
  int (*count)(NcclComm comm, int* num_ranks);
  int (*user_rank)(NcclComm comm, int* rank);
  int (*group_start)();
  int (*group_end)();
  int (*send)(const void* memory, std::size_t count, int type, int peer, NcclComm comm,
              Stream stream);
  int (*receive)(void* memory, std::size_t count, int type, int peer, NcclComm comm, Stream stream);
  int (*all_gather)(const void* own, void* all, std::size_t count, int type, NcclComm comm,
                    Stream stream);
  const char* (*error_string)(int result);
};

/// Opens the library at a path; null or "": the usual one. Throws as nccl().
NcclLibrary open_nccl_library(const char* path);

/// Opens NCCL in the first call. Throws CudaError: not found, too old, a function is missing.
const NcclLibrary& nccl();

/// Returns why nccl() throws; "" if it does not.
std::string why_no_nccl();

}  // namespace flashlab::cuda
