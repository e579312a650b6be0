#include "toymachine/count/nest_formulas.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "toymachine/count/nest_ranges.hpp"
#include "toymachine/count/path_sums.hpp"
#include "toymachine/count/shape_inference.hpp"
#include "toymachine/count/shape_nest.hpp"
#include "toymachine/count/symbolic_nest.hpp"

namespace flashlab::toy::detail {
namespace {

/// A formula beyond these limits would help nobody.
constexpr std::size_t kMostLoops = 1000;
constexpr std::size_t kMostConditions = 100;

/// An instruction of the text and the loops around it.
struct Site {
  const InstructionStatement* statement = nullptr;
  const LoopStatement* loop = nullptr;  // the innermost
};

class Derivation {
 public:
  Derivation(const Program& program, bool with_work)
      : program_(program), with_work_(with_work), expressions_(program) {
    if (with_work) return;
    formulas_.no_work = {{Severity::kNote,
                          Fault::kProgram,
                          {},
                          "no formula: the work was not asked for",
                          "FormulaScope::kEverything",
                          {}}};
  }

  Result<NestFormulas> run() {
    sites_.resize(program_.num_sites);
    visit(program_.body, nullptr);
    extents();
    cells();
    machines();
    const bool needs_shapes = with_work_ && is_tiled();
    ShapeNest nest;
    if (needs_shapes) nest = shape_nest(program_, expressions_);
    if (!failed()) loops();
    if (!failed() && needs_shapes) shapes(nest);
    if (!failed()) sums();
    if (!failed() && formulas_.no_work.empty()) work_sums();
    if (failed()) return diagnostics();
    formulas_.domain = std::move(domain_);
    return std::move(formulas_);
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
                            std::move(expected) + "; for numbers, give -D",
                            {}});
  }

