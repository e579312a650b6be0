// Completion, renaming, kinds of words and code lenses, typed from the Language Server Protocol.
#include <algorithm>

#include "tests/cli/editors/lsp_session.hpp"

namespace flashlab::test {
namespace {

using nlohmann::json;

constexpr const char* kComplete = "textDocument/completion";
constexpr int kRefused = -32803, kInvalid = -32602;  // RequestFailed, InvalidParams

/// Two loops over i, and a claim with a variable i of its own.
constexpr const char* kNames = R"(.isa softmax
.registers 3
.param n = 4
.input x[n]
.output y[n]
.reg m, t
for i in 0..n ; i of x
  LOAD x[i], m
  .name m = s = max(i in 0..2: x[i])
  STORE m, y[i]
end
for i in 0..n
  LOAD x[i], R2
end
)";

/// Returns the labels of completion items, separated by blanks.
std::string labels(const json& items) {
  std::string text = " ";
  for (const json& item : items) text += item["label"].get<std::string>() + " ";
  return text;
}

const json& item(const json& items, const std::string& label) {
  const auto found = std::find_if(items.begin(), items.end(),
                                  [&](const json& one) { return one["label"] == label; });
  REQUIRE(found != items.end());
  return *found;
}

/// Returns "line:character" of each edit, in the order sent.
std::string edited_at(const json& result, const std::string& text) {
  std::string places;
  for (const json& edit : result["changes"][kUri]) {
    CHECK(edit["newText"] == text);
    const json& start = edit["range"]["start"];
    places += std::to_string(start["line"].get<int>()) + ":" +
              std::to_string(start["character"].get<int>()) + " ";
  }
  return places;
}

}  // namespace

TEST_CASE("a line's start is completed with the machine's instructions and directives", "[lsp]") {
  LspSession session;
  session.open(std::string(kNames) + "  LO\n  .in\n")
      .at(kComplete, 14, 4)
      .at(kComplete, 15, 5)
      .run();
  const json& items = session.results[0];
  CHECK_THAT(labels(items), contains(" LOAD ") && contains(" for ") && contains(" .input ") &&
                                !contains(" MAC ") && !contains(" x "));
  const json& load = item(items, "LOAD");
  CHECK_THAT(load["detail"].get<std::string>(), contains("Copies one element"));
  CHECK(load["textEdit"]["range"]["start"] == json{{"line", 14}, {"character", 2}});
  CHECK(load["textEdit"]["range"]["end"] == json{{"line", 14}, {"character", 4}});
  const json& input = item(session.results[1], ".input");
  CHECK(input["textEdit"]["range"]["start"] == json{{"line", 15}, {"character", 2}});
}

TEST_CASE("the names of a long list do not each repeat the list", "[lsp]") {
  std::string list = ".isa softmax\n.registers 100\n.reg a0";
  for (int i = 1; i < 99; ++i) list += ", a" + std::to_string(i);
  LspSession session;
  session.open(list + "\nMAX a1, a2, \n").at(kComplete, 3, 12).run();
  CHECK(item(session.results[0], "a98")["documentation"] == "declared in line 3");
}

TEST_CASE("operands are completed with the names that are visible there", "[lsp]") {
  LspSession session;
  session.open(std::string(kNames) + "LOAD x[")
      .at(kComplete, 7, 9)   // inside the loop
      .at(kComplete, 14, 7)  // after it, on a line that is not complete
      .at(kComplete, 6, 17)  // in a comment
      .at(kComplete, 99, 0)  // behind the text
      .at(kComplete, 0, 10)  // a level is no name
      .run();
  CHECK(labels(session.results[0]) == " n i ");
  CHECK(item(session.results[0], "n")["documentation"] == ".param n = 4");
  CHECK(labels(session.results[1]) == " n ");
  for (const std::size_t at : {2, 3, 4}) CHECK(session.results[at].empty());
}

TEST_CASE("a loop variable is renamed in its loop, but not where others are meant", "[lsp]") {
  LspSession session;
  session.open(kNames)
      .rename(7, 9, "row")   // i of the first loop
      .rename(8, 33, "row")  // i of the claim
      .rename(12, 10, "i")   // the second i, as it is called
      .run();
  CHECK(edited_at(session.results[0], "row") == "6:4 7:9 9:13 ");
  CHECK(edited_at(session.results[1], "row") == "8:20 8:33 ");
  CHECK(edited_at(session.results[2], "i") == "11:4 12:9 ");
}

TEST_CASE("arrays, parameters and named registers are renamed everywhere", "[lsp]") {
  LspSession session;
  session.open(kNames).rename(3, 7, "in_1").rename(2, 8, "size").rename(9, 8, "top").run();
  CHECK(edited_at(session.results[0], "in_1") == "3:7 7:7 8:31 12:7 ");
  CHECK(edited_at(session.results[1], "size") == "2:7 3:9 4:10 6:12 11:12 ");
  CHECK(edited_at(session.results[2], "top") == "5:5 7:13 8:8 9:8 ");
}

TEST_CASE("a program with errors can be renamed in, if that adds none", "[lsp]") {
  LspSession session;
  session.open(std::string(kNames) + "LAOD x[0], R0\n")
      .rename(14, 5, "in_1")
      .rename(14, 5, "r7")
      .run();
  CHECK(edited_at(session.results[0], "in_1") == "3:7 7:7 8:31 12:7 14:5 ");
  CHECK_THAT(session.refusals.at(0), contains("'r7' cannot be declared"));
}

