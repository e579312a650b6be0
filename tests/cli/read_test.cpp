// flashlab read: the chapters of the course on the terminal.
#include <regex>
#include <sstream>

#include "tests/cli/command.hpp"

namespace flashlab::test {

TEST_CASE("read lists every page, and finds a chapter by number and by name", "[read]") {
  const Outcome contents = flashlab("read");
  CHECK(contents.code == 0);
  CHECK_THAT(contents.out, contains("4. Softmax") && contains("glossary") && !contains("_log"));
  const std::string chapter = flashlab("read 4").out;
  CHECK_THAT(chapter, contains("4. Softmax") && contains("Next chapter: flashlab read 5"));
  for (const char* name : {"04", "softmax", "04_softmax"}) {
    CHECK(flashlab(std::string("read ") + name).out == chapter);
  }
  CHECK_THAT(flashlab("read 14").out, !contains("Next chapter"));
}

TEST_CASE("a page between two chapters has a number and a letter, and is read between them",
          "[read]") {
  const std::string page = flashlab("read 9a").out;
  CHECK_THAT(page, contains("9a. Before a GPU") && contains("Next chapter: flashlab read 10"));
  for (const char* name : {"09a", "before_a_gpu", "09a_before_a_gpu"}) {
    CHECK(flashlab(std::string("read ") + name).out == page);
  }
  for (const char* name : {"9", "09"}) {
    CHECK_THAT(flashlab(std::string("read ") + name).out,
               contains("9. On a CPU") && contains("Next chapter: flashlab read 9a"));
  }
}

TEST_CASE("a chapter that became an appendix keeps its number, and stands behind the chapters",
          "[read]") {
  const std::string contents = flashlab("read").out;
  CHECK(contents.find("Appendix: the language") > contents.find("14. Several machines"));
  CHECK(contents.find("Appendix: the language") < contents.find("glossary"));
  const std::string by_name = flashlab("read the_language").out;
  CHECK_THAT(by_name, contains("The grammar") && !contains("is an appendix now"));
  for (const char* number : {"2", "02", "02_the_language"}) {
    CHECK(flashlab(std::string("read ") + number).out ==
          "Chapter 2 is an appendix now: flashlab read the_language\n\n" + by_name);
  }
  CHECK_THAT(flashlab("read 1").out, contains("Next chapter: flashlab read 3"));
  CHECK_THAT(by_name, !contains("Next chapter"));
}

TEST_CASE("programs that pages name by their path are there wherever one reads", "[read]") {
  const Workplace place;
  for (const char* path : {"docs/examples/largest.toy", "docs/examples/softmax_blocks.toy",
                           "exercises/36_fast_product/given.toy"}) {
    const Outcome outcome = place.shell(std::string("flashlab run ") + path);
    INFO(path << outcome.err);
    CHECK(outcome.code == 0);
  }
  CHECK(place.shell("flashlab run docs/examples/larges.toy").code == 2);
}

TEST_CASE("answers to a chapter's questions are shown on request", "[read]") {
  const std::string hidden = flashlab("read 4").out, shown = flashlab("read 4 --answers").out;
  CHECK_THAT(hidden, contains("flashlab read 4 --answers"));
  CHECK_THAT(shown, !contains("flashlab read 4 --answers") && contains("Answer"));
  CHECK(shown.size() > hidden.size());
}

TEST_CASE("a chapter has no traces of the page for browsers", "[read]") {
  for (int chapter = 1; chapter <= 13; ++chapter) {
    const std::string text = flashlab("read " + std::to_string(chapter) + " --answers").out;
    INFO(chapter);
    CHECK_THAT(text, !contains("<!--") && !contains("<img") && !contains("<details") &&
                         !contains("[Contents]"));
    CHECK_FALSE(std::regex_search(text, std::regex("\\]\\([a-z0-9_]*[.]md")));
  }
  CHECK_THAT(flashlab("read 4").out, contains("Picture: A triangle of squares"));
}

TEST_CASE("no page is wider than the window", "[read]") {
  std::istringstream contents(flashlab("read").out);
  std::string line, page;
  std::getline(contents, line);  // the titles and the rule below
  std::getline(contents, line);
  int pages = 0;
  while (std::getline(contents, line) && std::istringstream(line) >> page) {
    ++pages;
    for (const int width : {80, 120}) {
      const std::string flags = " --answers --unicode --width " + std::to_string(width);
      INFO(page << flags);
      CHECK(widest_line(flashlab("read " + page + flags).out) <= static_cast<std::size_t>(width));
    }
  }
  CHECK(pages > 25);
}

TEST_CASE("a command that is longer than a line is broken as a shell reads it", "[read]") {
  CHECK_THAT(flashlab("read 3").out,
             contains("`flashlab run matmul_inner_no_reuse --no-outputs |\n"
                      "    grep -E \"^  (cycles|loads|stores|compute)\"`\n"));
}

TEST_CASE("a page that is not there is answered with a near one", "[read]") {
  const Outcome outcome = flashlab("read glosary");
  CHECK(outcome.code == 2);
  CHECK_THAT(outcome.err, contains("there is no page 'glosary'") && contains("mean glossary?"));
}

TEST_CASE("read shows commands as they are typed without a clone of the repository", "[read]") {
  const std::string index = flashlab("read index --width 120").out;
  CHECK_THAT(index, contains("flashlab tour") && contains("flashlab exercises"));
  CHECK_THAT(index, !contains("./lab tour") && !contains("./lab exercises"));
  CHECK_THAT(flashlab("read first_exercise").out, !contains("./lab exercises"));
  for (int chapter = 1; chapter <= 14; ++chapter) {
    CAPTURE(chapter);
    CHECK_THAT(flashlab("read " + std::to_string(chapter)).out, !contains("./lab exercises start"));
  }
  CHECK_THAT(flashlab("read testing").out, contains("./lab bench hostile"));  // no command
}

TEST_CASE("an exercise names the command that prints its chapter", "[read]") {
  CHECK_THAT(flashlab("exercises show 8").out, contains("flashlab read 4"));
}

}  // namespace flashlab::test
