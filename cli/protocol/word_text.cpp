#include "cli/protocol/word_text.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <variant>
#include <vector>

#include "text/lists.hpp"
#include "text/markdown.hpp"
#include "text/numbers.hpp"
#include "text/visible.hpp"

namespace flashlab::cli {
namespace {

using toy::WordKind;

constexpr std::array<std::pair<std::string_view, std::string_view>, 32> kLanguageTexts{
    {{".isa", "the level of the machine: matmul, softmax or attention, and further instructions"},
     {".operands", "whether the factors of products must be R0 and R1 (pinned) or may be any"},
     {".score", "where a function of the scores is executed: the register, and its tile's place"},
     {".use", "the program whose scores the lines of this file change"},
     {".registers", "the number of registers of the machine"},
     {".machines", "the program runs on several machines, with messages between them"},
     {".reg", "names for registers, numbered from R0 in this order"},
     {".param", "sizes: whole numbers, which `-D` changes"},
     {".const", "a real number, for constants and claims"},
     {".input", "an array in DRAM that is filled before the first step"},
     {".temp", "an array in DRAM for intermediate results"},
     {".output", "an array in DRAM that is printed after the last step"},
     {".pass", "the title of the part that begins here"},
     {".name", "what a register holds here, which traces show, and claims check"},
     {"for", "a loop: `for VAR in FIRST..END`, without END; `step` names another step than 1"},
     {"in", "stands between a loop's variable and its range"},
     {"step", "the distance of a loop's values"},
     {"end", "the end of a loop's body"},
     {"tile", "the size of the tiles into which an array is divided"},
     {"of", "stands between the machine's number and the number of machines"},
     {"min", "the smallest of its arguments"},
     {"max", "the largest of its arguments, or of a range: `max(i in 0..n: x[i])`"},
     {"ceildiv", "the quotient of two whole numbers, rounded up"},
     {"floordiv", "the quotient of two whole numbers, rounded down"},
     {"floor", "rounds down"},
     {"ceil", "rounds up"},
     {"sqrt", "the square root"},
     {"exp", "the exponential function"},
     {"log", "the natural logarithm"},
     {"tiles", "the number of tiles of an array along an axis: `tiles(q, 0)`"},
     {"extent", "the number of elements of an array along an axis: `extent(q, 0)`"},
     {"sum", "the sum over a range: `sum(i in 0..n: x[i])`"}}};
constexpr const char* kRegistersText = "the number of registers of the machine";

/// The statements of a program that a word may be about.
struct Statements {
  std::vector<const toy::InstructionStatement*> instructions;
  std::vector<const toy::LoopStatement*> loops;

  explicit Statements(const toy::Program& program) { collect(program.body); }

 private:
  void collect(const std::vector<toy::Statement>& body) {
    for (const toy::Statement& statement : body) {
      if (const auto* one = std::get_if<toy::InstructionStatement>(&statement.node)) {
        instructions.push_back(one);
      } else if (const auto* loop = std::get_if<toy::LoopStatement>(&statement.node)) {
        loops.push_back(loop);
        collect(loop->body);
      }
    }
  }
};

/// "line 7", "lines 7, 9 and 12"; "" for none.
std::string lines_text(std::vector<std::uint32_t> lines) {
  constexpr std::size_t kMost = 8;
  lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  if (lines.empty()) return {};
  if (lines.size() == 1) return "line " + std::to_string(lines[0]);
  const std::size_t shown = std::min(lines.size(), kMost);
  std::string text = "lines ";
  for (std::size_t i = 0; i < shown; ++i) {
    const bool is_last = i + 1 == lines.size();
    text += (i == 0 ? "" : is_last ? " and " : ", ") + std::to_string(lines[i]);
  }
  return shown < lines.size() ? text + " and " + std::to_string(lines.size() - shown) + " more"
                              : text;
}

/// "written in line 7, read in lines 9 and 12".
template <class Touches>
std::string uses_text(const toy::Program& program, const Touches& touches) {
  std::vector<std::uint32_t> written, read;
  for (const toy::InstructionStatement* const one : Statements(program).instructions) {
    for (const toy::Operand& operand : one->operands) {
      if (!touches(operand)) continue;
      const bool writes =
          operand.kind == toy::OperandKind::kDestination || toy::is_memory_write(operand.kind);
      if (writes) written.push_back(one->span.line);
      if (toy::is_read(operand.kind)) read.push_back(one->span.line);
    }
  }
  std::string text = written.empty() ? "no line writes it" : "written in " + lines_text(written);
  return text + (read.empty() ? "; no line reads it" : "; read in " + lines_text(read));
}

class WordText {
 public:
  WordText(const ToyDocument& document, const toy::SourceWord& word)
      : document_(document),
        word_(word),
        program_(document.program().get()),
        text_(document.names().text_of(word)) {}

