// Turns a program back into text: used by traces, and the inverse of the assembler.
#include <array>
#include <string>

#include "text/lists.hpp"
#include "toymachine/language/assembler.hpp"

namespace flashlab::toy {
namespace {

constexpr std::array<std::string_view, 3> kRoleDirectives{".input", ".temp", ".output"};
constexpr std::array<std::string_view, 4> kTypes{"float", "double", "bf16", "fp16"};

std::string register_text(const Expression& index) {
  if (index.op == ExpressionOp::kInteger) return "R" + std::to_string(index.integer);
  return "R[" + to_string(index) + "]";
}

/// Returns the register's name in the program.
template <class Mention>  // Operand or NameStatement
std::string register_text(const Mention& mention, const Program& program) {
  if (mention.register_name == kNoName) return register_text(*mention.register_index);
  const std::string& name = program.register_names[mention.register_name].name;
  return mention.name_index ? name + "[" + to_string(*mention.name_index) + "]" : name;
}

std::string subscripts(const std::vector<ExpressionPtr>& indices) {
  std::string text;
  for (const ExpressionPtr& index : indices) text += "[" + to_string(*index) + "]";
  return text;
}

std::string listed(const std::vector<ExpressionPtr>& values) {
  const auto text = [](const ExpressionPtr& value) { return to_string(*value); };
  return "(" + joined(values, ", ", text) + ")";
}

class Disassembler {
 public:
  explicit Disassembler(const Program& program) : program_(program) {}

  std::string run() {
    if (!program_.title.empty()) line("; " + program_.title);
    declarations();
    for (const Statement& statement : program_.body) print(statement);
    return std::move(text_);
  }

 private:
  void line(const std::string& content) {
    text_ += std::string(2 * static_cast<std::size_t>(depth_), ' ') + content + "\n";
  }

  void declarations() {
    std::string machine(to_string(program_.level));
    for (const std::size_t row : program_.extra_instructions) {
      machine += ", " + std::string(instruction_set()[row].mnemonic);
    }
    line(".isa " + machine);
    if (program_.operand_rule == OperandRule::kPinned) line(".operands pinned");
    const bool has_constants =
        program_.operand_rule == OperandRule::kConstants || program_.has_score_function;
    if (has_constants) line(".operands constants");
    if (program_.registers) line(".registers " + to_string(*program_.registers));
    for (const RegisterDeclaration& named : program_.register_names) {
      line(".reg " + named.name + (named.count ? "[" + to_string(*named.count) + "]" : ""));
    }
    for (std::size_t i = 0; i < program_.params.size(); ++i) {
      const ParamDeclaration& param = program_.params[i];
      const auto& machines = program_.machines;
      if (machines && i == machines->rank) continue;
      const bool counts = machines && i == machines->ranks;
      line((counts ? ".machines " + program_.params[machines->rank].name + " of " : ".param ") +
           param.name + (param.default_value ? " = " + to_string(*param.default_value) : ""));
    }
    for (const ConstDeclaration& constant : program_.consts) {
      line(".const " + constant.name + " = " + to_string(*constant.value));
    }
    for (const ArrayDeclaration& array : program_.arrays) line(declaration(array));
  }

  static std::string declaration(const ArrayDeclaration& array) {
    std::string text(kRoleDirectives[static_cast<std::size_t>(array.role)]);
    text += " " + array.name;
    text += array.tile.empty() ? subscripts(array.extents)
                               : listed(array.extents) + " tile " + listed(array.tile);
    return text + " " + std::string(kTypes[static_cast<std::size_t>(array.element_type)]);
  }

  void print(const Statement& statement) {
    if (const auto* instruction = std::get_if<InstructionStatement>(&statement.node)) {
      for (; pass_ < instruction->pass; ++pass_) line(".pass " + program_.passes[pass_ + 1]);
      line(to_string(*instruction, program_));
    } else if (const auto* name = std::get_if<NameStatement>(&statement.node)) {
      line(".name " + register_text(*name, program_) + " = " + name->label +
           subscripts(name->subscripts) + (name->claim ? " = " + to_string(*name->claim) : ""));
    } else {
      print(std::get<LoopStatement>(statement.node));
    }
  }

  /// A loop's pass begins before the loop; its first instruction tells which pass it is.
  void print(const LoopStatement& loop) {
    if (depth_ == 0) {
      for (const std::size_t pass = first_pass(loop.body); pass_ < pass; ++pass_) {
        line(".pass " + program_.passes[pass_ + 1]);
      }
    }
    const bool unit = loop.step->op == ExpressionOp::kInteger && loop.step->integer == 1;
    line("for " + loop.var + " in " + to_string(*loop.lower) + ".." + to_string(*loop.upper) +
         (unit ? "" : " step " + to_string(*loop.step)));
    ++depth_;
    for (const Statement& statement : loop.body) print(statement);
    --depth_;
    line("end");
  }

  std::size_t first_pass(const std::vector<Statement>& body) const {
    for (const Statement& statement : body) {
      if (const auto* instruction = std::get_if<InstructionStatement>(&statement.node)) {
        return instruction->pass;
      }
      if (const auto* loop = std::get_if<LoopStatement>(&statement.node)) {
        const std::size_t pass = first_pass(loop->body);
        if (pass > 0) return pass;
      }
    }
    return 0;
  }

  const Program& program_;
  std::string text_;
  int depth_ = 0;
  std::size_t pass_ = 0;
};

}  // namespace

std::string to_string(const InstructionStatement& instruction, const Program& program) {
  std::string text(instruction_set()[instruction.row].mnemonic);
  const char* separator = " ";
  for (const Operand& operand : instruction.operands) {
    text += separator;
    separator = ", ";
    text += operand.value ? to_string(*operand.value)
            : is_memory(operand.kind)
                ? program.arrays[operand.array].name + subscripts(operand.indices)
                : register_text(operand, program) + (operand.transposed ? "^T" : "");
  }
  return text;
}

std::string disassemble(const Program& program) { return Disassembler(program).run(); }

}  // namespace flashlab::toy
