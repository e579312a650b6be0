#include "toymachine/count/cost_formula.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "toymachine/count/counters.hpp"
#include "toymachine/count/nest_formulas.hpp"
#include "toymachine/count/region_tree.hpp"
#include "toymachine/count/symbolic_nest.hpp"

namespace flashlab::toy {
namespace {

using detail::NestFormulas;
using detail::RegionTree;

/// A formula with more regions would help nobody.
constexpr std::size_t kMostRegions = 16;

/// The number of a sum that could not be found.
constexpr std::size_t kUnknownSum = SIZE_MAX;

/// Counters are linear in executions and work: the counters that one unit of each sum adds.
class CountersPerIteration {
 public:
  CountersPerIteration(const Program& program, const NestFormulas& nest, const CostTable& costs) {
    std::map<std::pair<std::size_t, std::size_t>, Body> bodies;  // by pass and sum
    for (const NestFormulas::Site& site : nest.sites) {
      const std::size_t pass = site.statement->pass;
      add(*site.statement, 1, 0, bodies[{pass, site.times}]);
      if (site.work) add(*site.statement, 0, 1, bodies[{pass, *site.work}]);
      if (!nest.no_work.empty()) add(*site.statement, 0, 1, bodies[{pass, kUnknownSum}]);
    }
    zero_ = counters_of({}, program, costs);
    for (auto& [key, body] : bodies) counters_[key] = counters_of(std::move(body), program, costs);
  }

  /// Calls visit(sum, counters) for each part of the pass.
  template <class Visit>
  void for_each_in(std::size_t pass, Visit visit) const {
    for (const auto& [key, counters] : counters_) {
      if (key.first == pass) visit(key.second, counters);
    }
  }
  const Counters& zero() const { return zero_; }

 private:
  struct Body {
    BoundProgram program;
    Executions executions;
  };

  static void add(const InstructionStatement& statement, long times, long work, Body& body) {
    BoundInstruction instruction;
    instruction.row = static_cast<std::uint16_t>(statement.row);
    instruction.site = static_cast<std::uint32_t>(body.program.instructions.size());
    for (const Operand& operand : statement.operands) {
      BoundOperand& bound = instruction.operands.emplace_back();
      bound.kind = operand.kind;
      bound.array = static_cast<std::uint32_t>(operand.array);
    }
    body.program.instructions.push_back(std::move(instruction));
    body.executions.times.emplace_back(times);
    body.executions.work.emplace_back(work);
  }

  static Counters counters_of(Body body, const Program& program, const CostTable& costs) {
    for (const ArrayDeclaration& array : program.arrays) {
      body.program.arrays.emplace_back().element_type = array.element_type;
    }
    return count(body.program, body.executions, costs);
  }

  std::map<std::pair<std::size_t, std::size_t>, Counters> counters_;
  Counters zero_;
};

class Formulas {
 public:
  Formulas(const Program& program, const NestFormulas& nest, const RegionTree& tree,
           const CostTable& costs, FormulaScope scope)
      : nest_(nest),
        tree_(tree),
        scope_(scope),
        unit_(program, nest, costs),
        num_passes_(std::max<std::size_t>(1, program.passes.size())) {
    for (const ParamDeclaration& param : program.params) symbols_.push_back(param.name);
    if (mentions_registers()) symbols_.emplace_back(detail::kRegistersSymbol);
  }

  CostFormulas all() {
    CostFormulas result;
    result.symbols = symbols_;
    result.domain = nest_.domain;
    result.no_work = nest_.no_work;
    std::vector<std::size_t> passes(num_passes_);
    std::iota(passes.begin(), passes.end(), 0);
    if (scope_ == FormulaScope::kEverything) {
      for (const std::size_t pass : passes) result.by_pass.push_back(counters({pass}));
    }
    result.total = result.by_pass.size() == 1 ? result.by_pass[0] : counters(passes);
    for (const NestFormulas::Site& site : nest_.sites) result.body_of_site.push_back(site.times);
    for (std::size_t body = 0; body < nest_.num_bodies; ++body) {
      std::vector<mpz_class> weights(nest_.num_sums);
      weights[body] = 1;
      result.by_body.push_back(formula(weights));
    }
    return result;
  }

 private:
  bool mentions_registers() const {
    const Atom registers{std::string(detail::kRegistersSymbol)};
    const auto mentions = [&](const Polynomial& polynomial) {
      return !(substitute(polynomial, registers, 0) == polynomial);
    };
    const auto mentioned_in = [&](const Condition& condition) {
      return mentions(condition.polynomial);
    };
    return std::any_of(nest_.domain.begin(), nest_.domain.end(), mentioned_in) ||
           std::any_of(nest_.terms.begin(), nest_.terms.end(), [&](const auto& term) {
             const auto& conditions = term.piece.conditions;
             return mentions(term.piece.value) ||
                    std::any_of(conditions.begin(), conditions.end(), mentioned_in);
           });
  }

