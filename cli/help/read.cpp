// `flashlab read`: prints a chapter of the course on the terminal. A person is asked the chapter's
// questions; what is predicted is kept where `flashlab predict` keeps it.
#include "cli/help/read.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "chapter_files.hpp"
#include "cli/options/commands.hpp"
#include "cli/options/flags.hpp"
#include "cli/terminal/failure.hpp"
#include "cli/terminal/markdown_text.hpp"
#include "cli/terminal/standard_streams.hpp"
#include "cli/terminal/text_table.hpp"
#include "exercises/grader/grade/progress.hpp"
#include "text/lists.hpp"
#include "text/nearest.hpp"
#include "text/visible.hpp"
#include "toymachine/language/source.hpp"

namespace flashlab::cli {
namespace {

struct ReadFlags {
  std::string page;
  bool answers = false;
  TerminalOptions terminal;
};

/// A page of the course: "04_softmax" or "masks", and its text in Markdown.
struct Page {
  std::string name;
  std::string_view text;

  bool has_number() const { return number_length() > 0; }
  /// Whether this was a chapter once. Its number still leads to it.
  bool is_appendix() const { return has_number() && title().starts_with("Appendix"); }
  bool is_chapter() const { return has_number() && !is_appendix(); }
  /// "4" for "04_softmax"; "masks" for itself; "the_language" for the appendix "02_the_language".
  std::string shown_name() const {
    if (!has_number()) return name;
    return is_appendix() ? name.substr(number_length() + 1) : number();
  }
  /// "4" for "04_softmax", "9a" for "09a_before_a_gpu".
  std::string number() const {
    const std::string number = name.substr(0, number_length());
    return number[0] == '0' ? number.substr(1) : number;
  }
  std::string title() const {
    const std::string_view line = text.substr(0, text.find('\n'));
    return std::string(line.substr(std::min(line.find_first_not_of("# "), line.size())));
  }
  /// Whether the page is called so: "4", "04", "04_softmax", "softmax", "masks".
  bool answers_to(std::string_view word) const {
    return word == name ||
           (has_number() && (word == number() || word == name.substr(0, number_length()) ||
                             word == name.substr(number_length() + 1)));
  }

 private:
  /// The length of "04" or "09a" before the first underscore; 0 for a page without a number.
  std::size_t number_length() const {
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    const std::size_t length = std::min(name.find('_'), name.size());
    const bool is_number = (length == 2 || (length == 3 && name[2] >= 'a' && name[2] <= 'z')) &&
                           is_digit(name[0]) && is_digit(name[1]) && length < name.size();
    return is_number ? length : 0;
  }
};

std::vector<Page> course_pages() {
  std::vector<Page> all;
  for (const EmbeddedFile& file : chapter_files) {
    all.push_back({std::string(file.name.substr(0, file.name.rfind('.'))), file.text});
  }
  const auto place = [](const Page& page) {
    return page.is_chapter() ? 0 : page.has_number() ? 1 : 2;
  };
  std::stable_sort(all.begin(), all.end(),
                   [&](const Page& a, const Page& b) { return place(a) < place(b); });
  return all;
}

/// The command that shows the page of a link, such as "passes.md#registers"; empty if none does.
std::string reading_command_of(std::string_view target) {
  const std::string_view file = target.substr(0, target.find('#'));
  if (!file.ends_with(".md") || file.find('/') != std::string_view::npos) return {};
  for (const Page& page : course_pages()) {
    if (page.name + ".md" == file) return "flashlab read " + page.shown_name();
  }
  return {};
}
/// Replaces [text](page.md#place) by the text, and by the command that shows the page, where a page
/// is linked for the first time: `told` keeps these. Links to the web stay. A table has no room.
std::string without_links(std::string_view text, std::set<std::string>& told) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t middle = text.find("](", at);
    const std::size_t end = middle == std::string_view::npos ? middle : text.find(')', middle);
    if (end == std::string_view::npos) return result + std::string(text.substr(at));
    const std::size_t open = text.rfind('[', middle);
    if (open == std::string_view::npos || open < at ||
        text.substr(middle + 2).starts_with("http")) {
      result += text.substr(at, end + 1 - at);
    } else {
      result += text.substr(at, open - at);
      const std::string_view name = text.substr(open + 1, middle - open - 1);
      result += name;
      const std::string command = reading_command_of(text.substr(middle + 2, end - middle - 2));
      const bool is_prose = !text.starts_with('|') && !text.starts_with('#');
      const bool is_chapter = name.find("hapter") != std::string_view::npos;  // the text says where
      if (is_prose && !command.empty() && !is_chapter && told.insert(command).second) {
        result += " (`" + command + "`)";
      }
    }
    at = end + 1;
  }
  return result;
}

/// The words that describe a picture: its alternative text.
std::string picture_text(std::string_view line) {
  const std::size_t start = line.find("alt=\"");
  if (start == std::string_view::npos) return {};
  const std::string_view rest = line.substr(start + 5);
  return "Picture: " + std::string(rest.substr(0, rest.find('"')));
}

