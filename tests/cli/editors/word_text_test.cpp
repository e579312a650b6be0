#include "cli/protocol/word_text.hpp"

#include <string>
#include <vector>

#include "tests/catch_shim.hpp"
#include "text/markdown.hpp"
#include "toymachine/language/assembler.hpp"
#include "toymachine/language/instruction_set.hpp"

namespace flashlab::test {

TEST_CASE("every word of the language is explained, and no other", "[lsp]") {
  const toy::LanguageWords& words = toy::language_words();
  for (const auto* const list : {&words.directives, &words.keywords, &words.functions}) {
    for (const std::string& word : *list) {
      CAPTURE(word);
      CHECK_FALSE(cli::about_language_word(word).empty());
    }
  }
  CHECK(cli::about_language_word("fly").empty());
}

TEST_CASE("what is said about words and instructions has no signs of Markdown outside code",
          "[lsp]") {
  const toy::LanguageWords& words = toy::language_words();
  std::vector<std::string> texts;
  for (const auto* const list : {&words.directives, &words.keywords, &words.functions}) {
    for (const std::string& word : *list) texts.push_back(cli::about_language_word(word));
  }
  for (const toy::InstructionSpec& spec : toy::instruction_set()) texts.emplace_back(spec.meaning);
  for (const std::string& text : texts) {
    CAPTURE(text);
    std::string outside;
    bool is_code = false;
    for (const char c : text) {
      if (c == '`') is_code = !is_code;
      if (!is_code && c != '`') outside += c;
    }
    CHECK(markdown_text(outside) == outside);
  }
}

}  // namespace flashlab::test
