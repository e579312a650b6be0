// Visits each instruction with the facts about the registers before it. A loop's body is visited as
// the first iteration, and then as an iteration that follows others like it. If the two differ, as
// for a sum that starts from a scalar, the first iteration is treated separately ("peeled") and the
// next one is examined. `FILL 0, O` before a loop with `MAC P, V, O, O` needs one such step.
#include "toymachine/count/shape_inference.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "toymachine/count/dimension.hpp"
#include "toymachine/count/register_facts.hpp"
#include "toymachine/execute/execute.hpp"

namespace flashlab::toy::detail {
namespace {

// Effects of the instruction table on shapes that are formulas.

/// By position of the operand.
using TileShapes = std::array<TileShape, kMaxOperands>;

struct TileEffect {
  TileShape (*result)(const TileShapes& operands);
  std::size_t first_read;  // position of the first operand that is read
  std::size_t written;     // and of the one that is written
};

template <std::size_t Row, std::size_t Position>
auto tile_shape_operand(const TileShapes& operands) {
  if constexpr (RowLayout<Row>::spec.operands[Position] == OperandKind::kOffset) {
    return std::int64_t{0};
  } else {
    return operands[Position];
  }
}

template <std::size_t Row, std::size_t... I>
TileShape tile_result(const TileShapes& operands, std::index_sequence<I...>) {
  return std::get<Row>(kInstructionRows)
      .effect(tile_shape_operand<Row, RowLayout<Row>::kReads[I]>(operands)...);
}

template <std::size_t Row>
TileShape tile_result(const TileShapes& operands) {
  return tile_result<Row>(operands, std::make_index_sequence<RowLayout<Row>::kNumReads>{});
}

template <std::size_t... Row>
constexpr std::array<TileEffect, kNumRows> tile_effects(std::index_sequence<Row...>) {
  return {TileEffect{&tile_result<Row>, RowLayout<Row>::kReads[0], RowLayout<Row>::kWritten}...};
}

/// By row of the instruction table.
constexpr auto kTileEffects = tile_effects(std::make_index_sequence<kNumRows>{});

/// Iterations of one loop that may be treated separately from the others.
constexpr std::size_t kMostPeeled = 3;

/// Limit on the facts examined, in units of eight; nested loops multiply visits. About a second.
constexpr std::size_t kMostInferenceVisits = 60'000;

/// The effects of statements.
struct Outcome {
  RegisterFacts writes;
  WorkTerms work;
  bool operator==(const Outcome& other) const = default;
};

class Inference {
 public:
  explicit Inference(const Inequalities& domain) : knowledge_(domain) {}

  Result<InferredWork> run(const ShapeNest& nest, const NestLoop* machines) {
    if (machines) knowledge_.enter(*machines);
    auto outcome = statements(nest, {});
    if (!outcome) return *refusal_;
    if (machines) {
      knowledge_.leave();
      outcome->work = inside(*machines, std::move(outcome->work));
    }
    return InferredWork{std::move(outcome->work), knowledge_.adopted()};
  }

 private:
  std::nullopt_t refuse(const SourceSpan& span, std::string what, std::string expected) {
    refusal_ = {Severity::kError, Fault::kProgram, span, std::move(what), std::move(expected), {}};
    return std::nullopt;
  }

  std::nullopt_t too_long(const SourceSpan& span) {
    return refuse(span, "the shapes of registers take too long to determine",
                  "fewer loops inside each other");
  }

  bool visit(std::size_t facts) {
    visits_ += facts;
    return visits_ <= kMostInferenceVisits;
  }

  std::optional<Outcome> statements(const ShapeNest& nest, RegisterFacts before) {
    Outcome all;
    for (const ShapeStatement& statement : nest) {
      const auto* instruction = std::get_if<ShapeInstruction>(&statement.node);
      const auto outcome = instruction ? execute(*instruction, before)
                                       : repeat(std::get<ShapeLoop>(statement.node), before);
      if (!outcome) return std::nullopt;
      add_facts(before, outcome->writes);
      add_facts(all.writes, outcome->writes);
      add_terms(all.work, outcome->work);
    }
    return all;
  }

  // Instructions -------------------------------------------------------------------------------

  std::optional<Outcome> execute(const ShapeInstruction& instruction, const RegisterFacts& before) {
    if (!visit(1 + before.size() / 8)) return too_long(instruction.span);
    for (const bool narrow : {false, true}) {
      if (auto outcome = execute(instruction, before, narrow)) return outcome;
    }
    return std::nullopt;
  }

