#include "compare/model/prediction.hpp"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

namespace flashlab::compare {
namespace {

double ms_at(double amount, const std::optional<Rate>& rate) {
  return rate ? 1e3 * amount / rate->per_s : 0;
}

double dram_ms(const Traffic& traffic, const MachineModel& machine) {
  const auto read = static_cast<double>(traffic.bytes_read),
             written = static_cast<double>(traffic.bytes_written);
  const double both = 2 * std::min(read, written);
  return ms_at(both, machine.dram_copy) +
         ms_at(read + written - both, read > written ? machine.dram_read : machine.dram_copy);
}

double elementwise_ms(const Work& work, const MachineModel& machine) {
  const auto divisions = static_cast<double>(work.divisions);
  return ms_at(static_cast<double>(work.elementwise_flops) - divisions, machine.elementwise) +
         ms_at(divisions, machine.divisions ? machine.divisions : machine.elementwise);
}

/// The slowest unit, and its time.
std::pair<Bound, double> slowest(const Prediction& p) {
  const std::array<std::pair<Bound, double>, 9> units = {{{Bound::kDram, p.dram_ms},
                                                          {Bound::kSm, p.sm_ms},
                                                          {Bound::kProducts, p.products_ms},
                                                          {Bound::kElementwise, p.elementwise_ms},
                                                          {Bound::kExp, p.exp_ms},
                                                          {Bound::kLaunch, p.launch_ms},
                                                          {Bound::kShared, p.shared_ms},
                                                          {Bound::kIssue, p.issue_ms},
                                                          {Bound::kSums, p.sums_ms}}};
  return *std::max_element(units.begin(), units.end(),
                           [](const auto& a, const auto& b) { return a.second < b.second; });
}

}  // namespace

double fill_of(std::int64_t num_blocks, std::int64_t num_sms, bool is_causal) {
  if (num_blocks <= 0 || num_sms <= 0) return 1;
  const std::int64_t most = (num_blocks + num_sms - 1) / num_sms;
  if (is_causal && most > 1) return 1;
  return static_cast<double>(num_blocks) / static_cast<double>(most * num_sms);
}

Prediction predict(const Step& step, const MachineModel& machine, std::string_view dtype,
                   std::string_view products, bool is_causal, std::string_view instruction) {
  const Work& work = step.work;
  Prediction p;
  p.dram_ms = dram_ms(work.dram, machine);
  if (work.sm) p.sm_ms = ms_at(static_cast<double>(work.sm->bytes()), machine.sm);
  if (work.product_flops > 0) {
    p.products_ms = ms_at(static_cast<double>(work.product_flops),
                          machine.product_rate(dtype, products, instruction));
  }
  p.elementwise_ms = elementwise_ms(work, machine);
  p.exp_ms = ms_at(static_cast<double>(work.exps), machine.exps);
  p.launch_ms = 1e3 * machine.launch_s.value_or(0) * static_cast<double>(step.num_launches);
  p.fill = fill_of(step.num_blocks, machine.gpu.num_sms, is_causal);
  std::tie(p.bound, p.roofline_ms) = slowest(p);
  const double moving = std::max(p.dram_ms, p.sm_ms);
  const double computing = (p.products_ms + p.elementwise_ms + p.exp_ms) / p.fill;
  p.overlap_ms = std::max(moving, computing) + p.launch_ms;
  p.units_ms = p.overlap_ms;
  return p;
}

Prediction predict_launch(const Step& step, const cuda::LaunchTiles& launch,
                          const MachineModel& machine, const TileTimeRequest& request,
                          std::string_view instruction) {
  Prediction p =
      predict(step, machine, request.dtype, request.products, request.is_causal, instruction);
  // A requested tile: there is no such block. Without a GPU's clocks only rates are known.
  if (step.num_blocks == 0 || !machine.gpu.has_clocks()) return p;
  // The warps of a block load the same at about the same time: one finds it in L2, the others in L1.
  if (launch.block_work && launch.shares_loads) p.sm_ms /= launch.block_work->num_warps;
  if (launch.block_work) {
    TileTimeRequest of_launch = request;
    of_launch.takes_several = launch.num_tiles_of_blocks > launch.num_blocks;
    set_tile_time(step, *launch.block_work, of_launch, machine, p);
  }
  if (launch.row_work) set_row_time(step, *launch.row_work, machine, p);
  std::tie(p.bound, p.roofline_ms) = slowest(p);
  return p;
}

Prediction in_turn(std::span<const Step> steps) {
  Prediction total;
  double longest = -1;
  for (const Step& step : steps) {
    const Prediction& p = step.predicted;
    total.dram_ms += p.dram_ms;
    total.sm_ms += p.sm_ms;
    total.products_ms += p.products_ms;
    total.elementwise_ms += p.elementwise_ms;
    total.exp_ms += p.exp_ms;
    total.launch_ms += p.launch_ms;
    total.roofline_ms += p.roofline_ms;
    total.overlap_ms += p.overlap_ms;
    total.shared_ms += p.shared_ms;
    total.sums_ms += p.sums_ms;
    total.issue_ms += p.issue_ms;
    total.wait_ms += p.wait_ms;
    total.units_ms += p.units_ms;
    if (predicted_ms(p) <= longest) continue;
    longest = predicted_ms(p);
    total.fill = p.fill;
    total.warps = p.warps;
    total.clock_ghz = p.clock_ghz;
    total.bound = p.bound;
  }
  return total;
}

}  // namespace flashlab::compare