  std::string run() const {
    if (word_.kind == WordKind::kDirective || word_.kind == WordKind::kKeyword ||
        word_.kind == WordKind::kFunction) {
      const std::string does = about_language_word(text_);
      return does.empty() ? does : head("\n\n" + does);
    }
    if (word_.kind == WordKind::kInstruction) return instruction();
    if (program_ == nullptr) return declaration();
    switch (word_.kind) {
      case WordKind::kArray:
        return array();
      case WordKind::kParam:
        return param();
      case WordKind::kConst:
        return constant();
      case WordKind::kLoopVar:
        return loop();
      case WordKind::kRegister:
        return register_text();
      case WordKind::kLabel:
        return head("a name of a register's value, for traces and claims");
      default:
        return {};
    }
  }

 private:
  /// `what`: behind a blank, or another paragraph.
  std::string head(const std::string& what) const {
    return "**" + markdown_text(text_) + "**" + (what.starts_with('\n') ? "" : " ") + what;
  }

  /// What the text alone says, of a program that does not assemble.
  std::string declaration() const {
    const auto span = document_.names().declaration_of(word_);
    if (!span) return {};
    const std::string_view line = trimmed(document_.source().line(span->line).substr(0, 200));
    return head("of line " + std::to_string(span->line)) + "\n\n" + markdown_code(printable(line));
  }

  /// Of a line that its costs do not describe, which begin with the same.
  std::string instruction() const {
    const auto row = toy::find_instruction(text_);
    if (!row || !document_.about_line(word_.span.line).empty()) return {};
    const toy::InstructionSpec& spec = toy::instruction_set()[*row];
    return about_instruction(spec) + "\n\n" +
           markdown_code(std::string(spec.mnemonic) + " " + std::string(spec.operand_names));
  }

  template <class Declarations>
  static auto find(const Declarations& all, const std::string& name) {
    return std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == name; });
  }

  std::string array() const {
    const auto found = find(program_->arrays, text_);
    if (found == program_->arrays.end()) return {};
    const auto number = static_cast<std::size_t>(found - program_->arrays.begin());
    std::string text = head(found->role == toy::ArrayRole::kInput    ? "an input of "
                            : found->role == toy::ArrayRole::kOutput ? "an output of "
                                                                     : "a temporary array of ");
    std::vector<std::string> extents, sizes;
    for (const toy::ExpressionPtr& one : found->extents) extents.push_back(toy::to_string(*one));
    text += markdown_code(joined(extents, " x ")) + " elements";
    if (const toy::BoundProgram* const bound = document_.at_defaults()) {
      for (const std::int64_t one : bound->arrays[number].extents) {
        sizes.push_back(std::to_string(one));
      }
      if (sizes != extents) text += ", " + joined(sizes, " x ") + " at the defaults";
    }
    return text + "\n\n" + uses_text(*program_, [&](const toy::Operand& operand) {
             return toy::is_memory(operand.kind) && operand.array == number;
           });
  }

