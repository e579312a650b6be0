// Lines that may be missing: lines that occur elsewhere in the program, or in a model.
#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "exercises/grader/repair/edit_parts.hpp"
#include "exercises/grader/repair/edits.hpp"
#include "exercises/grader/repair/operand_rules.hpp"
#include "toymachine/language/assembler.hpp"

namespace flashlab::exercises {
namespace {

template <class Declaration>
std::optional<std::size_t> find(const std::vector<Declaration>& declarations,
                                const std::string& name) {
  for (std::size_t i = 0; i < declarations.size(); ++i) {
    if (declarations[i].name == name) return i;
  }
  return std::nullopt;
}

/// Translates a statement of one program into the names of another.
class Translator {
 public:
  Translator(const toy::Program& from, const toy::Program& to) : from_(from), to_(to) {}

  /// Returns nothing if the other program lacks one of the names. Loop variables keep their index,
  /// because only their names matter.
  std::optional<toy::InstructionStatement> translated(toy::InstructionStatement statement) const {
    for (toy::Operand& operand : statement.operands) {
      if (!translate(operand)) return std::nullopt;
    }
    return statement;
  }

 private:
  bool translate(toy::Operand& operand) const {
    if (toy::is_memory(operand.kind)) {
      const auto array = find(to_.arrays, from_.arrays[operand.array].name);
      if (!array || to_.arrays[*array].extents.size() != operand.indices.size()) return false;
      operand.array = *array;
      return std::all_of(operand.indices.begin(), operand.indices.end(),
                         [&](const toy::ExpressionPtr& index) { return known(*index); });
    }
    if (operand.value) return known(*operand.value);
    if (operand.register_name == toy::kNoName) return known(*operand.register_index);
    return translate_name(operand);
  }

  bool translate_name(toy::Operand& operand) const {
    const auto name = find(to_.register_names, from_.register_names[operand.register_name].name);
    if (!name || (operand.name_index && !known(*operand.name_index))) return false;
    const bool indexed = to_.register_names[*name].count != nullptr;
    if (indexed != (operand.name_index != nullptr)) return false;
    const toy::Operand here = named_register(to_, *name, operand.name_index);
    operand.register_name = *name;
    operand.register_index = here.register_index;
    return true;
  }

  bool known(const toy::Expression& e) const {
    if (e.op == toy::ExpressionOp::kParam && !find(to_.params, e.name)) return false;
    if (e.op == toy::ExpressionOp::kConst && !find(to_.consts, e.name)) return false;
    const bool array = e.op == toy::ExpressionOp::kTiles || e.op == toy::ExpressionOp::kExtent;
    if (array && !find(to_.arrays, e.name)) return false;
    return std::all_of(e.args.begin(), e.args.end(),
                       [&](const toy::ExpressionPtr& arg) { return known(*arg); });
  }

  const toy::Program &from_, &to_;
};

void variables(const toy::Expression& e, std::set<std::string>& names) {
  if (e.op == toy::ExpressionOp::kLoopVar) names.insert(e.name);
  for (const toy::ExpressionPtr& arg : e.args) variables(*arg, names);
}

void variables_of(const toy::Operand& operand, std::set<std::string>& names) {
  if (operand.register_index) variables(*operand.register_index, names);
  if (operand.value) variables(*operand.value, names);
  for (const toy::ExpressionPtr& index : operand.indices) variables(*index, names);
}

/// One instruction that may be inserted, and the loop variables that it needs.
struct Line {
  std::shared_ptr<const toy::InstructionStatement> instruction;
  std::string text;
  std::set<std::string> needs;
};

class Inserter {
 public:
  explicit Inserter(const toy::Program& program) : program_(program) {}

  void collect(const toy::Program& from) { collect(from.body, Translator(from, program_)); }

  std::vector<Edit> run() {
    walk(program_.body);
    return std::move(edits_);
  }

 private:
  void collect(const std::vector<toy::Statement>& body, const Translator& translator) {
    for (const toy::Statement& statement : body) {
      if (const auto* loop = std::get_if<toy::LoopStatement>(&statement.node)) {
        collect(loop->body, translator);
      } else if (const auto* line = std::get_if<toy::InstructionStatement>(&statement.node)) {
        if (auto here = translator.translated(*line)) collect(std::move(*here));
      }
    }
  }

  void collect(toy::InstructionStatement instruction) {
    Line line;
    line.text = to_string(instruction, program_);
    if (!texts_.insert(line.text).second) return;
    for (const toy::Operand& operand : instruction.operands) variables_of(operand, line.needs);
    line.instruction = std::make_shared<const toy::InstructionStatement>(std::move(instruction));
    lines_.push_back(std::move(line));
  }

