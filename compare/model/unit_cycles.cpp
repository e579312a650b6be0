#include "compare/model/unit_cycles.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace flashlab::compare {
namespace {

using cuda::BlockProduct;
using cuda::BlockWork;
using cuda::Operand;
using cuda::ProductInstruction;

constexpr double kLanes = 32, kWavefrontBytes = 128;
constexpr double kAddress = 1;  // instructions for the address of a load or store
/// For a copy: where from (a sum of 64 bits), where to, whether the row exists.
constexpr double kCopyAddresses = 2 + 1 + 1;
/// Of a barrier in shared memory: its address and its parity by the number of the tile (2 + 3), the
/// test, the branch; of an arrival: the address (2), whether the thread is the first, the arrival.
constexpr double kMbarrierWait = 7, kMbarrierArrival = 4;
constexpr double kDescriptor = 2;  // where wgmma finds an operand: 64 bits
constexpr double kWarpsOfGroup = 4;
constexpr double kMmaRows = 16, kMmaColumns = 8, kMmaDepthBytes = 32;
constexpr double kLdmatrixBytes = 512;

double real(std::int64_t number) { return static_cast<double>(number); }

bool is_shared(Operand operand) {
  return operand == Operand::kShared || operand == Operand::kSharedColumns;
}

/// Adds up the work of a block. Members count what all of its warps do together.
class WorkCounter {
 public:
  WorkCounter(const BlockWork& work, const ElementFacts& elements, const gpu::GpuSpec& gpu)
      : work_(work), elements_(elements), gpu_(gpu) {}

  UnitCycles cycles() {
    for (std::size_t k = 0; k < work_.products.size(); ++k) {
      add(work_.products[k]);
      if (work_.instruction == ProductInstruction::kMma && !adds_sums() && is_awaited(k)) {
        wait_ += parts_of_warp(work_.products[k]) * gpu_.latency.mma;
      }
    }
    add_scores();
    add(work_.stored);
    add(work_.loaded);
    const double wavefronts = wavefronts_;
    add(work_.loaded_through_l1);
    const double through_l1 = wavefronts_ - wavefronts;
    wavefronts_ = wavefronts;
    exps_ += work_.num_warps * kLanes * work_.tile_specials;
    instructions_ += (1 + kCopyAddresses) * accesses(work_.copied) +
                     (1 + kAddress) * accesses(work_.added) + work_.num_warps * of_each_warp();
    instructions_ += (1 + kAddress) * real(work_.loaded_alike);
    wavefronts_ += real(work_.loaded_alike) + accesses(work_.copied) +
                   real(work_.added_in_bulk_bytes) / kWavefrontBytes;
    if (work_.instruction == ProductInstruction::kWgmma) wait_ += work_.drains * gpu_.latency.wgmma;
    if (work_.instruction == ProductInstruction::kMma) wavefronts_ += accesses(work_.added);
    wait_ += chain_clocks(work_.chained_instructions, gpu_) +
             work_.num_barriers * gpu_.latency.barrier +
             work_.mbarrier_waits * gpu_.latency.shared +
             work_.cache_waits * (work_.is_in_l2 ? gpu_.latency.l2 : gpu_.latency.shared);
    UnitCycles cycles;
    cycles.tensor = tensor_;
    cycles.tensor_flops = tensor_flops_;
    cycles.shared = wavefronts_ * kWavefrontBytes / gpu_.shared_bytes_per_clock_per_sm;
    cycles.l1 = through_l1 * kWavefrontBytes / gpu_.shared_bytes_per_clock_per_sm;
    cycles.operands = operand_bytes_ / gpu_.shared_bytes_per_clock_per_sm;
    cycles.issue = instructions_ / gpu_.instructions_per_clock_per_sm;
    if (work_.instruction == ProductInstruction::kMultiplyAdd) {
      cycles.operand_conflicts = cycles.issue * (gpu_.arithmetic_clocks - 1);
    }
    cycles.constants =
        real(work_.constant_loads) * gpu_.constant_clocks / gpu_.instructions_per_clock_per_sm;
    cycles.product_issue = product_instructions_ / gpu_.instructions_per_clock_per_sm;
    cycles.exp = exps_ / gpu_.exps_per_clock_per_sm;
    cycles.wait = wait_;
    return cycles;
  }