  std::optional<Outcome> execute(const ShapeInstruction& instruction, const RegisterFacts& before,
                                 bool narrow) {
    std::vector<TileShapes> choices(1);
    for (std::size_t at = 0; at < instruction.operands.size(); ++at) {
      const ShapeOperand& operand = instruction.operands[at];
      if (!is_read(operand.kind)) continue;
      const auto shapes = operand.kind == OperandKind::kSender
                              ? std::vector<TileShape>{message_of(instruction)}
                              : shapes_of_operand(operand, before, narrow);
      if (shapes.empty()) {
        return refuse(operand.span, "the shape that this register has here is not always the same",
                      "a shape that does not depend on which iterations came before");
      }
      std::vector<TileShapes> next;
      for (TileShapes choice : choices) {
        for (const TileShape& shape : shapes) {
          choice[at] = operand.transposed ? transposed(shape) : shape;
          next.push_back(choice);
        }
      }
      choices = std::move(next);
    }
    return apply(instruction, choices);
  }

  /// A message fills the cell that receives it.
  static TileShape message_of(const ShapeInstruction& instruction) {
    for (const ShapeOperand& operand : instruction.operands) {
      if (is_memory(operand.kind)) return operand.cell;
    }
    return TileShape{Dimension(1), Dimension(1)};
  }

  std::vector<TileShape> shapes_of_operand(const ShapeOperand& operand, const RegisterFacts& before,
                                           bool narrow) {
    if (is_memory(operand.kind)) return {operand.cell};
    if (!is_register(operand.kind)) return {TileShape{Dimension(1), Dimension(1)}};
    return shapes_of(operand.register_index, before, narrow, knowledge_);
  }

  /// All choices must give the same work.
  std::optional<Outcome> apply(const ShapeInstruction& instruction,
                               const std::vector<TileShapes>& choices) {
    const TileEffect& effect = kTileEffects[instruction.row];
    const ShapeOperand& target = instruction.operands[effect.written];
    const bool to_memory = is_memory(target.kind);
    const FlopKind kind = instruction_set()[instruction.row].flop_kind;
    std::optional<WorkTerms> work;
    RegisterFact fact{target.register_index, {}, {}, true, {}, {}, false};
    for (const TileShapes& operands : choices) {
      TileShape result = effect.result(operands);
      if (to_memory && result.fits) {
        result = broadcast(target.cell, result) == target.cell ? target.cell : misfit<Dimension>();
      }
      if (!result.fits) {
        return refuse(instruction.span, "these tiles do not always fit together",
                      "tiles of equal extents, tile sizes and indices");
      }
      WorkTerms own = work_terms(instruction.site, kind, operands[effect.first_read], result);
      if (work && *work != own) {
        return refuse(instruction.span,
                      "the shapes of the tiles depend on whether an earlier loop runs",
                      "a loop that runs at least once");
      }
      work = std::move(own);
      unite(fact.shapes, {result});
    }
    Outcome outcome{{}, std::move(*work)};
    if (!to_memory) outcome.writes.push_back(std::move(fact));
    return outcome;
  }

  // Loops --------------------------------------------------------------------------------------

  /// Whether the loop has at most `number` iterations.
  bool at_most(const NestLoop& range, std::size_t number) const {
    return is_leaf(range.lower) &&
           knowledge_.at_least(value_in_iteration(range, number), range.upper);
  }

  Certainty more_than(const NestLoop& range, std::size_t number) const {
    return knowledge_.less(range.lower, range.step * Polynomial(static_cast<long>(number)),
                           range.upper);
  }

  std::optional<Outcome> body(const ShapeLoop& loop, std::size_t skipped,
                              const RegisterFacts& before) {
    knowledge_.enter(without_first(loop.range, skipped));
    auto outcome = statements(loop.body, before);
    knowledge_.leave();
    return outcome;
  }

  std::optional<Outcome> repeat(const ShapeLoop& loop, const RegisterFacts& before) {
    if (!visit(1 + before.size() / 8)) return too_long(loop.span);
    if (at_most(loop.range, 0)) return Outcome{};
    return at_most(loop.range, 1) ? once(loop, before) : many(loop, before);
  }

  std::optional<Outcome> once(const ShapeLoop& loop, const RegisterFacts& before) {
    const ShapeNest body =
        with(loop.body, loop_atom(loop.range.number), loop.range.lower.polynomial);
    auto outcome = statements(body, before);
    if (!outcome) return std::nullopt;
    only_if_more_than(loop.range, 0, outcome->writes, outcome->writes);
    outcome->work = at_iteration(loop.range, 0, std::move(outcome->work));
    return outcome;
  }

