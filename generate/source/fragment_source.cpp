#include "generate/source/fragment_source.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "generate/plan/warpgroup_plan.hpp"
#include "generate/source/expressions.hpp"
#include "generate/source/fragment_names.hpp"
#include "generate/source/fragment_statements.hpp"
#include "generate/source/kernel_text.hpp"
#include "generate/source/shared_access.hpp"

namespace flashlab::generate {
namespace {

/// Whether the loop has more iterations in later iterations of `outer`.
bool grows_with(const toy::BoundExpression& bound, std::uint32_t outer) {
  if (bound.op == toy::BoundExpression::Op::kAffine) return bound.affine.coefficient(outer) > 0;
  return std::any_of(bound.args.begin(), bound.args.end(),
                     [&](const toy::BoundExpression& arg) { return grows_with(arg, outer); });
}

class FragmentWriter {
 public:
  FragmentWriter(const toy::BoundProgram& program, const Plan& plan, const Launch& launch,
                 const std::string& name)
      : program_(program),
        launch_(launch),
        plan_(*launch.fragments),
        kernel_(program, plan, launch, name),
        names_(program, plan_, kernel_.names()),
        statements_(program, launch, kernel_, names_) {}

  std::string write() {
    kernel_.begin();
    declarations();
    if (plan_.has_warpgroups) copying_thread();
    grid();
    for (std::size_t at = 0; at < plan_.steps.size(); ++at) {
      step(at);
      releases(at);
    }
    return kernel_.end();
  }

 private:
  void line(const std::string& text) {
    if (!text.empty()) kernel_.line(text);
  }
  const toy::BoundInstruction& instruction(std::size_t at) const {
    return program_.instructions[plan_.steps[at].site];
  }
  const std::string& loop_name(std::uint32_t loop) const { return kernel_.names().loop(loop); }
  std::size_t value_at(std::size_t at, std::size_t operand) const {
    return static_cast<std::size_t>(plan_.values.operands[at][operand]);
  }
  const ValuePlace& place(std::size_t v) const { return plan_.places[v]; }
  SharedAccess& access() { return statements_.access(); }

  // The frame ------------------------------------------------------------------------------------

  void declarations() {
    line("// Registers");
    for (std::size_t v = 0; v < plan_.places.size(); ++v) {
      const bool is_loaded =
          place(v).where == Where::kSharedColumn || place(v).where == Where::kSharedTile;
      line(type_text(plan_, place(v)) + " " + names_.value(v) +
           (is_loaded ? " = {" + shared_at_text(plan_, place(v), "") + ring_text(v) + "};" : ";"));
      if (!is_loaded && place(v).shared) {
        line("const " + shared_type_text(plan_, place(v)) + " " + names_.copy(v) + " = {" +
             shared_at_text(plan_, place(v), "") + "};");
      }
    }
  }

  std::string ring_text(std::size_t v) const {
    return place(v).ring ? ", " + std::to_string(place(v).ring->barriers) : "";
  }

  // Level 2 --------------------------------------------------------------------------------------

