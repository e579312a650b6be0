// What each rank does, operation by operation, when several compute one attention. A variant is a
// function that writes these programs. They are data: the driver on GPUs runs them, tests check them,
// and their transfers can be counted, all without a GPU.
//
// Forward   a rank keeps its queries and attends to the keys of one rank after another. What it knows
//           in between is a ForwardState
// Backward  a rank keeps Q, O, lse, dO and its sum of dQ. A call gives parts of dK and dV for the keys
//           of another rank, which are added to a sum that travels; all sums are fp32
// Order     each rank's order of additions is that of its program, so results are reproducible
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "attention/ranks/shards.hpp"
#include "attention/variants.hpp"

namespace flashlab {

/// A rank's memory for the K and V, or for the sums of dK and dV, of one rank.
struct RankBuffer {
  enum class Kind : std::uint8_t {
    kOwnKeys,  // the rank's own K and V
    kKeys,     // K and V of another rank
    kSums      // dK and dV, fp32
  };
  Kind kind = Kind::kOwnKeys;
  int number = 0;  // there are several of the same kind, except kOwnKeys

  bool operator==(const RankBuffer&) const = default;
};

/// Both tensors of a buffer go to another rank or come from it.
struct RankTransfer {
  int peer = 0;
  bool is_sent = false;
  RankBuffer buffer;
  int key_rank = 0;  // whose keys they are: this determines the rows
};

struct RankOperation {
  enum class Kind : std::uint8_t {
    kStart,  // the transfers of an exchange. Their buffers are not touched until kWait, except that a
             // sent one may be read
    kWait,    // for the exchange
    kAttend,  // the call, with K and V in `buffer`
    kClear,   // the sums in `buffer`: 0
    kAdd,  // the dK and dV of the last call, to the sums in `buffer`; its dQ, to the sum of dQ, unless
           // kernels sum dQ over all calls
    kAddSums,  // the sums in `added`, to those in `buffer`
    kStore     // dK and dV = the sums in `buffer`, dQ = its sum
  };
  Kind kind = Kind::kAttend;
  int exchange = 0;                     // kStart, kWait: counts from 0
  std::vector<RankTransfer> transfers;  // kStart
  RankBuffer buffer;                    // kAttend, kClear, kAdd, kAddSums, kStore
  RankBuffer added;                     // kAddSums
  int key_rank = 0;                     // whose keys `buffer` is for
  ShardCall call;                       // kAttend, kAdd
  bool has_state_in = false;            // kAttend, forward: the queries have attended before
  bool has_state_out = false;           // and will again
};

using RankProgram = std::vector<RankOperation>;

/// A variant over several ranks.
struct RankVariant : VariantInfo {
  RankProgram (*program)(const ShardedProblem& problem, int rank);
};

/// Returns every such variant, forward ones first.
std::span<const RankVariant> rank_variants();

/// Returns the variant of this name. Throws ProblemError with the list of names if there is none.
const RankVariant& find_rank_variant(std::string_view name);

/// Returns the variant of this name, on one GPU or over several ranks. Throws as find_variant.
const VariantInfo& find_any_variant(std::string_view name);

/// Returns the elements of K and V, or of dK and dV, that a transfer moves.
std::int64_t transferred_elements(const ShardedProblem& problem, const RankTransfer& transfer);

/// Returns whether there are calls, and each has the rank's queries from a multiple of this number on, to the
/// last one.
bool calls_reach_last_query(const RankProgram& program, std::int64_t query_rows,
                            std::int64_t multiple);

/// Returns how many buffers of a kind a program uses.
int num_buffers(const RankProgram& program, RankBuffer::Kind kind);

}  // namespace flashlab