  std::string param() const {
    const auto found = find(program_->params, text_);
    if (found == program_->params.end()) return {};
    const auto number = static_cast<std::size_t>(found - program_->params.begin());
    std::string text = head("a parameter");
    if (found->default_value) {
      const std::string value = toy::to_string(*found->default_value);
      text += ", " + markdown_code(value) + " by default";
      const toy::BoundProgram* const bound = document_.at_defaults();
      const std::string number_text = bound ? std::to_string(bound->params[number]) : value;
      if (number_text != value) text += ": " + number_text;
    } else {
      text += " without a default: " + markdown_code("-D " + text_ + "=NUMBER") + " sets it";
    }
    return text;
  }

  std::string constant() const {
    const auto found = find(program_->consts, text_);
    if (found == program_->consts.end()) return {};
    const auto number = static_cast<std::size_t>(found - program_->consts.begin());
    const std::string value = toy::to_string(*found->value);
    std::string text = head("a constant, " + markdown_code(value));
    if (const toy::BoundProgram* const bound = document_.at_defaults()) {
      const std::string known = std::visit(
          [](auto one) {
            if constexpr (std::is_integral_v<decltype(one)>)
              return std::to_string(one);
            else
              return shortest_text(one);
          },
          bound->consts[number]);
      if (known != value) text += " = " + known + " at the defaults";
    }
    return text;
  }

  std::string loop() const {
    const auto span = document_.names().declaration_of(word_);
    if (!span) return {};
    const Statements all(*program_);
    const auto found =
        std::find_if(all.loops.begin(), all.loops.end(), [&](const toy::LoopStatement* one) {
          return one->span.line == span->line && one->var == text_;
        });
    if (found == all.loops.end()) return head("a variable of a claim");
    const toy::LoopStatement& one = **found;
    std::string text = head("the variable of the loop in line " + std::to_string(span->line)) +
                       "\n\nfrom " + markdown_code(toy::to_string(*one.lower)) + " to before " +
                       markdown_code(toy::to_string(*one.upper));
    const std::string step = toy::to_string(*one.step);
    if (step != "1") text += " in steps of " + markdown_code(step);
    const toy::BoundProgram* const bound = document_.at_defaults();
    if (bound == nullptr) return text;
    const toy::Interval values = bound->loops[one.loop].values;
    return text + (values.empty() ? "; it does not run at the defaults"
                                  : "; " + std::to_string(values.low) + " to " +
                                        std::to_string(values.high) + " at the defaults");
  }

  std::string register_text() const {
    const auto named = find(program_->register_names, text_);
    if (named == program_->register_names.end()) {
      return head("a register") + "\n\n" + uses_text(*program_, [&](const toy::Operand& operand) {
               return operand.register_index && operand.register_name == toy::kNoName &&
                      operand.register_index->op == toy::ExpressionOp::kInteger &&
                      "R" + std::to_string(operand.register_index->integer) == upper(text_);
             });
    }
    const auto number = static_cast<std::size_t>(named - program_->register_names.begin());
    std::string text = head(named->count ? "registers" : "a register");
    if (const toy::BoundProgram* const bound = document_.at_defaults()) {
      const toy::NamedRegisters& where = bound->named_registers[number];
      text += named->count ? ", R" + std::to_string(where.first) + " to R" +
                                 std::to_string(where.first + where.count - 1) + " at the defaults"
                           : ", R" + std::to_string(where.first);
    }
    return text + "\n\n" + uses_text(*program_, [&](const toy::Operand& operand) {
             return toy::is_register(operand.kind) && operand.register_name == number;
           });
  }

  static std::string upper(std::string text) {
    if (!text.empty() && text[0] == 'r') text[0] = 'R';
    return text;
  }

  const ToyDocument& document_;
  const toy::SourceWord& word_;
  const toy::Program* program_;
  std::string text_;
};

}  // namespace

std::string about_word(const ToyDocument& document, const toy::SourceWord& word) {
  return WordText(document, word).run();
}

std::string about_language_word(const std::string& text) {
  if (text == "registers") return kRegistersText;
  const auto* const found = std::find_if(kLanguageTexts.begin(), kLanguageTexts.end(),
                                         [&](const auto& one) { return one.first == text; });
  return found == kLanguageTexts.end() ? std::string() : std::string(found->second);
}

}  // namespace flashlab::cli
