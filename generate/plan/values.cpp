#include "generate/plan/values.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "generate/plan/reaching.hpp"

namespace flashlab::generate {
namespace {

/// What is known of a definition's result.
struct ResultShape {
  std::array<bool, 3> may_be{};  // by Shape
  std::optional<TileLength> rows, cols;
  bool is_known() const { return may_be[0] || may_be[1] || may_be[2]; }
  Shape largest() const {
    return may_be[2] ? Shape::kMatrix : may_be[1] ? Shape::kColumn : Shape::kNumber;
  }
  bool is_mixed() const { return may_be[0] + may_be[1] + may_be[2] > 1; }
  bool operator==(const ResultShape&) const = default;
};

class ValueSearch {
 public:
  ValueSearch(const toy::BoundProgram& program, const std::vector<Step>& steps)
      : program_(program), steps_(steps) {
    Reaching reaching = reaching_definitions(program, steps);
    reads_ = std::move(reaching.reads);
    written_ = std::move(reaching.written);
    result_.definitions = std::move(reaching.definitions);
  }

  std::optional<Values> run(Reason& why_not) {
    parents_.resize(result_.definitions.size());
    std::iota(parents_.begin(), parents_.end(), std::size_t{0});
    for (const auto& by_operand : reads_) {
      for (const DefinitionSet& set : by_operand) unite_all(set);
    }
    find_shapes();
    if (!why_not_) unite_in_place();
    if (!why_not_) make_values();
    if (!why_not_) check_lengths_stay();
    if (why_not_) {
      why_not = std::move(*why_not_);
      return std::nullopt;
    }
    find_only_for_next();
    return std::move(result_);
  }

 private:
  const toy::BoundInstruction& instruction(std::size_t step) const {
    return program_.instructions[steps_[step].site];
  }
  std::string line(std::size_t step) const {
    return "line " + std::to_string(instruction(step).span.line);
  }
  void give_up(std::size_t step, const std::string& text) {
    if (!why_not_) why_not_ = Reason{line(step) + " " + text, instruction(step).span};
  }

  std::size_t root(std::size_t definition) {
    while (parents_[definition] != definition) {
      definition = parents_[definition] = parents_[parents_[definition]];
    }
    return definition;
  }
  void unite(std::size_t a, std::size_t b) { parents_[root(a)] = root(b); }
  void unite_all(const DefinitionSet& set) {
    for (const std::size_t other : set) unite(*set.begin(), other);
  }

  // Shapes ---------------------------------------------------------------------------------------

  void find_shapes() {
    shapes_.resize(result_.definitions.size());
    for (bool changes = true; changes && !why_not_;) {
      changes = false;
      for (std::size_t d = 0; d < shapes_.size() && !why_not_; ++d) {
        ResultShape shape = result_shape(result_.definitions[d].step);
        if (!shape.rows) shape.rows = shapes_[d].rows;
        if (!shape.cols) shape.cols = shapes_[d].cols;
        changes = changes || shape != shapes_[d];
        shapes_[d] = std::move(shape);
      }
    }
  }

  /// The union of what reaches an operand.
  ResultShape operand_shape(std::size_t step, std::size_t operand) {
    ResultShape all;
    for (const std::size_t d : reads_[step][operand]) merge(all, shapes_[d], step);
    return all;
  }
  void merge(ResultShape& all, const ResultShape& more, std::size_t step) {
    for (std::size_t i = 0; i < 3; ++i) all.may_be[i] = all.may_be[i] || more.may_be[i];
    const auto take = [&](std::optional<TileLength>& length,
                          const std::optional<TileLength>& other) {
      if (length && other && !(*length == *other)) {
        give_up(step, "reads or combines tiles whose sizes differ, or may differ");
      }
      if (!length) length = other;
    };
    take(all.rows, more.rows);
    take(all.cols, more.cols);
  }

  ResultShape result_shape(std::size_t at) {
    const Step& step = steps_[at];
    ResultShape result;
    if (step.action == Action::kLoad) return loaded_shape(at);
    if (step.is_product()) return product_shape(at);
    if (step.action == Action::kFill) {
      result.may_be[0] = true;
      return result;
    }
    if (step.reduces()) {
      const ResultShape a = operand_shape(at, 0);
      if (a.is_mixed() || (a.is_known() && a.largest() != Shape::kMatrix)) {
        give_up(at, "reduces rows of what may be no whole tile");
      }
      result.may_be[1] = a.is_known();
      result.rows = a.rows;
      return result;
    }
    std::vector<ResultShape> parts;
    for (std::size_t i = 0; i < step.registers.size(); ++i) {
      if (!toy::is_register_read(instruction(at).operands[i].kind)) continue;
      if (instruction(at).operands[i].transposed) {
        give_up(at, "transposes a tile that is no factor of a product");
      }
      parts.push_back(operand_shape(at, i));
    }
    for (const ResultShape& part : parts) {
      if (!part.is_known()) return result;
    }
    result = parts.front();
    for (std::size_t i = 1; i < parts.size(); ++i) {
      ResultShape both;
      for (std::size_t a = 0; a < 3; ++a) {
        for (std::size_t b = 0; b < 3; ++b) {
          const bool is_possible = result.may_be[a] && parts[i].may_be[b];
          both.may_be[std::max(a, b)] = both.may_be[std::max(a, b)] || is_possible;
        }
      }
      merge(result, parts[i], at);
      result.may_be = both.may_be;
    }
    if (step.masks() && (result.is_mixed() || result.largest() != Shape::kMatrix)) {
      give_up(at, "masks what may be no whole tile");
    }
    return result;
  }

