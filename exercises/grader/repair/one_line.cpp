#include "exercises/grader/repair/one_line.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include "exercises/grader/repair/edit_parts.hpp"
#include "exercises/grader/repair/operand_rules.hpp"

namespace flashlab::exercises {
namespace {

void add_variables(const toy::Expression& e, std::set<std::string>& names) {
  if (e.op == toy::ExpressionOp::kLoopVar) names.insert(e.name);
  for (const toy::ExpressionPtr& arg : e.args) add_variables(*arg, names);
}

std::set<std::string> loop_variables_at(const toy::Operand& operand) {
  std::set<std::string> names;
  if (operand.register_index) add_variables(*operand.register_index, names);
  if (operand.name_index) add_variables(*operand.name_index, names);
  if (operand.value) add_variables(*operand.value, names);
  for (const toy::ExpressionPtr& index : operand.indices) add_variables(*index, names);
  return names;
}

/// A register as the program writes it, and the name that all registers of its array share.
struct Register {
  toy::Operand operand;
  std::string text, name;
  std::set<std::string> needs;
};

std::string name_of(const toy::Operand& operand, const toy::Program& program) {
  if (operand.register_name != toy::kNoName)
    return program.register_names[operand.register_name].name;
  return "R(" + to_string(*operand.register_index) + ")";
}

/// A statement of the program or the end of a loop, in the order of the text.
struct Row {
  const toy::InstructionStatement* line = nullptr;
  const toy::LoopStatement* loop = nullptr;  // begins or ends here
  std::size_t partner = SIZE_MAX;            // of an end: where the loop begins
  std::vector<std::string> scope;            // the loop variables above this row
};

class Rows {
 public:
  explicit Rows(const toy::Program& program) : program_(program) {
    add(program.body);
    note_uses();
  }

  std::size_t size() const { return rows_.size(); }
  const Row& operator[](std::size_t i) const { return rows_[i]; }
  const std::vector<std::string>& scope_above(std::size_t gap) const {
    return gap < rows_.size() ? rows_[gap].scope : kNone;
  }

  /// The registers that something above the row writes.
  const std::set<std::string>& written_above(std::size_t gap) const { return written_[gap]; }
  /// The registers whose values above the row are read at it or after it.
  const std::set<std::string>& needed_below(std::size_t gap) const { return needed_[gap]; }

 private:
  void add(const std::vector<toy::Statement>& body) {
    for (const toy::Statement& statement : body) {
      if (const auto* loop = std::get_if<toy::LoopStatement>(&statement.node)) {
        const std::size_t begin = rows_.size();
        rows_.push_back({nullptr, loop, SIZE_MAX, scope_});
        scope_.push_back(loop->var);
        add(loop->body);
        rows_.push_back({nullptr, loop, begin, scope_});
        scope_.pop_back();
      } else if (const auto* line = std::get_if<toy::InstructionStatement>(&statement.node)) {
        rows_.push_back({line, nullptr, SIZE_MAX, scope_});
      }
    }
  }

  void note_uses() {
    written_.resize(rows_.size() + 1);
    needed_.resize(rows_.size() + 1);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      written_[i + 1] = written_[i];
      if (rows_[i].line == nullptr) continue;
      for (const toy::Operand& operand : rows_[i].line->operands) {
        if (operand.kind == toy::OperandKind::kDestination)
          written_[i + 1].insert(name_of(operand, program_));
      }
    }
    for (bool is_changed = true; is_changed;) {
      is_changed = false;
      for (std::size_t i = rows_.size(); i-- > 0;) {
        std::set<std::string> needed = needed_above(i);
        if (needed == needed_[i]) continue;
        needed_[i] = std::move(needed);
        is_changed = true;
      }
    }
  }

  std::set<std::string> needed_above(std::size_t i) const {
    std::set<std::string> needed = needed_[i + 1];
    const Row& row = rows_[i];
    if (row.partner != SIZE_MAX) {
      needed.insert(needed_[row.partner + 1].begin(), needed_[row.partner + 1].end());
    }
    if (row.line == nullptr) return needed;
    for (const toy::Operand& operand : row.line->operands) {
      const bool is_whole = operand.kind == toy::OperandKind::kDestination && !operand.name_index;
      if (is_whole) needed.erase(name_of(operand, program_));
    }
    for (const toy::Operand& operand : row.line->operands) {
      if (toy::is_register_read(operand.kind) && operand.register_index)
        needed.insert(name_of(operand, program_));
    }
    return needed;
  }

