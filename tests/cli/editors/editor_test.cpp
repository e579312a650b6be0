// What `flashlab editor` writes. .ci/editors tries it in the editors themselves.
#include "tests/cli/command.hpp"

namespace flashlab::test {

TEST_CASE("the extension works on a stub of Visual Studio Code, with the real servers",
          "[editor]") {
  const Workplace place;
  if (place.shell("node --version").code != 0) FLASHLAB_SKIP("there is no node");
  REQUIRE(place.shell("flashlab editor --vscode x.vsix").code == 0);
  const Outcome outcome =
      place.shell("node " FLASHLAB_SOURCE_DIR
                  "/tests/cli/editors/vscode/extension_test.js x.vsix " FLASHLAB_BINARY);
  INFO(outcome.out << outcome.err);
  CHECK(outcome.code == 0);
  CHECK_THAT(outcome.out, contains("0 failed"));
}

TEST_CASE("the package is a sound archive with the same bytes each time", "[editor]") {
  const Workplace place;
  REQUIRE(place.shell("flashlab editor --vscode x.vsix && flashlab editor --vscode y.vsix").code ==
          0);
  CHECK(place.read("x.vsix") == place.read("y.vsix"));
  if (place.shell("python3 -c 'import zipfile, json'").code != 0) {
    FLASHLAB_SKIP("there is no python3 (with its standard library)");
  }
  const Outcome outcome = place.shell(
      "python3 -c \"import json, zipfile; z = zipfile.ZipFile('x.vsix'); "
      "p = json.loads(z.read('extension/package.json')); "
      "print(z.testzip(), p['contributes']['configuration']['properties']"
      "['flashlab.path']['default'])\"");
  INFO(outcome.err);
  CHECK(outcome.out == "None " FLASHLAB_BINARY "\n");
}

TEST_CASE("each editor's file starts this command, and no placeholder is left", "[editor]") {
  for (const std::string editor : {"neovim", "emacs", "helix"}) {
    const Outcome outcome = flashlab("editor --" + editor);
    INFO(editor);
    CHECK(outcome.code == 0);
    CHECK_THAT(outcome.out, contains("\"" FLASHLAB_BINARY "\"") && contains("\"lsp\"") &&
                                contains("\"dap\"") && !contains("@FLASHLAB@"));
  }
  CHECK_THAT(flashlab("editor --emacs").out,
             contains("\"ATOMIC_ADD\"") && contains("\".input\"") && !contains("KEYWORDS@"));
}

TEST_CASE("editor names one editor, and a file that is a package", "[editor]") {
  const Outcome none = flashlab("editor");
  CHECK(none.code == 2);
  CHECK_THAT(none.err, contains("--neovim"));
  CHECK(flashlab("editor --neovim --emacs").code == 2);
  const Outcome name = flashlab("editor --vscode package.zip");
  CHECK(name.code == 2);
  CHECK_THAT(name.err, contains("flashlab.vsix"));
}

}  // namespace flashlab::test
