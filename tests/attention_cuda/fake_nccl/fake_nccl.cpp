// A library with NCCL's functions for the threads of one process, whose memory is the processor's: the
// NCCL communicator is tested with it, over the emulated GPU. All communicators are non-blocking, and
// every call is in progress at least once. $FLASHLAB_FAKE_NCCL_VERSION is its version.
#include <array>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace {

constexpr int kSuccess = 0, kInternalError = 3, kInProgress = 7;

struct Id {
  std::array<char, 128> bytes;
  bool operator<(const Id& other) const { return bytes < other.bytes; }
};

struct Group {
  int num_joined = 0;
  std::map<std::pair<int, int>, std::deque<std::vector<char>>> sent;  // by sender and receiver
};

struct Receive {
  void* memory;
  std::size_t bytes;
  int peer;
};

std::mutex mutex;
std::map<Id, std::shared_ptr<Group>> groups;

}  // namespace

struct ncclComm {
  std::shared_ptr<Group> group;
  int rank, num_ranks;
  std::deque<Receive> receives;  // started, and not complete
  int num_asked = 0;             // since the last call
};

namespace {

/// Of the calling thread, between ncclGroupStart and ncclGroupEnd.
thread_local int group_depth = 0;

int started(ncclComm* comm) {
  comm->num_asked = 0;
  return kInProgress;
}

void send_to(ncclComm* comm, const void* memory, std::size_t bytes, int peer) {
  const auto* const first = static_cast<const char*>(memory);
  const std::lock_guard lock(mutex);
  comm->group->sent[{comm->rank, peer}].emplace_back(first, first + bytes);
}

/// Completes the receives whose messages have been sent.
int advance(ncclComm* comm) {
  const std::lock_guard lock(mutex);
  if (comm->group->num_joined < comm->num_ranks) return kInProgress;
  while (!comm->receives.empty()) {
    const Receive& next = comm->receives.front();
    auto& waiting = comm->group->sent[{next.peer, comm->rank}];
    if (waiting.empty()) return kInProgress;
    if (waiting.front().size() != next.bytes) return kInternalError;
    std::memcpy(next.memory, waiting.front().data(), next.bytes);
    waiting.pop_front();
    comm->receives.pop_front();
  }
  return comm->num_asked++ == 0 ? kInProgress : kSuccess;
}

}  // namespace

extern "C" {

int ncclGetVersion(int* version) {
  const char* const wish = std::getenv("FLASHLAB_FAKE_NCCL_VERSION");
  *version = wish == nullptr ? 22800 : std::atoi(wish);
  return kSuccess;
}

int ncclGetUniqueId(Id* id) {
  static int number = 0;
  const std::lock_guard lock(mutex);
  id->bytes.fill(0);
  ++number;
  std::memcpy(id->bytes.data(), &number, sizeof number);
  return kSuccess;
}

int ncclCommInitRankConfig(ncclComm** comm, int num_ranks, Id id, int rank, const void*) {
  const std::lock_guard lock(mutex);
  std::shared_ptr<Group>& group = groups[id];
  if (!group) group = std::make_shared<Group>();
  ++group->num_joined;
  *comm = new ncclComm{group, rank, num_ranks, {}};
  return kInProgress;
}

int ncclCommGetAsyncError(ncclComm* comm, int* error) {
  *error = advance(comm);
  return kSuccess;
}

int ncclCommAbort(ncclComm* comm) {
  delete comm;
  return kSuccess;
}

int ncclCommCount(const ncclComm* comm, int* count) {
  *count = comm->num_ranks;
  return kSuccess;
}

int ncclCommUserRank(const ncclComm* comm, int* rank) {
  *rank = comm->rank;
  return kSuccess;
}

int ncclGroupStart() {
  ++group_depth;
  return kSuccess;
}

int ncclGroupEnd() {
  --group_depth;
  return kInProgress;
}

int ncclSend(const void* memory, std::size_t count, int, int peer, ncclComm* comm, void*) {
  send_to(comm, memory, count, peer);
  return group_depth > 0 ? kSuccess : started(comm);
}

int ncclRecv(void* memory, std::size_t count, int, int peer, ncclComm* comm, void*) {
  comm->receives.push_back({memory, count, peer});
  return started(comm);
}

int ncclAllGather(const void* own, void* all, std::size_t count, int, ncclComm* comm, void*) {
  for (int peer = 0; peer < comm->num_ranks; ++peer) {
    send_to(comm, own, count, peer);
    comm->receives.push_back(
        {static_cast<char*>(all) + static_cast<std::size_t>(peer) * count, count, peer});
  }
  return started(comm);
}

const char* ncclGetErrorString(int result) {
  return result == kInternalError ? "internal error" : "another result";
}
}