  ResultShape loaded_shape(std::size_t at) {
    ResultShape result;
    const Step& step = steps_[at];
    for (std::size_t i = 0; i < step.axes.size(); ++i) {
      if (step.axes[i].empty()) continue;
      const toy::BoundArray& array = program_.arrays[instruction(at).operands[i].array];
      if (array.extents.size() < 2) {
        give_up(at, "loads from an array with one axis");
        return result;
      }
      result.rows = tile_length(array, step.axes[i], 1);
      if (array.extents.back() == 1) {
        result.may_be[1] = true;
      } else {
        result.may_be[2] = true;
        result.cols = tile_length(array, step.axes[i], 0);
      }
    }
    return result;
  }

  ResultShape product_shape(std::size_t at) {
    std::array<ResultShape, 2> factors;
    for (std::size_t i = 0; i < 2; ++i) {
      factors[i] = operand_shape(at, i);
      if (!factors[i].is_known()) return {};
      if (factors[i].is_mixed() || factors[i].largest() != Shape::kMatrix || !factors[i].rows ||
          !factors[i].cols) {
        give_up(at, "multiplies what may be no whole tile");
        return {};
      }
      if (instruction(at).operands[i].transposed) std::swap(factors[i].rows, factors[i].cols);
    }
    if (!(*factors[0].cols == *factors[1].rows)) {
      give_up(at, "multiplies tiles that do not provably fit together");
    }
    ResultShape result;
    result.may_be[2] = true;
    result.rows = factors[0].rows;
    result.cols = factors[1].cols;
    if (steps_[at].action == Action::kProductAndSum) {
      ResultShape sum = operand_shape(at, 2);
      sum.may_be = {};
      merge(result, sum, at);
    }
    return result;
  }

  // Values ---------------------------------------------------------------------------------------

  ResultShape shape_of(std::size_t definition) {
    ResultShape all;
    for (std::size_t d = 0; d < shapes_.size(); ++d) {
      if (root(d) == root(definition)) merge(all, shapes_[d], result_.definitions[d].step);
    }
    return all;
  }
  bool is_loaded(std::size_t definition) {
    for (std::size_t d = 0; d < shapes_.size(); ++d) {
      const Action action = steps_[result_.definitions[d].step].action;
      if (root(d) == root(definition) && action != Action::kLoad) return false;
    }
    return true;
  }

  /// A result that overwrites an operand of the same shape is the same value, except for a loaded
  /// tile, which stays where it was loaded.
  void unite_in_place() {
    for (std::size_t at = 0; at < steps_.size(); ++at) {
      const std::size_t written = written_[at];
      if (written == SIZE_MAX) continue;
      const bool adds_product = steps_[at].action == Action::kProductAndSum;
      if (!steps_[at].is_elementwise() && !adds_product) continue;
      for (std::size_t i = 0; i < reads_[at].size(); ++i) {
        const bool is_factor = adds_product && i < 2;
        if (is_factor || reads_[at][i].empty() ||
            steps_[at].registers[i] != result_.definitions[written].number) {
          continue;
        }
        const std::size_t read = *reads_[at][i].begin();
        if (root(read) == root(written)) continue;
        if (shape_of(read).largest() != shape_of(written).largest()) continue;
        if (is_loaded(read) && !only_scales_factor(at, read)) continue;
        unite(read, written);
      }
    }
  }

  /// Whether the step multiplies a loaded tile by a number, and both are only factors of products
  /// otherwise.
  bool only_scales_factor(std::size_t at, std::size_t read) {
    if (!steps_[at].does(toy::Operation::kTimes)) return false;
    std::size_t numbers = 0;
    for (std::size_t i = 0; i < 2; ++i) {
      const ResultShape shape = operand_shape(at, i);
      if (shape.largest() == Shape::kNumber) ++numbers;
    }
    if (numbers != 1 || shape_of(read).largest() != Shape::kMatrix) return false;
    const std::size_t written = written_[at];
    for (std::size_t step = 0; step < steps_.size(); ++step) {
      for (std::size_t i = 0; i < reads_[step].size(); ++i) {
        const bool reads_it = std::any_of(
            reads_[step][i].begin(), reads_[step][i].end(),
            [&](std::size_t d) { return root(d) == root(read) || root(d) == root(written); });
        const bool is_factor = i < 2 && steps_[step].is_product();
        if (reads_it && step != at && !is_factor) return false;
      }
    }
    return true;
  }

