// How often each instruction is executed, for one set of parameters.

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "toymachine/counters.hpp"
#include "toymachine/detail/lattice_sum.hpp"
#include "toymachine/detail/nest_components.hpp"
#include "toymachine/detail/strip_mining.hpp"
#include "toymachine/interpreter.hpp"

namespace flashlab::toy {
namespace {

using detail::NestExpression;
using Op = NestExpression::Op;

/// Work for one program (see add_lattice_sum), about a second, and for each of its loops.
constexpr std::size_t kBudget = 20'000;
constexpr std::size_t kBudgetPerLoop = 64;

/// Iterations of one program that are walked through where summing is too long: a tenth of a
/// second.
constexpr std::size_t kWalk = 10'000'000;

Polynomial polynomial_of(const Affine& affine) {
  Polynomial result = mpz_class(affine.constant);
  for (const auto& [loop, coefficient] : affine.terms) {
    result += Polynomial(detail::loop_atom(loop)) * mpz_class(coefficient);
  }
  return result;
}

Op op_of(BoundExpression::Op op) {
  switch (op) {
    case BoundExpression::Op::kAffine:
      return Op::kPolynomial;
    case BoundExpression::Op::kMin:
      return Op::kMin;
    case BoundExpression::Op::kMax:
      return Op::kMax;
    case BoundExpression::Op::kCeilDiv:
      return Op::kCeilDiv;
    case BoundExpression::Op::kFloorDiv:
      return Op::kFloorDiv;
    case BoundExpression::Op::kAdd:
      return Op::kAdd;
    case BoundExpression::Op::kScale:
      return Op::kScale;
  }
  return Op::kPolynomial;
}

NestExpression nest_expression(const BoundExpression& bound) {
  NestExpression result;
  result.op = op_of(bound.op);
  result.polynomial = bound.op == BoundExpression::Op::kAffine
                          ? polynomial_of(bound.affine)
                          : Polynomial(mpz_class(bound.constant));
  for (const BoundExpression& arg : bound.args) result.args.push_back(nest_expression(arg));
  return result;
}

bool is_number(const BoundExpression& bound) {
  return bound.affine.is_constant() && std::all_of(bound.args.begin(), bound.args.end(), is_number);
}

class Counter {
 public:
  explicit Counter(const BoundProgram& program)
      : program_(program),
        counts_(program.loops.size()),
        loops_(program.loops.size()),
        budget_(kBudget + kBudgetPerLoop * program.loops.size()) {}

  Result<std::vector<Count>> run() {
    std::vector<Count> executions(program_.instructions.size());
    for (const BoundInstruction& instruction : program_.instructions) {
      const auto count = iterations(instruction.loop);
      if (!count) return too_long(program_.loops[instruction.loop]);
      executions[instruction.site] = *count;
    }
    return executions;
  }

 private:
  /// How often the body of the loop runs in all.
  std::optional<Count> iterations(std::uint32_t loop) {
    if (loop == kNoLoop) return Count(1);
    if (!counts_[loop]) counts_[loop] = sum(loop);
    return counts_[loop];
  }

  std::optional<Count> sum(std::uint32_t loop) {
    const BoundLoop& bound = program_.loops[loop];
    if (is_number(bound.lower) && is_number(bound.upper)) {
      const auto outer = iterations(bound.parent);
      if (!outer) return std::nullopt;
      return Count(*outer * trips(bound));
    }
    std::vector<std::uint32_t> ids;
    for (std::uint32_t l = loop; l != kNoLoop; l = program_.loops[l].parent) {
      ids.insert(ids.begin(), l);
    }
    const auto count = product_of_components(ids);
    return count ? count : walk(ids);
  }

  std::optional<Count> product_of_components(const std::vector<std::uint32_t>& ids) {
    std::vector<detail::NestLoop> path;
    for (const std::uint32_t id : ids) path.push_back(nest_loop(id));
    Count product = 1;
    for (const auto& component : detail::components(detail::without_strip_mining(path))) {
      if (product == 0) break;
      const auto factor = sum(component);
      if (!factor) return std::nullopt;
      product *= *factor;
    }
    return product;
  }

  /// Adds up the innermost loop's iterations, one iteration of the others after the other.
  std::optional<Count> walk(const std::vector<std::uint32_t>& ids) {
    std::vector<std::int64_t> values(program_.loops.size());
    Count total = 0;
    const auto visit = [&](const auto& self, std::size_t depth) -> bool {
      const BoundLoop& loop = program_.loops[ids[depth]];
      if (depth + 1 == ids.size()) {
        total += trips(loop, values.data());
        return true;
      }
      const std::int64_t upper = loop.upper(values.data());
      for (std::int64_t i = loop.lower(values.data()); i < upper; i += loop.step) {
        if (walk_left_ == 0) return false;
        --walk_left_;
        values[ids[depth]] = i;
        if (!self(self, depth + 1)) return false;
      }
      return true;
    };
    return visit(visit, 0) ? std::optional(total) : std::nullopt;
  }

  static Count trips(const BoundLoop& loop, const std::int64_t* values = nullptr) {
    const Count length = Count(loop.upper(values)) - loop.lower(values);
    if (length <= 0) return 0;
    return (length + loop.step - 1) / loop.step;
  }

  const detail::NestLoop& nest_loop(std::uint32_t loop) {
    if (!loops_[loop]) {
      const BoundLoop& bound = program_.loops[loop];
      loops_[loop] = detail::NestLoop{loop, nest_expression(bound.lower),
                                      nest_expression(bound.upper), mpz_class(bound.step)};
    }
    return *loops_[loop];
  }

  /// The same loops are often around many instructions.
  std::optional<Count> sum(const detail::NestComponent& component) {
    const auto [place, is_new] = components_.try_emplace(component.key);
    if (is_new) place->second = lattice_count(component.loops);
    return place->second;
  }

  std::optional<Count> lattice_count(const std::vector<detail::NestLoop>& loops) {
    const auto sums = detail::iteration_space(loops);
    if (!sums) return std::nullopt;
    std::vector<Piece> terms;
    for (const detail::LatticeSum& part : *sums) {
      const auto obstacle = detail::add_lattice_sum(part, {}, budget_, terms);
      if (obstacle.kind != detail::Obstacle::Kind::kNone) return std::nullopt;
    }
    mpq_class total = 0;
    for (const Piece& term : terms) total += term.value.constant_term();
    return total.get_num();
  }

  static Diagnostic too_long(const BoundLoop& loop) {
    return {Severity::kError,
            Fault::kLimit,
            loop.span,
            "the iterations of '" + loop.var + "' cannot be counted in reasonable time",
            "bounds with smaller divisors, or fewer min and max",
            {}};
  }

  const BoundProgram& program_;
  std::vector<std::optional<Count>> counts_;
  std::vector<std::optional<detail::NestLoop>> loops_;
  std::map<std::string, std::optional<Count>> components_;
  std::size_t budget_;
  std::size_t walk_left_ = kWalk;
};

}  // namespace

Result<std::vector<Count>> count_times(const BoundProgram& program) {
  return Counter(program).run();
}

Result<Executions> count_executions(const BoundProgram& program) {
  auto times = count_times(program);
  if (!times) return std::move(times.diagnostics);
  if (!program.tiled) return scalar_executions(program, std::move(*times));
  auto execution = run_shapes(program);
  if (!execution) return std::move(execution.diagnostics);
  return std::move(execution->executions);
}

}  // namespace flashlab::toy
