#include "generate/plan/warpgroup_plan.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "generate/plan/shared_places.hpp"

namespace flashlab::generate {
namespace {

constexpr std::int64_t kRowsOfWarpgroup = 64, kRowsOfWarp = 16, kMostComputingWarps = 16;
constexpr int kThreadsOfWarpgroup = 128, kWarpsOfWarpgroup = 4;
constexpr int kRegistersOfThreads = 65536 / kThreadsOfWarpgroup;  // of one in each warpgroup
constexpr int kMostRegisters = 240, kCopyingRegisters = 24, kRegisterUnit = 8;
constexpr std::int64_t kOtherRegisters = 24;  // addresses, and factors in 16 bits
constexpr std::int64_t kTerms = 16;           // of a sum, that one wgmma adds
constexpr std::int64_t kMostColumnsOfWgmma = 256, kMostBoxRows = 256;
constexpr std::int64_t kPanelColumns = 64, kPanelRowBytes = 128, kPanelAlignment = 1024;
constexpr std::int64_t kBarrierBytes = 8, kElementsOf16Bytes = 8, kFloatsOf16Bytes = 4;
constexpr int kMostStages = 3;
constexpr std::int64_t kReservedBytes = 1024;  // of shared memory, by the hardware, for each block

class WarpgroupSearch {
 public:
  WarpgroupSearch(const toy::BoundProgram& program, FragmentPlan& plan)
      : program_(program), plan_(plan), values_(plan.values) {}

  std::optional<Reason> run() {
    plan_.has_warpgroups = true;
    find_sizes();
    for (std::size_t v = 0; v < plan_.places.size() && !why_not_; ++v) find_ring(v);
    return std::move(why_not_);
  }

 private:
  const toy::BoundInstruction& instruction(std::size_t step) const {
    return program_.instructions[plan_.steps[step].site];
  }
  void give_up(std::size_t step, const std::string& text) {
    if (why_not_) return;
    const toy::SourceSpan span = instruction(step).span;
    why_not_ = Reason{"line " + std::to_string(span.line) + " " + text, span};
  }
  std::size_t first_written(std::size_t v) const {
    return values_.definitions[values_.values[v].definitions.front()].step;
  }

  // Sizes ----------------------------------------------------------------------------------------

  /// A warp has 16 rows of every fragment, so that four warps have the 64 rows of a wgmma.
  void find_sizes() {
    std::int64_t held = 0;
    bool multiplies = false;
    for (std::size_t v = 0; v < plan_.places.size() && !why_not_; ++v) {
      const Value& value = values_.values[v];
      const ValuePlace& place = plan_.places[v];
      if (place.where != Where::kFragment && place.where != Where::kRowValues) continue;
      const std::int64_t rows = place.is_turned ? value.cols.size() : value.rows.size();
      if (held != 0 && rows != held) {
        give_up(first_written(v), "holds " + std::to_string(rows) + " rows, and others " +
                                      std::to_string(held) + ": warpgroups hold one number");
      }
      held = rows;
    }
    for (std::size_t at = 0; at < plan_.steps.size(); ++at) {
      multiplies = multiplies || is_product(at);
    }
    if (!multiplies && !why_not_) why_not_ = Reason{"it multiplies no tiles", {}};
    if (why_not_) return;
    const std::int64_t warps = held / kRowsOfWarp;
    if (held == 0 || held % kRowsOfWarpgroup != 0 || warps > kMostComputingWarps) {
      why_not_ = Reason{"its tiles hold " + std::to_string(held) +
                            " rows: a warpgroup multiplies 64, and a block has one to four",
                        {}};
      return;
    }
    plan_.warps = static_cast<int>(warps);
    for (std::size_t v = 0; v < plan_.places.size(); ++v) {
      const Value& value = values_.values[v];
      ValuePlace& place = plan_.places[v];
      place.rows = rounded_up(value.rows.size(), kTerms);
      place.cols =
          value.shape == Shape::kMatrix ? rounded_up(value.cols.size(), kTerms) : std::int64_t{1};
      if (place.is_turned) std::swap(place.rows, place.cols);
      if (place.where == Where::kFragment && place.cols > kMostColumnsOfWgmma) {
        give_up(first_written(v), "has " + std::to_string(place.cols) +
                                      " columns beside each row: wgmma computes at most 256");
      }
    }
    require_registers();
  }
  bool is_product(std::size_t at) const {
    const Step& step = plan_.steps[at];
    return step.kind == Step::Kind::kInstruction && step.is_product();
  }
  void require_registers() {
    const std::int64_t most = register_shares(plan_).computing;
    const std::int64_t numbers = most_numbers(plan_, plan_.warps);
    if (why_not_ || numbers + kOtherRegisters <= most) return;
    why_not_ = Reason{"its tiles take " + std::to_string(numbers) +
                          " registers of each thread, which has " + std::to_string(most) +
                          " and needs some for other numbers",
                      {}};
  }