  /// What one thread of the last warpgroup does: the loops around loads, and nothing else.
  void copying_thread() {
    const std::string warps = std::to_string(plan_.warps);
    for (std::size_t v = 0; v < plan_.places.size(); ++v) {
      if (place(v).ring) line("prepare<" + warps + ">(" + names_.value(v) + ");");
    }
    const RegisterShares shares = register_shares(plan_);
    line("start_roles<" + std::to_string(shares.at_launch) + ">();");
    line("if (warp_of_block() >= " + warps + ") {  // one thread requests all copies");
    kernel_.indent(1);
    line("give_up_registers<" + std::to_string(shares.copying) + ">();");
    line("if (threadIdx.x != " + std::to_string(32 * plan_.warps) + ") return;");
    grid();
    for (std::size_t at = 0; at < plan_.steps.size(); ++at) {
      if (loads_box(at)) copying_step(at);
    }
    line("return;");
    kernel_.indent(-1);
    line("}");
    line("take_registers<" + std::to_string(shares.computing) + ">();");
  }
  /// Whether the step is a load of the thread that copies, or begins or ends what has one inside.
  bool loads_box(std::size_t at) const {
    if (plan_.steps[at].kind == Step::Kind::kInstruction) return is_load_of_ring(at);
    const auto [first, last] = both_ends(at);
    for (std::size_t step = first; step < last; ++step) {
      if (is_load_of_ring(step)) return true;
    }
    return false;
  }
  /// The first and the last step of the loop, or of the iteration that is written out, of which
  /// `at` is an end.
  std::pair<std::size_t, std::size_t> both_ends(std::size_t at) const {
    const Step& step = plan_.steps[at];
    if (step.kind == Step::Kind::kLoopBegin) return {at, step.partner};
    if (step.kind == Step::Kind::kLoopEnd) return {step.partner, at};
    const bool begins = step.kind == Step::Kind::kValueBegin;
    std::size_t other = at;
    for (int depth = 0;;) {
      depth += plan_.steps[other].kind == Step::Kind::kValueBegin ? 1 : 0;
      depth -= plan_.steps[other].kind == Step::Kind::kValueEnd ? 1 : 0;
      if (depth == 0) break;
      begins ? ++other : --other;
    }
    return {std::min(at, other), std::max(at, other)};
  }
  bool is_load_of_ring(std::size_t at) const {
    return plan_.steps[at].kind == Step::Kind::kInstruction &&
           plan_.steps[at].action == Action::kLoad &&
           place(value_at(at, written_operand(instruction(at)))).ring;
  }
  void copying_step(std::size_t at) {
    const Step& step = plan_.steps[at];
    if (step.kind == Step::Kind::kInstruction) {
      line(kernel_.source_line(instruction(at).span));
      statements_.copy_box(at);
    } else if (step.kind == Step::Kind::kLoopBegin) {
      loop_head(at);
    } else if (step.kind == Step::Kind::kValueBegin) {
      value_begin(at);
    } else {
      kernel_.indent(-1);
      line("}");
    }
  }
  /// The places that are free after the step. A difference is read by the statement after it.
  void releases(std::size_t at) {
    const auto is_late = [&](std::size_t step) { return statements_.is_difference_of_next(step); };
    for (std::size_t v = 0; v < plan_.places.size(); ++v) {
      if (!place(v).ring || !place(v).ring->last_read) continue;
      const std::size_t last = *place(v).ring->last_read;
      if (at == last + (is_late(last) ? 1 : 0)) line("release(" + names_.value(v) + ");");
    }
  }

  void grid() {
    if (!launch_.grid_loop) return;
    const toy::BoundLoop& loop = program_.loops[*launch_.grid_loop];
    line(kernel_.source_line(loop.span));
    const std::string first = text_of(loop.lower, kernel_.names());
    const bool longest_last =
        std::any_of(plan_.steps.begin(), plan_.steps.end(), [&](const Step& step) {
          return step.kind == Step::Kind::kLoopBegin &&
                 grows_with(program_.loops[step.loop].upper, *launch_.grid_loop);
        });
    if (longest_last) line("// Iterations with more to do begin first.");
    line("const Index " + loop_name(*launch_.grid_loop) + " = " +
         (first == "0" ? "" : first + " + ") +
         (loop.step == 1 ? "" : std::to_string(loop.step) + "ll * ") + "static_cast<Index>(" +
         (longest_last ? "gridDim.x - 1 - blockIdx.x" : "blockIdx.x") + ");");
  }

  void step(std::size_t at) {
    const Step& step = plan_.steps[at];
    access().next_statement();
    switch (step.kind) {
      case Step::Kind::kInstruction:
        line(kernel_.source_line(instruction(at).span));
        statements_.statement(at);
        return;
      case Step::Kind::kValueBegin:
        value_begin(at);
        return;
      case Step::Kind::kLoopBegin:
        loop_begin(at);
        return;
      case Step::Kind::kLoopEnd:
        statements_.forget_copies();
        access().unite(before_loops_.back());
        before_loops_.pop_back();
        break;
      case Step::Kind::kValueEnd:
        break;
    }
    kernel_.indent(-1);
    line("}");
  }

  void value_begin(std::size_t at) {
    const Step& step = plan_.steps[at];
    line(kernel_.source_line(program_.loops[step.loop].span));
    line("{");
    kernel_.indent(1);
    line("const Index " + loop_name(step.loop) + " = " + std::to_string(step.value) + ";");
  }

  /// "for (Index j = 0; j < end_of_j; j += 1) {"
  void loop_head(std::size_t at) {
    const toy::BoundLoop& loop = program_.loops[plan_.steps[at].loop];
    const std::string& variable = loop_name(plan_.steps[at].loop);
    line(kernel_.source_line(loop.span));
    const std::string end = names_.unused("end_of_" + variable);
    line("const Index " + end + " = end_of_loop(" + text_of(loop.upper, kernel_.names()) + ");");
    line("for (Index " + variable + " = " + text_of(loop.lower, kernel_.names()) + "; " + variable +
         " < " + end + "; " + variable + " += " + std::to_string(loop.step) + ") {");
    kernel_.indent(1);
  }

