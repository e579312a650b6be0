#include "toymachine/detail/nest_formulas.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "toymachine/detail/lattice_sum.hpp"
#include "toymachine/detail/nest_components.hpp"
#include "toymachine/detail/strip_mining.hpp"
#include "toymachine/detail/symbolic_nest.hpp"

namespace flashlab::toy::detail {
namespace {

/// Beyond these, a formula would help nobody.
constexpr std::size_t kMostTerms = 64;
constexpr std::size_t kMostLoops = 1000;
constexpr std::size_t kMostConditions = 100;
constexpr std::size_t kBudget = 500;           // work (see add_lattice_sum), in all
constexpr std::size_t kComponentBudget = 120;  // and for loops that depend on each other

/// An instruction of the text and the loops around it.
struct Site {
  const InstructionStatement* statement = nullptr;
  const LoopStatement* loop = nullptr;  // the innermost
};

class Derivation {
 public:
  explicit Derivation(const Program& program) : program_(program), expressions_(program) {}

  Result<NestFormulas> run() {
    sites_.resize(program_.num_sites);
    visit(program_.body, nullptr);
    extents();
    cells();
    if (!failed()) loops();
    if (!failed()) sums();
    if (failed()) return diagnostics();
    NestFormulas result;
    for (const Site& site : sites_) {
      result.sites.push_back({site.statement, sum_of_loop_.at(site.loop)});
    }
    result.domain = std::move(domain_);
    result.terms = std::move(terms_);
    result.num_sums = sum_of_loop_.size();
    return result;
  }

 private:
  bool failed() const { return !diagnostics_.empty() || !expressions_.diagnostics().empty(); }

  std::vector<Diagnostic> diagnostics() const {
    std::vector<Diagnostic> all = expressions_.diagnostics();
    all.insert(all.end(), diagnostics_.begin(), diagnostics_.end());
    return all;
  }

  void fail(const SourceSpan& span, std::string why, std::string expected) {
    diagnostics_.push_back({Severity::kError,
                            Fault::kProgram,
                            span,
                            "no formula: " + std::move(why),
                            std::move(expected) + "; numbers can be had with -D",
                            {}});
  }

  // Reading the program ------------------------------------------------------------------------

  void visit(const std::vector<Statement>& body, const LoopStatement* loop) {
    for (const Statement& statement : body) {
      if (const auto* instruction = std::get_if<InstructionStatement>(&statement.node)) {
        sites_[instruction->site] = {instruction, loop};
      } else if (const auto* inner = std::get_if<LoopStatement>(&statement.node)) {
        parents_[inner] = loop;
        visit(inner->body, inner);
      }
    }
  }

  void extents() {
    for (const ArrayDeclaration& array : program_.arrays) {
      for (const ExpressionPtr& extent : array.extents) {
        if (const auto size = expressions_.try_polynomial(*extent)) require(*size);
      }
    }
  }

  /// Cells that are the same in every iteration must exist.
  void cells() {
    for (const Site& site : sites_) {
      for (const Operand& operand : site.statement->operands) {
        if (is_memory(operand.kind)) cell(operand);
      }
    }
  }

  void cell(const Operand& operand) {
    const ArrayDeclaration& array = program_.arrays[operand.array];
    for (std::size_t axis = 0; axis < operand.indices.size(); ++axis) {
      const auto index = expressions_.try_polynomial(*operand.indices[axis]);
      const auto size = number_of_cells(array, axis);
      if (!index || !size || has_loop_atom(*index)) continue;
      require(*index);
      require(*size - *index - 1);
    }
  }

  /// Index values along the axis: elements, or tiles.
  std::optional<Polynomial> number_of_cells(const ArrayDeclaration& array, std::size_t axis) {
    auto size = expressions_.try_polynomial(*array.extents[axis]);
    const Expression* tile = array.tile_along(axis);
    if (!tile || !size) return size;
    const auto elements = expressions_.try_polynomial(*tile);
    if (!elements) return std::nullopt;
    add_positive(*elements, positive_tiles_);
    return ceil_quotient(*size, *elements);
  }

  /// The first of the program's parameters that the condition is about.
  std::size_t first_param(const Condition& condition) const {
    for (std::size_t i = 0; i < program_.params.size(); ++i) {
      if (condition.polynomial.degree(Atom(program_.params[i].name)) > 0) return i;
    }
    return program_.params.size();
  }

  /// Of conditions that differ in a constant, as those of x[0] and x[1], only one is kept.
  void require(const Polynomial& nonnegative) {
    const mpq_class constant = nonnegative.constant_term();
    const auto [place, is_new] =
        tightest_.try_emplace((nonnegative - constant).terms(), nonnegative);
    if (!is_new && constant < place->second.constant_term()) place->second = nonnegative;
  }

  void loops() {
    for (const Site& site : sites_) {
      for (const LoopStatement* loop = site.loop; loop && !nest_.contains(loop);
           loop = parents_.at(loop)) {
        add_loop(*loop);
      }
    }
    if (nest_.size() > kMostLoops) {
      fail({}, std::to_string(nest_.size()) + " loops",
           "at most " + std::to_string(kMostLoops) + " loops");
    }
    for (const Condition& condition : positive_steps_) require(condition.polynomial);
    for (const Condition& condition : positive_tiles_) require(condition.polynomial);
    for (const Condition& condition : expressions_.conditions()) require(condition.polynomial);
    if (tightest_.size() > kMostConditions) {
      fail({}, "too many conditions on the parameters", "fewer cells outside of loops");
      return;
    }
    for (const auto& [terms, condition] : tightest_) domain_.push_back({condition});
    domain_ = simplified(domain_, {});
    std::stable_sort(domain_.begin(), domain_.end(), [&](const Condition& a, const Condition& b) {
      return first_param(a) < first_param(b);
    });
    known_ = facts_of(domain_);
    if (known_.contradictory()) fail({}, "no parameters fit this program", "sizes that can be met");
  }