  // Rings ----------------------------------------------------------------------------------------

  void find_ring(std::size_t v) {
    ValuePlace& place = plan_.places[v];
    place.prefetched_in.reset();
    if (place.where != Where::kSharedTile && place.where != Where::kSharedColumn) return;
    std::optional<std::size_t> load;
    for (const std::size_t d : values_.values[v].definitions) {
      const std::size_t step = values_.definitions[d].step;
      if (plan_.steps[step].action != Action::kLoad) continue;
      if (load) give_up(step, "is another load of the same tile");
      load = step;
    }
    LoadRing ring;
    ring.load = *load;
    check_box(v, *load);
    check_stores(*load);
    const std::vector<std::size_t>& loops = plan_.steps[*load].loops;
    for (const std::size_t read : values_.values[v].reads) {
      const bool is_inside =
          loops.empty() || (read > loops.back() && read < plan_.steps[loops.back()].partner);
      if (read < *load || !is_inside) give_up(read, "reads a tile of an earlier iteration");
    }
    if (!loops.empty()) ring.last_read = last_read(v, *load);
    place.ring = ring;
  }
  /// The last step that reads the value; a whole loop, if that is inside a further loop.
  std::size_t last_read(std::size_t v, std::size_t load) const {
    const std::size_t depth = plan_.steps[load].loops.size();
    std::size_t last = load;
    for (const std::size_t read : values_.values[v].reads) last = std::max(last, read);
    const std::vector<std::size_t>& loops = plan_.steps[last].loops;
    return loops.size() == depth ? last : plan_.steps[loops[depth]].partner;
  }
  const toy::BoundOperand& cell(std::size_t step) const {
    const auto& operands = instruction(step).operands;
    return *std::find_if(operands.begin(), operands.end(), [](const toy::BoundOperand& operand) {
      return toy::is_memory(operand.kind);
    });
  }

  /// A box has 64 columns and the rows of a tile; beyond the array's edges it brings zeros. So a box
  /// must not reach into the next tile.
  void check_box(std::size_t v, std::size_t load) {
    const toy::BoundArray& array = program_.arrays[cell(load).array];
    const std::size_t rank = array.extents.size();
    const std::int64_t extent_rows = array.extents[rank - 2], extent_cols = array.extents[rank - 1];
    const std::int64_t rows = array.tile[rank - 2], cols = array.tile[rank - 1];
    const bool is_column = plan_.places[v].where == Where::kSharedColumn;
    if (is_column && extent_rows % kFloatsOf16Bytes != 0) {
      give_up(load, "loads from columns of " + std::to_string(4 * extent_rows) +
                        " bytes: TMA takes multiples of 16");
    }
    if (!is_column && extent_cols % kElementsOf16Bytes != 0) {
      give_up(load, "loads from rows of " + std::to_string(2 * extent_cols) +
                        " bytes: TMA takes multiples of 16");
    }
    if (!is_column && cols % kPanelColumns != 0 && cols < extent_cols) {
      give_up(load, "loads tiles of " + std::to_string(cols) +
                        " columns: TMA brings multiples of 64, or all columns");
    }
    if (rows % kTerms != 0 && rows < extent_rows) {
      give_up(load, "loads tiles of " + std::to_string(rows) +
                        " rows: wgmma multiplies multiples of 16, or all rows");
    }
    if (plan_.places[v].rows > kMostBoxRows) {
      give_up(load, "loads tiles of " + std::to_string(rows) + " rows: TMA brings at most 256");
    }
  }
  /// TMA does not see what the block's threads have stored.
  void check_stores(std::size_t load) {
    for (std::size_t at = 0; at < plan_.steps.size(); ++at) {
      if (plan_.steps[at].kind != Step::Kind::kInstruction) continue;
      for (const toy::BoundOperand& operand : instruction(at).operands) {
        if (toy::is_memory(operand.kind) && toy::is_memory_write(operand.kind) &&
            operand.array == cell(load).array) {
          give_up(at, "stores to the array that line " +
                          std::to_string(instruction(load).span.line) + " loads");
        }
      }
    }
  }