  std::optional<Outcome> many(const ShapeLoop& loop, RegisterFacts before) {
    std::vector<Outcome> versions;  // of the first iterations, and of all later ones
    bool others = true;             // whether the last version is for many iterations
    while (others) {
      const std::size_t peeled = versions.size();
      if (peeled > kMostPeeled) {
        return refuse(loop.span, "the shapes of registers differ from iteration to iteration",
                      "shapes that settle after " + std::to_string(kMostPeeled) + " iterations");
      }
      if (peeled > 0) add_facts(before, in_iteration(versions.back().writes, loop, peeled - 1));
      auto version = body(loop, peeled, before);
      if (!version) return std::nullopt;
      versions.push_back(std::move(*version));
      if (at_most(loop.range, peeled + 1)) {
        others = false;
      } else if (settles(loop, peeled, before, versions.back())) {
        break;
      }
    }
    return result(loop, versions, others);
  }

  /// Whether iterations like this one, one after another, stay like this one.
  bool settles(const ShapeLoop& loop, std::size_t peeled, RegisterFacts before,
               const Outcome& version) {
    if (!visit(version.writes.size() * version.writes.size() / 8)) return false;
    NestLoop earlier = without_first(loop.range, peeled);
    const Polynomial variable = loop_atom(loop.range.number);
    earlier.upper = leaf(variable);
    add_facts(before, of_all_iterations(version.writes, earlier, &variable, knowledge_));
    const auto next = body(loop, peeled + 1, before);
    return next && *next == version;
  }

  /// Returns the writes of one of the first iterations.
  RegisterFacts in_iteration(const RegisterFacts& writes, const ShapeLoop& loop,
                             std::size_t number) {
    if (is_leaf(loop.range.lower)) {
      return of_iteration(writes, loop_atom(loop.range.number),
                          value_in_iteration(loop.range, number));
    }
    RegisterFacts facts = of_all_iterations(writes, loop.range, nullptr, knowledge_);
    for (RegisterFact& fact : facts) fact.certain = fact.certain && fact.over.empty();
    return facts;
  }

  /// Adds the writes as facts that hold only if the loop has more than `number` iterations.
  void only_if_more_than(const NestLoop& range, std::size_t number, const RegisterFacts& writes,
                         RegisterFacts& facts) const {
    const Polynomial passed = range.step * Polynomial(static_cast<long>(number));
    const Certainty certainty = knowledge_.less(range.lower, passed, range.upper);
    std::vector<Polynomial> given;
    add_less(range.lower, passed, range.upper, given);
    for (std::size_t i = 0; i < facts.size(); ++i) {
      RegisterFact& fact = facts[i];
      if (fact.over.size() > writes[i].over.size()) continue;
      fact.certain = fact.certain && certainty.possible;
      fact.needs.insert(fact.needs.end(), certainty.needs.begin(), certainty.needs.end());
      fact.given.insert(fact.given.end(), given.begin(), given.end());
    }
  }

  Outcome result(const ShapeLoop& loop, const std::vector<Outcome>& versions, bool others) {
    Outcome all;
    for (std::size_t i = 0; i < versions.size(); ++i) {
      const bool is_last = i + 1 == versions.size();
      RegisterFacts facts = is_last && others ? after_all(versions[i].writes, loop, i)
                                              : in_iteration(versions[i].writes, loop, i);
      only_if_more_than(loop.range, i, versions[i].writes, facts);
      add_facts(all.writes, facts);
    }
    const WorkTerms& usual = versions.back().work;
    all.work = inside(loop.range, usual);
    for (std::size_t i = 0; i + 1 < versions.size(); ++i) {
      WorkTerms excess = versions[i].work;
      add_terms(excess, usual, -1);
      add_terms(all.work, at_iteration(loop.range, i, std::move(excess)));
    }
    return all;
  }

  RegisterFacts after_all(const RegisterFacts& writes, const ShapeLoop& loop, std::size_t peeled) {
    const NestLoop range = without_first(loop.range, peeled);
    const bool last_is_known = is_leaf(range.upper) && range.step == Polynomial(1);
    return of_all_iterations(writes, range, last_is_known ? &range.upper.polynomial : nullptr,
                             knowledge_);
  }

  /// Returns the terms of one iteration only, if that iteration exists.
  WorkTerms at_iteration(const NestLoop& range, std::size_t number, WorkTerms terms) const {
    const NestLoop only = only_first(without_first(range, number));
    if (!is_leaf(range.lower)) return inside(only, std::move(terms));
    terms = at_value(std::move(terms), loop_atom(range.number), value_in_iteration(range, number));
    const Certainty runs = more_than(range, number);
    return runs.possible && runs.needs.empty() ? terms : inside(only, std::move(terms));
  }

  Knowledge knowledge_;
  std::optional<Diagnostic> refusal_;
  std::size_t visits_ = 0;
};

}  // namespace

Result<InferredWork> infer_work(const ShapeNest& nest, const Inequalities& domain,
                                const NestLoop* machines) {
  return Inference(domain).run(nest, machines);
}

}  // namespace flashlab::toy::detail
