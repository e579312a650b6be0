// Completion, typed from the Language Server Protocol.
#include <algorithm>

#include "tests/cli/editors/lsp_session.hpp"

namespace flashlab::test {
namespace {

using nlohmann::json;

constexpr const char* kComplete = "textDocument/completion";

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

TEST_CASE("operands are completed with the names that are visible there", "[lsp]") {
  LspSession session;
  session.open(std::string(kNames) + "LOAD x[")
      .at(kComplete, 7, 9)   // inside the loop
      .at(kComplete, 14, 7)  // after it, on a line that is not complete
      .at(kComplete, 6, 17)  // in a comment
      .at(kComplete, 99, 0)  // behind the text
      .at(kComplete, 0, 10)  // a level is no name
      .run();
  CHECK(labels(session.results[0]) == " n x y m t i R2 ");
  CHECK(item(session.results[0], "x")["documentation"] == ".input x[n]");
  CHECK(labels(session.results[1]) == " n x y m t R2 ");
  for (const std::size_t at : {2, 3, 4}) CHECK(session.results[at].empty());
}

}  // namespace flashlab::test
