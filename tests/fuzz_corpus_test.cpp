// What the fuzz targets begin with: every instruction and directive, so that a search need not
// guess them.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>

#include "tests/catch_shim.hpp"
#include "toymachine/language/assembler.hpp"
#include "toymachine/language/instruction_set.hpp"

namespace flashlab::test {
namespace {

namespace fs = std::filesystem;

std::set<std::string> words_in(const fs::path& folder) {
  std::set<std::string> words;
  for (const auto& entry : fs::directory_iterator(folder)) {
    std::ifstream file(entry.path());
    std::string line;
    while (std::getline(file, line)) {
      std::istringstream text(line.substr(0, line.find(';')));
      for (std::string word; text >> word;) words.insert(word);
    }
  }
  return words;
}

}  // namespace

TEST_CASE("the corpus of programs has every instruction and every directive") {
  const std::set<std::string> words = words_in(fs::path(FLASHLAB_SOURCE_DIR) / "fuzz" / "corpus");
  REQUIRE(words.size() > 100);
  for (const toy::InstructionSpec& spec : toy::instruction_set()) {
    CAPTURE(spec.mnemonic);
    CHECK(words.contains(std::string(spec.mnemonic)));
  }
  for (const std::string& directive : toy::language_words().directives) {
    CAPTURE(directive);
    CHECK(words.contains(directive));
  }
}

}  // namespace flashlab::test