  void loop_begin(std::size_t at) {
    if (plan_.has_warpgroups) {
      loop_head(at);
      before_loops_.push_back(access());
      statements_.forget_copies();
      // No barrier is at the beginning of an iteration.
      for (std::size_t v = 0; v < plan_.places.size(); ++v) {
        if (place(v).shared && !place(v).ring) access().read_before(v);
      }
      return;
    }
    const toy::BoundLoop& loop = program_.loops[plan_.steps[at].loop];
    const std::string& variable = loop_name(plan_.steps[at].loop);
    const std::string step = std::to_string(loop.step);
    const std::vector<std::size_t> prefetched = prefetched_in(at);
    line(kernel_.source_line(loop.span));
    const std::string end = names_.unused("end_of_" + variable);
    const std::string first = text_of(loop.lower, kernel_.names());
    const std::string upper = text_of(loop.upper, kernel_.names());
    line("const Index " + end + " = " +
         (is_short(at) ? "end_of_loop(" + upper + ");" : upper + ";"));
    std::string stage;
    if (!prefetched.empty()) {
      stage = names_.unused("stage_of_" + variable);
      for (const std::size_t v : prefetched) line(access().before_write(v));
      line("int " + stage + " = 0;");
      line("if (const Index first = " + first + "; first < " + end + ") {");
      kernel_.indent(1);
      line("const Index " + variable + " = first;");
      for (const std::size_t v : prefetched)
        statements_.copy(v, shared_at_text(plan_, place(v), ""));
      kernel_.indent(-1);
      line("}");
    }
    line("for (Index " + variable + " = " + first + "; " + variable + " < " + end + "; " +
         variable + " += " + step + ") {");
    kernel_.indent(1);
    before_loops_.push_back(access());
    statements_.forget_copies();
    if (!uses_shared_memory(at)) return;
    line("arrive();");
    access().arrive();
    if (prefetched.empty()) return;
    for (const std::size_t v : prefetched) {
      line(names_.value(v) + ".data = " + shared_at_text(plan_, place(v), stage) + ";");
    }
    line(stage + " = 1 - " + stage + ";");
    line("if (const Index next = " + variable + " + " + step + "; next < " + end + ") {");
    kernel_.indent(1);
    line("const Index " + variable + " = next;");
    for (const std::size_t v : prefetched)
      statements_.copy(v, shared_at_text(plan_, place(v), stage));
    kernel_.indent(-1);
    line("}");
  }

  /// Whether the compiler would write out many iterations: there are few products in one.
  bool is_short(std::size_t loop) const {
    std::int64_t products = 0, multiplications = 0;
    for (std::size_t at = loop + 1; at < plan_.steps[loop].partner; ++at) {
      if (plan_.steps[at].kind != Step::Kind::kInstruction || !plan_.steps[at].is_product()) {
        continue;
      }
      const ValuePlace& target = place(value_at(at, written_operand(instruction(at))));
      const ValuePlace& factor = place(value_at(at, 0));
      const std::int64_t depth =
          factor.rows * factor.cols / (target.is_turned ? target.cols : target.rows);
      ++products;
      multiplications += target.rows * target.cols * depth / plan_.warps;
    }
    constexpr std::int64_t kOfInstruction = 16 * 8 * 16, kFewInstructions = 64;
    return products < 2 || multiplications / kOfInstruction < kFewInstructions;
  }

  std::vector<std::size_t> prefetched_in(std::size_t loop) const {
    std::vector<std::size_t> result;
    for (std::size_t v = 0; v < plan_.places.size(); ++v) {
      if (place(v).prefetched_in == loop) result.push_back(v);
    }
    return result;
  }
  bool uses_shared_memory(std::size_t loop) const {
    for (std::size_t at = loop + 1; at < plan_.steps[loop].partner; ++at) {
      if (plan_.steps[at].kind != Step::Kind::kInstruction) continue;
      for (const std::int64_t v : plan_.values.operands[at]) {
        if (v >= 0 && place(static_cast<std::size_t>(v)).shared) return true;
      }
    }
    return false;
  }

  const toy::BoundProgram& program_;
  const Launch& launch_;
  const FragmentPlan& plan_;
  KernelText kernel_;
  FragmentNames names_;
  FragmentStatements statements_;
  std::vector<SharedAccess> before_loops_;
};

}  // namespace

std::string fragment_kernel(const toy::BoundProgram& program, const Plan& plan,
                            const Launch& launch, const std::string& name) {
  return FragmentWriter(program, plan, launch, name).write();
}

}  // namespace flashlab::generate
