// Which kinds of names can stand behind the beginning of a line, for editors.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "toymachine/language/program.hpp"
#include "toymachine/language/source_words.hpp"

namespace flashlab::toy {

/// What decides, beside the line: how a program's operands are written.
struct OperandStyle {
  OperandRule rule = OperandRule::kAny;
  bool is_score_function = false;  // constants may stand for registers
};

/// Returns the style of a text, also with errors.
OperandStyle operand_style(const SourceText& source);

struct NextNames {
  bool registers = false, arrays = false, params = false, consts = false, loop_vars = false,
       labels = false;
  bool only_written = false;  // of arrays: no inputs
  /// Of the kind that the line declares: those before the name in this column. 0: all.
  std::uint32_t before_column = 0;
  WordKind declared_kind = WordKind::kUnknown;
  std::optional<std::int64_t> factor{};  // of registers: this one, as operands are pinned
  const char* keyword = nullptr;         // of a loop: "in", "step"

  bool takes(WordKind kind) const;
};

/// `start`: the line before the word that is typed, at least its first word.
NextNames next_names(std::string_view start, const OperandStyle& style);

}  // namespace flashlab::toy
