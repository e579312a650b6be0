// Formatting changes whitespace only: texts of which the whitespace was shuffled are formatted.
#include "toymachine/language/formatting.hpp"

#include <algorithm>
#include <filesystem>
#include <random>
#include <string_view>

#include "tests/seed.hpp"
#include "tests/source_files.hpp"
#include "tests/toymachine/assembled.hpp"

namespace flashlab::test {
namespace {

std::string formatted(const std::string& text) { return toy::formatted(*source(text)); }

std::string without_blanks(std::string text) {
  std::erase_if(text, [](char c) { return c == ' ' || c == '\t' || c == '\r'; });
  return text;
}

/// The programs of the course and of the exercises, right and wrong ones, and a fuzzer's findings.
std::vector<fs::path> all_programs() {
  std::vector<fs::path> files;
  for (const char* folder : {"toymachine/programs", "exercises", "fuzz/corpus"}) {
    for (const auto& entry : fs::recursive_directory_iterator(kSourceRoot / folder)) {
      if (entry.path().extension() == ".toy") files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// Returns the text with other whitespace, outside of comments and titles of passes.
std::string shuffled(const std::string& text, std::mt19937& random) {
  const auto blanks = [&](std::size_t least) {
    std::string result(least + random() % 3, ' ');
    for (char& c : result) {
      if (random() % 4 == 0) c = '\t';
    }
    return result;
  };
  std::string result = blanks(0);
  bool in_free_text = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ';' || c == '#' || text.compare(i, 5, ".pass") == 0) in_free_text = true;
    if (c == '\n') {
      in_free_text = false;
      result += blanks(0) + "\n" + blanks(0);
    } else if (!in_free_text && c == ' ') {
      result += blanks(1);
    } else if (!in_free_text && std::string_view(",[]()").find(c) != std::string_view::npos) {
      result += blanks(0) + c + blanks(0);
    } else {
      result += c;
    }
  }
  return result;
}

}  // namespace

TEST_CASE("blanks before a byte order mark stay, because the mark is an error behind them",
          "[format]") {
  const std::string text = " \t\xEF\xBB\xBF.isa attention\n";
  CHECK(formatted(text) == text);
}

TEST_CASE("a formatted program has the same syntax tree, and formatting it again changes nothing",
          "[format]") {
  std::mt19937 random(test::seeded(5));
  std::size_t compared = 0;
  for (const fs::path& file : all_programs()) {
    INFO(file);
    const std::string text = read_source(file);
    for (const std::string& variant : {text, shuffled(text, random)}) {
      const std::string once = formatted(variant);
      CHECK(formatted(once) == once);
      const auto before = toy::assemble(source(variant)), after = toy::assemble(source(once));
      REQUIRE(before.diagnostics.size() == after.diagnostics.size());
      if (!before) continue;
      ++compared;
      CHECK(toy::disassemble(*after) == toy::disassemble(*before));
    }
  }
  CHECK(compared > 200);
}

TEST_CASE("formatting keeps every character that is not whitespace, comments included",
          "[format]") {
  std::mt19937 random(test::seeded(6));
  for (const fs::path& file : all_programs()) {
    INFO(file);
    const std::string text(source(read_source(file))->text());
    std::string before = without_blanks(shuffled(text, random)) + "\n";
    std::string after = without_blanks(formatted(text));
    // Empty lines at the end go away.
    before.erase(std::min(before.find_last_not_of('\n') + 2, before.size()));
    if (before == "\n") before.clear();
    if (after == "\n") after.clear();
    CHECK(after == before);
  }
}

TEST_CASE("edits of a line make it the formatted one and touch blanks only", "[format]") {
  std::mt19937 random(test::seeded(7));
  for (const fs::path& file : all_programs()) {
    INFO(file);
    const auto text = source(shuffled(read_source(file), random));
    const std::vector<std::string> lines = toy::formatted_lines(*text);
    for (std::uint32_t number = 1; number < lines.size(); ++number) {
      std::string line(text->line(number));
      const std::vector<toy::LineEdit> edits = toy::line_edits(line, lines[number - 1]);
      for (auto edit = edits.rbegin(); edit != edits.rend(); ++edit) {
        const std::string old = line.substr(edit->from - 1, edit->to - edit->from);
        if ((old + std::string(edit->text)).find_first_not_of(" \t") != std::string::npos) {
          FAIL_CHECK("'" << old << "' becomes '" << edit->text << "' in line " << number);
        }
        line.replace(edit->from - 1, old.size(), edit->text);
      }
      if (line != lines[number - 1]) CHECK(line == lines[number - 1]);
    }
  }
  using Edits = std::vector<toy::LineEdit>;
  CHECK(toy::line_edits("a b", "a b").empty());
  CHECK(toy::line_edits("\ta  b ", "  a b") == Edits{{1, 2, "  "}, {4, 5, ""}, {6, 7, ""}});
  CHECK(toy::line_edits("a b", "a c") == Edits{{3, 4, "c"}});
}

TEST_CASE("the programs of the course are formatted", "[format]") {
  for (const auto& entry : fs::directory_iterator(kSourceRoot / "toymachine/programs")) {
    if (entry.path().extension() != ".toy") continue;
    const std::string text = read_source(entry.path());
    INFO(entry.path());
    CHECK(formatted(text) == text);
  }
}

TEST_CASE("loops are indented, words separated, and comments stay in their column", "[format]") {
  CHECK(formatted("for i in 0..n  step  2\n"
                  "LOAD   x[ i ] ,R0          ; the element\n"
                  "                           ; of this step\n"
                  "; alone\n"
                  "ADD R0,R0 , R0;twice\n"
                  "\tMOV R0,R0\t; after a tab\n"
                  "   end   \n"
                  "\n\n") ==
        "for i in 0..n step 2\n"
        "  LOAD x[i], R0            ; the element\n"
        "                           ; of this step\n"
        "  ; alone\n"
        "  ADD R0, R0, R0 ;twice\n"
        "  MOV R0, R0            ; after a tab\n"
        "end\n");
}

TEST_CASE("directives keep their columns, titles of passes all of their text", "[format]") {
  const std::string text =
      ".input  x(n, d)   tile (B, Bd)\n.output long(n, 1)\n.pass  Max,  then ( sum )\n";
  CHECK(formatted(text) == text);
  CHECK(formatted("  .param n=1,m=2 \n") == ".param n=1, m=2\n");
  const std::string with_tab = ".pass Max\tthen sum ; a comment\n";
  CHECK(formatted(with_tab) == with_tab);
}

TEST_CASE("a text that is no program is formatted as far as it goes", "[format]") {
  CHECK(formatted("") == "");
  CHECK(formatted("\n\nend\n") == "\n\nend\n");
  CHECK(formatted("end\nend\nLOAD\n") == "end\nend\nLOAD\n");
  CHECK(formatted("  LOAD  x @@  y\n") == "LOAD  x @@  y\n");
  CHECK(formatted("LOAD  x,R0\r\nend") == "LOAD x, R0\r\nend\r\n");
  std::string deep;
  for (int i = 0; i < 1000; ++i) deep += "for i in 0..2\n";
  CHECK(formatted(deep).size() < deep.size() + 1000 * 2 * 64);
  const std::string line = "  " + std::string(1 << 16, 'x') + " \n";
  CHECK(formatted(line) == line);
}

}  // namespace flashlab::test
