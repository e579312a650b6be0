// What each word of a source is, also while the source is wrong.
#include "toymachine/language/source_words.hpp"

#include <filesystem>
#include <string>

#include "tests/catch_shim.hpp"
#include "tests/source_files.hpp"

namespace flashlab::toy {
namespace {

/// The words of a line as text: their kind's letter and, after a colon, the line that declares them.
std::string described(const std::string& text, std::uint32_t line) {
  constexpr std::string_view kLetters = "IDKFNCRAPSVL?";  // in the order of WordKind
  const SourceWords all = source_words(SourceText("p", text));
  std::string result;
  for (const SourceWord& word : all.words) {
    if (word.span.line != line) continue;
    if (!result.empty()) result += ' ';
    result += kLetters[static_cast<std::size_t>(word.kind)];
    if (word.name == kNoName) continue;
    result += ":" + std::to_string(all.names[word.name].declaration.line);
  }
  return result;
}

}  // namespace

TEST_CASE("every word of every program is known", "[words]") {
  std::size_t count = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(test::kSourceRoot / "toymachine" / "programs")) {
    if (entry.path().extension() != ".toy") continue;
    const SourceText source(entry.path().filename(), test::read_source(entry.path()));
    for (const SourceWord& word : source_words(source).words) {
      INFO(source.name() << ":" << word.span.line << ":" << word.span.column);
      CHECK(word.kind != WordKind::kUnknown);
      ++count;
    }
  }
  CHECK(count > 1000);
}

TEST_CASE("declarations tell names from words of the language, even the same ones", "[words]") {
  CHECK(described(".param n = 4, tile = max(n, 2)\n", 1) == "D P:1 N P:1 F P:1 N");
  CHECK(described(".param tile = 4\n.input q(tile, 2) tile (tile, 2) bf16\n", 2) ==
        "D A:2 P:1 N K P:1 N K");
  CHECK(described(".input q(2, 2)\n.reg Q[tiles(q, 1)], m\n", 2) == "D R:2 F A:1 N R:2");
  CHECK(described(".isa softmax, MAC\n", 1) == "D K I");
  CHECK(described("  .pass Load x # 1\n.input x[1]\n", 1) == "D C");
}

TEST_CASE("a claim's variable and labels hide other names where the assembler says so", "[words]") {
  const std::string text =
      ".input x[2]\n.output y[2]\n.reg m\nfor i in 0..2\n"
      ".name m = m' = max(i in i..2: x[i] + y[i]) + m + i\n"
      ".name R0 = y[i] = m\nend\nMOV r0, m ; m\n";
  // In its range, i is still the loop's; after the parenthesis again. m and y are labels in claims.
  CHECK(described(text, 5) == "D R:3 L:5 F V:5 K V:4 N A:1 V:5 L:6 V:5 L:5 V:4");
  CHECK(described(text, 6) == "D R:0 L:6 V:4 L:5");
  CHECK(described(text, 8) == "I R:0 R:3 C");
}

TEST_CASE("loop variables end with their loop, and the next loop has its own", "[words]") {
  const std::string text =
      "for i in 0..i\nfor j in i..2\nend\nend\nfor i in 0..j\nMOV R[i], R0^T\n";
  CHECK(described(text, 1) == "K V:1 K N ?");
  CHECK(described(text, 2) == "K V:2 K V:1 N");
  CHECK(described(text, 5) == "K V:5 K N ?");
  CHECK(described(text, 6) == "I R V:5 R:0 K");
  const SourceWords all = source_words(SourceText("p", text));
  CHECK(all.names[0].first == 2);
  CHECK(all.names[0].last == 4);
}

}  // namespace flashlab::toy
