// The ranks of several processes: what hosts say goes over their network; data goes by copy engines
// between the GPUs of one computer, or by NCCL.
#pragma once

#include <memory>

#include "attention/ranks/rank_process.hpp"
#include "attention_cuda/ranks/communicator.hpp"
#include "attention_cuda/ranks/processes/rank_network.hpp"

namespace flashlab::cuda {

/// Makes the GPU with the process's local rank the current one; the only GPU, if it sees one. Throws
/// ProblemError: there is none with this number.
void use_gpu_of(const RankProcess& process);

/// Returns what a rank says of itself and its current GPU.
Hello hello_of(const RankProcess& process);

/// Both: collective, of the current device; `network` must outlive the result. The receiver's copy
/// engines pull each message from the other GPU's memory, as in peer_communicator.hpp.
std::unique_ptr<Communicator> join_copy_engines(RankNetwork& network);
std::unique_ptr<Communicator> join_nccl_of_processes(RankNetwork& network);

/// Copy engines if each process sees the GPUs of all others and can read their memory, otherwise NCCL;
/// or what is asked for. Throws ProblemError: copy engines where they cannot.
std::unique_ptr<Communicator> join_processes(RankNetwork& network, Transfers transfers);

}  // namespace flashlab::cuda
