// `flashlab read`: prints a chapter of the course on the terminal.
#include "cli/help/read.hpp"

#include <algorithm>
#include <array>
#include <iostream>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "chapter_files.hpp"
#include "cli/options/commands.hpp"
#include "cli/options/flags.hpp"
#include "cli/terminal/failure.hpp"
#include "cli/terminal/markdown_text.hpp"
#include "cli/terminal/text_table.hpp"
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

  /// "4" for "04_softmax", "9a" for "09a_before_a_gpu"; "masks" for itself.
  std::string shown_name() const {
    const std::string number = name.substr(0, number_length());
    if (number.empty()) return name;
    return number[0] == '0' ? number.substr(1) : number;
  }
  std::string title() const {
    const std::string_view line = text.substr(0, text.find('\n'));
    return std::string(line.substr(std::min(line.find_first_not_of("# "), line.size())));
  }
  /// Whether the page is called so: "4", "04", "04_softmax", "softmax", "masks".
  bool answers_to(std::string_view word) const {
    const std::size_t length = number_length();
    return word == name || word == shown_name() ||
           (length > 0 && (word == name.substr(0, length) || word == name.substr(length + 1)));
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
  return all;
}

/// Replaces [text](page.md#place) by the text: a terminal cannot follow it. Links to the web stay.
std::string without_links(std::string_view text) {
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
      result += text.substr(open + 1, middle - open - 1);
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
    result_ += without_links(paragraph_);
    paragraph_.clear();
  }

  const Page& page_;
  bool answers_, is_hidden_ = false, is_code_ = false;
  bool is_navigation_ = false;  // the first paragraph, which has links to other pages
  std::string paragraph_, result_;
};

void print_contents(const std::vector<Page>& all, const Terminal& terminal) {
  TextTable table({{"page"}, {"title"}});
  for (const Page& page : all) table.row({page.shown_name(), page.title()});
  std::cout << table.to_string(terminal) << "\nflashlab read PAGE prints one.\n";
}

int print_page(const ReadFlags& options) {
  const Terminal terminal = options.terminal.terminal();
  const std::vector<Page> all = course_pages();
  if (options.page.empty()) {
    print_contents(all, terminal);
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
  std::cout << markdown_text(TerminalPage(*found, options.answers).text(), terminal);
  const auto next = found + 1;
  if (next != all.end() && next->shown_name() != next->name) {
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
                  "  flashlab read 4              a chapter\n"
                  "  flashlab read 4 --answers    with the answers to its questions\n"
                  "  flashlab read glossary\n");
  auto options = std::make_shared<ReadFlags>();
  add_option(command, "page", options->page, "a chapter's number, or a page's name")
      .type_name("PAGE");
  add_flag(command, "--answers", options->answers, "show the answers, too");
  options->terminal.add_to(command);
  return [options] { return print_page(*options); };
}

}  // namespace flashlab::cli