 private:
  /// Whether a warp uses a product's sums next. Sums that it goes on adding to are complete long before.
  bool is_awaited(std::size_t k) const {
    const auto starts = [&](std::size_t index) {
      return index < work_.products.size() && work_.products[index].starts_at_zero;
    };
    return starts(k) && !starts(k + 1);
  }
  /// Whether products of parts have sums of their own, which are added to the others in each round.
  bool adds_sums() const { return elements_.products_per_product > 1; }
  double parts_of_warp(const BlockProduct& p) const {
    return real(p.num_parts()) / work_.num_warps;
  }

  double of_each_warp() const {
    return work_.tile_instructions + work_.mbarrier_waits * kMbarrierWait +
           work_.mbarrier_arrivals * kMbarrierArrival;
  }

  static double accesses(const cuda::MovedByLanes& moved) {
    return real(moved.bytes) / (kLanes * moved.at_once);
  }

  void add(const cuda::MovedByLanes& moved) {
    instructions_ += (1 + kAddress) * accesses(moved);
    wavefronts_ += real(moved.bytes) / kWavefrontBytes;
  }

  void add(const BlockProduct& product) {
    switch (work_.instruction) {
      case ProductInstruction::kMultiplyAdd:
        return add_multiply_adds(product);
      case ProductInstruction::kMma:
        return add_mma(product);
      case ProductInstruction::kWgmma:
        return add_wgmma(product);
    }
  }

  /// A thread loads 16 bytes of each of its rows and columns for 4 of the depth. The hardware serves
  /// half a warp at a time.
  void add_multiply_adds(const BlockProduct& p) {
    constexpr double kDepthOfLoad = 4, kWavefronts = 2;
    const double warps = real(p.num_parts()) / kLanes;
    instructions_ += warps * real(p.part_rows * p.part_columns * p.depth);
    if (!is_shared(p.a) && !is_shared(p.b)) return;
    const double loads = warps * real((p.part_rows + p.part_columns) * p.depth) / kDepthOfLoad;
    instructions_ += (1 + kAddress) * loads;
    wavefronts_ += kWavefronts * loads;
    wait_ += real(p.depth) / real(p.depth_at_once) * gpu_.latency.shared * share_of_warps(warps);
  }

  /// Of the warps of a block, the share that makes a product: each waits for its own only.
  double share_of_warps(double warps) const { return std::min(1.0, warps / work_.num_warps); }

  void add_mma(const BlockProduct& p) {
    const double depth = kMmaDepthBytes / elements_.bytes;  // of an instruction
    const double parts = real(p.num_parts()), steps = real(p.depth) / depth;
    const double tiles_a = real(p.part_rows) / kMmaRows,
                 tiles_b = real(p.part_columns) / kMmaColumns;
    const double products = parts * tiles_a * tiles_b * steps;
    const double each = elements_.products_per_product;
    instructions_ += products * each;
    product_instructions_ += products * each;
    if (adds_sums()) instructions_ += products * 4;
    const double flops = products * each * 2 * kMmaRows * kMmaColumns * depth;
    tensor_flops_ += flops;
    tensor_ += flops / elements_.tensor_flops_per_clock;
    add_operand(p.a, parts * tiles_a * steps, 1, 4);
    add_operand(p.b, parts * tiles_b * steps, 0.5, 2);
    constexpr double kZerosAtOnce = 2;  // registers that an instruction sets
    if (p.starts_at_zero) instructions_ += real(p.rows * p.columns) / kLanes / kZerosAtOnce;
    add_waits(p, tiles_a);
  }

