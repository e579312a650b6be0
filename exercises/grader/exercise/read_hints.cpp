// Reads hints.md: "## Concept" and the three other sections.
#include "exercises/grader/exercise/read_program.hpp"

namespace flashlab::exercises {
namespace {

const std::vector<std::string> kHintTitles = {"Concept", "Place", "Operand", "Solution"};
constexpr const char* kFile = "hints.md";

void trim_lines(std::string& text) {
  text.erase(0, text.find_first_not_of('\n'));
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
}

bool is_blank_line(std::string_view line) {
  return line.find_first_not_of(" \t") == std::string_view::npos;
}

class HintReader {
 public:
  HintReader(const std::string& text, Exercise& exercise, std::vector<ReadError>& errors)
      : exercise_(exercise), list_(kFile, text, errors) {}

  void run() {
    for (std::uint32_t line = 1; line <= list_.source().num_lines(); ++line) read_line(line);
    for (std::string& hint : exercise_.hints) trim_lines(hint);
    for (std::size_t i = 0; i < kHintTitles.size(); ++i) {
      if (i < exercise_.hints.size() && !exercise_.hints[i].empty()) continue;
      list_.add(toy::SourceSpan{}, "the hint '" + kHintTitles[i] + "' is missing",
                "a section ## " + kHintTitles[i] + " with text in it");
    }
    exercise_.hints.resize(kHintLevels);
  }

 private:
  void read_line(std::uint32_t number) {
    const std::string line(list_.source().line(number));
    const std::size_t level = exercise_.hints.size();
    const toy::SourceSpan span{number, 1, static_cast<std::uint32_t>(line.size())};
    if (line.starts_with("## ")) {
      if (level >= kHintTitles.size()) {
        list_.add(span, "unexpected section", "no section after ## Solution");
        return;
      }
      if (line != "## " + kHintTitles[level]) {
        list_.add(span, "unexpected section", "## " + kHintTitles[level]);
      }
      exercise_.hints.emplace_back();
    } else if (level > 0) {
      exercise_.hints.back() += line + "\n";
    } else if (!is_blank_line(line) && !line.starts_with("# ")) {
      list_.add(span, "text before the first section is never shown", "## " + kHintTitles[0]);
    }
  }

  Exercise& exercise_;
  ErrorList list_;
};

}  // namespace

void read_hints(const Files& files, Exercise& exercise, std::vector<ReadError>& errors) {
  const auto file = files.find(kFile);
  if (file != files.end()) {
    HintReader(file->second, exercise, errors).run();
    return;
  }
  ErrorList(kFile, "", errors)
      .add(toy::SourceSpan{}, "there is no hints.md", "four sections: ## Concept, ## Place, …");
}

}  // namespace flashlab::exercises
