#include "exercises/grader/repair/operand_rules.hpp"

#include <algorithm>
#include <array>

#include "toymachine/forms/form_algebra.hpp"

namespace flashlab::exercises {
namespace {

using toy::InstructionStatement;
using toy::OperandKind;

/// Whether `longer` has the operands of `shorter` and one more source at `position`.
bool has_one_more(const toy::InstructionSpec& longer, const toy::InstructionSpec& shorter,
                  std::size_t position) {
  if (longer.operands[position] != OperandKind::kSource) return false;
  std::vector<OperandKind> kinds(longer.kinds().begin(), longer.kinds().end());
  kinds.erase(kinds.begin() + static_cast<std::ptrdiff_t>(position));
  return std::equal(kinds.begin(), kinds.end(), shorter.kinds().begin(), shorter.kinds().end());
}

}  // namespace

bool order_matters(std::size_t row) {
  const toy::InstructionSpec& spec = toy::instruction_set()[row];
  if (spec.num_operands != 3) return false;
  for (std::size_t i = 0; i < 2; ++i) {
    if (!toy::is_register_read(spec.operands[i])) return false;
  }
  constexpr std::array<double, 2> kOneWay{2, 3}, kOther{3, 2};
  const double one = toy::numeric_effect(row, kOneWay), other = toy::numeric_effect(row, kOther);
  return one < other || other < one;  // not if one of them is NaN
}

bool same_operands(const toy::InstructionSpec& a, const toy::InstructionSpec& b) {
  const auto sort = [](OperandKind kind) {
    return kind == OperandKind::kFactor         ? OperandKind::kSource
           : kind == OperandKind::kMemoryUpdate ? OperandKind::kMemoryDestination
                                                : kind;
  };
  return std::equal(a.kinds().begin(), a.kinds().end(), b.kinds().begin(), b.kinds().end(),
                    [&](OperandKind x, OperandKind y) { return sort(x) == sort(y); });
}

bool refit(const toy::InstructionSpec& from, const toy::InstructionSpec& to,
           std::vector<toy::Operand>& operands) {
  if (from.flop_kind != to.flop_kind || from.flop_kind == toy::FlopKind::kNone) return false;
  const bool grows = to.num_operands == from.num_operands + 1;
  if (!grows && from.num_operands != to.num_operands + 1) return false;
  const toy::InstructionSpec &longer = grows ? to : from, &shorter = grows ? from : to;
  for (std::size_t i = 0; i < longer.num_operands; ++i) {
    if (!has_one_more(longer, shorter, i)) continue;
    const auto place = operands.begin() + static_cast<std::ptrdiff_t>(i);
    if (grows) {
      operands.insert(place, operands.back());  // the destination is also the summand
    } else {
      operands.erase(place);
    }
    return true;
  }
  return false;
}

bool is_copy(const toy::InstructionSpec& spec) {
  constexpr std::array kKinds{OperandKind::kSource, OperandKind::kDestination};
  return spec.flop_kind == toy::FlopKind::kNone &&
         std::equal(kKinds.begin(), kKinds.end(), spec.kinds().begin(), spec.kinds().end());
}

bool takes_two(const toy::InstructionSpec& spec) {
  return spec.num_operands == 3 && toy::is_register_read(spec.operands[0]) &&
         toy::is_register_read(spec.operands[1]) && spec.operands[2] == OperandKind::kDestination;
}

bool is_pinned(const InstructionStatement& instruction) {
  std::int64_t factor = 0;
  for (const toy::Operand& operand : instruction.operands) {
    if (operand.kind != OperandKind::kFactor) continue;
    const toy::Expression& index = *operand.register_index;
    if (index.op != toy::ExpressionOp::kInteger || index.integer != factor++) return false;
  }
  return true;
}

std::optional<std::pair<std::size_t, std::size_t>> exchangeable(const toy::InstructionSpec& spec,
                                                                bool tiled) {
  std::vector<std::size_t> sources;
  for (std::size_t i = 0; i < spec.num_operands; ++i) {
    if (!toy::is_register_read(spec.operands[i])) continue;
    if (!sources.empty() && spec.operands[i] != spec.operands[sources[0]]) continue;
    sources.push_back(i);
  }
  if (sources.size() != 2) return std::nullopt;
  const auto row = static_cast<std::size_t>(&spec - toy::instruction_set().data());
  const bool factors = tiled && spec.operands[sources[0]] == OperandKind::kFactor;
  if (!factors && !order_matters(row)) return std::nullopt;
  return std::pair(sources[0], sources[1]);
}

std::string operand_name(const toy::InstructionSpec& spec, std::size_t position) {
  std::string_view names = spec.operand_names;
  for (std::size_t i = 0; i < position; ++i) names.remove_prefix(names.find(',') + 2);
  return std::string(names.substr(0, names.find(',')));
}

}  // namespace flashlab::exercises
