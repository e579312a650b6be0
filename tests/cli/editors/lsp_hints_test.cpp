// Hints of the language server: of programs with errors, of exercises, of long formulas.
#include "tests/cli/editors/lsp_session.hpp"
#include "tests/source_files.hpp"

namespace flashlab::test {
namespace {

using nlohmann::json;

const json kWholeRange{{"start", {{"line", 0}, {"character", 0}}},
                       {"end", {{"line", 99'999}, {"character", 0}}}};

/// The hints of the last text, after all texts were typed one after the other.
std::vector<std::string> hints_after(const std::vector<std::string>& texts,
                                     const std::string& uri = kUri) {
  LspSession session;
  session.open(texts.front(), uri);
  for (const std::string& text : texts) {
    session.notify("textDocument/didChange", {{"textDocument", {{"uri", uri}, {"version", 2}}},
                                              {"contentChanges", {{{"text", text}}}}});
  }
  session
      .request("textDocument/inlayHint", {{"textDocument", {{"uri", uri}}}, {"range", kWholeRange}})
      .run();
  std::vector<std::string> hints;
  for (const json& hint : session.results.at(0)) {
    hints.push_back(std::to_string(hint["position"]["line"].get<int>()) + " " +
                    hint["label"].get<std::string>());
  }
  return hints;
}

std::string with(std::string text, const std::string& old_part, const std::string& new_part) {
  const auto at = text.find(old_part);
  REQUIRE(at != std::string::npos);
  return text.replace(at, old_part.size(), new_part);
}

}  // namespace

TEST_CASE("hints stay while a program has an error, except in the changed lines", "[lsp]") {
  const auto good = hints_after({kCopyProgram});
  REQUIRE(good.size() == 4);
  CHECK(good[0] == "0 n loads, n stores, (n² + 3n)/2 cycles");
  const std::string broken = with(kCopyProgram, "MOV R0, r1", "MVO R0, r1");
  CHECK(hints_after({kCopyProgram, broken}) == std::vector<std::string>{good[0], good[1], good[3]});
  SECTION("and move with the lines") {
    const std::string longer =
        with(kCopyProgram, "    MOV R0, r1\n", "; one\nLOAD\n    MOV R0, r1\n");
    auto moved = good;
    moved[2] = "11" + good[2].substr(1);
    moved[3] = "13" + good[3].substr(2);
    CHECK(hints_after({kCopyProgram, longer}) == moved);
    const std::string shorter = with(kCopyProgram, "    MOV R0, r1\n  end\n", "");
    CHECK(hints_after({kCopyProgram, shorter}) ==
          std::vector<std::string>{good[0], good[1], "9" + good[3].substr(2)});
  }
  SECTION("and the total stays if the first line is wrong") {
    const std::string first = with(kCopyProgram, ".isa softmax", ".isa softmix");
    CHECK(hints_after({kCopyProgram, first}) == good);
  }
  SECTION("also over several errors") {
    CHECK(hints_after({kCopyProgram, with(broken, "STORE R0", "STROE R0"), broken}) ==
          std::vector<std::string>{good[0], good[1], good[3]});
  }
  SECTION("but not before the first version without errors") {
    CHECK(hints_after({broken}).empty());
  }
}

TEST_CASE("hover explains the unchanged lines of a program with an error", "[lsp]") {
  LspSession session;
  session.open(kCopyProgram)
      .open(with(kCopyProgram, "    MOV R0, r1\n", "    MVO R0, r1\n\n"))
      .at("textDocument/hover", 12, 4)
      .at("textDocument/hover", 9, 6)
      .run();
  CHECK_THAT(session.results.at(0)["contents"]["value"].get<std::string>(), contains("**STORE**"));
  CHECK(session.results.at(1).is_null());
}

TEST_CASE("numbers stand where a formula is too long or unknown, and say so", "[lsp]") {
  const auto programs = kSourceRoot / "toymachine" / "programs";
  const auto hints = hints_after({read_source(programs / "flash2_causal.toy")});
  REQUIRE(hints.size() > 2);
  CHECK(hints[0] == "0 24 loads, 8 stores, 214 cycles at the defaults");
  CHECK_THAT(hints.back(), contains("times"));
  CHECK(
      hints_after({".param n\nfor i in 0..n\n  for j in 0..n/(i+1)\n    MOV R0, R0\n  end\nend\n"})
          .empty());
}

TEST_CASE("the first hint of an exercise's file says how far the proven best is", "[lsp]") {
  const auto exercises = kSourceRoot / "exercises";
  const auto first = [&](const std::string& name, const std::string& file) {
    return hints_after({read_source(exercises / name / file)}, "file:///home/" + name + ".toy")
        .at(0);
  };
  CHECK(first("04_outer_product", "solution.toy") ==
        "0 10 loads, 4 stores, 22 cycles; the proven best");
  CHECK(first("04_outer_product", "starter.toy") ==
        "0 2 loads, 1 store, 4 cycles; the proven best is 22 cycles");
  CHECK(first("08_online_softmax", "solution.toy") ==
        "0 2n loads, n stores, 14n - 4 cycles; 19 above the proven best at n = 3");
  const auto of_other_file =
      hints_after({read_source(exercises / "04_outer_product" / "solution.toy")}, kUri);
  CHECK(of_other_file.at(0) == "0 10 loads, 4 stores, 22 cycles");
}

TEST_CASE("a program for a larger machine has no distance to the exercise's best", "[lsp]") {
  const auto hints = hints_after({".isa matmul\n.registers 9\n.input a[2][2]\nLOAD a[0][0], R8\n"},
                                 "file:///04_outer_product.toy");
  CHECK(hints.at(0) == "0 1 load, 0 stores, 1 cycle");
}

}  // namespace flashlab::test