  void make_values() {
    std::map<std::size_t, std::size_t> by_root;
    for (std::size_t d = 0; d < shapes_.size(); ++d) {
      const auto [at, is_new] = by_root.emplace(root(d), result_.values.size());
      if (is_new) {
        const ResultShape shape = shape_of(d);
        Value value;
        value.number = result_.definitions[d].number;
        value.shape = shape.largest();
        value.is_mixed = shape.is_mixed();
        if (value.shape != Shape::kNumber && !shape.rows) {
          give_up(result_.definitions[d].step, "writes a tile whose size is not known here");
          return;
        }
        if (value.shape == Shape::kMatrix && !shape.cols) {
          give_up(result_.definitions[d].step, "writes a tile whose size is not known here");
          return;
        }
        if (shape.rows) value.rows = *shape.rows;
        if (value.shape == Shape::kMatrix) value.cols = *shape.cols;
        result_.values.push_back(std::move(value));
      }
      result_.definitions[d].value = at->second;
      result_.values[at->second].definitions.push_back(d);
    }
    result_.operands.resize(steps_.size());
    for (std::size_t at = 0; at < steps_.size(); ++at) {
      result_.operands[at].assign(reads_[at].size(), -1);
      for (std::size_t i = 0; i < reads_[at].size(); ++i) {
        if (reads_[at][i].empty()) continue;
        const std::size_t value = result_.definitions[*reads_[at][i].begin()].value;
        result_.operands[at][i] = static_cast<std::int64_t>(value);
        std::vector<std::size_t>& reads = result_.values[value].reads;
        if (reads.empty() || reads.back() != at) reads.push_back(at);
      }
      if (written_[at] == SIZE_MAX) continue;
      result_.operands[at][written_operand(instruction(at))] =
          static_cast<std::int64_t>(result_.definitions[written_[at]].value);
    }
  }

  /// A length that depends on a loop must be read in the same iteration, so that it can be computed
  /// again.
  void check_lengths_stay() {
    for (std::size_t at = 0; at < steps_.size(); ++at) {
      for (const DefinitionSet& set : reads_[at]) {
        for (const std::size_t d : set) {
          const Value& value = result_.values[result_.definitions[d].value];
          for (const TileLength* const length : {&value.rows, &value.cols}) {
            for (const auto& [loop, coefficient] : length->index.terms) {
              if (!is_in_same_iteration(loop, result_.definitions[d].step, at)) {
                give_up(at, "reads a tile of another iteration, whose size may differ");
              }
            }
          }
        }
      }
    }
  }
  bool is_in_same_iteration(std::uint32_t loop, std::size_t writes, std::size_t reads) const {
    for (const std::size_t begin : steps_[reads].loops) {
      if (steps_[begin].loop == loop) {
        return writes > begin && writes < reads;
      }
    }
    // The grid's loop: all steps are in one iteration of it.
    return std::none_of(steps_.begin(), steps_.end(), [&](const Step& step) {
      return step.kind == Step::Kind::kLoopBegin && step.loop == loop;
    });
  }

  void find_only_for_next() {
    result_.only_for_next.assign(steps_.size(), false);
    for (std::size_t at = 0; at + 1 < steps_.size(); ++at) {
      if (written_[at] == SIZE_MAX) continue;
      bool only_next = false, elsewhere = false;
      for (std::size_t step = 0; step < steps_.size(); ++step) {
        for (const DefinitionSet& set : reads_[step]) {
          if (!set.contains(written_[at])) continue;
          (step == at + 1 && set.size() == 1 ? only_next : elsewhere) = true;
        }
      }
      result_.only_for_next[at] = only_next && !elsewhere;
    }
  }

  const toy::BoundProgram& program_;
  const std::vector<Step>& steps_;
  std::vector<std::vector<DefinitionSet>> reads_;  // by step and operand
  std::vector<std::size_t> written_;               // by step: its definition
  std::vector<std::size_t> parents_;               // by definition
  std::vector<ResultShape> shapes_;                // by definition
  Values result_;
  std::optional<Reason> why_not_;
};

}  // namespace

std::optional<Values> values_of(const toy::BoundProgram& program, const std::vector<Step>& steps,
                                Reason& why_not) {
  return ValueSearch(program, steps).run(why_not);
}

TileLength tile_length(const toy::BoundArray& array, const std::vector<toy::Affine>& axes,
                       std::size_t axis_from_last) {
  const std::size_t axis = axes.size() - 1 - axis_from_last;
  const std::int64_t extent = array.extents[axis];
  if (array.tile[axis] >= extent) return {extent, extent, {}};
  if (extent % array.tile[axis] == 0) return {array.tile[axis], array.tile[axis], {}};
  return {extent, array.tile[axis], axes[axis]};
}

}  // namespace flashlab::generate
