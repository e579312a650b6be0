#include "cli/gpu/fragment_work.hpp"

#include <algorithm>

namespace flashlab::cli {
namespace {

using generate::Action;
using generate::FragmentPlan;

using generate::ValuePlace;
using generate::Where;

constexpr std::int64_t kMostNumbersOfThread = 255, kRegistersOfSm = 65536;

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
                   : kRegistersOfSm / (32 * plan_.warps * (kMostNumbersOfThread + 1))));
    work_.block.drains = 0;
    for (std::size_t at = 0; at < plan_.steps.size(); ++at) {
      const generate::Step& step = plan_.steps[at];
      if (step.kind == generate::Step::Kind::kInstruction && !step.loops.empty())
        instruction(at, step);
    }
    for (std::size_t v = 0; v < plan_.places.size(); ++v) {
      const ValuePlace& place = plan_.places[v];
      if (place.where != Where::kSharedTile && place.where != Where::kSharedColumn) continue;
      if (place.ring && place.ring->last_read) {
        ++work_.block.mbarrier_waits;
        ++work_.block.mbarrier_arrivals;
      }
      std::int64_t& bytes =
          place.prefetched_in ? work_.block.copied.bytes : work_.block.first_bytes;
      bytes += place.shared->bytes;
    }
    if (work_.block.products.empty()) return std::nullopt;
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
    if (!is_wide) ++work_.block.num_barriers;  // of the loop
    return work_;
  }

 private:
  const ValuePlace& place(std::size_t at, std::size_t operand) const {
    return plan_.places[static_cast<std::size_t>(plan_.values.operands[at][operand])];
  }

  void instruction(std::size_t at, const generate::Step& step) {
    const toy::BoundInstruction& instruction = program_.instructions[step.site];
    const std::size_t written = generate::written_operand(instruction);
    if (step.is_product()) {
      product(at, instruction, written);
      return;
    }
    if (step.action == Action::kUpdate) {
      const ValuePlace& from = place(at, 0);
      work_.block.added = {4 * from.rows * from.cols, 8};
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
    const bool costs = step.action == Action::kOperation &&
                       toy::spec_of(step.operation).flop_kind == toy::FlopKind::kElementwise;
    if (target.where == Where::kFragment && (costs || step.reduces())) {
      elementwise_ += static_cast<double>(target.rows * target.cols);
    }
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
  double elementwise_ = 0;
};

}  // namespace

std::optional<FragmentWork> fragment_work(const toy::BoundProgram& program,
                                          const FragmentPlan& plan) {
  return WorkOfLoop(program, plan).run();
}

}  // namespace flashlab::cli