  /// Many counters are the same sum, for example compute and the executions of
  /// the only instruction.
  const Formula& formula(const std::vector<mpz_class>& weights) {
    const auto [place, is_new] = known_.try_emplace(weights);
    if (!is_new) return place->second;
    Formula& result = place->second;
    result = {nest_.domain, {}, symbols_};
    for (detail::Region& region : tree_.combine({weights})) {
      result.pieces.push_back({std::move(region.conditions), std::move(region.values[0])});
    }
    return result;
  }

  /// Returns the formula of one counter; `value` selects it from the counters that each
  /// loop body adds.
  template <class Value>
  Formula sum(const std::vector<std::size_t>& passes, Value value) {
    std::vector<mpz_class> weights(nest_.num_sums);
    bool known = true;
    for (const std::size_t pass : passes) {
      unit_.for_each_in(pass, [&](std::size_t at, const Counters& counters) {
        if (at == kUnknownSum) {
          known = known && value(counters) == 0;
        } else {
          weights[at] += value(counters);
        }
      });
    }
    return known ? formula(weights) : Formula{nest_.domain, {}, symbols_};
  }

  CounterFormulas counters(const std::vector<std::size_t>& passes) {
    CounterFormulas result;
    for (const FormulaField& field : formula_fields()) {
      result.*field.value = sum(passes, [&](const Counters& c) { return c.*field.count; });
    }
    if (scope_ == FormulaScope::kExecutions) return result;
    for (std::size_t row = 0; row < unit_.zero().by_instruction.size(); ++row) {
      result.by_instruction.push_back(
          sum(passes, [&](const Counters& c) { return c.by_instruction[row]; }));
    }
    for (std::size_t array = 0; array < unit_.zero().by_array.size(); ++array) {
      const auto traffic = [&](Count ArrayTraffic::*value) {
        return sum(passes, [&](const Counters& c) { return c.by_array[array].*value; });
      };
      using T = ArrayTraffic;
      result.by_array.push_back({traffic(&T::loads), traffic(&T::stores), traffic(&T::updates),
                                 traffic(&T::elements_loaded), traffic(&T::elements_stored),
                                 traffic(&T::elements_updated), traffic(&T::bytes_loaded),
                                 traffic(&T::bytes_stored), traffic(&T::bytes_updated)});
    }
    return result;
  }

  const NestFormulas& nest_;
  const RegionTree& tree_;
  FormulaScope scope_;
  CountersPerIteration unit_;
  std::size_t num_passes_;
  std::vector<std::string> symbols_;
  std::map<std::vector<mpz_class>, Formula> known_;
};

}  // namespace

const std::vector<FormulaField>& formula_fields() {
  static const std::vector<FormulaField> fields = [] {
    using F = CounterFormulas;
    using C = Counters;
    return std::vector<FormulaField>{{"steps", &F::steps, &C::steps},
                                     {"cycles", &F::cycles, &C::cycles},
                                     {"loads", &F::loads, &C::loads},
                                     {"stores", &F::stores, &C::stores},
                                     {"atomics", &F::atomics, &C::atomics},
                                     {"sends", &F::sends, &C::sends},
                                     {"receives", &F::receives, &C::receives},
                                     {"compute", &F::compute, &C::compute},
                                     {"bytes_loaded", &F::bytes_loaded, &C::bytes_loaded},
                                     {"bytes_stored", &F::bytes_stored, &C::bytes_stored},
                                     {"bytes_updated", &F::bytes_updated, &C::bytes_updated},
                                     {"bytes_sent", &F::bytes_sent, &C::bytes_sent},
                                     {"bytes_received", &F::bytes_received, &C::bytes_received},
                                     {"flops", &F::flops, &C::flops},
                                     {"exps", &F::exps, &C::exps}};
  }();
  return fields;
}

Result<CostFormulas> cost_formulas(const Program& program, const CostTable& costs,
                                   FormulaScope scope) {
  auto nest = detail::nest_formulas(program, scope == FormulaScope::kEverything);
  if (!nest) return nest.diagnostics;
  auto tree = RegionTree::build(nest->domain, nest->terms, nest->num_sums, kMostRegions);
  if (!tree) {
    const Diagnostic reason{Severity::kError,
                            Fault::kProgram,
                            {},
                            "no formula: too many cases must be distinguished",
                            "fewer min and max; for numbers, give -D",
                            {}};
    if (nest->num_sums == nest->num_bodies) return reason;
    nest->drop_work({reason});
    tree = RegionTree::build(nest->domain, nest->terms, nest->num_sums, kMostRegions);
    if (!tree) return reason;
  }
  return Formulas(program, *nest, *tree, costs, scope).all();
}

std::vector<QuotientPiece> crossing_cost(const CostFormulas& a, const CostFormulas& b,
                                         const CostTable& costs, std::size_t row) {
  const mpz_class present = mpz_class(costs.cycles(row));
  const auto affine = [&](const CostFormulas& formulas) {
    const Formula& executed = formulas.total.by_instruction[row];
    return AffineInCost{formulas.total.cycles - present * executed, executed};
  };
  return crossing(affine(a), affine(b));
}

}  // namespace flashlab::toy