/// Turns a page for browsers into one for a terminal: no comments, no links between pages, pictures
/// in words, and answers only if they are wanted.
class TerminalPage {
 public:
  TerminalPage(const Page& page, bool answers) : page_(page), answers_(answers) {}

  std::string text() {
    for (std::string_view rest = page_.text; !rest.empty();) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      take(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    end_paragraph();
    return std::move(result_);
  }

 private:
  void take(std::string_view line) {
    if (line.starts_with("</details>")) {
      is_hidden_ = false;
      return;
    }
    if (is_hidden_) return;
    if (line.starts_with("```")) is_code_ = !is_code_;
    if (is_code_ || line.starts_with("```")) return put_code(line);
    if (line.starts_with("<details>")) {
      is_hidden_ = !answers_;
      return put(answers_ ? "**Answer**"
                          : "(The answer: `flashlab read " + page_.shown_name() + " --answers`)");
    }
    if (line.starts_with("[Contents]")) is_navigation_ = true;
    if (line.empty()) is_navigation_ = false;
    if (is_navigation_ || line.starts_with("<!--") || line == "---") return;
    if (line.starts_with("Next: [") || line.starts_with("Back to [")) return;
    if (line.starts_with("[<img")) return put(picture_text(line));
    if (line.starts_with(">")) line.remove_prefix(std::min<std::size_t>(2, line.size()));
    put(as_typed(line));
  }

  /// The line with `flashlab trace` for `./lab trace`, which a clone of the repository has. What only
  /// ./lab can do stays.
  static std::string as_typed(std::string_view line) {
    constexpr std::string_view kScript = "./lab ";
    constexpr std::array<std::string_view, 5> kOfScript{"test", "bench", "package", "playground",
                                                        "gpu measure"};
    std::string text(line);
    for (std::size_t at = 0; (at = text.find(kScript, at)) != std::string::npos; ++at) {
      const std::string_view rest = std::string_view(text).substr(at + kScript.size());
      const bool is_command = at == 0 || text[at - 1] == '`';
      const bool stays = std::any_of(kOfScript.begin(), kOfScript.end(),
                                     [&](std::string_view word) { return rest.starts_with(word); });
      if (is_command && !stays) text.replace(at, kScript.size(), "flashlab ");
    }
    return text;
  }

  void put(std::string_view line) {
    paragraph_ += std::string(line) + "\n";
    if (line.empty()) end_paragraph();
  }

  void put_code(std::string_view line) {
    end_paragraph();
    result_ += as_typed(line) + "\n";
  }

  /// A link may be broken between two lines.
  void end_paragraph() {
    result_ += without_links(paragraph_, told_);
    paragraph_.clear();
  }

  const Page& page_;
  bool answers_, is_hidden_ = false, is_code_ = false;
  bool is_navigation_ = false;  // the first paragraph, which has links to other pages
  std::string paragraph_, result_;
  std::set<std::string> told_;
};

/// A page up to a fold, and what is in the fold. The last part of a page has none.
struct PagePart {
  std::string_view text, answer;
  bool asks = false;  // a prediction; else the fold only hides something
};

/// Splits a page at its folds.
std::vector<PagePart> parts_of(std::string_view page) {
  constexpr std::string_view kFold = "\n<details>", kEnd = "\n</details>\n";
  std::vector<PagePart> parts;
  for (std::size_t fold = 0; (fold = page.find(kFold)) != std::string_view::npos;) {
    const std::size_t first = std::min(page.find('\n', fold + 1), page.size());
    const std::size_t end = std::min(page.find(kEnd, first), page.size());
    const std::string_view text = page.substr(0, fold + 1);
    parts.push_back({text, page.substr(first, end - first),
                     text.find("**Predict**") != std::string_view::npos});
    page.remove_prefix(std::min(end + kEnd.size(), page.size()));
  }
  parts.push_back({page, {}});
  return parts;
}

/// Reads a page with a person, who answers its questions before the answers are shown.
class AskedReading {
 public:
  AskedReading(const Page& page, const Terminal& terminal)
      : page_(page), terminal_(terminal), store_(exercises::progress_folder()) {}

  void show() {
    predictions_ = store_.read().predictions_of(key());
    int question = 0;
    for (const PagePart& part : parts_of(page_.text)) {
      print(part.text);
      if (is_left_ || part.answer.empty()) break;
      ask(part.asks ? std::to_string(++question) : std::string());
      if (is_left_) break;
      print("**Answer**\n" + std::string(part.answer) + "\n");
    }
    for (const std::string& note : store_.notes()) {
      std::cerr << "flashlab: note: " << printable(note) << "\n";
    }
  }
  bool is_left() const { return is_left_; }

 private:
  /// The name of the page among the predictions, which no exercise has.
  std::string key() const { return "docs/" + page_.name + ".md"; }

