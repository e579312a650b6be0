#include "toymachine/language/next_names.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "text/lists.hpp"
#include "toymachine/language/directive.hpp"
#include "toymachine/language/expression_parser.hpp"
#include "toymachine/language/instruction_set.hpp"
#include "toymachine/language/lexer.hpp"

namespace flashlab::toy {
namespace {

using detail::Directive;
using detail::Token;
using detail::TokenKind;
using detail::Usage;

NextNames of_usage(Usage usage) {
  NextNames names;
  names.params = true;
  names.consts = usage == Usage::kConst || usage == Usage::kClaim;
  names.loop_vars = usage != Usage::kParam && usage != Usage::kConst;
  names.arrays = names.labels = usage == Usage::kClaim;
  return names;
}

NextNames registers() {
  NextNames names;
  names.registers = true;
  return names;
}

NextNames arrays(bool only_written) {
  NextNames names;
  names.arrays = true;
  names.only_written = only_written;
  return names;
}

NextNames keyword(const char* word) {
  NextNames names;
  names.keyword = word;
  return names;
}

/// The tokens of a line's beginning, from left to right.
class LineStart {
 public:
  LineStart(std::string_view text, const OperandStyle& style) : style_(style) {
    std::vector<Diagnostic> ignored;
    tokens_ = detail::tokenize(text, 1, ignored);
    tokens_.pop_back();  // the line's end
    const bool is_range = !tokens_.empty() && tokens_.back().is("..") &&
                          tokens_.back().span.column + 1 == text.size();
    is_inside_number_ = text.ends_with('.') && !is_range;
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (tokens_[i].is("(") || tokens_[i].is("[")) open_.push_back(i);
      if ((tokens_[i].is(")") || tokens_[i].is("]")) && !open_.empty()) open_.pop_back();
      if (open_.empty()) top_.push_back(i);
    }
  }

  NextNames run() const {
    if (tokens_.empty() || is_inside_number_) return {};
    const Token& first = tokens_.front();
    if (first.kind == TokenKind::kDirective) {
      const auto directive = detail::find_directive(first.text);
      return directive ? after_directive(*directive) : NextNames{};
    }
    if (first.is_word("for")) return after_for();
    if (first.kind != TokenKind::kIdentifier || first.is_word("end")) return {};
    return after_mnemonic(find_instruction(first.text));
  }

 private:
  /// Whether the last token ends a value, so that only a sign can follow.
  bool ends_value() const {
    const Token& last = tokens_.back();
    if (last.kind == TokenKind::kPunctuation) return last.is("]") || last.is(")");
    return !last.is_word("in") && !last.is_word("step") && !last.is_word("of") &&
           !last.is_word("tile");
  }
  bool is_in_index() const {
    return std::any_of(open_.begin(), open_.end(),
                       [&](std::size_t at) { return tokens_[at].is("["); });
  }
  std::size_t count_at_top(std::string_view text) const {
    return static_cast<std::size_t>(std::count_if(top_.begin(), top_.end(), [&](std::size_t at) {
      return tokens_[at].is(text) || tokens_[at].is_word(text);
    }));
  }

  /// Inside an expression of which something may be there already.
  NextNames expression(Usage usage, bool has_begun = true) const {
    if (has_begun && ends_value()) return {};
    if (!open_.empty() && open_.back() > 0 && open_.back() + 1 == tokens_.size()) {
      const Token& function = tokens_[open_.back() - 1];
      if (function.is_word("tiles") || function.is_word("extent")) return arrays(false);
    }
    return of_usage(usage);
  }

  NextNames after_for() const {
    if (tokens_.size() == 1) return {};
    if (tokens_.size() == 2) return keyword("in");
    if (!tokens_[2].is_word("in")) return {};
    if (count_at_top("step") > 0) return expression(Usage::kParam);
    if (open_.empty() && ends_value() && count_at_top("..") > 0) return keyword("step");
    return expression(Usage::kBound);
  }

  NextNames after_directive(Directive directive) const {
    switch (directive) {
      case Directive::kIsa:
      case Directive::kOperands:
      case Directive::kPass:
      case Directive::kUse:
        return {};
      case Directive::kRegisters:
        return expression(Usage::kParam, tokens_.size() > 1);
      case Directive::kMachines:
      case Directive::kParam:
        return after_sign(Usage::kParam);
      case Directive::kConst:
        return after_sign(Usage::kConst);
      case Directive::kReg:
      case Directive::kInput:
      case Directive::kTemp:
      case Directive::kOutput:
        return open_.empty() ? NextNames{} : expression(Usage::kParam);
      case Directive::kName:
        return after_name();
      case Directive::kScore:
        return after_score();
    }
    return {};
  }

