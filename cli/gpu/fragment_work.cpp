#include "cli/gpu/fragment_work.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include "generate/plan/operation_costs.hpp"

namespace flashlab::cli {
namespace {

using generate::Action;
using generate::FragmentPlan;
using generate::ValuePlace;
using generate::Where;

/// The result of a special function comes after as many clocks as those of four other instructions, one after the other
/// (latency_clocks of 9.0 in gpus.json: 17 and 4.46).
constexpr double kChainOfSpecial = 4, kLanes = 32;
constexpr std::int64_t kRegistersOfThread = 255, kRegistersOfSm = 65536, kBytesOfFactor = 2;

class WorkOfLoop {
 public:
  WorkOfLoop(const toy::BoundProgram& program, const FragmentPlan& plan)
      : program_(program), plan_(plan) {}

  std::optional<FragmentWork> run() {
    const bool is_wide = plan_.has_warpgroups;
    work_.block.instruction =
        is_wide ? cuda::ProductInstruction::kWgmma : cuda::ProductInstruction::kMma;
    work_.block.num_warps = plan_.warps;
    work_.block.blocks_per_sm = static_cast<int>(std::max<std::int64_t>(
        1, is_wide ? (plan_.warps == 4 ? 2 : 1)
                   : kRegistersOfSm / (32 * plan_.warps * (kRegistersOfThread + 1))));
    work_.block.drains = 0;
    work_.block.is_in_l2 = true;
    const std::set<std::size_t> loops = loops_of_products();
    if (loops.empty()) return std::nullopt;
    for (std::size_t at = 0; at < plan_.steps.size(); ++at) {
      const generate::Step& step = plan_.steps[at];
      if (step.kind == generate::Step::Kind::kInstruction && !step.loops.empty() &&
          loops.contains(step.loops.back())) {
        instruction(at, step);
      }
    }
    add_spills();
    for (std::size_t v = 0; v < plan_.places.size(); ++v) {
      const ValuePlace& place = plan_.places[v];
      if (place.where != Where::kSharedTile && place.where != Where::kSharedColumn) continue;
      if (std::ranges::find(awaited_, v) != awaited_.end()) continue;
      if (place.ring && place.ring->last_read) {
        ++work_.block.mbarrier_waits;
        ++work_.block.mbarrier_arrivals;
      }
      std::int64_t& bytes =
          place.prefetched_in ? work_.block.copied.bytes : work_.block.first_bytes;
      bytes += place.shared->bytes;
    }
    const cuda::BlockProduct& first = work_.block.products.front();
    const std::int64_t scores = first.rows * first.columns;
    std::int64_t multiplied = 0;
    for (const cuda::BlockProduct& product : work_.block.products) {
      multiplied += product.rows * product.columns * product.depth;
    }
    const auto num_products = static_cast<std::int64_t>(work_.block.products.size());
    work_.request.head_dim = std::max<std::int64_t>(1, multiplied / (num_products * scores));
    work_.request.dtype = plan_.factors == toy::ElementType::kBf16 ? "bf16" : "fp16";
    work_.request.products = "native";
    work_.block.score_instructions = elementwise_ / static_cast<double>(scores);
    work_.block.exps_per_score = specials_ / static_cast<double>(scores);
    if (!is_wide) ++work_.block.num_barriers;  // of the loop
    return work_;
  }

 private:
  const ValuePlace& place(std::size_t at, std::size_t operand) const {
    return plan_.places[static_cast<std::size_t>(plan_.values.operands[at][operand])];
  }

  /// The innermost loops around products, which may follow each other. What stands outside of them is not of
  /// a pair of tiles.
  std::set<std::size_t> loops_of_products() const {
    std::set<std::size_t> loops;
    std::size_t depth = 1;
    for (const generate::Step& step : plan_.steps) {
      if (step.kind != generate::Step::Kind::kInstruction || !step.is_product()) continue;
      if (step.loops.size() < depth) continue;
      if (step.loops.size() > depth) loops.clear();
      depth = step.loops.size();
      loops.insert(step.loops.back());
    }
    return loops;
  }

