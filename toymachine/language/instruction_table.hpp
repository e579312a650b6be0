// The instruction table: one row per instruction. Everything else is derived from it.
//
// An effect is a captureless generic lambda. It takes the values of the registers (or the cell)
// that are read, in the order of the operands, and returns the value to write. It is a composition of
// operations (operations.hpp), and is instantiated for each type of values: numbers, tiles, shapes,
// symbols, forms, value numbers, trees, and its own work.
#pragma once

#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <stdexcept>
#include <tuple>
#include <type_traits>

#include "toymachine/language/instruction_set.hpp"
#include "toymachine/language/values.hpp"

namespace flashlab::toy::detail {

template <class Effect>
struct Row {
  InstructionSpec spec;
  Effect effect;
};

constexpr std::array<bool, 3> at_levels(std::initializer_list<Level> levels) {
  std::array<bool, 3> result{};
  for (Level level : levels) result[static_cast<std::size_t>(level)] = true;
  return result;
}

/// The FLOPs of an effect, for each unit of its work.
struct EffectWork {
  FlopKind kind = FlopKind::kNone;
  std::int64_t flops = 0;
};

template <Operation kOperation, std::same_as<EffectWork>... Work>
constexpr EffectWork operated(OperationTag<kOperation>, const Work&... arguments) {
  EffectWork all{spec_of(kOperation).flop_kind, spec_of(kOperation).flops};
  for (const EffectWork& argument : {arguments...}) {
    if (argument.kind == FlopKind::kNone) continue;
    if (argument.kind == FlopKind::kProduct && kOperation == Operation::kPlus) return argument;
    if (argument.kind != all.kind) throw std::logic_error("an effect with two kinds of FLOPs");
    all.flops += argument.flops;
  }
  return all;
}
/// Of a mask, or of the numbers of rows or columns.
template <Operation kOperation, std::same_as<std::int64_t>... Offset>
requires(sizeof...(Offset) > 0) constexpr EffectWork
    operated(OperationTag<kOperation>, const EffectWork& a, Offset...) {
  return a;
}

template <class Effect>
constexpr EffectWork effect_work(Effect effect) {
  constexpr EffectWork kRead;
  if constexpr (std::is_invocable_v<Effect, EffectWork>) {
    return effect(kRead);
  } else if constexpr (std::is_invocable_v<Effect, EffectWork, EffectWork>) {
    return effect(kRead, kRead);
  } else if constexpr (std::is_invocable_v<Effect, EffectWork, EffectWork, EffectWork>) {
    return effect(kRead, kRead, kRead);
  } else if constexpr (std::is_invocable_v<Effect, EffectWork, std::int64_t>) {
    return effect(kRead, std::int64_t{0});
  } else {
    return effect(kRead, std::int64_t{0}, std::int64_t{0});
  }
}

template <class Effect>
constexpr Row<Effect> row(std::string_view mnemonic, std::initializer_list<OperandKind> kinds,
                          std::string_view operand_names, std::string_view effect_text,
                          std::string_view meaning, std::initializer_list<Level> levels,
                          std::string_view example, Effect effect) {
  const EffectWork work = effect_work(effect);
  InstructionSpec spec;
  spec.mnemonic = mnemonic;
  for (OperandKind kind : kinds) spec.operands[spec.num_operands++] = kind;
  spec.operand_names = operand_names;
  spec.effect = effect_text;
  spec.meaning = meaning;
  spec.levels = at_levels(levels);
  spec.flop_kind = work.kind;
  spec.flops = work.flops;
  spec.example = example;
  return {spec, effect};
}

inline constexpr auto kSrc = OperandKind::kSource;
inline constexpr auto kFac = OperandKind::kFactor;
inline constexpr auto kDst = OperandKind::kDestination;
inline constexpr auto kMat = Level::kMatmul;
inline constexpr auto kSof = Level::kSoftmax;
inline constexpr auto kAtt = Level::kAttention;

// A row contains, line by line:
//   mnemonic, kinds of the operands, their names, the effect in register notation
//   the meaning, as `flashlab isa` prints it
//   the levels that have it (none: a program asks for it, `.isa attention, TANH`), an example that runs
//   the effect on values of any type: from the operands that are read, in order, to the result
// clang-format off
inline constexpr auto kInstructionRows = std::tuple{
    row("LOAD", {OperandKind::kMemorySource, kDst}, "src, Rd", "Rd = DRAM[src]",
        "Copies one element from DRAM into a register.",
        {kMat, kSof, kAtt}, "LOAD x[0], R0",
        [](const auto& cell) { return cell; }),
    row("STORE", {kSrc, OperandKind::kMemoryDestination}, "Rs, dst", "DRAM[dst] = Rs",
        "Copies a register into one element of DRAM.",
        {kMat, kSof, kAtt}, "STORE R0, o[0]",
        [](const auto& a) { return a; }),
    row("MAC_Z", {kFac, kFac, kDst}, "Ra, Rb, Rd", "Rd = Ra x Rb",
        "Multiplies, with no sum to add to: the first term of a dot product.",
        {kMat, kAtt}, "MAC_Z R0, R1, R2",
        [](const auto& a, const auto& b) { return product(a, b); }),
    row("MAC", {kFac, kFac, kSrc, kDst}, "Ra, Rb, Rc, Rd", "Rd = Ra x Rb + Rc",
        "Multiplies and adds to a running sum, rounding the product and then the sum.",
        {kMat, kAtt}, "MAC R0, R1, R2, R2",
        [](const auto& a, const auto& b, const auto& c) { return product(a, b) + c; }),
    row("MAX", {kSrc, kSrc, kDst}, "Ra, Rb, Rd", "Rd = max(Ra, Rb)",
        "The larger of two registers.",
        {kSof, kAtt}, "MAX R0, R1, R1",
        [](const auto& a, const auto& b) { return maximum(a, b); }),
    row("SUB", {kSrc, kSrc, kDst}, "Ra, Rb, Rd", "Rd = Ra - Rb",
        "The difference of two registers.",
        {kSof, kAtt}, "SUB R0, R1, R0",
        [](const auto& a, const auto& b) { return a - b; }),
    row("EXP", {kSrc, kDst}, "Ra, Rd", "Rd = exp(Ra)",
        "e to the power of a register; counted apart from other FLOPs.",
        {kSof, kAtt}, "EXP R0, R0",
        [](const auto& a) { return exponential(a); }),
    row("ADD", {kSrc, kSrc, kDst}, "Ra, Rb, Rd", "Rd = Ra + Rb",
        "The sum of two registers.",
        {kSof, kAtt}, "ADD R2, R0, R2",
        [](const auto& a, const auto& b) { return a + b; }),
    row("MUL", {kSrc, kSrc, kDst}, "Ra, Rb, Rd", "Rd = Ra x Rb",
        "The product of two registers.",
        {kSof, kAtt}, "MUL R2, R3, R2",
        [](const auto& a, const auto& b) { return a * b; }),
    row("DIV", {kSrc, kSrc, kDst}, "Ra, Rb, Rd", "Rd = Ra / Rb",
        "The quotient of two registers.",
        {kSof, kAtt}, "DIV R0, R2, R0",
        [](const auto& a, const auto& b) { return a / b; }),
    row("MOV", {kSrc, kDst}, "Rs, Rd", "Rd = Rs",
        "Copies a register into another.",
        {kSof, kAtt}, "MOV R0, R2",
        [](const auto& a) { return a; }),
    row("FILL", {OperandKind::kConstant, kDst}, "expr, Rd", "Rd = expr",
        "Puts a constant into a register: 0, -inf, a .const.",
        {kAtt}, "FILL -inf, R1",
        [](const auto& constant) { return constant; }),
    row("LOG", {kSrc, kDst}, "Ra, Rd", "Rd = log(Ra)",
        "The natural logarithm of a register; counted with the exponentials.",
        {kAtt}, "LOG R2, R2",
        [](const auto& a) { return logarithm(a); }),
    row("ROWMAX", {kSrc, kDst}, "Ra, Rd", "Rd = rowmax(Ra)",
        "The largest element of each row of a tile: a column. A scalar stays what it is.",
        {kAtt}, "ROWMAX R5, R6",
        [](const auto& a) { return row_maximum(a); }),
    row("ROWSUM", {kSrc, kDst}, "Ra, Rd", "Rd = rowsum(Ra)",
        "The sum of each row of a tile: a column. A scalar stays what it is.",
        {kAtt}, "ROWSUM R5, R6",
        [](const auto& a) { return row_sum(a); }),
    row("MASK", {kSrc, OperandKind::kOffset, OperandKind::kOffset, kDst}, "Rs, i, j, Rd",
        "Rd = Rs or -inf",
        "-inf where the column (key) is beyond the row (query); the tile begins at row i, column j.",
        {kAtt}, "MASK R5, 0, 0, R5",
        [](const auto& a, std::int64_t first_row, std::int64_t first_column) {
          return masked(a, first_row, first_column);
        }),
    row("ATOMIC_ADD", {kSrc, OperandKind::kMemoryUpdate}, "Rs, dst", "DRAM[dst] += Rs",
        "Adds a register to an element of DRAM in one step that no other worker can interrupt.",
        {kAtt}, "ATOMIC_ADD R0, o[0]",
        [](const auto& a, const auto& cell) { return cell + a; }),
    row("WINDOW", {kSrc, OperandKind::kOffset, OperandKind::kOffset, kDst}, "Rs, i, j, Rd",
        "Rd = Rs or -inf",
        "-inf where the column (key) is before the row; the tile begins at row i, column j.",
        {kAtt}, "WINDOW R5, 0, 0, R5",
        [](const auto& a, std::int64_t first_row, std::int64_t first_column) {
          return masked_left(a, first_row, first_column);
        }),
    row("SEND", {OperandKind::kMessageSource, OperandKind::kReceiver}, "src, to", "link = DRAM[src]",
        "Sends one element of DRAM to another machine; waits until the link's last message is gone.",
        {}, "SEND x[0], 1 - rank",
        [](const auto& cell) { return cell; }),
    row("RECV", {OperandKind::kSender, OperandKind::kMessageDestination}, "from, dst",
        "DRAM[dst] = link",
        "Waits for the next message of another machine, and puts it into one element of DRAM.",
        {}, "RECV 1 - rank, o[0]",
        [](const auto& message) { return message; }),
    row("MIN", {kSrc, kSrc, kDst}, "Ra, Rb, Rd", "Rd = min(Ra, Rb)",
        "The smaller of two registers.",
        {}, "MIN R0, R1, R1",
        [](const auto& a, const auto& b) { return minimum(a, b); }),
    row("ABS", {kSrc, kDst}, "Ra, Rd", "Rd = abs(Ra)",
        "A register without its sign.",
        {}, "ABS R0, R0",
        [](const auto& a) { return absolute(a); }),
    row("TANH", {kSrc, kDst}, "Ra, Rd", "Rd = tanh(Ra)",
        "The hyperbolic tangent, between -1 and 1; counted with the exponentials.",
        {}, "TANH R0, R0",
        [](const auto& a) { return hyperbolic_tangent(a); }),
    row("RSQRT", {kSrc, kDst}, "Ra, Rd", "Rd = 1/sqrt(Ra)",
        "1 divided by the square root of a positive register; counted with the exponentials.",
        {}, "RSQRT R0, R0",
        [](const auto& a) { return reciprocal_root(a); }),
    row("RCP", {kSrc, kDst}, "Ra, Rd", "Rd = 1/Ra",
        "1 divided by a register that is not 0; counted with the exponentials.",
        {}, "RCP R0, R0",
        [](const auto& a) { return reciprocal(a); }),
    row("EXP2", {kSrc, kDst}, "Ra, Rd", "Rd = exp2(Ra)",
        "2 to the power of a register; counted with the exponentials.",
        {}, "EXP2 R0, R0",
        [](const auto& a) { return binary_exponential(a); }),
    row("LOG2", {kSrc, kDst}, "Ra, Rd", "Rd = log2(Ra)",
        "The logarithm to base 2 of a positive register; counted with the exponentials.",
        {}, "LOG2 R0, R0",
        [](const auto& a) { return binary_logarithm(a); }),
    row("LESS", {kSrc, kSrc, kDst}, "Ra, Rb, Rd", "Rd = Ra < Rb",
        "1 where the first of two registers is smaller, 0 elsewhere.",
        {}, "LESS R0, R1, R2",
        [](const auto& a, const auto& b) { return less(a, b); }),
    row("SELECT", {kSrc, kSrc, kSrc, kDst}, "Ra, Rb, Rc, Rd", "Rd = Rb or Rc",
        "The second register where the first is not 0, the third elsewhere; -inf is one more number.",
        {}, "SELECT R2, R0, R1, R0",
        [](const auto& condition, const auto& a, const auto& b) {
          return selected(condition, a, b);
        }),
    row("ROW", {kSrc, OperandKind::kOffset, kDst}, "Rs, i, Rd", "Rd = row",
        "The number of each element's row, for a tile like Rs that begins at row i.",
        {}, "ROW R5, 0, R6",
        [](const auto& a, std::int64_t first_row) { return row_number(a, first_row); }),
    row("COL", {kSrc, OperandKind::kOffset, kDst}, "Rs, j, Rd", "Rd = column",
        "The number of each element's column, for a tile like Rs that begins at column j.",
        {}, "COL R5, 0, R6",
        [](const auto& a, std::int64_t first_column) { return column_number(a, first_column); }),
};
// clang-format on

inline constexpr std::size_t kNumRows = std::tuple_size_v<decltype(kInstructionRows)>;

}  // namespace flashlab::toy::detail