  void walk(const std::vector<toy::Statement>& body) {
    std::vector<const toy::Statement*> lines;
    for (const toy::Statement& statement : body) {
      if (!std::holds_alternative<toy::NameStatement>(statement.node)) lines.push_back(&statement);
    }
    for (std::size_t gap = 0; gap <= lines.size(); ++gap) {
      insert_between(gap > 0 ? lines[gap - 1] : nullptr, gap < lines.size() ? lines[gap] : nullptr);
      const auto* loop =
          gap < lines.size() ? std::get_if<toy::LoopStatement>(&lines[gap]->node) : nullptr;
      if (loop == nullptr) continue;
      scope_.push_back(loop->var);
      walk(loop->body);
      scope_.pop_back();
    }
  }

  /// Anchors the insertion at an adjacent instruction, or else at a loop.
  void insert_between(const toy::Statement* above, const toy::Statement* below) {
    Edit at;
    at.kind = EditKind::kInsert;
    at.behind = !is_instruction(below) && (is_instruction(above) || below == nullptr);
    const toy::Statement* neighbour = at.behind ? above : below;
    if (neighbour == nullptr) return;
    if (const auto* line = std::get_if<toy::InstructionStatement>(&neighbour->node)) {
      at.line = line->span.line;
      at.site = line->site;
    } else {
      const auto& loop = std::get<toy::LoopStatement>(neighbour->node);
      at.line = at.behind ? end_line(program_, loop) : loop.span.line;
      at.loop = loop.loop;
    }
    insert(at);
  }

  static bool is_instruction(const toy::Statement* statement) {
    return statement != nullptr &&
           std::holds_alternative<toy::InstructionStatement>(statement->node);
  }

  void insert(const Edit& at) {
    for (const Line& line : lines_) {
      const bool readable =
          std::all_of(line.needs.begin(), line.needs.end(), [&](const std::string& name) {
            return std::find(scope_.begin(), scope_.end(), name) != scope_.end();
          });
      if (!readable) continue;
      Edit edit = at;
      edit.what = line.text + (at.behind ? " after" : " before") + " this line";
      edit.text = line.text;
      edit.instruction = line.instruction;
      edits_.push_back(std::move(edit));
    }
  }

  const toy::Program& program_;
  std::vector<std::string> scope_;
  std::vector<Line> lines_;
  std::set<std::string> texts_;
  std::vector<Edit> edits_;
};

/// Copies between registers at the ends of loops.
class Copies {
 public:
  explicit Copies(const toy::Program& program) : program_(program) {
    const auto rows = toy::instruction_set();
    for (const toy::InstructionSpec& spec : rows) {
      if (is_copy(spec)) mnemonic_ = std::string(spec.mnemonic);
    }
  }

  std::vector<Edit> run() {
    walk(program_.body);
    return std::move(edits_);
  }

 private:
  void walk(const std::vector<toy::Statement>& body) {
    for (const toy::Statement& statement : body) {
      const auto* loop = std::get_if<toy::LoopStatement>(&statement.node);
      if (loop == nullptr) continue;
      walk(loop->body);
      if (loop->body.empty()) continue;
      const auto* last = std::get_if<toy::InstructionStatement>(&loop->body.back().node);
      if (last != nullptr) add_behind(*last, registers_of(loop->body));
    }
  }

  /// The registers without an index that these instructions use.
  std::set<std::string> registers_of(const std::vector<toy::Statement>& body) const {
    std::set<std::string> names;
    for (const toy::Statement& statement : body) {
      const auto* line = std::get_if<toy::InstructionStatement>(&statement.node);
      if (line == nullptr) continue;
      for (const toy::Operand& operand : line->operands) {
        if (!toy::is_register(operand.kind) || operand.name_index) continue;
        std::string name = operand_text(operand, program_);
        if (name.find('^') == std::string::npos) names.insert(std::move(name));
      }
    }
    return names;
  }

  void add_behind(const toy::InstructionStatement& last, const std::set<std::string>& registers) {
    for (const std::string& from : registers) {
      for (const std::string& to : registers) {
        if (from == to) continue;
        Edit edit;
        edit.kind = EditKind::kInsert;
        edit.behind = true;
        edit.line = last.span.line;
        edit.site = last.site;
        edit.text = mnemonic_ + " " + from + ", " + to;
        edit.what = edit.text + " after this line";
        edit.instruction = instruction_in(edit);
        if (edit.instruction) edits_.push_back(std::move(edit));
      }
    }
  }

  /// The inserted line; null if it is none of this machine.
  std::shared_ptr<const toy::InstructionStatement> instruction_in(const Edit& edit) const {
    auto applied = apply(program_, edit);
    return applied ? found_at(edit.line + 1, applied->body) : nullptr;
  }

  static std::shared_ptr<const toy::InstructionStatement> found_at(
      std::uint32_t line, const std::vector<toy::Statement>& body) {
    for (const toy::Statement& statement : body) {
      if (const auto* loop = std::get_if<toy::LoopStatement>(&statement.node)) {
        if (auto found = found_at(line, loop->body)) return found;
      } else if (const auto* here = std::get_if<toy::InstructionStatement>(&statement.node)) {
        if (here->span.line == line) return std::make_shared<toy::InstructionStatement>(*here);
      }
    }
    return nullptr;
  }