  /// A tile that is loaded where it is used: all threads meet before it and after it. Loads that follow each
  /// other before the first use of one are waited for once.
  void await(std::size_t value) {
    const ValuePlace& place = plan_.places[value];
    const bool is_shared = place.where == Where::kSharedTile || place.where == Where::kSharedColumn;
    if (!is_shared || place.prefetched_in || place.ring) return;
    awaited_.push_back(value);
    work_.block.copied.bytes += place.shared->bytes;
    work_.block.awaited_bytes += place.shared->bytes;
    ++work_.block.num_barriers;
    if (under_way_.empty()) {
      ++work_.block.num_barriers;
      if (num_awaited_++ > 0) ++work_.block.cache_waits;  // the first one is that of awaited_bytes
    }
    under_way_.push_back(value);
  }

  /// Once a tile that is under way is read, all have come.
  void read(std::size_t at, std::size_t written) {
    const auto& operands = plan_.values.operands[at];
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (i == written || operands[i] < 0) continue;
      const auto value = static_cast<std::size_t>(operands[i]);
      if (std::ranges::find(under_way_, value) != under_way_.end()) under_way_.clear();
    }
  }
  /// Numbers of tiles in shared memory are loaded, two at once, and converted.
  void read_elements(std::size_t at, std::size_t written) {
    const auto& operands = plan_.values.operands[at];
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (i == written || operands[i] < 0 || place(at, i).where != Where::kSharedTile) continue;
      const std::int64_t elements = place(at, i).rows * place(at, i).cols;
      work_.block.loaded = {work_.block.loaded.bytes + kBytesOfFactor * elements, 4};
      elementwise_ += generate::cost_of_widening(plan_.factors) * static_cast<double>(elements);
    }
  }