  static inline const std::vector<std::string> kNone;
  const toy::Program& program_;
  std::vector<Row> rows_;
  std::vector<std::string> scope_;
  std::vector<std::set<std::string>> written_, needed_;  // [gap]
};

/// One place in the program for a line: between two rows, or that of a row.
struct InsertionPlace {
  const std::set<std::string>& written;  // above it
  const std::set<std::string>& needed;   // below it
  const std::vector<std::string>& scope;

  bool sees(const std::set<std::string>& variables) const {
    return std::all_of(variables.begin(), variables.end(), [&](const std::string& one) {
      return std::find(scope.begin(), scope.end(), one) != scope.end();
    });
  }
};

class OwnLines {
 public:
  OwnLines(const toy::Program& program, const toy::Program& solution, std::size_t row)
      : program_(program), row_(row), spec_(toy::instruction_set()[row]), rows_(program) {
    gather_registers();
    gather_templates(solution);
  }

  std::vector<Edit> insertions() {
    std::vector<std::size_t> gaps(rows_.size() + 1);
    std::iota(gaps.begin(), gaps.end(), std::size_t{0});
    std::stable_sort(gaps.begin(), gaps.end(), [&](std::size_t a, std::size_t b) {
      return rows_.scope_above(a).size() < rows_.scope_above(b).size();
    });
    for (const std::size_t gap : gaps) {
      const InsertionPlace place{rows_.written_above(gap), rows_.needed_below(gap),
                                 rows_.scope_above(gap)};
      Edit at;
      at.kind = EditKind::kInsert;
      if (anchor(gap, at)) add_lines(place, at);
    }
    return in_order();
  }

  std::vector<Edit> replacements() {
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (rows_[i].line == nullptr) continue;
      const InsertionPlace place{rows_.written_above(i), rows_.needed_below(i + 1), rows_[i].scope};
      Edit at;
      at.kind = EditKind::kReplace;
      at.line = rows_[i].line->span.line;
      at.site = rows_[i].line->site;
      add_lines(place, at);
    }
    return in_order();
  }

 private:
  using Statement = std::shared_ptr<const toy::InstructionStatement>;