  const toy::Program& program_;
  std::string mnemonic_;
  std::vector<Edit> edits_;
};

/// Puts lines of the model in the places of lines of the program.
class Replacer {
 public:
  Replacer(const toy::Program& program, const toy::Program& model)
      : program_(program), model_(model), translator_(model, program) {}

  std::vector<Edit> run() {
    gather(program_.body, program_, own_);
    gather(model_.body, model_, models_);
    walk(program_.body);
    return std::move(edits_);
  }

 private:
  static std::string head(const toy::LoopStatement& loop) {
    std::string text =
        "for " + loop.var + " in " + to_string(*loop.lower) + ".." + to_string(*loop.upper);
    const bool is_unit = loop.step->op == toy::ExpressionOp::kInteger && loop.step->integer == 1;
    return is_unit ? text : text + " step " + to_string(*loop.step);
  }

  void gather(const std::vector<toy::Statement>& body, const toy::Program& from,
              std::set<std::string>& texts) const {
    for (const toy::Statement& statement : body) {
      if (const auto* loop = std::get_if<toy::LoopStatement>(&statement.node)) {
        texts.insert(head(*loop));
        gather(loop->body, from, texts);
      } else if (const auto* line = std::get_if<toy::InstructionStatement>(&statement.node)) {
        if (&from == &program_) {
          texts.insert(to_string(*line, program_));
        } else if (const auto here = translator_.translated(*line)) {
          texts.insert(to_string(*here, program_));
        }
      }
    }
  }

  void walk(const std::vector<toy::Statement>& body) {
    for (const toy::Statement& statement : body) {
      if (const auto* loop = std::get_if<toy::LoopStatement>(&statement.node)) {
        if (!models_.contains(head(*loop))) replace_loop(*loop, model_.body);
        scope_.insert(loop->var);
        walk(loop->body);
        scope_.erase(loop->var);
      } else if (const auto* line = std::get_if<toy::InstructionStatement>(&statement.node)) {
        if (!models_.contains(to_string(*line, program_))) replace(*line, model_.body);
      }
    }
  }

  void replace_loop(const toy::LoopStatement& mine, const std::vector<toy::Statement>& body) {
    for (const toy::Statement& statement : body) {
      const auto* loop = std::get_if<toy::LoopStatement>(&statement.node);
      if (loop == nullptr) continue;
      replace_loop(mine, loop->body);
      std::set<std::string> needs;
      variables(*loop->lower, needs);
      variables(*loop->upper, needs);
      if (loop->var != mine.var || own_.contains(head(*loop)) || !is_in_scope(needs)) continue;
      add(mine.span.line, head(*loop), head(mine));
    }
  }

  void replace(const toy::InstructionStatement& mine, const std::vector<toy::Statement>& body) {
    for (const toy::Statement& statement : body) {
      if (const auto* loop = std::get_if<toy::LoopStatement>(&statement.node)) {
        replace(mine, loop->body);
      } else if (const auto* line = std::get_if<toy::InstructionStatement>(&statement.node)) {
        auto here = translator_.translated(*line);
        if (!here) continue;
        const std::string text = to_string(*here, program_);
        std::set<std::string> needs;
        for (const toy::Operand& operand : here->operands) variables_of(operand, needs);
        if (own_.contains(text) || !is_in_scope(needs)) continue;
        add(mine.span.line, text, to_string(mine, program_));
      }
    }
  }

  bool is_in_scope(const std::set<std::string>& needs) const {
    return std::includes(scope_.begin(), scope_.end(), needs.begin(), needs.end());
  }

  void add(std::uint32_t line, const std::string& text, const std::string& before) {
    Edit edit;
    edit.kind = EditKind::kReplace;
    edit.line = line;
    edit.text = text;
    edit.what = text + " instead of " + before;
    edits_.push_back(std::move(edit));
  }

  const toy::Program &program_, &model_;
  const Translator translator_;
  std::set<std::string> own_, models_, scope_;  // texts of lines; visible loop variables
  std::vector<Edit> edits_;
};

}  // namespace

std::vector<Edit> enumerate_replacements(const toy::Program& program, const toy::Program& model) {
  return Replacer(program, model).run();
}

std::vector<Edit> enumerate_copies(const toy::Program& program) { return Copies(program).run(); }

std::vector<Edit> enumerate_insertions(const toy::Program& program, const toy::Program* model,
                                       const toy::Program* other) {
  Inserter inserter(program);
  inserter.collect(program);
  if (model != nullptr) inserter.collect(*model);
  if (other != nullptr) inserter.collect(*other);
  return inserter.run();
}

}  // namespace flashlab::exercises