  /// Two numbers are rounded, two pairs exchanged between lanes, and four stored at once.
  void store(std::size_t at) {
    constexpr double kOfElement = 1.5;
    ++work_.block.num_barriers;
    const auto& operands = plan_.values.operands[at];
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (operands[i] < 0 || place(at, i).where != Where::kFragment) continue;
      elementwise_ += kOfElement * static_cast<double>(place(at, i).rows * place(at, i).cols);
    }
  }

  /// What a thread has beyond its registers goes to memory and back in each iteration.
  void add_spills() {
    const std::int64_t beyond = std::max<std::int64_t>(0, plan_.numbers - generate::kMostNumbers);
    work_.block.loaded_through_l1 = {2 * 4 * 32 * plan_.warps * beyond, 4};
  }

  void instruction(std::size_t at, const generate::Step& step) {
    const toy::BoundInstruction& instruction = program_.instructions[step.site];
    const std::size_t written = generate::written_operand(instruction);
    if (step.action == Action::kLoad) {
      if (plan_.values.operands[at][written] >= 0) {
        await(static_cast<std::size_t>(plan_.values.operands[at][written]));
      }
      return;
    }
    read(at, written);
    if (step.action == Action::kStore) {
      store(at);
      return;
    }
    if (step.is_product()) {
      product(at, instruction, written);
      return;
    }
    if (step.action == Action::kUpdate) {
      const ValuePlace& from = place(at, 0);
      work_.block.added = {work_.block.added.bytes + 4 * from.rows * from.cols, 8};
      return;
    }
    // A number for each thread's element: a fragment that is written, or whose rows are reduced.
    if (step.masks() && !toy::is_place(step.operation)) {
      work_.request.is_causal = true;
      return;
    }
    if (step.reduces()) ++work_.block.row_shuffles;
    if (plan_.values.operands[at][written] < 0) return;
    const ValuePlace& target = place(at, step.reduces() ? 0 : written);
    if (target.where == Where::kFragment && step.action == Action::kOperation) {
      const double elements = computed_elements(step, target);
      const generate::OperationCost cost = cost_of_element(at, step);
      elementwise_ += cost.instructions * elements;
      specials_ += cost.specials * elements;
      work_.block.chained_instructions += cost.chained * elements / (kLanes * plan_.warps);
      read_elements(at, written);
    }
    if (target.where == Where::kRowValues) row_values(step);
  }

  /// The number of a row is computed once in each of the four lanes that share it; that of a column once in each lane
  /// of eight.
  double computed_elements(const generate::Step& step, const ValuePlace& target) const {
    if (!step.masks()) return static_cast<double>(target.rows * target.cols);
    const bool is_along_row = (step.operation == toy::Operation::kColumnNumber) != target.is_turned;
    return static_cast<double>(is_along_row ? 8 * target.cols * plan_.warps : 4 * target.rows);
  }

  /// A difference whose power is taken next is part of the power's one multiplication and addition. A quotient
  /// by a number for each row is a product.
  generate::OperationCost cost_of_element(std::size_t at, const generate::Step& step) const {
    generate::OperationCost cost = generate::cost_of(step.operation);
    const bool is_power = step.does(toy::Operation::kExponential);
    if (is_power && at > 0 && plan_.steps[at - 1].does(toy::Operation::kMinus) &&
        plan_.values.only_for_next[at - 1]) {
      cost.instructions = 0;
    }
    if (step.does(toy::Operation::kOver) && plan_.values.operands[at][1] >= 0 &&
        place(at, 1).where == Where::kRowValues) {
      cost = generate::cost_of(toy::Operation::kTimes);
    }
    return cost;
  }

  /// A number for each row: each of a sequence of operations waits for the one before.
  void row_values(const generate::Step& step) {
    if (step.action != Action::kOperation) return;
    const generate::OperationCost cost = generate::cost_of(step.operation);
    work_.block.chained_instructions +=
        cost.instructions + kChainOfSpecial * cost.specials + cost.chained;
  }

  void product(std::size_t at, const toy::BoundInstruction& instruction, std::size_t written) {
    const ValuePlace& target = place(at, written);
    const std::size_t left = target.is_turned ? 1 : 0;
    cuda::BlockProduct product;
    product.rows = target.rows;
    product.columns = target.cols;
    constexpr std::int64_t kRowsOfWarpgroup = 64;
    product.part_rows = plan_.has_warpgroups ? kRowsOfWarpgroup : target.rows / plan_.warps;
    ++work_.block.drains;  // each product is waited for
    product.part_columns = target.cols;
    // The length that both factors share.
    const ValuePlace& a = place(at, left);
    const bool is_needed_turned = instruction.operands[left].transposed != target.is_turned;
    product.depth = is_needed_turned == a.is_turned ? a.cols : a.rows;
    const auto operand = [&](std::size_t i, bool is_left) {
      const ValuePlace& factor = place(at, i);
      const bool turned = instruction.operands[i].transposed != target.is_turned;
      if (is_left && factor.where == Where::kFragment && turned == factor.is_turned) {
        return cuda::Operand::kResults;
      }
      if (factor.where == Where::kFragment) {  // by way of shared memory
        work_.block.stored = {work_.block.stored.bytes + 2 * factor.rows * factor.cols, 4};
        ++work_.block.num_barriers;
      }
      return turned != factor.is_turned ? cuda::Operand::kSharedColumns : cuda::Operand::kShared;
    };
    product.a = operand(left, true);
    product.b = operand(1 - left, false);
    product.starts_at_zero = true;
    work_.block.products.push_back(product);
  }

  const toy::BoundProgram& program_;
  const FragmentPlan& plan_;
  FragmentWork work_;
  double elementwise_ = 0, specials_ = 0;
  std::vector<std::size_t> awaited_, under_way_;  // values
  int num_awaited_ = 0;
};

}  // namespace

std::optional<FragmentWork> fragment_work(const toy::BoundProgram& program,
                                          const FragmentPlan& plan) {
  return WorkOfLoop(program, plan).run();
}

}  // namespace flashlab::cli
