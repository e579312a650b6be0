// The instruction table: one row per instruction. Everything else is derived from it.
//
// An effect is a captureless generic lambda. It takes the values of the registers (or the cell)
// that are read, in the order of the operands, and returns the value to write. It is instantiated
// for each value type: float, double, tile, shape, symbol. It may use + - * / (elementwise) and the
// functions product, maximum, exponential, logarithm, row_maximum, row_sum, masked and masked_left,
// which every value type provides by argument-dependent lookup or in values.hpp.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <tuple>

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

template <class Effect>
constexpr Row<Effect> row(std::string_view mnemonic, std::initializer_list<OperandKind> kinds,
                          std::string_view operand_names, std::string_view effect_text,
                          std::string_view meaning, std::initializer_list<Level> levels,
                          FlopKind flop_kind, std::int64_t flops, std::string_view example,
                          Effect effect) {
  InstructionSpec spec;
  spec.mnemonic = mnemonic;
  for (OperandKind kind : kinds) spec.operands[spec.num_operands++] = kind;
  spec.operand_names = operand_names;
  spec.effect = effect_text;
  spec.meaning = meaning;
  spec.levels = at_levels(levels);
  spec.flop_kind = flop_kind;
  spec.flops = flops;
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
//   the levels that have it, its kind of FLOPs, FLOPs per unit of work, an example that runs
//   the effect on values of any type: from the operands that are read, in order, to the result
// clang-format off
inline constexpr auto kInstructionRows = std::tuple{
    row("LOAD", {OperandKind::kMemorySource, kDst}, "src, Rd", "Rd = DRAM[src]",
        "Copies one element from DRAM into a register.",
        {kMat, kSof, kAtt}, FlopKind::kNone, 0, "LOAD x[0], R0",
        [](const auto& cell) { return cell; }),
    row("STORE", {kSrc, OperandKind::kMemoryDestination}, "Rs, dst", "DRAM[dst] = Rs",
        "Copies a register into one element of DRAM.",
        {kMat, kSof, kAtt}, FlopKind::kNone, 0, "STORE R0, o[0]",
        [](const auto& a) { return a; }),
    row("MAC_Z", {kFac, kFac, kDst}, "Ra, Rb, Rd", "Rd = Ra x Rb",
        "Multiplies, with no sum to add to: the first term of a dot product.",
        {kMat, kAtt}, FlopKind::kProduct, 2, "MAC_Z R0, R1, R2",
        [](const auto& a, const auto& b) { return product(a, b); }),
    row("MAC", {kFac, kFac, kSrc, kDst}, "Ra, Rb, Rc, Rd", "Rd = Ra x Rb + Rc",
        "Multiplies and adds to a running sum, rounding the product and then the sum.",
        {kMat, kAtt}, FlopKind::kProduct, 2, "MAC R0, R1, R2, R2",
        [](const auto& a, const auto& b, const auto& c) { return product(a, b) + c; }),
    row("MAX", {kSrc, kSrc, kDst}, "Ra, Rb, Rd", "Rd = max(Ra, Rb)",
        "The larger of two registers.",
        {kSof, kAtt}, FlopKind::kElementwise, 1, "MAX R0, R1, R1",
        [](const auto& a, const auto& b) { return maximum(a, b); }),
    row("SUB", {kSrc, kSrc, kDst}, "Ra, Rb, Rd", "Rd = Ra - Rb",
        "The difference of two registers.",
        {kSof, kAtt}, FlopKind::kElementwise, 1, "SUB R0, R1, R0",
        [](const auto& a, const auto& b) { return a - b; }),
    row("EXP", {kSrc, kDst}, "Ra, Rd", "Rd = exp(Ra)",
        "e to the power of a register; counted apart from other FLOPs.",
        {kSof, kAtt}, FlopKind::kExponential, 1, "EXP R0, R0",
        [](const auto& a) { return exponential(a); }),
    row("ADD", {kSrc, kSrc, kDst}, "Ra, Rb, Rd", "Rd = Ra + Rb",
        "The sum of two registers.",
        {kSof, kAtt}, FlopKind::kElementwise, 1, "ADD R2, R0, R2",
        [](const auto& a, const auto& b) { return a + b; }),
    row("MUL", {kSrc, kSrc, kDst}, "Ra, Rb, Rd", "Rd = Ra x Rb",
        "The product of two registers.",
        {kSof, kAtt}, FlopKind::kElementwise, 1, "MUL R2, R3, R2",
        [](const auto& a, const auto& b) { return a * b; }),
    row("DIV", {kSrc, kSrc, kDst}, "Ra, Rb, Rd", "Rd = Ra / Rb",
        "The quotient of two registers.",
        {kSof, kAtt}, FlopKind::kElementwise, 1, "DIV R0, R2, R0",
        [](const auto& a, const auto& b) { return a / b; }),
    row("MOV", {kSrc, kDst}, "Rs, Rd", "Rd = Rs",
        "Copies a register into another.",
        {kSof, kAtt}, FlopKind::kNone, 0, "MOV R0, R2",
        [](const auto& a) { return a; }),
    row("FILL", {OperandKind::kConstant, kDst}, "expr, Rd", "Rd = expr",
        "Puts a constant into a register: 0, -inf, a .const.",
        {kAtt}, FlopKind::kNone, 0, "FILL -inf, R1",
        [](const auto& constant) { return constant; }),
    row("LOG", {kSrc, kDst}, "Ra, Rd", "Rd = log(Ra)",
        "The natural logarithm of a register; counted with the exponentials.",
        {kAtt}, FlopKind::kExponential, 1, "LOG R2, R2",
        [](const auto& a) { return logarithm(a); }),
    row("ROWMAX", {kSrc, kDst}, "Ra, Rd", "Rd = rowmax(Ra)",
        "The largest element of each row of a tile: a column. A scalar stays what it is.",
        {kAtt}, FlopKind::kReduction, 1, "ROWMAX R5, R6",
        [](const auto& a) { return row_maximum(a); }),
    row("ROWSUM", {kSrc, kDst}, "Ra, Rd", "Rd = rowsum(Ra)",
        "The sum of each row of a tile: a column. A scalar stays what it is.",
        {kAtt}, FlopKind::kReduction, 1, "ROWSUM R5, R6",
        [](const auto& a) { return row_sum(a); }),
    row("MASK", {kSrc, OperandKind::kOffset, OperandKind::kOffset, kDst}, "Rs, i, j, Rd",
        "Rd = Rs or -inf",
        "-inf where the column (key) is beyond the row (query); the tile begins at row i, column j.",
        {kAtt}, FlopKind::kNone, 0, "MASK R5, 0, 0, R5",
        [](const auto& a, std::int64_t first_row, std::int64_t first_column) {
          return masked(a, first_row, first_column);
        }),
    row("ATOMIC_ADD", {kSrc, OperandKind::kMemoryUpdate}, "Rs, dst", "DRAM[dst] += Rs",
        "Adds a register to an element of DRAM in one step that no other worker can interrupt.",
        {kAtt}, FlopKind::kElementwise, 1, "ATOMIC_ADD R0, o[0]",
        [](const auto& a, const auto& cell) { return cell + a; }),
    row("WINDOW", {kSrc, OperandKind::kOffset, OperandKind::kOffset, kDst}, "Rs, i, j, Rd",
        "Rd = Rs or -inf",
        "-inf where the column (key) is before the row; the tile begins at row i, column j.",
        {kAtt}, FlopKind::kNone, 0, "WINDOW R5, 0, 0, R5",
        [](const auto& a, std::int64_t first_row, std::int64_t first_column) {
          return masked_left(a, first_row, first_column);
        }),
    row("SEND", {OperandKind::kMessageSource, OperandKind::kReceiver}, "src, to", "link = DRAM[src]",
        "Sends one element of DRAM to another machine; waits until the link's last message is gone.",
        {}, FlopKind::kNone, 0, "SEND x[0], 1 - rank",
        [](const auto& cell) { return cell; }),
    row("RECV", {OperandKind::kSender, OperandKind::kMessageDestination}, "from, dst",
        "DRAM[dst] = link",
        "Waits for the next message of another machine, and puts it into one element of DRAM.",
        {}, FlopKind::kNone, 0, "RECV 1 - rank, o[0]",
        [](const auto& message) { return message; }),
};
// clang-format on

inline constexpr std::size_t kNumRows = std::tuple_size_v<decltype(kInstructionRows)>;

}  // namespace flashlab::toy::detail
