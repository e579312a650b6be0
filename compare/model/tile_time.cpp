#include "compare/model/tile_time.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "compare/model/block_schedule.hpp"

namespace flashlab::compare {
namespace {

using cuda::ProductInstruction;

constexpr std::string_view kWgmma = "wgmma";
constexpr double kThreadsOfWarp = 32;

/// The key of a type's products in GpuSpec::flops_per_s and, with the instruction, in a calibration.
std::string type_of_products(std::string_view dtype, std::string_view products) {
  if (products == "fp16x3") return "fp16";
  return std::string(dtype) + (products.starts_with("tf32") ? " tf32" : "");
}

/// FLOPs per clock of a multiprocessor's tensor cores, or of its multiply-adds.
double flops_per_clock(const gpu::GpuSpec& gpu, const std::string& type,
                       ProductInstruction instruction) {
  if (instruction == ProductInstruction::kMultiplyAdd) return 2 * gpu.additions_per_clock_per_sm;
  const auto found = gpu.flops_per_s.find(type);
  if (found == gpu.flops_per_s.end()) {
    throw std::invalid_argument(gpu.name + " has no rate of " + type + " products");
  }
  const double peak =
      found->second / (static_cast<double>(gpu.num_sms) * gpu.tensor_boost_clock_hz);
  return instruction == ProductInstruction::kMma ? gpu.mma_share * peak : peak;
}

ElementFacts element_facts(const TileTimeRequest& request, const cuda::BlockWork& work,
                           const gpu::GpuSpec& gpu) {
  return {
      request.dtype == "float" && request.products != "fp16x3" ? 4 : 2,
      request.products.ends_with("x3") ? 3 : 1,
      flops_per_clock(gpu, type_of_products(request.dtype, request.products), work.instruction)};
}

/// The seconds in which L2 adds these bytes to sums; 0: the rate was not measured.
double addition_s(double bytes, const std::optional<Rate>& rate) {
  return rate ? bytes / rate->per_s : 0;
}

/// The clocks in which bytes come from L2 to one of the multiprocessors, which all load. 0: unknown.
double loading_clocks(std::int64_t bytes, const MachineModel& machine) {
  if (!machine.sm) return 0;
  const gpu::GpuSpec& gpu = machine.gpu;
  const double bytes_per_clock =
      machine.sm->per_s / (static_cast<double>(gpu.num_sms) * gpu.boost_clock_hz);
  return static_cast<double>(bytes) / bytes_per_clock;
}

/// What a block waits for before its first pair of tiles: its place, and then its first data.
double start_clocks(const cuda::BlockWork& work, const MachineModel& machine) {
  const gpu::Latencies& latency = machine.gpu.latency;
  return work.start_instructions * latency.instruction + latency.dram +
         loading_clocks(work.first_bytes, machine);
}

/// What a block's warps do after its last pair, with the multiprocessor's issue slots to themselves.
double end_clocks(const cuda::BlockWork& work, const gpu::GpuSpec& gpu) {
  return work.end_instructions * work.num_warps / gpu.instructions_per_clock_per_sm;
}

/// The blocks whose shared memory fits a multiprocessor.
std::int64_t blocks_by_shared(const Step& step, const gpu::GpuSpec& gpu) {
  constexpr std::int64_t kReservedBytes = 1024;  // of each block
  return gpu.shared_memory_per_sm_bytes / (step.shared_bytes + kReservedBytes);
}

/// clocks_per_pair[k - 1]: of a multiprocessor with k blocks.
std::vector<double> clocks_per_pair(const UnitCycles& cycles, int num_warps, int resident) {
  std::vector<double> clocks;
  for (int k = 1; k <= resident; ++k) clocks.push_back(cycles_per_pair(cycles, num_warps, k));
  return clocks;
}

/// A launch's blocks, as far as its time depends on them.
struct LaunchBlocks {
  double pairs;  // of tiles, of all blocks
  double start, end;
  std::vector<double> clocks_per_pair;
  std::int64_t num_sms;
};

/// Of many equal blocks all waves but the last ones take the same time.
double clocks_of_equal_blocks(const LaunchBlocks& blocks, std::int64_t num_blocks,
                              bool loads_ahead) {
  constexpr std::int64_t kMostWaves = 12;
  const std::int64_t wave =
      static_cast<std::int64_t>(blocks.clocks_per_pair.size()) * blocks.num_sms;
  const std::int64_t left_out = std::max<std::int64_t>(0, num_blocks / wave - kMostWaves);
  const auto simulated = static_cast<std::size_t>(num_blocks - left_out * wave);
  BlockQueue queue = {
      std::vector<double>(simulated, blocks.pairs / static_cast<double>(num_blocks)), blocks.start,
      blocks.end, loads_ahead};
  const double clocks = finish_clock(queue, blocks.clocks_per_pair, blocks.num_sms);
  if (left_out == 0) return clocks;
  queue.pairs.resize(simulated - static_cast<std::size_t>(wave));
  const double before = finish_clock(queue, blocks.clocks_per_pair, blocks.num_sms);
  return clocks + static_cast<double>(left_out) * (clocks - before);
}

/// Blocks of these lengths, problem after problem. Of very many problems only some are played through.
double clocks_of_lengths(const LaunchBlocks& blocks, std::span<const double> lengths,
                         std::int64_t num_blocks) {
  constexpr std::int64_t kMostBlocks = 50'000;
  const auto of_one = static_cast<std::int64_t>(lengths.size());
  const std::int64_t problems = std::max<std::int64_t>(1, num_blocks / of_one),
                     simulated = std::clamp<std::int64_t>(kMostBlocks / of_one, 1, problems);
  const double share = static_cast<double>(simulated) / static_cast<double>(problems);
  const double sum = std::accumulate(lengths.begin(), lengths.end(), 0.0);
  BlockQueue queue = {{}, blocks.start, blocks.end};
  for (std::int64_t problem = 0; problem < simulated; ++problem) {
    for (const double length : lengths) {
      queue.pairs.push_back(length / sum * blocks.pairs / static_cast<double>(problems));
    }
  }
  return finish_clock(queue, blocks.clocks_per_pair, blocks.num_sms) / share;
}

HeadBlocks blocks_of_head(const Step& step, const TileTimeRequest& request) {
  const bool has_keys = request.has_key_blocks;
  return {has_keys ? request.seqlen_k : request.seqlen_q,
          has_keys ? request.seqlen_q : request.seqlen_k, has_keys ? step.block_kv : step.block_q,
          has_keys ? step.block_q : step.block_kv, has_keys};
}

/// Blocks of different lengths, or equal ones. Of very many heads only some are played through.
double launch_clocks(const Step& step, const TileTimeRequest& request, cuda::BlockOrder order,
                     const LaunchBlocks& blocks) {
  constexpr std::int64_t kMostBlocks = 200'000;
  if (!request.lengths.empty()) return clocks_of_lengths(blocks, request.lengths, step.num_blocks);
  const HeadBlocks of_head = blocks_of_head(step, request);
  const bool are_equal = !request.is_causal || of_head.rows == 0 || step.block_q < 2;
  const std::int64_t of_one = are_equal ? 0 : (of_head.rows + of_head.length - 1) / of_head.length;
  if (are_equal || of_one > kMostBlocks) {
    return clocks_of_equal_blocks(blocks, step.num_blocks, request.takes_several);
  }
  const std::int64_t heads = step.num_blocks / of_one,
                     simulated = std::clamp<std::int64_t>(kMostBlocks / of_one, 1, heads);
  BlockQueue queue = {causal_pairs(of_head, simulated, order), blocks.start, blocks.end,
                      request.takes_several};
  const double sum = std::accumulate(queue.pairs.begin(), queue.pairs.end(), 0.0);
  if (sum <= 0) return clocks_of_equal_blocks(blocks, step.num_blocks, request.takes_several);
  const double share = static_cast<double>(simulated) / static_cast<double>(heads);
  for (double& of_block : queue.pairs) of_block *= share * blocks.pairs / sum;
  return finish_clock(queue, blocks.clocks_per_pair, blocks.num_sms) / share;
}

}  // namespace

double edge_pairs(const Step& step, bool has_key_blocks) {
  const int length = has_key_blocks ? step.block_kv : step.block_q,
            other = has_key_blocks ? step.block_q : step.block_kv;
  return static_cast<double>(length + other - std::gcd(length, other)) / other;
}

int resident_blocks(const cuda::BlockWork& work, const Step& step, const gpu::GpuSpec& gpu) {
  return static_cast<int>(
      std::clamp<std::int64_t>(blocks_by_shared(step, gpu), 1, work.blocks_per_sm));
}

double clock_hz(const MachineModel& machine, std::string_view dtype, std::string_view products,
                ProductInstruction instruction, double tensor_share, double shared_share) {
  const gpu::GpuSpec& gpu = machine.gpu;
  const std::string type = type_of_products(dtype, products);
  const std::string key =
      instruction == ProductInstruction::kWgmma ? type + " " + std::string(kWgmma) : type;
  const auto rate = machine.products.find(key);
  if (rate == machine.products.end() || !rate->second.is_measured) {
    return instruction == ProductInstruction::kMultiplyAdd ? gpu.boost_clock_hz
                                                           : gpu.tensor_boost_clock_hz;
  }
  const double full =
      std::min(gpu.boost_clock_hz, rate->second.per_s / (static_cast<double>(gpu.num_sms) *
                                                         flops_per_clock(gpu, type, instruction)));
  const double of_shared = instruction == ProductInstruction::kMma ? gpu.shared_clock_drop : 0;
  return gpu.boost_clock_hz - std::clamp(tensor_share, 0.0, 1.0) * (gpu.boost_clock_hz - full) -
         std::clamp(shared_share, 0.0, 1.0) * of_shared * gpu.boost_clock_hz;
}

void set_tile_time(const Step& step, const cuda::BlockWork& work, const TileTimeRequest& request,
                   const MachineModel& machine, Prediction& prediction) {
  const gpu::GpuSpec& gpu = machine.gpu;
  const ElementFacts elements = element_facts(request, work, gpu);
  UnitCycles cycles = unit_cycles(work, elements, gpu);
  cycles.sums = addition_s(static_cast<double>(work.added.bytes * gpu.num_sms), machine.additions) *
                gpu.boost_clock_hz;
  if (work.awaited_bytes > 0) {
    cycles.wait += gpu.latency.l2 + loading_clocks(work.awaited_bytes, machine);
  }
  const cuda::BlockProduct& first = work.products.front();  // of scores
  const double scores = static_cast<double>(first.rows * first.columns) / work.score_copies;
  // With the problem's head_dim, which the kernel may pad.
  const double flops_of_pair = 2.0 * static_cast<double>(work.products.size()) * scores *
                               static_cast<double>(request.head_dim);
  const auto launches = static_cast<double>(step.num_launches);
  const double pairs = computed_per_score(blocks_of_head(step, request), request.is_causal) *
                       static_cast<double>(step.work.product_flops) / flops_of_pair / launches;
  if (pairs <= 0) return;
  const double pairs_of_block = pairs / static_cast<double>(step.num_blocks);
  if (request.is_causal) {
    const double edges = std::min(1.0, edge_pairs(step, request.has_key_blocks) / pairs_of_block);
    cycles.issue += edges * work.edge_instructions * scores / kThreadsOfWarp /
                    gpu.instructions_per_clock_per_sm;
    cycles.wait += edges * (work.edge_waits * gpu.latency.shared +
                            chain_clocks(work.edge_chained_instructions, gpu));
  }
  const int resident = resident_blocks(work, step, gpu);
  const double all =
      launches * launch_clocks(step, request, work.order,
                               {pairs, start_clocks(work, machine), end_clocks(work, gpu),
                                clocks_per_pair(cycles, work.num_warps, resident), gpu.num_sms});
  const double pairs_of_sm = launches * pairs / static_cast<double>(gpu.num_sms);
  const bool has_tensor = work.instruction != ProductInstruction::kMultiplyAdd;
  const double busy = has_tensor ? cycles.tensor * pairs_of_sm / all : 0;
  const double hz = clock_hz(machine, request.dtype, request.products, work.instruction, busy,
                             cycles.shared * pairs_of_sm / all);
  const auto ms = [&](double clocks) { return 1e3 * clocks / hz; };
  // Multiply-adds of threads are instructions: they are in the issue slots.
  prediction.products_ms = has_tensor ? ms(cycles.tensor * pairs_of_sm) : 0;
  prediction.exp_ms = ms(cycles.exp * pairs_of_sm);
  prediction.shared_ms = ms(cycles.all_shared() * pairs_of_sm);
  prediction.issue_ms = ms(cycles.issue * pairs_of_sm);
  const double in_bulk_ms =
      1e3 * addition_s(launches * pairs * static_cast<double>(work.added_in_bulk_bytes),
                       machine.bulk_additions);
  prediction.sums_ms = ms(cycles.sums * pairs_of_sm) + in_bulk_ms;
  const double warps_of_block = std::max(1.0, work.num_warps / gpu.instructions_per_clock_per_sm);
  prediction.warps = warps_of_block * resident;
  prediction.wait_ms = ms(cycles.wait * pairs_of_sm * warps_of_block / prediction.warps);
  prediction.clock_ghz = hz / 1e9;
  prediction.units_ms =
      std::max({prediction.dram_ms, prediction.sm_ms, in_bulk_ms, ms(all)}) + prediction.launch_ms;
}

void set_row_time(const Step& step, const cuda::RowWork& work, const MachineModel& machine,
                  Prediction& prediction) {
  constexpr double kWithAddress = 2, kThreadsOfSm = 2048;
  // The compiler takes four numbers per round of a loop, with one address for all of them. Numbers that
  // are left over come one by one, each with its addresses (of 64 bits), a count and a branch.
  constexpr double kAtOnce = 4, kRound = 2, kOneByOne = 10;
  constexpr double kLoopStart = 18;         // how many rounds, and the first addresses
  constexpr double kInstructionsOfExp = 8;  // expf, to the last bit but one
  constexpr double kInstructionsOfDivision = 14, kSpecialsOfDivision = 2;  // a reciprocal, a check
  constexpr double kShuffles = 5, kBarriers = 2;  // of a reduction over all threads
  const gpu::GpuSpec& gpu = machine.gpu;
  const double hz = gpu.boost_clock_hz, sms = static_cast<double>(gpu.num_sms);
  const auto blocks = static_cast<double>(step.num_blocks);
  const double warps = step.num_threads / kThreadsOfWarp;
  const Work& all = step.work;
  const double exps = work.computed_share * work.exp_copies * static_cast<double>(all.exps);
  const double divisions = work.computed_share * static_cast<double>(all.divisions);
  const auto numbers = static_cast<double>(work.num_numbers);
  // Rows of many lengths leave as many over as rows of one length, on average.
  const double left_over = work.computed_share < 1
                               ? (kAtOnce - 1) / 2
                               : std::fmod(numbers / blocks / step.num_threads, kAtOnce);
  const double of_numbers =
      numbers * (work.accesses + work.number_instructions + work.loops * kRound / kAtOnce) +
      work.computed_share * static_cast<double>(all.elementwise_flops) - divisions +
      divisions * kInstructionsOfDivision + exps * kInstructionsOfExp;
  const double of_warp = work.start_instructions +
                         work.reductions * (2 * kShuffles + warps * kWithAddress) +
                         work.loops * (kLoopStart + left_over * kOneByOne);
  const double issue =
      (of_numbers / kThreadsOfWarp / blocks + warps * of_warp) / gpu.instructions_per_clock_per_sm;
  const double exp = ((exps + kSpecialsOfDivision * divisions) / blocks +
                      work.start_specials * static_cast<double>(step.num_threads)) /
                     gpu.exps_per_clock_per_sm;
  const double dram = prediction.dram_ms * 1e-3 * hz * sms / blocks;
  const double wait =
      work.start_instructions * gpu.latency.instruction + work.loads_in_turn * gpu.latency.dram +
      work.reductions * (kShuffles * gpu.latency.shuffle + kBarriers * gpu.latency.barrier);
  const double by_shared = static_cast<double>(blocks_by_shared(step, gpu));
  const double resident =
      std::max(1.0, std::min({std::floor(kThreadsOfSm / step.num_threads), by_shared,
                              static_cast<double>(work.blocks_per_sm)}));
  const std::array<double, 3> units = {issue, exp, dram};
  const double cycles = shared_units_cycles(units, wait, resident) * blocks / sms;
  const auto ms = [&](double clocks) { return 1e3 * clocks / hz; };
  prediction.issue_ms = ms(issue * blocks / sms);
  prediction.exp_ms = ms(exp * blocks / sms);
  prediction.wait_ms = ms(wait * blocks / sms / resident);
  prediction.warps = resident * warps / gpu.instructions_per_clock_per_sm;
  prediction.clock_ghz = hz / 1e9;
  prediction.units_ms = std::max(prediction.sm_ms, ms(cycles)) + prediction.launch_ms;
}

void set_block_time(const Step& step, const WholeBlock& block, const MachineModel& machine,
                    Prediction& prediction) {
  const gpu::GpuSpec& gpu = machine.gpu;
  const double hz = gpu.boost_clock_hz;
  const std::int64_t resident =
      std::clamp<std::int64_t>(blocks_by_shared(step, gpu), 1, block.resident);
  const std::array<double, 1> units = {block.busy};
  std::vector<double> clocks;
  for (std::int64_t k = 1; k <= resident; ++k) {
    clocks.push_back(shared_units_cycles(units, block.alone - block.busy, static_cast<double>(k)));
  }
  const auto blocks = static_cast<double>(step.num_blocks);
  const LaunchBlocks launch = {blocks, gpu.latency.dram, 0, clocks, gpu.num_sms};
  const double all = block.lengths.empty()
                         ? clocks_of_equal_blocks(launch, step.num_blocks, false)
                         : clocks_of_lengths(launch, block.lengths, step.num_blocks);
  const auto ms = [&](double of_clocks) { return 1e3 * of_clocks / hz; };
  const double blocks_of_sm = blocks / static_cast<double>(gpu.num_sms);
  prediction.products_ms = prediction.elementwise_ms = prediction.exp_ms = 0;
  prediction.shared_ms = ms(block.shared * blocks_of_sm);
  prediction.issue_ms = ms((block.busy - block.shared) * blocks_of_sm);
  prediction.wait_ms =
      ms((block.alone - block.busy) * blocks_of_sm / static_cast<double>(resident));
  prediction.warps = step.num_threads / kThreadsOfWarp / gpu.instructions_per_clock_per_sm *
                     static_cast<double>(resident);
  prediction.clock_ghz = hz / 1e9;
  prediction.units_ms =
      std::max({prediction.dram_ms, prediction.sm_ms, ms(all)}) + prediction.launch_ms;
}

}  // namespace flashlab::compare