TEST_CASE("a name that is wrong or in use is refused with the reason", "[lsp]") {
  LspSession session;
  session.open(kNames)
      .rename(3, 7, "1x")
      .rename(3, 7, "")
      .rename(3, 7, "y")     // declared in line 5
      .rename(3, 7, "i")     // a loop variable
      .rename(6, 4, "n")     // a parameter, in its own range
      .rename(3, 7, "max")   // a function
      .rename(6, 4, "end")   // a keyword
      .rename(6, 4, "inf")   // a number: x[inf] would be wrong
      .rename(3, 7, "r7")    // a register
      .rename(7, 3, "COPY")  // an instruction
      .rename(12, 13, "m2")  // R2
      .rename(8, 12, "q")    // a label
      .rename(6, 14, "q")    // a comment
      .rename(13, 1, "q")    // end
      .run();
  CHECK(session.errors == std::vector<int>(14, kRefused));
  const std::vector<std::string> reasons = {"'1x' is no name",
                                            "'' is no name",
                                            "'y' is in use, see line 5",
                                            "'i' is in use, see line 7",
                                            "'n' is in use",
                                            "'max' is a word of the language",
                                            "'end' is a word of the language",
                                            "'inf' has another meaning",
                                            "'r7' cannot be declared",
                                            "a word of the language",
                                            "'R2' is a register",
                                            "'s' is a label",
                                            "no name at this place",
                                            "a word of the language"};
  REQUIRE(session.refusals.size() == reasons.size());
  for (std::size_t i = 0; i < reasons.size(); ++i) {
    CHECK_THAT(session.refusals[i], contains(reasons[i]));
  }
}

TEST_CASE("a client that asks before it renames gets the range or the reason", "[lsp]") {
  const json client = {{"textDocument", {{"rename", {{"prepareSupport", true}}}}}};
  LspSession session(client);
  session.open(kNames)
      .at("textDocument/prepareRename", 4, 9)
      .at("textDocument/prepareRename", 7, 3)
      .run();
  CHECK(session.capabilities["renameProvider"] == json{{"prepareProvider", true}});
  CHECK(session.results[0]["placeholder"] == "y");
  CHECK(session.results[0]["range"]["end"] == json{{"line", 4}, {"character", 9}});
  CHECK(session.errors == std::vector<int>{kRefused});
  LspSession plain;
  plain.run();
  CHECK(plain.capabilities["renameProvider"] == true);
}

TEST_CASE("semantic tokens say what each word is, relative to the word before", "[lsp]") {
  LspSession session;
  session.open("; 😀\n.input x[2]\nLOAD x[1], R0").whole("textDocument/semanticTokens/full").run();
  const json& types = session.capabilities["semanticTokensProvider"]["legend"]["tokenTypes"];
  CHECK(types[0] == "function");
  CHECK(types[5] == "comment");
  CHECK(types[7] == "variable");
  CHECK(session.results[0]["data"] == json{0, 0, 4, 5, 0,  // the comment, 4 units of UTF-16
                                           1, 0, 6, 1, 0, 0, 7, 1, 7, 1, 0, 2, 1, 4, 0,  //
                                           1, 0, 4, 0, 0, 0, 5, 1, 7, 0, 0, 2, 1, 4, 0,  //
                                           0, 4, 2, 6, 0});
}

TEST_CASE("the file of an exercise has a lens to check it", "[lsp]") {
  const std::string uri = "file:///home/08_online_softmax.toy";
  LspSession session;
  session.notify("textDocument/didOpen", {{"textDocument", {{"uri", uri}, {"text", kNames}}}})
      .request("textDocument/codeLens", {{"textDocument", {{"uri", uri}}}})
      .run();
  REQUIRE(session.results.at(0).size() == 4);
  CHECK(session.results[0][3]["command"] ==
        json{{"title", "Check"}, {"command", "flashlab.check"}, {"arguments", {uri}}});
}

TEST_CASE("a program that assembles has lenses to run, trace and debug it", "[lsp]") {
  LspSession session;
  session.open(kNames)
      .whole("textDocument/codeLens")
      .open("LAOD")
      .whole("textDocument/codeLens")
      .run();
  const json& lenses = session.results[0];
  REQUIRE(lenses.size() == 3);
  CHECK(lenses[1]["command"] ==
        json{{"title", "Trace"}, {"command", "flashlab.trace"}, {"arguments", {kUri}}});
  CHECK(lenses[2]["range"]["start"] == json{{"line", 0}, {"character", 0}});
  CHECK(session.results[1].empty());
}

TEST_CASE("requests about words survive wrong parameters and texts", "[lsp]") {
  LspSession session;
  session.at(kComplete, 0, 0)
      .open(std::string(10 << 20, 'x'))
      .at(kComplete, 0, 1 << 30)
      .whole("textDocument/semanticTokens/full")
      .rename(0, 5, "y")
      .open(std::string("for\n.name\n.param ,,\n.isa\n.reg a[\nend\nend\n.input\n^T(") + '\0')
      .at(kComplete, -5, -5)
      .whole("textDocument/semanticTokens/full")
      .at("textDocument/rename", 4, 5)
      .run();
  CHECK(session.errors == std::vector<int>{kInvalid, kRefused, kInvalid});
  CHECK(session.results[1]["data"].empty());
  CHECK_FALSE(session.results[3]["data"].empty());
}

}  // namespace flashlab::test
