#include "attention/ranks/rank_programs.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "attention/ranks/call_states.hpp"
#include "attention/ranks/rank_variant_rows.hpp"

namespace flashlab {
namespace {

using Kind = RankOperation::Kind;

constexpr RankBuffer kOwnShard = {RankBuffer::Kind::kOwnKeys, 0};

RankBuffer keys_buffer(int number) { return {RankBuffer::Kind::kKeys, number}; }
RankBuffer sums_buffer(int number) { return {RankBuffer::Kind::kSums, number}; }

/// Appends operations to the program of one rank.
class ProgramWriter {
 public:
  ProgramWriter(const ShardedProblem& problem, int rank) : problem_(problem), rank_(rank) {}

  int num_ranks() const { return problem_.shards.num_ranks; }
  int rank() const { return rank_; }
  /// Returns the rank that is this number of places further round the ring; negative: before.
  int ring(int places) const {
    return ((rank_ + places) % num_ranks() + num_ranks()) % num_ranks();
  }
  bool attends(int query_rank, int key_rank) const {
    return !problem_.calls(query_rank, key_rank).empty();
  }

  /// Leaves out transfers without rows: the other side does too.
  void start(int exchange, const std::vector<RankTransfer>& transfers) {
    RankOperation& operation = append(Kind::kStart);
    operation.exchange = exchange;
    for (const RankTransfer& transfer : transfers) {
      if (transferred_elements(problem_, transfer) > 0) operation.transfers.push_back(transfer);
    }
  }
  void wait(int exchange) { append(Kind::kWait).exchange = exchange; }
  void clear(RankBuffer sums, int key_rank) { append(Kind::kClear, sums, key_rank); }
  void add_sums(RankBuffer from, RankBuffer to, int key_rank) {
    append(Kind::kAddSums, to, key_rank).added = from;
  }
  void store(RankBuffer sums) { append(Kind::kStore, sums, rank_); }
  void attend(RankBuffer keys, int key_rank) {
    for (const ShardCall& call : problem_.calls(rank_, key_rank)) attend(keys, key_rank, call);
  }
  /// The same, and adds the parts of dK and dV to sums. These arrive with an exchange: the first call
  /// does not wait for it. -1: they are there.
  void attend_and_add(RankBuffer keys, int key_rank, RankBuffer sums, int arrives_with) {
    attend_and_add(keys, key_rank, problem_.calls(rank_, key_rank), sums, arrives_with);
  }
  /// The same for a half of the rank's own keys.
  void attend_to_half_and_add(int half, RankBuffer sums, int arrives_with) {
    attend_and_add(kOwnShard, rank_, problem_.calls_of_half(rank_, rank_, half), sums,
                   arrives_with);
  }

  RankProgram forward_program() const { return with_states(program_, problem_, rank_); }
  RankProgram backward_program() const { return program_; }

 private:
  void attend_and_add(RankBuffer keys, int key_rank, const std::vector<ShardCall>& calls,
                      RankBuffer sums, int arrives_with) {
    for (const ShardCall& call : calls) {
      attend(keys, key_rank, call);
      if (arrives_with >= 0) wait(std::exchange(arrives_with, -1));
      append(Kind::kAdd, sums, key_rank).call = call;
    }
    if (arrives_with >= 0) wait(arrives_with);
  }
  RankOperation& append(Kind kind, RankBuffer buffer = {}, int key_rank = 0) {
    RankOperation& operation = program_.emplace_back();
    operation.kind = kind;
    operation.buffer = buffer;
    operation.key_rank = key_rank;
    return operation;
  }
  void attend(RankBuffer keys, int key_rank, const ShardCall& call) {
    append(Kind::kAttend, keys, key_rank).call = call;
  }

