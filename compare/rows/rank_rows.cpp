#include "compare/rows/rank_rows.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "attention/ranks/rank_programs.hpp"
#include "compare/rows/rows.hpp"
#include "link_files.hpp"

namespace flashlab::compare {
namespace {

double elements_of(const KeyRange& rows, std::int64_t heads, const AttentionProblem& whole) {
  return static_cast<double>(whole.batch * heads * rows.count() * whole.head_dim);
}

/// The time of each operation of the ranks.
class OperationTimes {
 public:
  OperationTimes(Pass pass, const ShardedProblem& problem, const MachineModel& machine,
                 const MachineModel& data_sheet)
      : variant_(pass == Pass::kForward ? "flash2" : "bwd-onepass"),
        problem_(problem),
        machine_(machine),
        data_sheet_(data_sheet) {
    if (!machine.dram_copy) throw ProblemError("gpu", machine.gpu.key, "one with a rate of DRAM");
  }

  double one_gpu_ms() const { return row_ms(problem_.whole); }

  double ms(const RankOperation& operation) {
    using Kind = RankOperation::Kind;
    const AttentionProblem& whole = problem_.whole;
    const double part = static_cast<double>(size_in_bytes(whole.dtype)), sum = 4;
    const KeyRange all_keys = {0, problem_.key_rows(operation.key_rank)};
    const double keys = 2 * elements_of(all_keys, whole.num_kv_heads, whole);
    switch (operation.kind) {
      case Kind::kAttend:
        return call_ms(operation);
      case Kind::kClear:
        return dram_ms(keys * sum);
      case Kind::kAdd:  // dQ, dK, dV
        return dram_ms((elements_of(operation.call.queries, whole.num_heads, whole) +
                        2 * elements_of(operation.call.keys, whole.num_kv_heads, whole)) *
                       (part + 2 * sum));
      case Kind::kAddSums:
        return dram_ms(keys * 3 * sum);
      case Kind::kStore: {
        const KeyRange queries = {0, problem_.query_rows(operation.key_rank)};
        return dram_ms((elements_of(queries, whole.num_heads, whole) + keys) * (sum + part));
      }
      default:
        return 0;
    }
  }

 private:
  double dram_ms(double bytes) const { return 1e3 * bytes / machine_.dram_copy->per_s; }

  double row_ms(const AttentionProblem& problem) const {
    if (problem.seqlen_k == 0 || problem.seqlen_q == 0) return 0;
    return predicted_ms(predict_row({variant_, problem, cuda::Products::kNative, std::nullopt, ""},
                                    machine_, data_sheet_)
                            .predicted);
  }

  /// A state is read and written in fp32: m, l, and O.
  double call_ms(const RankOperation& operation) {
    AttentionProblem problem = problem_.problem_of(operation.call, operation.key_rank);
    if (problem.query_offset != 0 && problem.mask != Mask::kNone) {
      throw ProblemError("sharding", to_string(problem_.shards.sharding),
                         "zigzag: predictions know no moved causal mask");
    }
    problem.query_offset = 0;
    const auto key = std::make_tuple(problem.seqlen_q, problem.seqlen_k, problem.mask);
    const auto [known, is_new] = known_.try_emplace(key, 0);
    if (is_new) known->second = row_ms(problem);
    const int num_states = operation.has_state_in + operation.has_state_out;
    const double row_floats =
        static_cast<double>(problem.head_dim + 2) / static_cast<double>(problem.head_dim);
    return known->second +
           dram_ms(num_states * 4 * row_floats *
                   elements_of(operation.call.queries, problem.num_heads, problem_.whole));
  }

  const std::string variant_;
  const ShardedProblem& problem_;
  const MachineModel &machine_, &data_sheet_;
  std::map<std::tuple<std::int64_t, std::int64_t, Mask>, double> known_;
};

}  // namespace

LinkModel link_in(std::string_view result) {
  const auto document = nlohmann::json::parse(result);
  std::map<double, double> ms_of;  // by bytes
  for (const auto& row : document.at("links")) {
    if (row.at("link") != "copy engines") continue;
    const double bytes = row.at("megabytes").get<double>() * (1 << 20);
    ms_of[bytes] = 1e3 * bytes / (1e9 * row.at("gb_per_s_each_way").get<double>());
  }
  if (ms_of.size() < 2) throw std::runtime_error("expected links of copy engines at two sizes");
  const auto [most, most_ms] = *ms_of.rbegin();
  const auto [less, less_ms] = *std::next(ms_of.rbegin());
  LinkModel link;
  link.bytes_per_s = 1e3 * (most - less) / (most_ms - less_ms);
  link.latency_ms = std::max(0.0, most_ms - 1e3 * most / link.bytes_per_s);
  link.source = std::to_string(document.at("gpus").get<int>()) + " x " +
                document.at("gpu").get<std::string>() + ", " +
                document.at("links_between").get<std::string>();
  return link;
}

LinkModel measured_link() { return link_in(link_files.front().text); }

RankRow predict_ranks(std::string_view variant, const ShardedProblem& problem,
                      const MachineModel& machine, const MachineModel& data_sheet,
                      const LinkModel& link) {
  check_sharded(problem);
  const RankVariant& row = find_rank_variant(variant);
  OperationTimes operations(row.pass, problem, machine, data_sheet);
  std::vector<RankProgram> programs;
  for (int rank = 0; rank < problem.shards.num_ranks; ++rank) {
    programs.push_back(row.program(problem, rank));
  }
  RankRow result;
  result.one_gpu_ms = operations.one_gpu_ms();
  result.times =
      rank_times(problem, programs,
                 {[&](const RankOperation& operation) { return operations.ms(operation); },
                  [&](std::int64_t bytes) { return link.ms(static_cast<double>(bytes)); }});
  return result;
}

}  // namespace flashlab::compare
