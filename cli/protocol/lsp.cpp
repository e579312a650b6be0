// `flashlab lsp`: a language server for editors, on standard input and output.
#include "cli/options/commands.hpp"
#include "cli/protocol/lsp_server.hpp"

namespace flashlab::cli {

CommandAction add_lsp(CLI::App& app) {
  add_command(app, "lsp", "Language server for editors, on standard input and output",
              "  flashlab lsp     an editor starts it: docs/editors.md\n"
              "\nErrors, costs, explanations, definitions, references, outline, completion,\n"
              "renaming, kinds of words, and lenses to run, trace and debug a program.\n");
  return [] {
    ProtocolStream stream;
    return LspServer(stream).run();
  };
}

}  // namespace flashlab::cli
