#include "cli/attention/options.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>

#include "attention/ranks/rank_programs.hpp"
#include "attention_cuda/tiles.hpp"
#include "cli/options/flags.hpp"
#include "cli/terminal/failure.hpp"
#include "cli/terminal/text_table.hpp"

namespace flashlab::cli {
namespace {

constexpr std::array kDataTypes = {DataType::kFloat32, DataType::kFloat64, DataType::kBFloat16,
                                   DataType::kFloat16};
constexpr std::array kMasks = {Mask::kNone, Mask::kCausalTopLeft, Mask::kCausalBottomRight};
constexpr std::array kShardings = {Sharding::kContiguous, Sharding::kZigzag};
constexpr std::array kInstructionSets = {cpu::InstructionSet::kBaseline, cpu::InstructionSet::kAvx2,
                                         cpu::InstructionSet::kAvx512};
constexpr const char* kShapeGroup = "Problem";
constexpr const char* kRunGroup = "Run";
constexpr const char* kGpuGroup = "On a GPU";

template <class Values>
std::vector<std::string> names_of(const Values& values) {
  std::vector<std::string> names;
  for (const auto value : values) names.emplace_back(to_string(value));
  return names;
}

/// Returns the value with that name, which the parser has checked.
template <class Values>
auto value_named(const Values& values, const std::string& name) {
  auto result = values.front();
  for (const auto value : values) {
    if (to_string(value) == name) result = value;
  }
  return result;
}

std::int64_t checked_size(const char* flag, std::int64_t value, std::int64_t least) {
  if (value >= least) return value;
  throw request_failure(std::string(flag) + " " + std::to_string(value) + " is not a size",
                        std::to_string(least) + " or more");
}

bool is_rank_variant(const std::string& name) {
  return std::ranges::any_of(rank_variants(),
                             [&](const RankVariant& variant) { return variant.name == name; });
}

/// With --gpus: "ring", "ring,bwd-ring".
std::vector<const VariantInfo*> chosen_rank_variants(const std::string& names) {
  if (names == cuda::kAutoVariant) return {&find_rank_variant("ring")};
  std::vector<const VariantInfo*> chosen;
  if (names == "all") {
    for (const RankVariant& variant : rank_variants()) chosen.push_back(&variant);
  } else {
    for (const std::string& name : split(names, ',')) {
      chosen.push_back(&find_rank_variant(name));
    }
  }
  return chosen;
}

std::vector<const VariantInfo*> chosen_variants(const std::string& name) {
  if (is_rank_variant(name)) {
    throw request_failure("--variant " + name + " runs over several GPUs", "--gpus N");
  }
  if (name == cuda::kAutoVariant) return {&find_variant("flash2")};  // a GPU may choose another
  if (name != "all") return {&find_variant(name)};
  std::vector<const VariantInfo*> all;
  for (const VariantInfo& variant : variants()) all.push_back(&variant);
  return all;
}

/// Rejects flags without effect: flags of the other device, or that need another flag.
void refuse_idle_flags(const AttentionFlags& flags) {
  if (flags.repeat && !flags.bench && !flags.by_kernel) {
    throw request_failure("--repeat has no effect when nothing is measured",
                          "--bench or --by-kernel");
  }
  if (flags.num_gpus && flags.by_kernel) {
    throw request_failure("--by-kernel is for one GPU", "--bench with --gpus");
  }
  struct OfDevice {
    const char *flag, *device;
    bool is_given;
  };
  const OfDevice all[] = {{"--threads", "cpu", flags.num_threads != 0},
                          {"--instruction-set", "cpu", !flags.instruction_set.empty()},
                          {"--by-kernel", "cuda", flags.by_kernel},
                          {"--products", "cuda", !flags.products.empty()},
                          {"--kernel", "cuda", !flags.kernel.empty()},
                          {"--num-splits", "cuda", flags.num_splits.has_value()},
                          {"--round-statistics", "cuda", flags.round_statistics},
                          {"--deterministic", "cuda", flags.deterministic},
                          {"--gpus", "cuda", flags.num_gpus.has_value()}};
  for (const auto& [flag, device, is_given] : all) {
    if (is_given && flags.device != device) {
      throw request_failure(std::string(flag) + " has no effect on the device " + flags.device,
                            std::string("--device ") + device);
    }
  }
}

/// The ranks of a request; nothing: it is for one GPU or for the CPU. torchrun and others start a process
/// for each rank, which --gpus 1 ignores.
std::optional<int> chosen_ranks(const AttentionFlags& flags, RankOptions& ranks) {
  if (flags.device == "cuda" && flags.num_gpus != 1) {
    ranks.process = rank_process([](const char* name) { return std::getenv(name); });
  }
  std::optional<int> num_ranks = flags.num_gpus;
  if (ranks.process) {
    num_ranks = ranks.process->num_ranks;
    if (flags.num_gpus.value_or(*num_ranks) != *num_ranks) {
      throw request_failure("--gpus " + std::to_string(*flags.num_gpus) + " in one of " +
                                std::to_string(*num_ranks) + " processes that each are a rank",
                            "--gpus " + std::to_string(*num_ranks) + ", or 1 to ignore the others");
    }
  }
  const std::pair<const char*, bool> of_several[] = {
      {"--sharding", !flags.sharding.empty()},
      {"--transfers", !flags.transfers.empty()},
      {"--rank-timeout", flags.rank_timeout.has_value()},
      {"--stop-kernels", flags.stop_kernels}};
  for (const auto& [flag, is_given] : of_several) {
    if (is_given && !num_ranks) {
      throw request_failure(std::string(flag) + " has no effect on one GPU", "--gpus N");
    }
  }
  if (!flags.transfers.empty()) {
    ranks.transfers = flags.transfers == "nccl" ? Transfers::kNccl : Transfers::kCopyEngines;
  }
  if (flags.rank_timeout) {
    ranks.timeout = std::chrono::milliseconds(static_cast<std::int64_t>(1e3 * *flags.rank_timeout));
  }
  ranks.stops_kernels = flags.stop_kernels;
  return num_ranks;
}

/// Zigzag balances a causal mask; without a mask, either order is as good.
Shards chosen_shards(const AttentionFlags& flags, Mask mask, int num_ranks) {
  const Sharding usual = mask == Mask::kNone ? Sharding::kContiguous : Sharding::kZigzag;
  return {flags.sharding.empty() ? usual : value_named(kShardings, flags.sharding), num_ranks};
}

/// The bounds of sequences with these lengths.
std::vector<std::int64_t> bounds_of(const char* flag, const std::vector<std::int64_t>& lengths) {
  std::vector<std::int64_t> bounds = {0};
  for (const std::int64_t length : lengths) {
    constexpr std::int64_t kMost = std::int64_t{1} << 48;
    if (checked_size(flag, length, 0) > kMost - bounds.back()) {
      throw request_failure(std::string(flag) + " has more than 2^48 rows", "fewer");
    }
    bounds.push_back(bounds.back() + length);
  }
  return bounds;
}

void pack(AttentionProblem& problem, const AttentionFlags& flags) {
  if (flags.packed.empty()) {
    throw request_failure("--packed-keys without --packed", "--packed N,...: the queries");
  }
  if (flags.seqlen || flags.seqlen_q || flags.seqlen_k) {
    throw request_failure("--packed with --n, --seqlen-q or --seqlen-k",
                          "one of them: the lengths are those of the sequences");
  }
  const std::vector<std::int64_t>& keys =
      flags.packed_keys.empty() ? flags.packed : flags.packed_keys;
  if (keys.size() != flags.packed.size()) {
    throw request_failure("--packed-keys has " + counted(std::ssize(keys), "length"),
                          "as many as --packed has: " + std::to_string(flags.packed.size()));
  }
  problem.cu_seqlens_q = bounds_of("--packed", flags.packed);
  problem.cu_seqlens_k = bounds_of("--packed-keys", keys);
  problem.seqlen_q = problem.cu_seqlens_q.back();
  problem.seqlen_k = problem.cu_seqlens_k.back();
}

}  // namespace

void AttentionFlags::add_to(CLI::App& command) {
  const auto size = [&](const char* names, auto& value, const char* what) {
    return add_option(command, names, value, what).type_name("SIZE").group(kShapeGroup);
  };
  size("-B,--batch", batch, "batch entries").capture_default_str();
  size("-H,--heads", num_heads, "query heads").capture_default_str();
  size("--kv-heads", num_kv_heads, "heads of K and V, which divide --heads (--heads)");
  const Flag both = size("-N,--n", seqlen, "queries and keys (512)");
  size("--seqlen-q", seqlen_q, "queries").excludes(both);
  size("--seqlen-k", seqlen_k, "keys").excludes(both);
  size("-d,--head-dim", head_dim, "columns of a head").capture_default_str();
  add_option(command, "--mask", mask, "none, causal (top left) or causal-bottom-right")
      .one_of(names_of(kMasks))
      .type_name("MASK")
      .group(kShapeGroup);
  add_option(command, "--key-lengths", key_lengths, "number of valid keys of each batch entry")
      .delimiter(',')
      .allow_extra_args(false)
      .type_name("N,...")
      .group(kShapeGroup);
  add_option(command, "--window", window,
             "keys that a query sees before its position, and after it (all that the mask leaves)")
      .delimiter(',')
      .allow_extra_args(false)
      .type_name("LEFT[,RIGHT]")
      .group(kShapeGroup);
  add_option(command, "--packed", packed,
             "lengths of sequences that are packed in one batch entry, instead of --n")
      .delimiter(',')
      .allow_extra_args(false)
      .type_name("N,...")
      .group(kShapeGroup);
  add_option(command, "--packed-keys", packed_keys, "their numbers of keys (--packed)")
      .delimiter(',')
      .allow_extra_args(false)
      .type_name("N,...")
      .group(kShapeGroup);
  add_option(command, "--scale", softmax_scale, "factor of the scores (1/sqrt(head_dim))")
      .type_name("X")
      .group(kShapeGroup);
  add_option(command, "--dtype", dtype, "float, double, bf16 or fp16")
      .one_of(names_of(kDataTypes))
      .type_name("TYPE")
      .group(kShapeGroup);
  add_option(command, "--seed", seed, "seed of the random inputs")
      .capture_default_str()
      .type_name("N")
      .group(kShapeGroup);

  add_option(
      command, "-v,--variant", variant,
      "the algorithm, all, or auto: flash2, but split-kv for few queries on a GPU (auto); over "
      "several GPUs also a,b")
      .type_name("NAME")
      .group(kRunGroup);
  add_option(command, "--device", device, "cpu, or cuda: an NVIDIA GPU (cpu)")
      .one_of({"cpu", "cuda"})
      .type_name("DEVICE")
      .group(kRunGroup);
  add_option(command, "-t,--threads", num_threads, "threads (as many as OpenMP takes)")
      .between(1, 4096)
      .type_name("N")
      .group(kRunGroup);
  add_option(command, "--instruction-set", instruction_set,
             "baseline, avx2 or avx512 (the best of this processor)")
      .one_of(names_of(kInstructionSets))
      .type_name("SET")
      .group(kRunGroup);
  add_flag(command, "--verify", verify, "compare with a reference in double").group(kRunGroup);
  add_flag(command, "--bench", bench, "measure time, rate and memory").group(kRunGroup);
  add_option(command, "--repeat", repeat, "measured runs (10)")
      .between(1, 100000)
      .type_name("R")
      .group(kRunGroup);
  add_flag(command, "--list", list, "the variants and the GPU's kernels").group(kRunGroup);
  add_flag(command, "--json", json, "as JSON").group(kRunGroup);
  add_gpu_flags_to(command);
  terminal.add_to(command);
}

void AttentionFlags::add_gpu_flags_to(CLI::App& command) {
  add_flag(command, "--by-kernel", by_kernel, "the time of each kernel").group(kGpuGroup);
  add_option(command, "--products", products,
             "how floats are multiplied: native (fp32), tf32, or as precisely as fp32 by three "
             "products for one: tf32x3, or fp16x3 (native)")
      .one_of({"native", "tf32", "tf32x3", "fp16x3"})
      .type_name("HOW")
      .group(kGpuGroup);
  add_option(command, "--kernel", kernel, "a kernel that --list shows (the best)")
      .type_name("NAME")
      .group(kGpuGroup);
  add_option(command, "--num-splits", num_splits,
             "parts of the keys in split-kv (as many as fill the GPU)")
      .between(1, 1 << 30)
      .type_name("N")
      .group(kGpuGroup);
  add_option(command, "--gpus", num_gpus,
             "GPUs of this computer that compute it together, by ring, gather-kv, bwd-ring or "
             "bwd-gather-kv (under torchrun, mpirun or srun: one for each process)")
      .between(1, 1024)
      .type_name("N")
      .group(kGpuGroup);
  add_option(command, "--sharding", sharding,
             "which tokens a GPU has: contiguous, or zigzag, which balances a causal mask (zigzag "
             "for a causal mask)")
      .one_of(names_of(kShardings))
      .type_name("ORDER")
      .group(kGpuGroup);
  add_option(
      command, "--transfers", transfers,
      "what moves keys from GPU to GPU: copy-engines, of one computer, or nccl (copy-engines "
      "if all GPUs are in one computer)")
      .one_of({"copy-engines", "nccl"})
      .type_name("HOW")
      .group(kGpuGroup);
  add_option(command, "--rank-timeout", rank_timeout,
             "seconds to wait for another GPU's thread or process (300)")
      .between(0.1, 1e6)
      .type_name("S")
      .group(kGpuGroup);
  add_flag(
      command, "--stop-kernels", stop_kernels,
      "if a GPU's rank fails, the others' kernels leave out what has not begun (bf16 and fp16, "
      "Hopper)")
      .group(kGpuGroup);
  add_flag(command, "--round-statistics", round_statistics,
           "round lse and delta to 16 bits in a backward pass in bf16 or fp16")
      .group(kGpuGroup);
  add_flag(command, "--deterministic", deterministic,
           "bwd-onepass adds to dQ in a fixed order (bf16 and fp16, Hopper)")
      .group(kGpuGroup);
}

AttentionRequest::AttentionRequest(const AttentionFlags& flags) {
  on_gpu = flags.device == "cuda";
  refuse_idle_flags(flags);
  if (!flags.products.empty()) gpu.products = flags.products;
  gpu.kernel = flags.kernel;
  gpu.num_splits = flags.num_splits.value_or(0);
  gpu.round_statistics = flags.round_statistics;
  gpu.deterministic = flags.deterministic;
  const std::string variant = flags.variant.value_or(std::string(cuda::kAutoVariant));
  const std::optional<int> num_ranks = chosen_ranks(flags, gpu.ranks);
  variants = num_ranks ? chosen_rank_variants(variant) : chosen_variants(variant);
  num_threads = flags.num_threads;
  seed = flags.seed;
  instruction_set = flags.instruction_set.empty()
                        ? cpu::best_instruction_set()
                        : value_named(kInstructionSets, flags.instruction_set);
  constexpr std::int64_t kUsualSeqlen = 512;
  const std::int64_t seqlen = checked_size("--n", flags.seqlen.value_or(kUsualSeqlen), 0);
  problem.batch = checked_size("--batch", flags.batch, 0);
  problem.num_heads = checked_size("--heads", flags.num_heads, 1);
  problem.num_kv_heads =
      checked_size("--kv-heads", flags.num_kv_heads.value_or(flags.num_heads), 1);
  problem.seqlen_q = checked_size("--seqlen-q", flags.seqlen_q.value_or(seqlen), 0);
  problem.seqlen_k = checked_size("--seqlen-k", flags.seqlen_k.value_or(seqlen), 0);
  problem.head_dim = checked_size("--head-dim", flags.head_dim, 1);
  problem.dtype = value_named(kDataTypes, flags.dtype);
  problem.mask = value_named(kMasks, flags.mask);
  if (num_ranks) gpu.shards = chosen_shards(flags, problem.mask, *num_ranks);
  problem.key_lengths = flags.key_lengths;
  if (flags.window.size() > 2) {
    throw request_failure("--window has " + std::to_string(flags.window.size()) + " numbers",
                          "LEFT or LEFT,RIGHT");
  }
  if (!flags.window.empty()) problem.window_left = flags.window.front();
  if (flags.window.size() == 2) problem.window_right = flags.window.back();
  if (!flags.packed.empty() || !flags.packed_keys.empty()) pack(problem, flags);
  problem.softmax_scale =
      flags.softmax_scale.value_or(1 / std::sqrt(static_cast<double>(problem.head_dim)));
}

std::string AttentionRequest::description() const {
  std::string text = "batch " + std::to_string(problem.batch) + ", ";
  text += counted(problem.num_heads, "head");
  if (problem.num_kv_heads != problem.num_heads) {
    text += " on " + counted(problem.num_kv_heads, "kv head");
  }
  text += ", " + std::to_string(problem.seqlen_q) + " queries, " +
          std::to_string(problem.seqlen_k) + " keys, head_dim " + std::to_string(problem.head_dim) +
          ", ";
  if (problem.mask != Mask::kNone) text += std::string(to_string(problem.mask)) + ", ";
  if (problem.window_left) text += "window left " + std::to_string(*problem.window_left) + ", ";
  if (problem.window_right) text += "window right " + std::to_string(*problem.window_right) + ", ";
  if (!problem.key_lengths.empty()) text += "key lengths, ";
  if (problem.is_packed()) text += counted(problem.num_sequences(), "packed sequence") + ", ";
  return text + std::string(to_string(problem.dtype));
}

}  // namespace flashlab::cli
