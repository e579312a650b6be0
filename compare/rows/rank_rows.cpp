#include "compare/rows/rank_rows.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "attention/ranks/rank_programs.hpp"
#include "attention_cuda/kernel_listing.hpp"
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

  double one_gpu_ms() const { return row_ms(problem_.whole, {}); }

  /// Where the kernel can sum dQ over all calls of a rank, it does (attention_cuda/ranks/kept_dQ.hpp).
  void keep_dQ(const RankProgram& program, int rank) {
    if (!kernel_keeps_dQ() ||
        !calls_reach_last_query(program, problem_.query_rows(rank), cuda::kQueriesOfSums)) {
      return;
    }
    const RankOperation* last = nullptr;
    for (const RankOperation& operation : program) {
      const bool is_call = operation.kind == RankOperation::Kind::kAttend;
      kept_[&operation] = {is_call && last != nullptr, is_call};
      if (is_call) last = &operation;
    }
    kept_[last].keeps = false;
  }

  double ms(const RankOperation& operation) {
    using Kind = RankOperation::Kind;
    const AttentionProblem& whole = problem_.whole;
    const double part = static_cast<double>(size_in_bytes(whole.dtype)), sum = 4;
    const KeyRange all_keys = {0, problem_.key_rows(operation.key_rank)};
    const double keys = 2 * elements_of(all_keys, whole.num_kv_heads, whole);
    const bool has_dQ_sum = !kept_.contains(&operation);
    switch (operation.kind) {
      case Kind::kAttend:
        return call_ms(operation);
      case Kind::kClear:
        return launches_ms(2) + dram_ms(keys * sum);
      case Kind::kAdd: {  // dK, dV, and dQ
        const double queries =
            has_dQ_sum ? elements_of(operation.call.queries, whole.num_heads, whole) : 0;
        return launches_ms(2 + has_dQ_sum) +
               dram_ms((queries + 2 * elements_of(operation.call.keys, whole.num_kv_heads, whole)) *
                       (part + 2 * sum));
      }
      case Kind::kAddSums:
        return launches_ms(2) + dram_ms(keys * 3 * sum);
      case Kind::kStore: {  // and the sum of dQ, which is set to 0 before the first operation
        const KeyRange all_queries = {0, problem_.query_rows(operation.key_rank)};
        const double queries = has_dQ_sum ? elements_of(all_queries, whole.num_heads, whole) : 0;
        return launches_ms(2 + 2 * has_dQ_sum) +
               dram_ms((queries + keys) * (sum + part) + queries * sum);
      }
      default:
        return 0;
    }
  }

 private:
  /// What it costs to start this many kernels, besides what they do.
  double launches_ms(int count) const { return 1e3 * count * machine_.launch_s.value_or(0); }
  double dram_ms(double bytes) const { return 1e3 * bytes / machine_.dram_copy->per_s; }

  /// Of a call whose kernel sums dQ over several: ExecutionOptions::continues_dQ, keeps_dQ.
  struct SummedCall {
    bool continues = false, keeps = false;
    auto operator<=>(const SummedCall&) const = default;
  };

  Row row_of(const AttentionProblem& problem, const SummedCall& summed) const {
    return predict_row({variant_, problem, cuda::Products::kNative, std::nullopt, "",
                        summed.continues, summed.keeps},
                       machine_, data_sheet_);
  }
  double row_ms(const AttentionProblem& problem, const SummedCall& summed) const {
    if (problem.seqlen_k == 0 || problem.seqlen_q == 0) return 0;
    return predicted_ms(row_of(problem, summed).predicted);
  }
  bool kernel_keeps_dQ() const {
    const std::string kernel = row_of(problem_.whole, {}).kernel;
    return std::ranges::find(cuda::kernel_listings(), kernel, &cuda::KernelListing::stem)->keeps_dQ;
  }

  /// A state is read and written in fp32: m, l, and O.
  double call_ms(const RankOperation& operation) {
    AttentionProblem problem = problem_.problem_of(operation.call, operation.key_rank);
    if (problem.query_offset != 0 && problem.mask != Mask::kNone) {
      throw ProblemError("sharding", to_string(problem_.shards.sharding),
                         "zigzag: predictions know no moved causal mask");
    }
    problem.query_offset = 0;
    const auto kept = kept_.find(&operation);
    const SummedCall summed = kept == kept_.end() ? SummedCall{} : kept->second;
    const auto key = std::make_tuple(problem.seqlen_q, problem.seqlen_k, problem.mask, summed);
    const auto [known, is_new] = known_.try_emplace(key, 0);
    if (is_new) known->second = row_ms(problem, summed);
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
  std::map<const RankOperation*, SummedCall> kept_;  // all operations of ranks that keep dQ
  std::map<std::tuple<std::int64_t, std::int64_t, Mask, SummedCall>, double> known_;
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

namespace {

/// Whether sharded_speed measures problems like this one.
bool is_of_sharded_speed(const AttentionProblem& whole) {
  constexpr std::int64_t kHeads = 16, kHeadDim = 128;
  const bool has_other_mask = whole.mask == Mask::kCausalBottomRight || whole.has_window() ||
                              !whole.key_lengths.empty() || whole.is_packed() ||
                              whole.query_offset != 0;
  return whole.batch == 1 && whole.num_heads == kHeads && whole.num_kv_heads == kHeads &&
         whole.head_dim == kHeadDim && whole.dtype == DataType::kBFloat16 &&
         whole.seqlen_q == whole.seqlen_k && !has_other_mask;
}

}  // namespace

std::optional<double> committed_ms(std::string_view variant, const ShardedProblem& problem,
                                   std::string_view gpu) {
  const AttentionProblem& whole = problem.whole;
  const int num_ranks = problem.shards.num_ranks;
  const Sharding order = whole.mask == Mask::kNone ? Sharding::kContiguous : Sharding::kZigzag;
  if (!is_of_sharded_speed(whole) || (num_ranks > 1 && problem.shards.sharding != order)) {
    return std::nullopt;
  }
  constexpr std::string_view kBackward = "bwd-";
  const bool is_backward = variant.starts_with(kBackward);
  const std::string name(is_backward ? variant.substr(kBackward.size()) : variant),
      pass = is_backward ? "backward" : "forward",
      mask = whole.mask == Mask::kNone ? "full" : "causal";
  for (const auto& file : link_files) {
    const auto document = nlohmann::json::parse(file.text);
    const auto found = gpu::find_gpu(document.at("gpu").get<std::string>());
    if (!found || found->key != gpu) continue;
    for (const auto& row : document.at("rows")) {
      if (row.at("pass") != pass || row.at("mask") != mask || row.at("length") != whole.seqlen_k) {
        continue;
      }
      if (num_ranks == 1) return row.at("one_gpu_ms").get<double>();
      if (row.at("gpus") != num_ranks || row.at("variant") != name ||
          row.at("transport") != "copy engines") {
        continue;
      }
      return row.at("ms").get<double>();
    }
  }
  return std::nullopt;
}

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
  for (int rank = 0; row.pass == Pass::kBackward && rank < problem.shards.num_ranks; ++rank) {
    operations.keep_dQ(programs[static_cast<std::size_t>(rank)], rank);
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
