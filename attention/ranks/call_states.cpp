#include "attention/ranks/call_states.hpp"

#include <algorithm>

namespace flashlab {
namespace {

bool is_call(const RankOperation& operation) {
  return operation.kind == RankOperation::Kind::kAttend;
}

/// Rows of a shard that always are in the same calls.
struct StateRows {
  KeyRange rows;
  int num_calls = 0, num_done = 0;

  bool are_in(const RankOperation& operation) const {
    return is_call(operation) && operation.call.queries.first <= rows.first &&
           rows.end <= operation.call.queries.end;
  }
};

std::vector<StateRows> all_rows(const RankProgram& program, const ShardedProblem& problem,
                                int rank) {
  std::vector<StateRows> result;
  for (const ShardPiece& piece : problem.shards.pieces(rank, problem.whole.seqlen_q)) {
    if (piece.count == 0) continue;
    StateRows& piece_rows =
        result.emplace_back(StateRows{{piece.first_row, piece.first_row + piece.count}});
    for (const RankOperation& operation : program)
      piece_rows.num_calls += piece_rows.are_in(operation);
  }
  return result;
}

RankOperation call_without_keys(const KeyRange& rows, bool has_state_in, bool has_state_out) {
  RankOperation operation;
  operation.call.queries = rows;
  operation.call.sees_all = true;
  operation.has_state_in = has_state_in;
  operation.has_state_out = has_state_out;
  return operation;
}

}  // namespace

RankProgram with_states(const RankProgram& program, const ShardedProblem& problem, int rank) {
  std::vector<StateRows> all = all_rows(program, problem, rank);
  RankProgram result;
  for (const StateRows& piece : all) {
    if (piece.num_calls == 0) result.push_back(call_without_keys(piece.rows, false, false));
  }
  for (const RankOperation& operation : program) {
    RankOperation written = operation;
    for (const StateRows& piece : all) {
      if (!piece.are_in(operation)) continue;
      written.has_state_in |= piece.num_done > 0;
      written.has_state_out |= piece.num_done + 1 < piece.num_calls;
    }
    for (const StateRows& piece : all) {
      if (piece.are_in(operation) && piece.num_done == 0 && written.has_state_in) {
        result.push_back(call_without_keys(piece.rows, false, true));
      }
    }
    result.push_back(written);
    for (StateRows& piece : all) {
      if (!piece.are_in(operation)) continue;
      ++piece.num_done;
      if (piece.num_done == piece.num_calls && written.has_state_out) {
        result.push_back(call_without_keys(piece.rows, true, false));
      }
    }
  }
  return result;
}

}  // namespace flashlab