  /// Fragments of `registers` registers. ldmatrix loads one A, or two B; 32-bit numbers along columns
  /// are loaded one by one. tf32 numbers are rounded, or split in two parts.
  void add_operand(Operand operand, double fragments, double ldmatrix, double registers) {
    const bool is_float = elements_.bytes == 4;
    const double rounding = !is_float ? 0 : elements_.products_per_product > 1 ? 3 : 2;
    if (operand == Operand::kResults)
      instructions_ += fragments * registers * std::max(rounding, 1.0);
    if (!is_shared(operand)) return;
    wavefronts_ += fragments * registers;
    const bool is_one_by_one = is_float && operand == Operand::kSharedColumns;
    instructions_ += fragments * ((1 + kAddress) * (is_one_by_one ? registers : ldmatrix) +
                                  rounding * registers);
  }

  /// A warp waits for the first operands of each round, while the last products of the round before end.
  /// The products of a sum are a chain: each waits for the one before, unless there are products of other
  /// sums meanwhile.
  void add_waits(const BlockProduct& p, double tiles_a) {
    const double step_depth = p.depth_at_once > 0 ? real(p.depth_at_once) : real(p.depth);
    const double columns = p.columns_at_once > 0
                               ? std::min(real(p.columns_at_once), real(p.part_columns))
                               : real(p.part_columns);
    const double rounds = real(p.depth) / step_depth * (real(p.part_columns) / columns);
    const double at_once = tiles_a * columns / kMmaColumns;  // chains
    const double in_chain =
        elements_.products_per_product * step_depth * elements_.bytes / kMmaDepthBytes;
    const double stalls =
        (in_chain - 1) * std::max(0.0, gpu_.latency.mma - at_once * clocks_of_mma());
    const double sums = adds_sums() ? gpu_.latency.mma : 0;
    wait_ += parts_of_warp(p) * rounds * (gpu_.latency.shared + stalls + sums);
  }

  /// The clocks of a scheduler's tensor core per instruction.
  double clocks_of_mma() const {
    const double flops = 2 * kMmaRows * kMmaColumns * kMmaDepthBytes / elements_.bytes;
    return flops * gpu_.instructions_per_clock_per_sm / elements_.tensor_flops_per_clock;
  }

  void add_wgmma(const BlockProduct& p) {
    constexpr double kDepth = 16, kMostColumns = 256;
    const double each = elements_.products_per_product;
    const double parts = real(p.num_parts());
    const double flops = each * 2 * real(p.rows * p.columns * p.depth);
    const double bytes = each * parts * elements_.bytes *
                         real(p.depth * ((is_shared(p.a) ? p.part_rows : 0) + p.part_columns));
    tensor_flops_ += flops;
    operand_bytes_ += bytes;
    tensor_ += std::max(flops / elements_.tensor_flops_per_clock,
                        bytes / gpu_.shared_bytes_per_clock_per_sm);
    instructions_ += each * parts * kWarpsOfGroup * real(p.depth) / kDepth *
                     std::max(1.0, real(p.part_columns) / kMostColumns) *
                     (1 + kDescriptor * (is_shared(p.a) ? 2 : 1));
    constexpr double kConvertedAtOnce = 2;
    // Two numbers in two parts: both rounded, back, subtracted, both rounded.
    const double instructions = each > 1 ? 6 : 1;
    if (p.a == Operand::kResults)
      instructions_ +=
          instructions * parts * real(p.part_rows * p.depth) / kLanes / kConvertedAtOnce;
    // Each sum of three products is added to one in fp32.
    if (each > 1 && p.a == Operand::kResults) instructions_ += real(p.rows * p.columns) / kLanes;
  }

