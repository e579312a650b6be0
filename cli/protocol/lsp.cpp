// `flashlab lsp`: a language server for editors, on standard input and output.
#include "cli/options/commands.hpp"
#include "cli/protocol/client_flags.hpp"
#include "cli/protocol/lsp_server.hpp"

namespace flashlab::cli {

CommandAction add_lsp(CLI::App& app) {
  auto flags = std::make_shared<ClientFlags>();
  CLI::App& command =
      add_command(app, "lsp", "Language server for editors, on standard input and output",
                  "  flashlab lsp     an editor starts it: docs/editors.md\n"
                  "\nErrors, costs, explanations, definitions, references, outline, completion,\n"
                  "renaming, kinds of words, and lenses to run, trace and debug a program.\n");
  flags->add_to(command);
  return [flags] { return LspServer(*open_stream(*flags)).run(); };
}

}  // namespace flashlab::cli