  void gather_registers() {
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (rows_[i].line == nullptr) continue;
      for (const toy::Operand& operand : rows_[i].line->operands) {
        if (toy::is_register(operand.kind) && operand.register_index) add_register(operand);
      }
    }
    for (std::size_t name = 0; name < program_.register_names.size(); ++name) {
      if (program_.register_names[name].count == nullptr)
        add_register(named_register(program_, name, nullptr));
    }
  }

  void add_register(const toy::Operand& operand) {
    Register one{operand, operand_text(operand, program_), name_of(operand, program_),
                 loop_variables_at(operand)};
    const bool is_known =
        std::any_of(registers_.begin(), registers_.end(),
                    [&](const Register& other) { return other.text == one.text; });
    if (!is_known) registers_.push_back(std::move(one));
  }

  /// Lines of this program and of the solution with the instruction: their other operands are taken as they are.
  void gather_templates(const toy::Program& solution) {
    std::set<std::string> known;
    for (const Edit& edit : enumerate_insertions(program_, &solution)) {
      if (edit.instruction->row != row_) continue;
      std::string other;
      for (const toy::Operand& operand : edit.instruction->operands) {
        if (!is_varied(operand)) other += operand_text(operand, program_) + ",";
      }
      if (known.insert(other).second) templates_.push_back(edit.instruction);
    }
  }

  static bool is_varied(const toy::Operand& operand) {
    return toy::is_register(operand.kind) && operand.register_index != nullptr;
  }

  /// Beside the row below the gap, or the one above it. Returns false where no line can be put.
  bool anchor(std::size_t gap, Edit& at) const {
    const bool is_line_below = gap < rows_.size() && rows_[gap].line != nullptr;
    const bool is_line_above = gap > 0 && rows_[gap - 1].line != nullptr;
    if (is_line_below || is_line_above) {
      at.behind = !is_line_below;
      const toy::InstructionStatement& line = *rows_[at.behind ? gap - 1 : gap].line;
      at.line = line.span.line;
      at.site = line.site;
      return true;
    }
    const bool begins = gap < rows_.size() && rows_[gap].partner == SIZE_MAX;
    const bool ends = gap > 0 && rows_[gap - 1].partner != SIZE_MAX;
    if (!begins && !ends) return false;
    at.behind = !begins;
    const toy::LoopStatement& loop = *rows_[at.behind ? gap - 1 : gap].loop;
    at.line = at.behind ? end_line(program_, loop) : loop.span.line;
    at.loop = loop.loop;
    return true;
  }

  void add_lines(const InsertionPlace& place, const Edit& at) {
    for (const Statement& one : templates_) {
      bool is_visible = true;
      for (const toy::Operand& operand : one->operands) {
        is_visible = is_visible && (is_varied(operand) || place.sees(loop_variables_at(operand)));
      }
      if (is_visible) extend(place, at, *one, {});
    }
  }

  void extend(const InsertionPlace& place, const Edit& at, const toy::InstructionStatement& one,
              std::vector<const Register*> chosen) {
    const std::size_t i = chosen.size();
    if (i == one.operands.size()) return add(at, one, chosen);
    chosen.push_back(nullptr);
    if (!is_varied(one.operands[i])) return extend(place, at, one, std::move(chosen));
    for (const Register& other : registers_) {
      if (!place.sees(other.needs)) continue;
      const bool is_read = toy::is_register_read(one.operands[i].kind);
      const bool is_product = spec_.num_operands == toy::kMaxOperands;
      if (other.operand.transposed && !(is_read && is_product)) continue;
      if (!(is_read ? place.written : place.needed).contains(other.name)) continue;
      chosen[i] = &other;
      extend(place, at, one, chosen);
    }
  }

  void add(const Edit& at, const toy::InstructionStatement& one,
           const std::vector<const Register*>& chosen) {
    // A product is added to what it updates.
    const bool is_sum =
        spec_.num_operands == toy::kMaxOperands && chosen[2] != nullptr && chosen[3] != nullptr;
    if (is_sum && chosen[2] != chosen[3]) return;
    if (is_copy(spec_) && chosen[0] == chosen[1]) return;
    Edit edit = at;
    auto line = std::make_shared<toy::InstructionStatement>(one);
    edit.text = std::string(spec_.mnemonic);
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      toy::Operand& operand = line->operands[i];
      if (chosen[i] != nullptr) {
        const toy::OperandKind kind = operand.kind;
        operand = chosen[i]->operand;
        operand.kind = kind;
      }
      edit.text += (i == 0 ? " " : ", ") + operand_text(operand, program_);
    }
    if (at.kind == EditKind::kInsert) {
      edit.what = edit.text + (at.behind ? " after" : " before") + " this line";
    } else {
      edit.what = edit.text + " instead of this line";
    }
    edit.instruction = std::move(line);
    (is_update(chosen) ? updates_ : others_).push_back(std::move(edit));
  }

  /// Whether the line writes a register that it reads.
  bool is_update(const std::vector<const Register*>& chosen) const {
    const Register* const written = chosen.back();
    return spec_.has(toy::OperandKind::kDestination) &&
           std::find(chosen.begin(), chosen.end() - 1, written) != chosen.end() - 1;
  }

  std::vector<Edit> in_order() {
    std::vector<Edit> all = std::move(updates_);
    for (Edit& edit : others_) all.push_back(std::move(edit));
    return all;
  }

  const toy::Program& program_;
  const std::size_t row_;
  const toy::InstructionSpec& spec_;
  const Rows rows_;
  std::vector<Register> registers_;
  std::vector<Statement> templates_;
  std::vector<Edit> updates_, others_;
};

void count_rows(const std::vector<toy::Statement>& body, int step,
                std::map<std::size_t, int>& count) {
  for (const toy::Statement& statement : body) {
    if (const auto* loop = std::get_if<toy::LoopStatement>(&statement.node)) {
      count_rows(loop->body, step, count);
    } else if (const auto* line = std::get_if<toy::InstructionStatement>(&statement.node)) {
      count[line->row] += step;
    }
  }
}

}  // namespace

OneLine::OneLine(const toy::Program& program, const toy::Program& solution)
    : program_(program), solution_(solution) {}

std::vector<std::size_t> OneLine::rows() const {
  std::map<std::size_t, int> theirs, lacking;
  count_rows(solution_.body, 1, theirs);
  lacking = theirs;
  count_rows(program_.body, -1, lacking);
  std::vector<std::size_t> rows;
  for (const auto& [row, count] : theirs) rows.push_back(row);
  std::stable_sort(rows.begin(), rows.end(), [&](std::size_t a, std::size_t b) {
    return (lacking[a] > 0) > (lacking[b] > 0);
  });
  return rows;
}

std::vector<Edit> OneLine::insertions(std::size_t row) const {
  return OwnLines(program_, solution_, row).insertions();
}

std::vector<Edit> OneLine::replacements(std::size_t row) const {
  return OwnLines(program_, solution_, row).replacements();
}

}  // namespace flashlab::exercises