  /// The value behind the last name's '='.
  NextNames after_sign(Usage usage) const {
    const auto last = std::find_if(top_.rbegin(), top_.rend(), [&](std::size_t at) {
      return tokens_[at].is("=") || tokens_[at].is(",");
    });
    if (last == top_.rend() || tokens_[*last].is(",")) return {};
    NextNames names = expression(usage);
    names.before_column = *last > 0 ? tokens_[*last - 1].span.column : 1;
    names.declared_kind = usage == Usage::kConst ? WordKind::kConst : WordKind::kParam;
    return names;
  }

  NextNames after_name() const {
    const std::size_t signs = count_at_top("=");
    if (signs > 1) return expression(Usage::kClaim);
    if (!open_.empty()) return expression(Usage::kIndex);
    return tokens_.size() == 1 ? registers() : NextNames{};
  }

  NextNames after_score() const {
    if (tokens_.size() == 1) return registers();
    if (!open_.empty()) return expression(Usage::kParam);
    const bool is_index = count_at_top(",") > 0 && count_at_top("of") == 0;
    return is_index ? expression(Usage::kIndex) : NextNames{};
  }

  NextNames after_mnemonic(std::optional<std::size_t> row) const {
    const std::size_t position = count_at_top(",");
    const bool is_first = position == 0 && tokens_.size() == 1;
    const bool begins = is_first || (open_.empty() && tokens_.back().is(","));
    if (!row) {  // misspelled: what an operand may be
      if (!open_.empty()) return expression(Usage::kIndex);
      if (!begins) return {};
      NextNames names = of_usage(Usage::kClaim);
      names.registers = true;
      names.labels = false;
      return names;
    }
    const InstructionSpec& spec = instruction_set()[*row];
    if (position >= spec.num_operands) return {};
    const OperandKind kind = spec.operands[position];
    if (is_in_index()) return expression(Usage::kIndex);
    if (kind == OperandKind::kConstant) return expression(Usage::kConst, !begins);
    if (kind == OperandKind::kOffset || is_machine(kind)) {
      return expression(Usage::kIndex, !begins);
    }
    if (is_memory(kind)) return begins ? arrays(is_memory_write(kind)) : NextNames{};
    return register_operand(spec, position, begins);
  }

  NextNames register_operand(const InstructionSpec& spec, std::size_t position, bool begins) const {
    const OperandKind kind = spec.operands[position];
    const bool takes_constants =
        kind == OperandKind::kSource && spec.takes_constants() &&
        (style_.rule == OperandRule::kConstants || style_.is_score_function);
    NextNames names = takes_constants ? expression(Usage::kConst, !begins) : NextNames{};
    if (!begins) return names;
    names.registers = true;
    if (kind == OperandKind::kFactor && style_.rule == OperandRule::kPinned) {
      names.factor =
          std::count(spec.operands.begin(), spec.operands.begin() + position, OperandKind::kFactor);
    }
    return names;
  }

  OperandStyle style_;
  std::vector<Token> tokens_;
  std::vector<std::size_t> open_;  // the brackets around the end, outermost first
  std::vector<std::size_t> top_;   // the tokens outside brackets
  bool is_inside_number_ = false;  // "0." can become "0.5" or "0..": no name follows
};

}  // namespace

bool NextNames::takes(WordKind kind) const {
  switch (kind) {
    case WordKind::kRegister:
      return registers;
    case WordKind::kArray:
      return arrays;
    case WordKind::kParam:
      return params;
    case WordKind::kConst:
      return consts;
    case WordKind::kLoopVar:
      return loop_vars;
    case WordKind::kLabel:
      return labels;
    default:
      return false;
  }
}

OperandStyle operand_style(const SourceText& source) {
  OperandStyle style;
  const auto count = static_cast<std::uint32_t>(source.num_lines());
  for (std::uint32_t line = 1; line <= count; ++line) {
    const std::string_view all = source.line(line);
    const std::string_view text = trimmed(all.substr(0, all.find_first_of(";#")));
    if (text.starts_with(".use ")) style.is_score_function = true;
    if (!text.starts_with(".operands")) continue;
    style.rule = text.ends_with("pinned")      ? OperandRule::kPinned
                 : text.ends_with("constants") ? OperandRule::kConstants
                                               : OperandRule::kAny;
  }
  return style;
}

NextNames next_names(std::string_view start, const OperandStyle& style) {
  return LineStart(start, style).run();
}

}  // namespace flashlab::toy