  const ShardedProblem& problem_;
  int rank_;
  RankProgram program_;
};

/// The buffer that holds K and V in step s of the ring.
RankBuffer ring_keys(int s) { return s == 0 ? kOwnShard : keys_buffer(s % 2); }

/// Returns whether a rank attends to the keys of `key_rank` in step s of the ring or later.
bool needs_keys(const ProgramWriter& write, int key_rank, int s) {
  for (; s < write.num_ranks(); ++s) {
    if (write.attends((key_rank + s) % write.num_ranks(), key_rank)) return true;
  }
  return false;
}

/// Starts to pass K and V on, from step s to the next step, unless all further ranks see none of them.
void pass_keys(ProgramWriter& write, int s, int exchange) {
  const int sent = write.ring(-s), received = write.ring(-s - 1);
  std::vector<RankTransfer> transfers;
  if (needs_keys(write, sent, s + 1)) {
    transfers.push_back({write.ring(1), true, ring_keys(s), sent});
  }
  if (needs_keys(write, received, s + 1)) {
    transfers.push_back({write.ring(-1), false, ring_keys(s + 1), received});
  }
  write.start(exchange, transfers);
}

/// In step s, rank r attends to the keys of rank r - s while these pass on to rank r + 1.
RankProgram ring(const ShardedProblem& problem, int rank) {
  ProgramWriter write(problem, rank);
  const int num_ranks = write.num_ranks();
  for (int s = 0; s < num_ranks; ++s) {
    if (s > 0) write.wait(s - 1);
    if (s + 1 < num_ranks) pass_keys(write, s, s);
    write.attend(ring_keys(s), write.ring(-s));
  }
  return write.forward_program();
}

/// The sums of dK and dV follow their keys one step behind. A rank attends to half of its own keys first,
/// while K and V pass on, and to the other half last, while the sums come home: no transfer is left
/// without work beside it. Exchange 2 s passes keys on, 2 s + 1 sums.
RankProgram bwd_ring(const ShardedProblem& problem, int rank) {
  ProgramWriter write(problem, rank);
  const int num_ranks = write.num_ranks();
  write.clear(sums_buffer(0), rank);
  if (num_ranks == 1) {
    write.attend_and_add(kOwnShard, rank, sums_buffer(0), -1);
    write.store(sums_buffer(0));
    return write.backward_program();
  }
  for (int s = 0; s < num_ranks; ++s) {
    if (s > 0) write.wait(2 * (s - 1));
    if (s + 1 < num_ranks) pass_keys(write, s, 2 * s);
    if (s == 0) {
      write.attend_to_half_and_add(0, sums_buffer(0), -1);
    } else {
      write.attend_and_add(ring_keys(s), write.ring(-s), sums_buffer(s % 2), 2 * (s - 1) + 1);
    }
    write.start(2 * s + 1, {{write.ring(1), true, sums_buffer(s % 2), write.ring(-s)},
                            {write.ring(-1), false, sums_buffer((s + 1) % 2), write.ring(-s - 1)}});
  }
  write.attend_to_half_and_add(1, sums_buffer(num_ranks % 2), 2 * (num_ranks - 1) + 1);
  write.store(sums_buffer(num_ranks % 2));
  return write.backward_program();
}

/// Starts the exchanges in which each rank fetches K and V from all others that it needs; exchange
/// s - 1 is with the rank s places further.
void gather_keys(ProgramWriter& write) {
  for (int s = 1; s < write.num_ranks(); ++s) {
    std::vector<RankTransfer> transfers;
    if (write.attends(write.ring(-s), write.rank())) {
      transfers.push_back({write.ring(-s), true, kOwnShard, write.rank()});
    }
    if (write.attends(write.rank(), write.ring(s))) {
      transfers.push_back({write.ring(s), false, keys_buffer(s - 1), write.ring(s)});
    }
    write.start(s - 1, transfers);
  }
}

RankProgram gather_kv(const ShardedProblem& problem, int rank) {
  ProgramWriter write(problem, rank);
  gather_keys(write);
  write.attend(kOwnShard, rank);
  for (int s = 1; s < write.num_ranks(); ++s) {
    write.wait(s - 1);
    write.attend(keys_buffer(s - 1), write.ring(s));
  }
  return write.forward_program();
}

/// A part of dK and dV goes to the rank of the keys as soon as it is computed. That rank adds the parts
/// in the order in which it is asked for its keys. Exchange num_ranks - 1 + s - 1 is that of step s.
RankProgram bwd_gather_kv(const ShardedProblem& problem, int rank) {
  ProgramWriter write(problem, rank);
  const int num_ranks = write.num_ranks();
  const auto exchange = [&](int s) { return num_ranks - 1 + s - 1; };
  // Parts leave from two buffers by turns, and arrive in two others; for two ranks, one is enough.
  const int turns = num_ranks > 2 ? 2 : 1;
  const auto leaving = [&](int s) { return sums_buffer(1 + s % turns); };
  const auto arriving = [&](int s) { return sums_buffer(1 + turns + s % turns); };
  const auto add_arrived = [&](int s) {
    if (s < 1) return;
    write.wait(exchange(s));
    if (write.attends(write.ring(-s), rank)) write.add_sums(arriving(s), sums_buffer(0), rank);
  };
  gather_keys(write);
  write.clear(sums_buffer(0), rank);
  write.attend_and_add(kOwnShard, rank, sums_buffer(0), -1);
  for (int s = 1; s < num_ranks; ++s) {
    std::vector<RankTransfer> transfers;
    write.wait(s - 1);
    if (write.attends(rank, write.ring(s))) {
      write.clear(leaving(s), write.ring(s));
      write.attend_and_add(keys_buffer(s - 1), write.ring(s), leaving(s), -1);
      transfers.push_back({write.ring(s), true, leaving(s), write.ring(s)});
    }
    if (write.attends(write.ring(-s), rank)) {
      transfers.push_back({write.ring(-s), false, arriving(s), rank});
    }
    write.start(exchange(s), transfers);
    add_arrived(s - 1);
  }
  add_arrived(num_ranks - 1);
  write.store(sums_buffer(0));
  return write.backward_program();
}

#define FLASHLAB_FORWARD(function, name, text, source) \
  {{name, Pass::kForward, text, source}, function},
#define FLASHLAB_BACKWARD(function, name, text, source) \
  {{name, Pass::kBackward, text, source}, function},
constexpr RankVariant kRankVariants[] = {
    FLASHLAB_RANK_VARIANTS(FLASHLAB_FORWARD, FLASHLAB_BACKWARD)};
#undef FLASHLAB_FORWARD
#undef FLASHLAB_BACKWARD

}  // namespace

std::span<const RankVariant> rank_variants() { return kRankVariants; }

const RankVariant& find_rank_variant(std::string_view name) {
  std::string names;
  for (const RankVariant& variant : kRankVariants) {
    if (variant.name == name) return variant;
    names += (names.empty() ? "" : ", ") + std::string(variant.name);
  }
  throw ProblemError("variant", name, "one of " + names + " over several ranks");
}

const VariantInfo& find_any_variant(std::string_view name) {
  for (const RankVariant& variant : kRankVariants) {
    if (variant.name == name) return variant;
  }
  return find_variant(name);
}

std::int64_t transferred_elements(const ShardedProblem& problem, const RankTransfer& transfer) {
  const AttentionProblem& whole = problem.whole;
  return 2 * whole.batch * whole.num_kv_heads * problem.key_rows(transfer.key_rank) *
         whole.head_dim;
}

bool calls_reach_last_query(const RankProgram& program, std::int64_t query_rows,
                            std::int64_t multiple) {
  bool has_calls = false;
  for (const RankOperation& operation : program) {
    if (operation.kind != Kind::kAttend) continue;
    has_calls = true;
    const KeyRange& queries = operation.call.queries;
    if (queries.first % multiple != 0 || queries.end != query_rows) return false;
  }
  return has_calls;
}

int num_buffers(const RankProgram& program, RankBuffer::Kind kind) {
  int result = 0;
  const auto include = [&](const RankBuffer& buffer) {
    if (buffer.kind == kind) result = std::max(result, buffer.number + 1);
  };
  for (const RankOperation& operation : program) {
    include(operation.buffer);
    include(operation.added);
    for (const RankTransfer& transfer : operation.transfers) include(transfer.buffer);
  }
  return result;
}

}  // namespace flashlab