  bool is_tiled() const {
    return std::any_of(program_.arrays.begin(), program_.arrays.end(),
                       [](const ArrayDeclaration& array) { return !array.tile.empty(); });
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

  /// Requires that cells exist that are the same in every iteration.
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

  /// Returns the number of index values along the axis: elements, or tiles.
  std::optional<Polynomial> number_of_cells(const ArrayDeclaration& array, std::size_t axis) {
    auto size = expressions_.try_polynomial(*array.extents[axis]);
    const Expression* tile = array.tile_along(axis);
    if (!tile || !size) return size;
    const auto elements = expressions_.try_polynomial(*tile);
    if (!elements) return std::nullopt;
    add_positive(*elements, positive_tiles_);
    return ceil_quotient(*size, *elements);
  }

  /// Returns the first of the program's parameters in the condition.
  std::size_t first_param(const Condition& condition) const {
    for (std::size_t i = 0; i < program_.params.size(); ++i) {
      if (condition.polynomial.degree(Atom(program_.params[i].name)) > 0) return i;
    }
    return program_.params.size();
  }

  /// Keeps only the tightest of conditions that differ in a constant, such as those of
  /// x[0] and x[1].
  void require(const Polynomial& nonnegative) {
    const mpq_class constant = nonnegative.constant_term();
    const auto [place, is_new] =
        tightest_.try_emplace((nonnegative - constant).terms(), nonnegative);
    if (!is_new && constant < place->second.constant_term()) place->second = nonnegative;
  }

  /// The sum over all machines is that over a loop around the program, whose variable is the
  /// machine's number.
  void machines() {
    if (!program_.machines) return;
    const Polynomial ranks = Polynomial::symbol(program_.params[program_.machines->ranks].name);
    machines_ = NestLoop{machines_loop(program_), leaf(Polynomial(0)), leaf(ranks), Polynomial(1)};
    require(ranks - 1);
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
    set_domain();
  }

  void set_domain() {
    domain_.clear();
    for (const auto& [terms, condition] : tightest_) domain_.push_back({condition});
    domain_ = simplified(domain_, {});
    std::stable_sort(domain_.begin(), domain_.end(), [&](const Condition& a, const Condition& b) {
      return first_param(a) < first_param(b);
    });
    known_ = facts_of(domain_);
    if (known_.contradictory())
      fail({}, "no parameters fit this program", "sizes that some parameters satisfy");
  }

  void shapes(const ShapeNest& nest) {
    auto work = infer_work(nest, known_, machines_ ? &*machines_ : nullptr);
    if (!work) {
      const Diagnostic& reason = work.diagnostics[0];
      fail(reason.span, reason.what, reason.expected);
      formulas_.no_work = std::move(diagnostics_);
      diagnostics_.clear();
      return;
    }
    for (const Polynomial& assumption : work->assumptions) require(assumption);
    if (!work->assumptions.empty()) set_domain();
    for (WorkTerm& term : work->terms) work_[term.site].push_back(std::move(term));
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
    paths_ = PathSums(known_);
    for (const Site& site : sites_) {
      const auto [place, is_new] = sum_of_loop_.try_emplace(site.loop, sum_of_loop_.size());
      formulas_.sites.push_back({site.statement, place->second, {}});
      if (is_new && !add_iterations(site, path_of(site.loop), 1, place->second)) return;
    }
    formulas_.num_bodies = formulas_.num_sums = sum_of_loop_.size();
  }

  void work_sums() {
    for (std::size_t i = 0; i < sites_.size(); ++i) {
      NestFormulas::Site& site = formulas_.sites[i];
      if (is_tiled()) {
        site.work = sum_of(sites_[i], site.times, work_[i]);
        if (!failed()) continue;
        formulas_.drop_work(diagnostics());
        diagnostics_.clear();
        return;
      } else if (instruction_set()[site.statement->row].flop_kind != FlopKind::kReduction) {
        site.work = site.times;
      }
    }
  }

  /// Returns the number of the sum of these terms; `times` is the number of the sum of executions.
  std::optional<std::size_t> sum_of(const Site& site, std::size_t times, const WorkTerms& terms) {
    if (terms.empty()) return std::nullopt;
    if (terms.size() == 1 && terms[0].factor == 1 && terms[0].path == path_of(site.loop)) {
      return times;
    }
    WorkTerms key = terms;
    for (WorkTerm& term : key) term.site = 0;
    const auto known = std::find(sums_of_work_.begin(), sums_of_work_.end(), key);
    const auto position = static_cast<std::size_t>(known - sums_of_work_.begin());
    if (known != sums_of_work_.end()) return formulas_.num_bodies + position;
    sums_of_work_.push_back(std::move(key));
    for (const WorkTerm& term : terms) {
      if (!add_iterations(site, term.path, term.factor, formulas_.num_sums)) return std::nullopt;
    }
    return formulas_.num_sums++;
  }

  std::vector<NestLoop> path_of(const LoopStatement* loop) const {
    std::vector<NestLoop> path;
    for (const LoopStatement* l = loop; l; l = parents_.at(l))
      path.insert(path.begin(), nest_.at(l));
    if (machines_) path.insert(path.begin(), *machines_);
    return path;
  }

  bool add_iterations(const Site& site, const std::vector<NestLoop>& path, const mpz_class& factor,
                      std::size_t sum) {
    auto pieces = paths_.iterations(path);
    if (!pieces) {
      explain(site);
      return false;
    }
    for (Piece& piece : *pieces) {
      piece.value *= factor;
      formulas_.terms.push_back({sum, std::move(piece)});
    }
    return true;
  }

  void explain(const Site& site) {
    const std::size_t number = paths_.obstacle_loop();
    const bool is_loop = number < program_.loop_vars.size();
    const SourceSpan span = is_loop     ? loop_span(number)
                            : machines_ ? program_.machines->span
                                        : site.statement->span;
    if (paths_.obstacle() == Obstacle::Kind::kTooLong) {
      return fail(span, "too many cases must be distinguished", "fewer min and max");
    }
    const std::string expected = "tiles that start at multiples of the step";
    if (!is_loop) return fail(span, "the elements of these tiles have no closed form", expected);
    fail(span,
         "the range of '" + program_.loop_vars[number] +
             "' multiplies a loop variable by a parameter in a way that has no closed form",
         expected);
  }

  SourceSpan loop_span(std::size_t number) const {
    for (const auto& [loop, parent] : parents_) {
      if (loop->loop == number) return loop->span;
    }
    return {};
  }

  const Program& program_;
  bool with_work_;
  SymbolicExpressions expressions_;
  std::vector<Diagnostic> diagnostics_;
  std::vector<Site> sites_;
  std::map<const LoopStatement*, const LoopStatement*> parents_;
  std::map<const LoopStatement*, NestLoop> nest_;
  std::map<std::map<Monomial, mpq_class>, Polynomial> tightest_;
  std::optional<NestLoop> machines_;
  std::vector<Condition> positive_steps_, positive_tiles_;
  std::vector<Condition> domain_;
  Inequalities known_;
  PathSums paths_{Inequalities()};
  std::map<const LoopStatement*, std::size_t> sum_of_loop_;
  std::map<std::size_t, WorkTerms> work_;  // by site, on tiles
  std::vector<WorkTerms> sums_of_work_;
  NestFormulas formulas_;
};

}  // namespace

void NestFormulas::drop_work(std::vector<Diagnostic> reasons) {
  std::erase_if(terms, [&](const GuardedTerm& term) { return term.sum >= num_bodies; });
  for (Site& site : sites) site.work.reset();
  num_sums = num_bodies;
  no_work = std::move(reasons);
}

Result<NestFormulas> nest_formulas(const Program& program, bool with_work) {
  return Derivation(program, with_work).run();
}

}  // namespace flashlab::toy::detail
