#include "cli/protocol/word_text.hpp"

#include "tests/catch_shim.hpp"
#include "toymachine/language/assembler.hpp"

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

}  // namespace flashlab::test
