// The statements of a launch whose tiles are in fragments, and the barriers between them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "generate/plan/fragment_plan.hpp"
#include "generate/plan/plan.hpp"
#include "generate/source/fragment_names.hpp"
#include "generate/source/kernel_text.hpp"
#include "generate/source/shared_access.hpp"
#include "toymachine/bind/bound_program.hpp"

namespace flashlab::generate {

/// Writes to `kernel`. All references must outlive it.
class FragmentStatements {
 public:
  FragmentStatements(const toy::BoundProgram& program, const Launch& launch, KernelText& kernel,
                     const FragmentNames& names)
      : program_(program),
        plan_(*launch.fragments),
        kernel_(kernel),
        names_(names),
        access_(plan_, barrier()) {}

  /// Writes the statements of an instruction.
  void statement(std::size_t at);
  /// Begins to copy a loaded value's tile to this place, from the cell of its load with the loops'
  /// values here.
  void copy(std::size_t v, const std::string& to);
  /// At level 2, in the thread that copies: starts the load of one tile.
  void copy_box(std::size_t at);
  SharedAccess& access() { return access_; }
  /// Whether the step subtracts a column or a number, and the next one alone reads the result, in an
  /// exponential.
  bool is_difference_of_next(std::size_t at) const;
  /// Another iteration may have written other copies of fragments.
  void forget_copies() { has_copy_.clear(); }

 private:
  void line(const std::string& text) {
    if (!text.empty()) kernel_.line(text);
  }
  const toy::BoundInstruction& instruction(std::size_t at) const {
    return program_.instructions[plan_.steps[at].site];
  }
  std::size_t value_at(std::size_t at, std::size_t operand) const {
    return static_cast<std::size_t>(plan_.values.operands[at][operand]);
  }
  const ValuePlace& place(std::size_t v) const { return plan_.places[v]; }
  /// Those that compute.
  std::string threads() const { return std::to_string(32 * plan_.warps); }
  /// Where they meet.
  std::string barrier() const {
    return plan_.has_warpgroups ? "meet<" + threads() + ">();" : "__syncthreads();";
  }
  std::size_t cell_operand(std::size_t at) const;
  std::string cell(std::size_t at) const;
  const toy::BoundArray& array(std::size_t at) const;
  /// How many elements along an axis, counted from the last one, surely belong to one tile: 8, 4, 2 or 1.
  static std::int64_t whole_elements(const toy::BoundArray& array, std::size_t axis_from_last);
  /// A block must see what it stored itself, and what a thread stores must not come before what another
  /// one stored there earlier.
  void order_of_dram(std::size_t at);
  std::size_t stored_value(std::size_t at) const;
  /// Whether each element of a tile has the same thread in both stores.
  bool is_written_alike(std::size_t a, std::size_t b) const;
  void copy_from(std::size_t at, std::size_t v, const std::string& to);
  void load(std::size_t at);
  void store(std::size_t at);
  void reduction(std::size_t at);
  /// What is beyond the edge takes part in sums over the held columns.
  void clear_beyond(std::size_t v, const std::string& number);
  std::string length_text(const TileLength& length) const;
  void product(std::size_t at);
  std::string factor(std::size_t at, std::size_t operand, bool target_is_turned, bool is_left);
  void put_copy(std::size_t v);
  /// An operand beside a fragment that is held transposed, or not.
  std::string operand(std::size_t at, std::size_t i, bool is_turned);
  /// The operand's number, if it is a constant.
  std::optional<double> constant(std::size_t at, std::size_t i) const;
  void elementwise(std::size_t at);
  std::string expression(std::size_t at, bool is_turned);
  /// Whether e^(a - b) takes two operations before the power: for a few numbers, and if a program
  /// fills in numbers like -1e30 that stand for -inf. Other large numbers come from products, whose factors
  /// have larger errors.
  bool is_exactly_needed(std::size_t exponential) const;
  void scale(std::size_t at, std::size_t target);

  const toy::BoundProgram& program_;
  const FragmentPlan& plan_;
  KernelText& kernel_;
  const FragmentNames& names_;
  SharedAccess access_;
  std::set<std::size_t> has_copy_;  // values whose copy in shared memory is up to date
};

}  // namespace flashlab::generate
