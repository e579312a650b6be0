#include "exercises/grader/submission/answer_sheet.hpp"

#include <algorithm>
#include <optional>

#include "exercises/grader/exercise/answers.hpp"
#include "text/lists.hpp"
#include "text/nearest.hpp"
#include "text/numbers.hpp"
#include "text/visible.hpp"
#include "text/width.hpp"

namespace flashlab::exercises {
namespace {

constexpr std::size_t kMostSheetFindings = 20;
constexpr std::size_t kWidth = 78;
constexpr std::string_view kSheetBlanks = " \t\r";

class SheetReader {
 public:
  SheetReader(const std::vector<Question>& questions, const toy::SourceText& text)
      : questions_(questions), text_(text), lines_(questions.size()) {}

  Sheet run() {
    for (std::uint32_t line = 1; line <= text_.num_lines(); ++line) read_line(line);
    finish();
    return std::move(sheet_);
  }

 private:
  /// A part of the file that belongs to an answer.
  struct Piece {
    std::uint32_t line;
    std::size_t column;  // from 0
    std::string_view text;
  };

  void read_line(std::uint32_t number) {
    const std::string_view line = text_.line(number);
    const std::string_view content = trimmed(line, kSheetBlanks);
    if (content.empty() || content[0] == '#') return;
    const bool indented = line[0] == ' ' || line[0] == '\t';
    const std::size_t colon = line.find(':');
    const std::string_view key = colon == std::string_view::npos
                                     ? std::string_view()
                                     : trimmed(line.substr(0, colon), kSheetBlanks);
    const std::optional<std::size_t> known =
        colon == std::string_view::npos ? std::nullopt : find(key);
    if (known) {
      begin_answer(*known, number, {number, colon + 1, line.substr(colon + 1)});
    } else if (indented && current_) {
      lines_[*current_].push_back({number, 0, line});
    } else if (!indented || !after_key_) {
      current_ = std::nullopt;
      complain(number, key, colon == std::string_view::npos);
    }
  }

  std::optional<std::size_t> find(std::string_view key) const {
    for (std::size_t i = 0; i < questions_.size(); ++i) {
      if (questions_[i].id == key) return i;
    }
    return std::nullopt;
  }

  void begin_answer(std::size_t question, std::uint32_t number, Piece piece) {
    sheet_.has_keys = true;
    after_key_ = true;
    if (lines_[question].empty()) {
      current_ = question;
      lines_[question].push_back(piece);
      return;
    }
    current_ = std::nullopt;
    twice_.resize(questions_.size());
    twice_[question] = true;
    add({"'" + questions_[question].id + "' is answered twice, first in line " +
             std::to_string(lines_[question].front().line),
         {"expected one answer; neither counts"},
         number,
         0,
         {}});
  }

  void complain(std::uint32_t number, std::string_view key, bool no_colon) {
    after_key_ = !no_colon;  // indented lines below an unknown key belong to it
    if (no_colon) {
      add({"this line is not an answer",
           {"expected 'key: answer', a line that begins with #, or an indented line that continues "
            "the answer above"},
           number,
           0,
           {}});
      return;
    }
    std::vector<std::string> ids;
    for (const Question& question : questions_) ids.push_back(question.id);
    std::vector<std::string> details{"expected one of the sheet's keys: " + joined(ids)};
    if (const auto near = nearest(key, ids)) details.push_back("did you mean " + *near + "?");
    add({"there is no question '" + printable(key.substr(0, kWidth)) + "'",
         std::move(details),
         number,
         0,
         {}});
  }

  void add(Finding finding) {
    if (sheet_.findings.size() < kMostSheetFindings) sheet_.findings.push_back(std::move(finding));
  }

  void finish() {
    twice_.resize(questions_.size());
    for (std::size_t i = 0; i < questions_.size(); ++i) {
      SheetAnswer answer;
      if (!lines_[i].empty() && !twice_[i]) {
        answer.line = lines_[i].front().line;
        std::string all, masked;
        std::uint32_t line = 1;
        for (const Piece& piece : lines_[i]) {
          masked.append(piece.line - line, '\n').append(piece.column, ' ').append(piece.text);
          line = piece.line;
          all.append(" ").append(piece.text);
        }
        answer.text = on_one_line(all);
        answer.place = toy::SourceText(text_.name(), masked);
      }
      sheet_.answers.push_back(std::move(answer));
    }
  }

  const std::vector<Question>& questions_;
  const toy::SourceText& text_;
  Sheet sheet_;
  std::vector<std::vector<Piece>> lines_;  // by question
  std::vector<bool> twice_;
  std::optional<std::size_t> current_;
  bool after_key_ = false;
};

/// Adds "# text" in lines of at most kWidth columns. `indent` precedes every line but the first.
void add_comment(std::string& sheet, const std::string& text, const std::string& indent = {}) {
  bool first = true;
  for (const std::string& line : paragraph_lines(text, kWidth - 2 - indent.size())) {
    sheet += "# " + (first ? "" : indent) + line + "\n";
    first = false;
  }
}

std::string what_is_expected(const Question& question) {
  switch (question.kind) {
    case AnswerKind::kNumber:
      return question.within > 1
                 ? "A number; it may be off by a factor of " + short_text(question.within) + "."
                 : "A number.";
    case AnswerKind::kChoice:
      return "One letter.";
    case AnswerKind::kOpen:
      return "Any text; indent the lines that continue it.";
    case AnswerKind::kFormula:
      break;
  }
  if (question.variables.empty()) return "A number, or a formula without variables.";
  return "A formula in " + joined(question.variables) +
         (question.leading ? "; the leading order suffices." : ".");
}

/// Whether the line would be read as a comment or as another answer.
bool begins_otherwise(const QuestionTask& task, const std::string& line) {
  const std::string key(trimmed(std::string_view(line).substr(0, line.find(':')), kSheetBlanks));
  return line.starts_with('#') ||
         std::any_of(task.questions.begin(), task.questions.end(),
                     [&](const Question& question) { return question.id == key; });
}

template <class AnswerOf>
std::string sheet_of(const QuestionTask& task, AnswerOf answer_of) {
  std::string sheet;
  if (!task.conventions.empty()) {
    add_comment(sheet, "Conventions: " + task.conventions);
    sheet += "\n";
  }
  for (const Question& question : task.questions) {
    add_comment(sheet, question.ask);
    for (std::size_t i = 0; i < question.choices.size(); ++i) {
      const auto letter = static_cast<char>('a' + i);
      add_comment(sheet, std::string(1, letter) + ") " + question.choices[i], "   ");
    }
    add_comment(sheet, what_is_expected(question));
    sheet += question.id + ":" + answer_of(question) + "\n\n";
  }
  return sheet;
}

}  // namespace

Sheet read_sheet(const std::vector<Question>& questions, const toy::SourceText& text) {
  return SheetReader(questions, text).run();
}

std::string answer_sheet(const QuestionTask& task) {
  return sheet_of(task, [](const Question&) { return std::string(); });
}

std::string model_answers(const QuestionTask& task) {
  return sheet_of(task, [&](const Question& question) {
    std::string text;
    if (question.kind != AnswerKind::kOpen) return " " + on_one_line(question.answer);
    for (const std::string& line : paragraph_lines(question.answer, kWidth - 2)) {
      text += (begins_otherwise(task, line) ? " " : "\n  ") + line;
    }
    return text;
  });
}

}  // namespace flashlab::exercises