  /// Asks, and reads a line. Nobody is asked any more when there is none.
  std::string typed(const std::string& question) {
    if (is_alone_) std::cout << question;
    const auto line = is_alone_ ? std::nullopt : typed_line(question);
    is_alone_ = !line;
    const std::string word(trimmed(line.value_or("")));
    is_left_ = word == "q";
    return word;
  }

  /// Prints Markdown, a window at a time.
  void print(std::string_view markdown) {
    const std::string text =
        markdown_text(TerminalPage({page_.name, markdown}, true).text(), terminal_);
    const std::size_t rows = std::max<std::size_t>(screen_size().rows, 8) - 2;
    for (std::size_t at = 0; at < text.size() && !is_left_;) {
      const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
      std::cout << text.substr(at, end - at);
      at = end;
      if (++rows_printed_ < rows || at == text.size() || is_alone_) continue;
      typed(styled("Enter goes on, q ends ", Style::kDim, terminal_));
      rows_printed_ = 0;
    }
    if (!is_left_) std::cout << "\n";
  }

  /// Asks for a prediction, unless `question` is empty, and waits.
  void ask(const std::string& question) {
    rows_printed_ = 0;
    if (question.empty()) {
      typed(styled("Enter goes on, q ends ", Style::kDim, terminal_));
      return;
    }
    const auto before = predictions_.find(question);
    if (before != predictions_.end()) {
      std::cout << "Before, you predicted: " << printable(before->second) << "\n";
    }
    const std::string prediction = typed(
        styled("Your prediction (Enter shows the answer, q ends): ", Style::kBold, terminal_));
    if (is_alone_) std::cout << "\n";
    if (is_left_ || prediction.empty()) return;
    predictions_[question] = prediction;
    store_.update([&](exercises::Progress& progress) {
      exercises::Predictions all = progress.predictions_of(key());
      all[question] = prediction;
      progress.predict(key(), all);
    });
    std::cout << "\n";
  }

  const Page& page_;
  const Terminal& terminal_;
  exercises::ProgressFile store_;
  exercises::Predictions predictions_;
  std::size_t rows_printed_ = 0;
  bool is_left_ = false, is_alone_ = false;
};

/// Whether a person reads, who can be asked.
bool is_read_by_a_person(const ReadFlags& options) {
  return !options.answers && !options.terminal.no_pager && knows_escape_codes() &&
         isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0;
}

void print_contents(const std::vector<Page>& all, const Terminal& terminal) {
  TextTable table({{"page"}, {"title"}});
  for (const Page& page : all) table.row({page.shown_name(), page.title()});
  std::cout << table.to_string(terminal) << "\nflashlab read PAGE prints one.\n";
}

int print_page(const ReadFlags& options) {
  const std::vector<Page> all = course_pages();
  if (options.page.empty()) {
    print_contents(all, options.terminal.terminal());
    return kExitGood;
  }
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const Page& page) { return page.answers_to(options.page); });
  if (found == all.end()) {
    std::vector<std::string> names;
    for (const Page& page : all) names.push_back(page.name);
    throw request_failure("there is no page '" + printable(options.page) + "'",
                          "a number or a name that `flashlab read` lists",
                          nearest(options.page, names).value_or(""));
  }
  TerminalOptions output = options.terminal;
  const bool asks = is_read_by_a_person(options) && parts_of(found->text).size() > 1;
  if (asks) output.no_pager = true;  // a window at a time
  const Terminal terminal = output.terminal();
  if (found->is_appendix() && options.page != found->shown_name()) {
    std::cout << "Chapter " << found->number() << " is an appendix now: flashlab read "
              << found->shown_name() << "\n\n";
  }
  if (asks) {
    AskedReading reading(*found, terminal);
    reading.show();
    if (reading.is_left()) return kExitGood;
  } else {
    std::cout << markdown_text(TerminalPage(*found, options.answers).text(), terminal);
  }
  const auto next = found + 1;
  if (found->is_chapter() && next != all.end() && next->is_chapter()) {
    std::cout << "\nNext chapter: flashlab read " << next->shown_name()
              << "\nYour next exercise: flashlab next\n";
  }
  return kExitGood;
}

}  // namespace

std::string reading_command(const std::string& path) {
  for (const Page& page : course_pages()) {
    if (path == "docs/" + page.name + ".md") return "flashlab read " + page.shown_name();
  }
  return printable(path);
}

CommandAction add_read(CLI::App& app) {
  CLI::App& command =
      add_command(app, "read", "Read a chapter of the course on the terminal",
                  "  flashlab read                the chapters and other pages\n"
                  "  flashlab read 4              a chapter; on a terminal, asks its questions\n"
                  "  flashlab read 4 --answers    with the answers to its questions\n"
                  "  flashlab read 4 --no-pager   all at once, without the answers\n"
                  "  flashlab read glossary\n");
  auto options = std::make_shared<ReadFlags>();
  add_option(command, "page", options->page, "a chapter's number, or a page's name")
      .type_name("PAGE");
  add_flag(command, "--answers", options->answers, "show the answers, too");
  options->terminal.add_to(command);
  return [options] { return print_page(*options); };
}

}  // namespace flashlab::cli