  void add_scores() {
    if (work_.products.empty()) return;
    const BlockProduct& scores = work_.products.front();
    const double all = real(scores.rows * scores.columns);
    exps_ += all * work_.exps_per_score;
    if (work_.halves_take_turns) wait_for_other_half(all);
    instructions_ += all * (work_.exps_per_score + work_.score_instructions) / kLanes;
    const double shuffles = work_.row_shuffles * real(scores.rows) * work_.row_lanes / kLanes;
    constexpr double kUsesOfShuffle = 1;  // a maximum or a sum
    instructions_ += (1 + kUsesOfShuffle) * shuffles;
    wavefronts_ += shuffles;
    const int shuffle_waits = work_.shuffle_waits > 0 ? work_.shuffle_waits : work_.row_shuffles;
    wait_ += work_.score_passes * gpu_.latency.exp + shuffle_waits * gpu_.latency.shuffle;
  }

  /// One half of the warps makes P, with exponentials, on half of the schedulers; then the other one makes dS.
  /// Each waits for the other. Both wait for their loads.
  void wait_for_other_half(double scores) {
    constexpr double kHalf = 0.5;
    const double loads_of_P = work_.waits_of_P * gpu_.latency.shared,
                 loads_of_dS = work_.waits_of_dS * gpu_.latency.shared;
    const double of_P = scores * work_.exps_per_score / (kHalf * gpu_.exps_per_clock_per_sm),
                 of_dS = scores * work_.score_instructions / kLanes / (kHalf * work_.num_warps);
    wait_ += kHalf * (of_P + of_dS) + loads_of_P + loads_of_dS;
  }

  const BlockWork& work_;
  const ElementFacts& elements_;
  const gpu::GpuSpec& gpu_;
  double tensor_ = 0, tensor_flops_ = 0, wavefronts_ = 0, operand_bytes_ = 0, instructions_ = 0,
         product_instructions_ = 0, exps_ = 0, wait_ = 0;
};

}  // namespace

double chain_clocks(double instructions, const gpu::GpuSpec& gpu) {
  return instructions * std::max(0.0, gpu.latency.instruction - 1);
}

UnitCycles unit_cycles(const BlockWork& work, const ElementFacts& elements,
                       const gpu::GpuSpec& gpu) {
  return WorkCounter(work, elements, gpu).cycles();
}

double shared_units_cycles(std::span<const double> units, double wait, double workers) {
  std::vector<double> there(units.size(), 0.0);  // workers at each unit, on average
  double before = 0, now = 0;                    // clocks per piece, of n - 1 and of n workers
  for (double n = 1; n < workers + 1; ++n) {
    double round = wait;
    for (std::size_t k = 0; k < units.size(); ++k) round += units[k] * (1 + there[k]);
    if (round <= 0) return 0;
    for (std::size_t k = 0; k < units.size(); ++k) there[k] = n * units[k] * (1 + there[k]) / round;
    before = now;
    now = round / n;
    if (n >= workers && n > 1) now = before + (now - before) * (workers - n + 1);
  }
  return now;
}

double cycles_per_pair(const UnitCycles& cycles, int num_warps, double num_blocks) {
  constexpr double kSchedulers = 4;
  // Each warp is of one scheduler, which has a quarter of the issue slots, tensor cores and exponentials.
  // Fewer warps than schedulers leave the others idle, and have the rest to themselves.
  const double warps = num_warps * num_blocks;
  const double schedulers = std::min(kSchedulers, warps);
  const double of_scheduler = num_warps / kSchedulers, of_all = num_warps / schedulers;
  const std::array<double, 6> units = {
      cycles.tensor / of_scheduler,
      (cycles.shared + cycles.l1) / of_all,
      (cycles.issue - cycles.product_issue + cycles.operand_conflicts) / of_scheduler,
      cycles.exp / of_scheduler,
      cycles.sums / of_all,
      cycles.constants / of_scheduler};
  return of_all * shared_units_cycles(units, cycles.wait, warps / schedulers);
}

}  // namespace flashlab::compare
