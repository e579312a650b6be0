// Lines of a source, the excerpt below a message, and words that are nearly right.
#include "toymachine/language/source.hpp"

#include <string>
#include <vector>

#include "tests/catch_shim.hpp"

namespace flashlab::toy {
namespace {

/// The message about a place of a one-line source, without its first line.
std::string excerpt_of(const std::string& line, std::uint32_t column, std::uint32_t length) {
  Diagnostic diagnostic;
  diagnostic.span = {1, column, length};
  diagnostic.what = "x";
  const std::string text = format(diagnostic, SourceText("p", line));
  return text.substr(text.find('\n') + 1);
}

std::string counting(std::size_t length) {
  std::string text;
  for (std::size_t i = 0; i < length; ++i) text += static_cast<char>('0' + i % 10);
  return text;
}

std::vector<std::string> lines_of(const std::string& text) {
  const SourceText source("p", text);
  std::vector<std::string> lines;
  for (std::uint32_t i = 1; i <= source.num_lines(); ++i) lines.emplace_back(source.line(i));
  CHECK(source.line(0).empty());
  CHECK(source.line(static_cast<std::uint32_t>(source.num_lines()) + 1).empty());
  return lines;
}

}  // namespace

TEST_CASE("a line ends with LF, CRLF or CR, and the last one may lack its end", "[source]") {
  using Lines = std::vector<std::string>;
  CHECK(lines_of("").empty());
  CHECK(lines_of("\n") == Lines{""});
  CHECK(lines_of("a") == Lines{"a"});
  CHECK(lines_of("a\n") == Lines{"a"});
  CHECK(lines_of("a\r\n") == Lines{"a"});
  CHECK(lines_of("a\r") == Lines{"a"});
  CHECK(lines_of("a\nb") == Lines{"a", "b"});
  CHECK(lines_of("a\r\nb") == Lines{"a", "b"});
  CHECK(lines_of("a\rb") == Lines{"a", "b"});
  CHECK(lines_of("a\n\r\nb\n") == Lines{"a", "", "b"});
  CHECK(lines_of("a\r\r\nb") == Lines{"a", "", "b"});
}

TEST_CASE("a source has its name, and its text without a byte order mark", "[source]") {
  const SourceText source("name.toy", "\xEF\xBB\xBFone\n");
  CHECK(source.name() == "name.toy");
  CHECK(source.text() == "one\n");
  CHECK(SourceText("p", "a\xEF\xBB\xBF").text() == "a\xEF\xBB\xBF");
  CHECK(SourceText("p", "\xEF\xBB").text() == "\xEF\xBB");
}

TEST_CASE("carets stand below the place that is meant, as long as it is", "[source]") {
  struct Place {
    const char* line;
    std::uint32_t column, length;
    const char* shown;
  };
  const Place places[] = {{"abcd", 1, 1, "  1 | abcd\n    | ^\n"},
                          {"abcd", 2, 0, "  1 | abcd\n    |  ^\n"},
                          {"abcd", 2, 2, "  1 | abcd\n    |  ^~\n"},
                          {"abcd", 1, 4, "  1 | abcd\n    | ^~~~\n"},
                          {"abcd", 3, 9, "  1 | abcd\n    |   ^~\n"},
                          {"abcd", 4, 1, "  1 | abcd\n    |    ^\n"},
                          {"abcd", 5, 1, "  1 | abcd\n    |     ^\n"},
                          {"abcd", 9, 3, "  1 | abcd\n    |     ^\n"},
                          {"\ta\tb", 4, 1, "  1 | \ta\tb\n    | \t \t^\n"},
                          {"a\x01\x7F\x1F b", 6, 1, "  1 | a??? b\n    |      ^\n"},
                          {"\xC3\xA9 = x", 6, 1, "  1 | \xC3\xA9 = x\n    |     ^\n"},
                          {"x \xC3\xA9\xC3\xA9", 3, 4, "  1 | x \xC3\xA9\xC3\xA9\n    |   ^~\n"}};
  for (const Place& place : places) {
    CAPTURE(place.line, place.column, place.length);
    CHECK(excerpt_of(place.line, place.column, place.length) == place.shown);
  }
}

TEST_CASE("of a line longer than 100 bytes, those around the caret are shown", "[source]") {
  struct Window {
    std::size_t length;
    std::uint32_t column;
    std::size_t start;
  };
  const Window windows[] = {{100, 100, 0},   {101, 1, 0},     {101, 50, 0},   {101, 51, 1},
                            {101, 101, 1},   {300, 50, 0},    {300, 51, 1},   {300, 150, 100},
                            {300, 249, 199}, {300, 250, 200}, {300, 300, 200}};
  for (const Window& window : windows) {
    CAPTURE(window.length, window.column);
    const std::string line = counting(window.length);
    CHECK(excerpt_of(line, window.column, 1) ==
          "  1 | " + line.substr(window.start, 100) + "\n    | " +
              std::string(window.column - window.start - 1, ' ') + "^\n");
  }
}

TEST_CASE("a long line is not cut inside a character", "[source]") {
  std::string letters;
  for (int i = 0; i < 100; ++i) letters += "\xC3\xA9";
  for (const std::uint32_t column : {51U, 53U}) {  // the cut would be one byte into a letter
    const std::size_t start = column - 51;
    CHECK(excerpt_of(letters, column, 1) ==
          "  1 | " + letters.substr(start, 100) + "\n    | " + std::string(25, ' ') + "^\n");
  }
}

TEST_CASE("a message has its place, its severity, what was expected and a near miss", "[source]") {
  const SourceText source("a\033b", "one\ntwo\n");
  Diagnostic diagnostic;
  diagnostic.what = "what";
  CHECK(format(diagnostic, source) == "a?b: error: what\n");
  diagnostic.severity = Severity::kWarning;
  diagnostic.expected = "more";
  CHECK(format(diagnostic, source) == "a?b: warning: what\n  expected more\n");
  diagnostic.severity = Severity::kNote;
  diagnostic.suggestion = "LOAD";
  diagnostic.span = {2, 1, 3};
  CHECK(format(diagnostic, source) ==
        "a?b:2:1: note: what\n  2 | two\n    | ^~~\n  expected more\n  did you mean LOAD?\n");
  diagnostic.expected.clear();
  diagnostic.span = {3, 1, 1};  // no such line
  CHECK(format(diagnostic, source) ==
        "a?b:3:1: note: what\n  3 | \n    | ^\n  did you mean LOAD?\n");
}

TEST_CASE("the number of a line moves the caret as far as the line", "[source]") {
  Diagnostic diagnostic;
  diagnostic.what = "what";
  diagnostic.span = {12, 2, 1};
  CHECK(format(diagnostic, SourceText("p", std::string(11, '\n') + "ab")) ==
        "p:12:2: error: what\n  12 | ab\n     |  ^\n");
}

TEST_CASE("messages beyond the limit are counted, and none at the limit", "[source]") {
  const SourceText source("p", "");
  std::vector<Diagnostic> two(2);
  two[0].what = "one";
  two[1].what = "two";
  const std::string both = "p: error: one\np: error: two\n";
  CHECK(format({}, source, 2).empty());
  CHECK(format(two, source, 3) == both);
  CHECK(format(two, source, 2) == both);
  CHECK(format(two, source, 1) == "p: error: one\np: 1 more messages are not shown\n");
  CHECK(format(two, source, 0) == "p: 2 more messages are not shown\n");
  const std::vector<Diagnostic> many(21);
  CHECK(format(std::vector<Diagnostic>(20), source).find("more") == std::string::npos);
  CHECK_THAT(format(many, source), test::contains("p: 1 more messages are not shown\n"));
}

}  // namespace flashlab::toy