  void add_loop(const LoopStatement& loop) {
    const auto lower = expressions_.bound(*loop.lower);
    const auto upper = expressions_.bound(*loop.upper);
    const auto step = expressions_.polynomial(*loop.step);
    NestLoop& nest_loop = nest_[&loop];
    if (!lower || !upper || !step) return;
    nest_loop = {loop.loop, *lower, *upper, *step};
    if (has_loop_atom(*step)) {
      fail(loop.step->span, "the step depends on a loop", "a step of parameters");
    }
    add_positive(*step, positive_steps_);
  }

  // Summing ------------------------------------------------------------------------------------

  void sums() {
    for (const Site& site : sites_) {
      const auto [place, is_new] = sum_of_loop_.try_emplace(site.loop, sum_of_loop_.size());
      if (!is_new) continue;
      const auto pieces = iterations(site.loop);
      if (!pieces) return;
      for (const Piece& piece : *pieces) terms_.push_back({place->second, piece});
    }
  }

  std::optional<std::vector<Piece>> iterations(const LoopStatement* loop) {
    std::vector<NestLoop> path;
    for (const LoopStatement* l = loop; l; l = parents_.at(l))
      path.insert(path.begin(), nest_.at(l));
    std::vector<Piece> product{{{}, 1}};
    for (const auto& component : components(without_strip_mining(path))) {
      const auto* factor = component_sum(component);
      if (!factor) return std::nullopt;
      std::vector<Piece> next;
      for (const Piece& left : product) {
        for (const Piece& right : *factor) {
          Piece& piece = next.emplace_back(left);
          piece.conditions.insert(piece.conditions.end(), right.conditions.begin(),
                                  right.conditions.end());
          piece.value *= right.value;
        }
      }
      product = std::move(next);
      if (product.size() > kMostTerms) return too_many(loop->span);
    }
    return product;
  }

  std::optional<std::vector<Piece>> too_many(const SourceSpan& span) {
    fail(span, "too many cases must be told apart", "fewer min and max");
    return std::nullopt;
  }

  const std::vector<Piece>* component_sum(const NestComponent& component) {
    const auto [place, is_new] = components_.try_emplace(component.key);
    if (!is_new) return &place->second;
    const auto sums = iteration_space(component.loops);
    if (!sums) {
      too_many(loop_span(component.innermost));
      return nullptr;
    }
    std::vector<Piece> pieces;
    std::size_t budget = std::min(kComponentBudget, budget_);
    budget_ -= budget;
    for (const LatticeSum& sum : *sums) {
      const auto obstacle = add_lattice_sum(sum, known_, budget, pieces);
      if (obstacle.kind == Obstacle::Kind::kNone) continue;
      explain(obstacle, component.innermost);
      return nullptr;
    }
    budget_ += budget;
    place->second = without_repetition(pieces);
    return &place->second;
  }

  void explain(const Obstacle& obstacle, std::size_t loop) {
    if (obstacle.kind == Obstacle::Kind::kTooLong) {
      too_many(loop_span(loop));
      return;
    }
    fail(loop_span(loop),
         "the range of '" + program_.loop_vars[loop] +
             "' multiplies a loop variable by a parameter in a way that has no closed form",
         "tiles that start at multiples of the step");
  }

  SourceSpan loop_span(std::size_t number) const {
    for (const auto& [loop, parent] : parents_) {
      if (loop->loop == number) return loop->span;
    }
    return {};
  }

  /// Terms under the same conditions become one: full tiles and the last one add up.
  static std::vector<Piece> without_repetition(const std::vector<Piece>& pieces) {
    std::vector<Piece> result;
    for (const Piece& piece : pieces) {
      const auto same = std::find_if(result.begin(), result.end(), [&](const Piece& other) {
        return other.conditions == piece.conditions;
      });
      if (same == result.end()) {
        result.push_back(piece);
      } else {
        same->value += piece.value;
      }
    }
    return result;
  }

  const Program& program_;
  SymbolicExpressions expressions_;
  std::vector<Diagnostic> diagnostics_;
  std::vector<Site> sites_;
  std::map<const LoopStatement*, const LoopStatement*> parents_;
  std::map<const LoopStatement*, NestLoop> nest_;
  std::map<std::map<Monomial, mpq_class>, Polynomial> tightest_;
  std::vector<Condition> positive_steps_, positive_tiles_;
  std::vector<Condition> domain_;
  Inequalities known_;
  std::size_t budget_ = kBudget;
  std::map<std::string, std::vector<Piece>> components_;
  std::map<const LoopStatement*, std::size_t> sum_of_loop_;
  std::vector<GuardedTerm> terms_;
};

}  // namespace

Result<NestFormulas> nest_formulas(const Program& program) { return Derivation(program).run(); }

}  // namespace flashlab::toy::detail
