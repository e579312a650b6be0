// Sessions typed from the specification of the Language Server Protocol.
#include "tests/cli/editors/lsp_session.hpp"

namespace flashlab::test {
namespace {

using nlohmann::json;

}  // namespace

TEST_CASE("errors of a program are published, and go away when it is repaired", "[lsp]") {
  LspSession session;
  session.open("; 😀\n.isa softmax\n.registers 2\n.input x[1]\nLAOD x[0], R0\n")
      .notify("textDocument/didChange", {{"textDocument", {{"uri", kUri}, {"version", 2}}},
                                         {"contentChanges", {{{"text", kCopyProgram}}}}})
      .notify("textDocument/didClose", {{"textDocument", {{"uri", kUri}}}})
      .run();
  CHECK(session.capabilities["inlayHintProvider"] == true);
  REQUIRE(session.published.size() == 3);
  REQUIRE(session.published[0].size() == 1);
  const json& error = session.published[0][0];
  CHECK(error["severity"] == 1);
  CHECK(error["range"]["start"] == json{{"line", 4}, {"character", 0}});
  CHECK(error["range"]["end"] == json{{"line", 4}, {"character", 4}});
  CHECK_THAT(error["message"].get<std::string>(), contains("LOAD"));
  CHECK(session.published[1].empty());
  CHECK(session.published[2].empty());
}

TEST_CASE("hints at the end of a line say how often it runs, as a formula", "[lsp]") {
  LspSession session;
  session.open(kCopyProgram)
      .request("textDocument/inlayHint", {{"textDocument", {{"uri", kUri}}},
                                          {"range",
                                           {{"start", {{"line", 0}, {"character", 0}}},
                                            {"end", {{"line", 99}, {"character", 0}}}}}})
      .request("textDocument/inlayHint", {{"textDocument", {{"uri", kUri}}},
                                          {"range",
                                           {{"start", {{"line", 9}, {"character", 0}}},
                                            {"end", {{"line", 10}, {"character", 0}}}}}})
      .run();
  REQUIRE(session.results.size() == 3);
  const json& all = session.results[0];
  REQUIRE(all.size() == 4);
  CHECK_THAT(all[0]["label"].get<std::string>(), contains("n loads, n stores"));
  CHECK(all[1]["label"] == "n times");
  // The character beyond UTF-16's first plane counts twice.
  CHECK(all[1]["position"] == json{{"line", 7}, {"character", 25}});
  CHECK_THAT(all[2]["label"].get<std::string>(), contains("/2"));
  CHECK(all[3]["position"]["line"] == 11);
  REQUIRE(session.results[1].size() == 1);
  CHECK(session.results[1][0] == all[2]);
}

TEST_CASE("hover explains an instruction and what it costs here", "[lsp]") {
  LspSession session;
  session.open(kCopyProgram)
      .at("textDocument/hover", 7, 3)
      .at("textDocument/hover", 0, 0)
      .at("textDocument/hover", 1, 0)
      .run();
  const std::string text = session.results[0]["contents"]["value"];
  CHECK_THAT(text, contains("**LOAD**") && contains("LOAD x[i], R0") && contains("runs `n` times"));
  const std::string total = session.results[1]["contents"]["value"];
  CHECK_THAT(total, contains("n loads, n stores"));
  const std::string directive = session.results[2]["contents"]["value"];
  CHECK_THAT(directive, contains("**.registers**"));
}

TEST_CASE("names lead to their declaration and to all their uses", "[lsp]") {
  LspSession session;
  session.open(kCopyProgram)
      .at("textDocument/definition", 11, 13)  // y
      .at("textDocument/definition", 6, 12)   // n
      .at("textDocument/definition", 8, 14)   // i
      .at("textDocument/definition", 7, 13)   // R0: no declaration
      .at("textDocument/references", 7, 7)    // x, not that of the comment
      .at("textDocument/references", 9, 12)   // r1
      .at("textDocument/references", 7, 13)   // R0
      .run();
  const auto start = [](const json& one) { return one["range"]["start"]; };
  CHECK(start(session.results[0]) == json{{"line", 4}, {"character", 8}});
  CHECK(start(session.results[1]) == json{{"line", 2}, {"character", 7}});
  CHECK(start(session.results[2]) == json{{"line", 6}, {"character", 4}});
  CHECK(session.results[3].is_null());
  CHECK(session.results[4].size() == 2);
  CHECK(session.results[5].size() == 1);
  CHECK(session.results[6].size() == 3);
}

TEST_CASE("passes contain loops, and loops their inner loops", "[lsp]") {
  LspSession session;
  session.open(kCopyProgram)
      .request("textDocument/documentSymbol", {{"textDocument", {{"uri", kUri}}}})
      .run();
  const json& symbols = session.results[0];
  REQUIRE(symbols.size() == 1);
  CHECK(symbols[0]["name"] == ".pass Copy");
  const json& loop = symbols[0]["children"][0];
  CHECK(loop["name"] == "for i in 0..n");
  CHECK(loop["range"]["end"] == json{{"line", 12}, {"character", 3}});
  CHECK(loop["children"][0]["name"] == "for j in 0..i");
}

TEST_CASE("an outline ends where loops are nested too deeply, and goes on after them", "[lsp]") {
  std::string text;
  for (int i = 0; i < 60'000; ++i) text += "for i in 0..2\n";
  for (int i = 0; i < 60'000; ++i) text += "end\n";
  LspSession session;
  session.open(text + "for last in 0..3\nend\n").whole("textDocument/documentSymbol").run();
  const json& symbols = session.results.at(0);
  REQUIRE(symbols.size() == 2);
  CHECK(symbols[1]["name"] == "for last in 0..3");
  int depth = 0;
  for (const json* at = &symbols[0]; !(*at)["children"].empty(); at = &(*at)["children"][0])
    ++depth;
  CHECK(depth == 63);
}

TEST_CASE("a name in a thousand places is found in all of them", "[lsp]") {
  std::string text = ".isa softmax\n.registers 1\n";
  for (int i = 0; i < 1000; ++i) text += "MOV R0, R0\n";
  LspSession session;
  session.open(text).at("textDocument/references", 2, 5).run();
  const json& places = session.results.at(0);
  REQUIRE(places.size() == 2000);
  CHECK(places[1999] == json{{"uri", kUri},
                             {"range",
                              {{"start", {{"line", 1001}, {"character", 8}}},
                               {"end", {{"line", 1001}, {"character", 10}}}}}});
}

TEST_CASE("formatting edits the blanks that change, and the end of the text", "[lsp]") {
  const auto formatting = [](const std::string& text) {
    LspSession session;
    session.open(text)
        .request("textDocument/formatting",
                 {{"textDocument", {{"uri", kUri}}},
                  {"options", {{"tabSize", 8}, {"insertSpaces", false}}}})
        .run();
    CHECK(session.capabilities["documentFormattingProvider"] == true);
    return session.results.at(0);
  };
  const auto edit = [](int first, int from, int last, int to, const std::string& text) {
    return json{{"range",
                 {{"start", {{"line", first}, {"character", from}}},
                  {"end", {{"line", last}, {"character", to}}}}},
                {"newText", text}};
  };
  CHECK(formatting(kCopyProgram).empty());
  CHECK(formatting("for i in 0..2\nLOAD  x[i],R0 ; 😀\nend\n") ==
        json::array({edit(1, 0, 1, 0, "  "), edit(1, 5, 1, 6, ""), edit(1, 11, 1, 11, " ")}));
  CHECK(formatting("end\nend ") == json::array({edit(1, 3, 1, 4, "\n")}));
  CHECK(formatting("end\nend") == json::array({edit(1, 3, 1, 3, "\n")}));
  CHECK(formatting("end\n\n  \n") == json::array({edit(1, 0, 3, 0, "")}));
  CHECK(formatting("end\n\n  ") == json::array({edit(1, 0, 2, 2, "")}));
  CHECK(formatting("").empty());
}

TEST_CASE("of many thousand errors a thousand are published, and the number of the others",
          "[lsp]") {
  std::string text;
  for (int i = 0; i < 3001; ++i) text += ".const a = 1\n";
  LspSession session;
  session.open(text).run();
  REQUIRE(session.published.at(0).size() == 1000);
  CHECK_THAT(session.published[0][0]["message"].get<std::string>(), !contains("more)"));
  CHECK_THAT(session.published[0][999]["message"].get<std::string>(), contains("(and 2000 more)"));
}

TEST_CASE("bad frames and parameters get errors, and the session goes on", "[lsp]") {
  LspSession session;
  session.raw(frame_of("{"))
      .raw("Content-Length: -1\r\n\r\n")
      .request("textDocument/hover", {{"textDocument", {{"uri", "file:///not/open"}}}})
      .request("textDocument/hover", {{"textDocument", 7}})
      .request("textDocument/hover", "x")
      .request("textDocument/fly", json::object())
      .notify("textDocument/didOpen", {{"textDocument", 3}})
      .open(std::string(2 << 20, 'x'))
      .at("textDocument/hover", 2'000'000'000, 5)
      .at("textDocument/hover", -1, -1)
      .open(kCopyProgram)
      .at("textDocument/hover", 7, 3)
      .run();
  CHECK(session.errors == std::vector<int>{-32700, -32700, -32602, -32602, -32602, -32601});
  REQUIRE(session.published.size() == 2);
  CHECK_FALSE(session.published[0].empty());
  CHECK(session.published[1].empty());
  REQUIRE(session.results.size() == 4);
  CHECK_FALSE(session.results[2].is_null());
}

}  // namespace flashlab::test