  const toy::BoundProgram& program_;
  FragmentPlan& plan_;
  const Values& values_;
  std::optional<Reason> why_not_;
};

std::int64_t panel_bytes(const ValuePlace& place) {
  if (place.where == Where::kRowValues || place.where == Where::kSharedColumn)
    return rounded_up(4 * place.rows, kPanelAlignment);
  return rounded_up(place.rows, kElementsOf16Bytes) * kPanelRowBytes *
         (rounded_up(place.cols, kPanelColumns) / kPanelColumns);
}

/// Places nothing twice: the thread that copies is ahead of those that compute.
void place_panels(FragmentPlan& plan, int stages) {
  plan.shared_bytes = 0;
  for (ValuePlace& place : plan.places) {
    if (place.ring) place.shared.emplace();
    if (!place.shared) continue;
    place.shared->stages = place.ring && place.ring->last_read ? stages : 1;
    place.shared->bytes = panel_bytes(place);
    place.shared->offset = plan.shared_bytes;
    plan.shared_bytes += place.shared->bytes * place.shared->stages;
  }
  for (ValuePlace& place : plan.places) {
    if (!place.ring) continue;
    place.ring->barriers = plan.shared_bytes;
    plan.shared_bytes += 2 * kBarrierBytes * place.shared->stages;
  }
}

}  // namespace

int threads_of_warpgroups(const FragmentPlan& plan) {
  return kThreadsOfWarpgroup * (plan.warps / kWarpsOfWarpgroup + 1);
}

int blocks_at_once(const FragmentPlan& plan) { return plan.warps == kWarpsOfWarpgroup ? 2 : 1; }

RegisterShares register_shares(const FragmentPlan& plan) {
  const int computing = plan.warps / kWarpsOfWarpgroup;
  const auto whole_units = [](int registers) { return registers / kRegisterUnit * kRegisterUnit; };
  const int at_launch = whole_units(kRegistersOfThreads / (blocks_at_once(plan) * (computing + 1)));
  const int rest = at_launch * (computing + 1) - kCopyingRegisters;
  return {at_launch, kCopyingRegisters, std::min(kMostRegisters, whole_units(rest / computing))};
}

std::optional<FragmentPlan> warpgroup_plan(const toy::BoundProgram& program, FragmentPlan plan,
                                           std::int64_t shared_bytes, Reason& why_not) {
  if (auto reason = WarpgroupSearch(program, plan).run()) {
    why_not = std::move(*reason);
    return std::nullopt;
  }
  // Two stages for each of the blocks that should run at the same time are better than three of one.
  const std::int64_t of_each = shared_bytes / blocks_at_once(plan) - kReservedBytes;
  for (const auto& [limit, fewest] : {std::pair(of_each, 2), std::pair(shared_bytes, 1)}) {
    for (int stages = kMostStages; stages >= fewest; --stages) {
      place_panels(plan, stages);
      if (plan.shared_bytes <= limit) return plan;
    }
  }
  why_not = {"its tiles take " + std::to_string(plan.shared_bytes) +
                 " bytes of shared memory in panels of 64 columns",
             {}};
  return std::nullopt;
}

std::vector<BoxedArray> boxed_arrays(const toy::BoundProgram& program, const FragmentPlan& plan) {
  std::vector<BoxedArray> result;
  std::set<std::size_t> found;
  for (const ValuePlace& place : plan.places) {
    if (!place.ring) continue;
    const toy::BoundInstruction& load = program.instructions[plan.steps[place.ring->load].site];
    for (const toy::BoundOperand& operand : load.operands) {
      if (!toy::is_memory(operand.kind) || !found.insert(operand.array).second) continue;
      result.push_back({operand.array, place.rows, place.where == Where::kSharedColumn});
    }
  }
  return result;
}

}  // namespace flashlab::generate
