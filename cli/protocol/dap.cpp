// `flashlab dap`: a debug adapter for editors, on standard input and output.
#include "cli/options/commands.hpp"
#include "cli/protocol/client_flags.hpp"
#include "cli/protocol/dap_server.hpp"

namespace flashlab::cli {

CommandAction add_dap(CLI::App& app) {
  auto flags = std::make_shared<ClientFlags>();
  CLI::App& command =
      add_command(app, "dap", "Debug adapter for editors, on standard input and output",
                  "  flashlab dap     an editor starts it: docs/editors.md\n");
  flags->add_to(command);
  return [flags] { return DapServer(*open_stream(*flags)).run(); };
}

}  // namespace flashlab::cli
