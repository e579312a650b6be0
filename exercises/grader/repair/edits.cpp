#include "exercises/grader/repair/edits.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "exercises/grader/repair/edit_parts.hpp"
#include "exercises/grader/repair/operand_rules.hpp"
#include "toymachine/language/assembler.hpp"
#include "toymachine/language/instruction_set.hpp"

namespace flashlab::exercises {
namespace {
using toy::InstructionStatement;
using toy::LoopStatement;
using toy::OperandKind;
using toy::Statement;

toy::ExpressionPtr variable_of(const LoopStatement& loop) {
  toy::Expression e;
  e.op = toy::ExpressionOp::kLoopVar;
  e.index = loop.loop;
  e.name = loop.var;
  return std::make_shared<const toy::Expression>(std::move(e));
}

std::string loop_text(const LoopStatement& loop, const Edit& edit) {
  const toy::ExpressionPtr step = shifted(loop.step, edit.step_change);
  const bool unit = step->op == toy::ExpressionOp::kInteger && step->integer == 1;
  return "for " + loop.var + " in " + to_string(*shifted(loop.lower, edit.lower_change)) + ".." +
         to_string(*shifted(loop.upper, edit.upper_change)) +
         (unit ? "" : " step " + to_string(*step));
}

class Enumerator {
 public:
  Enumerator(const toy::Program& program, const EditOptions& options)
      : program_(program), options_(options) {}

  std::vector<Edit> run() {
    walk(program_.body);
    swaps();
    std::stable_sort(edits_.begin(), edits_.end(),
                     [](const Edit& a, const Edit& b) { return a.line < b.line; });
    return std::move(edits_);
  }

 private:
  struct Line {
    enum class Kind : std::uint8_t { kInstruction, kLoop, kEnd };
    Kind kind = Kind::kInstruction;
    std::uint32_t line = 0;
    std::size_t site = SIZE_MAX;
    const std::vector<Statement>* body = nullptr;  // the statements that contain the instruction
  };

  void walk(const std::vector<Statement>& body) {
    for (const Statement& statement : body) {
      if (const auto* instruction = std::get_if<InstructionStatement>(&statement.node)) {
        lines_.push_back(
            {Line::Kind::kInstruction, instruction->span.line, instruction->site, &body});
        operands(*instruction);
        exchanges(*instruction);
        mnemonics(*instruction);
        computations(*instruction);
        drop(*instruction);
      } else if (const auto* loop = std::get_if<LoopStatement>(&statement.node)) {
        lines_.push_back({Line::Kind::kLoop, loop->span.line, SIZE_MAX, &body});
        bounds(*loop);
        scope_.push_back(variable_of(*loop));
        walk(loop->body);
        scope_.pop_back();
        lines_.push_back({Line::Kind::kEnd, end_line(program_, *loop), SIZE_MAX, &body});
      }
    }
  }

  Edit& add(EditKind kind, std::uint32_t line, std::string what, std::string text) {
    Edit edit;
    edit.kind = kind;
    edit.line = line;
    edit.what = std::move(what);
    edit.text = std::move(text);
    return edits_.emplace_back(std::move(edit));
  }

  /// Adds the changed instruction, unless its text equals the original or an earlier change.
  void changed(EditKind kind, const InstructionStatement& before, InstructionStatement after,
               const std::string& what) {
    if (options_.pinned && !is_pinned(after)) return;
    std::string text = to_string(after, program_);
    if (!texts_.insert(text).second) return;
    Edit& edit = add(kind, before.span.line, what, std::move(text));
    edit.site = before.site;
    edit.instruction = std::make_shared<const InstructionStatement>(std::move(after));
  }

