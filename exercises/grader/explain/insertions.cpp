// Lines that may be missing: lines that occur elsewhere in the program, or in a model.
#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "exercises/grader/explain/edit_parts.hpp"
#include "exercises/grader/explain/edits.hpp"
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
    for (const toy::Operand& operand : instruction.operands) {
      if (operand.register_index) variables(*operand.register_index, line.needs);
      if (operand.value) variables(*operand.value, line.needs);
      for (const toy::ExpressionPtr& index : operand.indices) variables(*index, line.needs);
    }
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

}  // namespace

std::vector<Edit> enumerate_insertions(const toy::Program& program, const toy::Program* model) {
  Inserter inserter(program);
  inserter.collect(program);
  if (model != nullptr) inserter.collect(*model);
  return inserter.run();
}

}  // namespace flashlab::exercises
