#include "generate/plan/fragment_plan.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <set>
#include <string>
#include <utility>

#include "generate/plan/shared_places.hpp"

namespace flashlab::generate {
namespace {

constexpr std::int64_t kBlock = 16;  // rows of a product on tensor cores
constexpr std::int64_t kMostWarps = 8, kThreadsOfWarp = 32;
constexpr std::int64_t kUsualWarps = 4;     // a multiprocessor has four parts
constexpr std::int64_t kMostSpilled = 480;  // more than this many would be slower than level 0
constexpr std::size_t kMostTried = 8;       // groups of fragments: 2^8 ways to hold them
constexpr double kLoopWeight = 64;          // iterations that a loop is taken for

class PlaceSearch {
 public:
  PlaceSearch(const toy::BoundProgram& program, FragmentPlan& plan)
      : program_(program), plan_(plan), values_(plan.values) {}

  std::optional<Reason> run() {
    plan_.places.resize(values_.values.size());
    for (std::size_t v = 0; v < values_.values.size(); ++v) find_where(v);
    if (!why_not_) check_steps();
    if (!why_not_) find_turned();
    if (!why_not_) find_sizes();
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
  std::size_t value_at(std::size_t step, std::size_t operand) const {
    return static_cast<std::size_t>(values_.operands[step][operand]);
  }
  Where where(std::size_t step, std::size_t operand) const {
    return plan_.places[value_at(step, operand)].where;
  }
  bool reads_register(std::size_t step, std::size_t operand) const {
    return values_.operands[step][operand] >= 0 &&
           toy::is_register_read(instruction(step).operands[operand].kind);
  }

  // Where ----------------------------------------------------------------------------------------

  void find_where(std::size_t v) {
    const Value& value = values_.values[v];
    std::size_t loads = 0, narrow = 0, scalings = 0;
    for (const std::size_t d : value.definitions) {
      const std::size_t step = values_.definitions[d].step;
      scalings += plan_.steps[step].does(toy::Operation::kTimes) ? 1 : 0;
      if (plan_.steps[step].action != Action::kLoad) continue;
      ++loads;
      const toy::ElementType type = program_.arrays[loaded_array(step)].element_type;
      narrow += toy::is_narrow(type) ? 1 : 0;
      if (toy::is_narrow(type) && type != plan_.factors) {
        give_up(step, "loads another type than that of the factors");
      }
    }
    const std::size_t all = value.definitions.size();
    ValuePlace& place = plan_.places[v];
    const std::size_t first = values_.definitions[value.definitions.front()].step;
    switch (value.shape) {
      case Shape::kNumber:
        place.where = Where::kNumber;
        return;
      case Shape::kColumn:
        if (narrow > 0 || (loads > 0 && loads < all)) {
          give_up(first, "mixes a column that is loaded with one that is computed");
        }
        place.where = loads == all ? Where::kSharedColumn : Where::kRowValues;
        return;
      case Shape::kMatrix:
        if (narrow > 0 && narrow + scalings != all) {
          give_up(first, "mixes a tile that is loaded with one that is computed");
        }
        place.where = narrow > 0 ? Where::kSharedTile : Where::kFragment;
        return;
    }
  }
  std::size_t loaded_array(std::size_t step) const {
    for (const toy::BoundOperand& operand : instruction(step).operands) {
      if (toy::is_memory(operand.kind)) return operand.array;
    }
    return 0;
  }

  /// Refuses what the device code has no function for.
  void check_steps() {
    for (std::size_t at = 0; at < plan_.steps.size() && !why_not_; ++at) {
      const Step& step = plan_.steps[at];
      if (step.kind != Step::Kind::kInstruction) continue;
      const std::size_t written = written_operand(instruction(at));
      const bool writes_cell = toy::is_memory(instruction(at).operands[written].kind);
      if (step.reduces()) {
        if (where(at, 0) != Where::kFragment) give_up(at, "reduces a tile that was only loaded");
        if (where(at, written) != Where::kRowValues)
          give_up(at, "keeps a reduction beside rows of another tile");
      }
      if (writes_cell) check_write(at, step);
      const bool is_computed = step.is_elementwise() || step.is_product();
      if (!is_computed || writes_cell) continue;
      const Where target = where(at, written);
      if (target == Where::kSharedColumn) give_up(at, "computes a column that is loaded elsewhere");
      if (target == Where::kNumber || target == Where::kRowValues) {
        for (std::size_t i = 0; i < step.registers.size(); ++i) {
          if (reads_register(at, i) &&
              values_.values[value_at(at, i)].shape > values_.values[value_at(at, written)].shape) {
            give_up(at, "makes a smaller tile of a larger one");
          }
        }
      }
    }
  }
  void check_write(std::size_t at, const Step& step) {
    std::size_t source = 0;
    while (!reads_register(at, source)) ++source;
    const Value& value = values_.values[value_at(at, source)];
    const toy::BoundOperand& cell = instruction(at).operands[written_operand(instruction(at))];
    const toy::BoundArray& array = program_.arrays[cell.array];
    if (array.extents.size() < 2) give_up(at, "stores to an array with one axis");
    const bool is_column = array.extents.back() == 1;
    if (value.shape == Shape::kColumn && !is_column) {
      give_up(at, "stores a column to a tile with more columns");
    }
    if (value.shape == Shape::kMatrix && is_column) give_up(at, "stores a tile to a column");
    const Where from = where(at, source);
    if (step.action == Action::kUpdate && from != Where::kFragment && from != Where::kNumber) {
      give_up(at, "adds a tile to DRAM that is no fragment");
    }
    if (value.shape == Shape::kMatrix &&
        !(value.rows.size() >=
          tile_length(array, step.axes[written_operand(instruction(at))], 1).size())) {
      give_up(at, "stores a tile that may be smaller than its cell");
    }
  }

  // How fragments are held -----------------------------------------------------------------------

  /// Fragments that are combined element by element are held alike.
  void find_groups() {
    group_.resize(values_.values.size());
    std::iota(group_.begin(), group_.end(), std::size_t{0});
    const auto root = [&](std::size_t v) {
      while (group_[v] != v) v = group_[v];
      return v;
    };
    for (std::size_t at = 0; at < plan_.steps.size(); ++at) {
      const Step& step = plan_.steps[at];
      if (step.kind != Step::Kind::kInstruction) continue;
      std::optional<std::size_t> first;
      for (std::size_t i = step.is_product() ? 2 : 0; i < step.registers.size(); ++i) {
        if (values_.operands[at][i] < 0 || where(at, i) != Where::kFragment) continue;
        const std::size_t v = root(value_at(at, i));
        if (first) group_[v] = root(*first);
        first = first ? first : v;
      }
    }
    for (std::size_t v = 0; v < group_.size(); ++v) group_[v] = root(v);
    for (std::size_t v = 0; v < group_.size(); ++v) {
      if (plan_.places[v].where == Where::kFragment && group_[v] == v) groups_.push_back(v);
    }
  }

  void find_turned() {
    find_groups();
    double best = -1;
    unsigned best_choice = 0;
    const std::size_t tried = std::min(groups_.size(), kMostTried);
    for (unsigned choice = 0; choice < 1U << tried; ++choice) {
      turn(choice);
      const double cost = cost_of_copies();
      // Of equal ones the one that turns the fewest.
      if (best < 0 || cost < best ||
          (cost == best && std::popcount(choice) < std::popcount(best_choice))) {
        best = cost;
        best_choice = choice;
      }
    }
    turn(best_choice);
    note_copies();
    for (std::size_t at = 0; at < plan_.steps.size(); ++at) {
      if (plan_.steps[at].kind != Step::Kind::kInstruction) continue;
      if (plan_.steps[at].reduces() && plan_.places[value_at(at, 0)].is_turned) {
        give_up(at, "reduces rows of a tile that is held transposed");
      }
    }
  }
  void turn(unsigned choice) {
    for (std::size_t v = 0; v < plan_.places.size(); ++v) {
      const auto at = std::find(groups_.begin(), groups_.end(), group_[v]);
      const auto number = static_cast<std::size_t>(at - groups_.begin());
      plan_.places[v].is_turned = plan_.places[v].where == Where::kFragment &&
                                  number < kMostTried && (choice >> number & 1U) != 0;
    }
  }

  /// Calls `call` with each value of which a step needs a copy in shared memory.
  template <class Call>
  void for_each_copy(std::size_t at, const Call& call) const {
    const Step& step = plan_.steps[at];
    if (step.kind != Step::Kind::kInstruction) return;
    const std::size_t written = written_operand(instruction(at));
    if (values_.operands[at][written] < 0) return;
    const bool is_turned = plan_.places[value_at(at, written)].is_turned;
    if (step.is_product()) {
      for (std::size_t i = 0; i < 2; ++i) {
        if (where(at, i) != Where::kFragment) continue;
        if (!is_left_in_registers(at, i, is_turned)) call(value_at(at, i));
      }
    } else if (is_turned) {
      for (std::size_t i = 0; i < step.registers.size(); ++i) {
        if (reads_register(at, i) && where(at, i) == Where::kRowValues) call(value_at(at, i));
      }
    }
  }
  /// The left factor of the product as it is held; if it is a fragment held alike, its rows are with
  /// the warps that need them.
  bool is_left_in_registers(std::size_t at, std::size_t factor, bool target_is_turned) const {
    if (factor != (target_is_turned ? 1U : 0U)) return false;
    const bool is_needed_turned = instruction(at).operands[factor].transposed != target_is_turned;
    return plan_.places[value_at(at, factor)].is_turned == is_needed_turned;
  }

  double cost_of_copies() const {
    double cost = 0;
    for (std::size_t at = 0; at < plan_.steps.size(); ++at) {
      const Step& step = plan_.steps[at];
      if (step.kind != Step::Kind::kInstruction) continue;
      double times = 1;
      for (std::size_t i = 0; i < step.loops.size(); ++i) times *= kLoopWeight;
      if (step.reduces() && plan_.places[value_at(at, 0)].is_turned) cost += 1e15;
      for_each_copy(at, [&](std::size_t v) {
        const Value& value = values_.values[v];
        cost += times * static_cast<double>(value.rows.size() * value.cols.size());
      });
      // Stores of what is held transposed are slow.
      const std::size_t written = written_operand(instruction(at));
      if (values_.operands[at][written] >= 0) continue;
      for (std::size_t i = 0; i < step.registers.size(); ++i) {
        if (!reads_register(at, i) || !plan_.places[value_at(at, i)].is_turned) continue;
        const Value& value = values_.values[value_at(at, i)];
        cost += times * static_cast<double>(value.rows.size() * value.cols.size()) / 2;
      }
    }
    return cost;
  }
  void note_copies() {
    for (std::size_t at = 0; at < plan_.steps.size(); ++at) {
      for_each_copy(at, [&](std::size_t v) { plan_.places[v].shared.emplace(); });
    }
  }

  // Sizes ----------------------------------------------------------------------------------------

  void find_sizes() {
    std::set<std::int64_t> held_rows;
    for (std::size_t v = 0; v < plan_.places.size(); ++v) {
      const Value& value = values_.values[v];
      const ValuePlace& place = plan_.places[v];
      if (place.where == Where::kFragment) {
        held_rows.insert(place.is_turned ? value.cols.size() : value.rows.size());
      } else if (place.where == Where::kRowValues) {
        held_rows.insert(value.rows.size());
      }
    }
    std::int64_t fewest = kMostWarps;
    for (const std::int64_t rows : held_rows) {
      fewest = std::min(fewest, rounded_up(rows, kBlock) / kBlock);
    }
    std::int64_t warps = 1, numbers = 0;
    for (std::int64_t tried = 1; tried <= fewest; tried *= 2) {
      warps = tried;
      set_sizes(held_rows, warps);
      numbers = most_numbers(plan_, warps);
      if (warps >= kUsualWarps && numbers <= kMostNumbers) break;
    }
    plan_.warps = static_cast<int>(warps);
    plan_.numbers = numbers;
    if (numbers > kMostSpilled) {
      why_not_ = Reason{"its tiles take " + std::to_string(numbers) +
                            " registers of each thread, which has 255: " + fragments_text(),
                        {}};
    }
  }
  /// "O[0] 256 x 256 = 512, S 256 x 64 = 128", in registers of a thread.
  std::string fragments_text() const {
    std::string text;
    for (std::size_t v = 0; v < plan_.places.size(); ++v) {
      const ValuePlace& place = plan_.places[v];
      if (place.where != Where::kFragment) continue;
      const Value& value = values_.values[v];
      text += (text.empty() ? "" : ", ") + program_.register_name(value.number) + " " +
              std::to_string(value.rows.size()) + " x " + std::to_string(value.cols.size()) +
              " = " + std::to_string(place.rows * place.cols / (kThreadsOfWarp * plan_.warps));
    }
    return text;
  }
  void set_sizes(const std::set<std::int64_t>& held_rows, std::int64_t warps) {
    const auto padded = [&](std::int64_t size) {
      return rounded_up(size, held_rows.contains(size) ? kBlock * warps : kBlock);
    };
    for (std::size_t v = 0; v < plan_.places.size(); ++v) {
      const Value& value = values_.values[v];
      ValuePlace& place = plan_.places[v];
      place.rows = padded(value.rows.size());
      place.cols = value.shape == Shape::kMatrix ? padded(value.cols.size()) : 1;
      if (place.is_turned) std::swap(place.rows, place.cols);
    }
  }

  const toy::BoundProgram& program_;
  FragmentPlan& plan_;
  const Values& values_;
  std::vector<std::size_t> group_;   // by value: its group's number, a value
  std::vector<std::size_t> groups_;  // of fragments
  std::optional<Reason> why_not_;
};

/// "Q[0] 128 x 64 = 20480, K 64 x 64 = 10240", in bytes.
std::string shared_tiles_text(const toy::BoundProgram& program, const FragmentPlan& plan) {
  std::string text;
  for (std::size_t v = 0; v < plan.places.size(); ++v) {
    const ValuePlace& place = plan.places[v];
    if (!place.shared) continue;
    const Value& value = plan.values.values[v];
    text += (text.empty() ? "" : ", ") + program.register_name(value.number) + " " +
            std::to_string(value.rows.size()) + " x " + std::to_string(value.cols.size()) + " = " +
            std::to_string(place.shared->bytes * place.shared->stages);
  }
  return text;
}

}  // namespace

std::optional<FragmentPlan> fragment_plan(const toy::BoundProgram& program, const Launch& launch,
                                          toy::ElementType factors, std::int64_t shared_bytes,
                                          Reason& why_not) {
  FragmentPlan plan;
  plan.factors = factors;
  auto steps = steps_of(program, launch, why_not);
  if (!steps) return std::nullopt;
  plan.steps = std::move(*steps);
  auto values = values_of(program, plan.steps, why_not);
  if (!values) return std::nullopt;
  plan.values = std::move(*values);
  if (auto reason = PlaceSearch(program, plan).run()) {
    why_not = std::move(*reason);
    return std::nullopt;
  }
  // Two stages, if they fit.
  for (const bool prefetches : {true, false}) {
    place_in_shared_memory(program, plan, prefetches);
    if (plan.shared_bytes <= shared_bytes) return plan;
  }
  why_not = {"its tiles take " + std::to_string(plan.shared_bytes) +
                 " bytes of shared memory: " + shared_tiles_text(program, plan),
             {}};
  return std::nullopt;
}

}  // namespace flashlab::generate