  void operands(const InstructionStatement& before) {
    texts_ = {to_string(before, program_)};
    const toy::InstructionSpec& spec = toy::instruction_set()[before.row];
    for (std::size_t i = 0; i < before.operands.size(); ++i) {
      for (OtherOperand& other : other_operands(program_, before, i, scope_, options_)) {
        const std::string what = operand_text(other.operand, program_) + " instead of " +
                                 operand_text(before.operands[i], program_) + " as " +
                                 operand_name(spec, i);
        InstructionStatement after = before;
        after.operands[i] = std::move(other.operand);
        changed(other.kind, before, std::move(after), what);
      }
    }
  }

  /// Sources whose order matters, the factors of tiles, and the destination moved to the front.
  void exchanges(const InstructionStatement& before) {
    const toy::InstructionSpec& spec = toy::instruction_set()[before.row];
    const auto sources = exchangeable(spec, is_tiled(program_));
    if (sources) {
      InstructionStatement after = before;
      std::swap(after.operands[sources->first], after.operands[sources->second]);
      changed(EditKind::kOperands, before, std::move(after), "the sources exchanged");
    }
    const auto is_plain_register = [](const toy::Operand& operand) {
      return toy::is_register(operand.kind) && !operand.transposed;
    };
    if (!std::all_of(before.operands.begin(), before.operands.end(), is_plain_register)) {
      return move_transposition(before);
    }
    for (const bool forward : {true, false}) {
      InstructionStatement after = before;
      std::vector<toy::Operand>& moved = after.operands;
      std::rotate(moved.begin(), forward ? moved.begin() + 1 : moved.end() - 1, moved.end());
      for (std::size_t i = 0; i < moved.size(); ++i) moved[i].kind = spec.operands[i];
      changed(EditKind::kOperands, before, std::move(after),
              forward ? "the first operand last" : "the destination first");
    }
  }

  void move_transposition(const InstructionStatement& before) {
    InstructionStatement after = before;
    std::size_t transposed = 0;
    for (toy::Operand& operand : after.operands) {
      if (operand.kind != OperandKind::kFactor) continue;
      transposed += operand.transposed ? 1 : 0;
      operand.transposed = !operand.transposed;
    }
    if (transposed != 1) return;
    changed(EditKind::kTransposition, before, std::move(after), "^T on the other factor");
  }

  void mnemonics(const InstructionStatement& before) {
    const toy::InstructionSpec& spec = toy::instruction_set()[before.row];
    for (const std::size_t row : options_.rows) {
      const toy::InstructionSpec& other = toy::instruction_set()[row];
      InstructionStatement after = before;
      after.row = row;
      if (!same_operands(spec, other) && !refit(spec, other, after.operands)) continue;
      bool fits = true;
      for (std::size_t i = 0; i < after.operands.size(); ++i) {
        after.operands[i].kind = other.operands[i];
        fits &= !after.operands[i].transposed || other.operands[i] == OperandKind::kFactor;
      }
      if (!fits) continue;
      changed(EditKind::kMnemonic, before, std::move(after),
              std::string(other.mnemonic) + " instead of " + std::string(spec.mnemonic));
    }
  }

  /// "DIV Y, X, Y" where "MOV X, Y" loses what Y holds.
  void computations(const InstructionStatement& before) {
    const toy::InstructionSpec& spec = toy::instruction_set()[before.row];
    if (!is_copy(spec)) return;
    for (const std::size_t row : options_.rows) {
      const toy::InstructionSpec& other = toy::instruction_set()[row];
      if (!takes_two(other)) continue;
      for (const std::ptrdiff_t place : {0, 1}) {
        if (place == 1 && !order_matters(row)) continue;
        InstructionStatement after = before;
        after.row = row;
        after.operands.insert(after.operands.begin() + place, before.operands.back());
        for (std::size_t i = 0; i < 3; ++i) after.operands[i].kind = other.operands[i];
        changed(EditKind::kMnemonic, before, std::move(after),
                std::string(other.mnemonic) + " instead of " + std::string(spec.mnemonic));
      }
    }
  }

  void drop(const InstructionStatement& instruction) {
    add(EditKind::kDrop, instruction.span.line, "without this line", "").site = instruction.site;
  }

