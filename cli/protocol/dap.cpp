// `flashlab dap`: a debug adapter for editors, on standard input and output.
#include "cli/options/commands.hpp"
#include "cli/protocol/dap_server.hpp"

namespace flashlab::cli {

CommandAction add_dap(CLI::App& app) {
  add_command(app, "dap", "Debug adapter for editors, on standard input and output",
              "  flashlab dap     an editor starts it: docs/editors.md\n");
  return [] {
    ProtocolStream stream;
    return DapServer(stream).run();
  };
}

}  // namespace flashlab::cli