  void bounds(const LoopStatement& loop) {
    for (const int change : {-1, 1}) {
      Edit lower, upper, step;
      lower.lower_change = upper.upper_change = step.step_change = change;
      bound(EditKind::kBound, loop, lower, "begins", loop.lower, change);
      bound(EditKind::kBound, loop, upper, "ends before", loop.upper, change);
      const bool positive =
          loop.step->op != toy::ExpressionOp::kInteger || loop.step->integer >= 1 - change;
      if (positive) bound(EditKind::kStep, loop, step, "has step", loop.step, change);
    }
  }

  void bound(EditKind kind, const LoopStatement& loop, const Edit& changes, const std::string& does,
             const toy::ExpressionPtr& before, int change) {
    if (shifted(before, change) == before) return;  // there is no number beside it
    Edit& edit = add(kind, loop.span.line,
                     "the loop " + does + (does == "begins" ? " at " : " ") +
                         to_string(*shifted(before, change)) + " instead of " + to_string(*before),
                     loop_text(loop, changes));
    edit.loop = loop.loop;
    edit.lower_change = changes.lower_change;
    edit.upper_change = changes.upper_change;
    edit.step_change = changes.step_change;
  }

  void swaps() {
    for (std::size_t i = 0; i + 1 < lines_.size(); ++i) {
      const Line &upper = lines_[i], &lower = lines_[i + 1];
      const bool loops = upper.kind == Line::Kind::kLoop && lower.kind == Line::Kind::kLoop;
      const bool moves =
          upper.kind == Line::Kind::kInstruction || lower.kind == Line::Kind::kInstruction;
      if (!loops && !moves) continue;
      if (program_.source->line(upper.line) == program_.source->line(lower.line)) continue;
      Edit& edit = add(
          EditKind::kSwap, upper.line,
          "lines " + std::to_string(upper.line) + " and " + std::to_string(lower.line) + " swapped",
          "");
      edit.other_line = lower.line;
      const bool both = upper.kind == lower.kind && moves;
      if (both && upper.body == lower.body) edit.site = upper.site;
    }
  }

  const toy::Program& program_;
  const EditOptions& options_;
  LoopScope scope_;
  std::vector<Line> lines_;
  std::set<std::string> texts_;
  std::vector<Edit> edits_;
};

}  // namespace

std::string_view to_string(EditKind kind) {
  constexpr std::array<std::string_view, kNumEditKinds> kNames{
      "register",     "mnemonic",      "array",
      "index",        "bound",         "step",
      "constant",     "transposition", "exchanged operands",
      "dropped line", "swapped lines", "inserted line",
      "replaced line"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::vector<Edit> enumerate_edits(const toy::Program& program, const EditOptions& options) {
  return Enumerator(program, options).run();
}

std::string edited_text(const toy::Program& program, const Edit& edit) {
  const toy::SourceText& source = *program.source;
  const auto indented = [&](std::uint32_t line, std::string_view text) {
    const std::string_view old = source.line(line);
    const std::size_t start = std::min(old.find_first_not_of(" \t"), old.size());
    return std::string(old.substr(0, start)) + std::string(text) + "\n";
  };
  std::string result;
  for (std::uint32_t line = 1; line <= source.num_lines(); ++line) {
    const std::string old = std::string(source.line(line)) + "\n";
    const bool here = line == edit.line;
    if (edit.kind == EditKind::kSwap && (here || line == edit.other_line)) {
      result += std::string(source.line(here ? edit.other_line : edit.line)) + "\n";
    } else if (edit.kind == EditKind::kInsert && here) {
      result += edit.behind ? old + indented(line, edit.text) : indented(line, edit.text) + old;
    } else {
      result += here ? indented(line, edit.text) : old;
    }
  }
  return result;
}

toy::Result<toy::Program> apply(const toy::Program& program, const Edit& edit) {
  return toy::assemble(
      std::make_shared<const toy::SourceText>(program.source->name(), edited_text(program, edit)));
}

}  // namespace flashlab::exercises
