#include "cli/protocol/client_flags.hpp"

#include "cli/terminal/failure.hpp"
#include "cli/terminal/text_input.hpp"

namespace flashlab::cli {

void ClientFlags::add_to(CLI::App& command) {
  add_flag(command, "--stdio", stdio,
           "standard input and output, which it uses anyway: editors append this flag");
  add_option(command, "--clientProcessId", process, "end when this process, the editor, has ended")
      .type_name("ID");
  // Known so that they are refused with a reason.
  constexpr const char* kHidden = "";
  add_flag(command, "--node-ipc", node_ipc, "not supported").group(kHidden);
  add_option(command, "--socket", socket, "not supported").group(kHidden);
  add_option(command, "--pipe", pipe, "not supported").group(kHidden);
  add_option(command, "--port", port, "not supported").group(kHidden);
}

void ClientFlags::check() const {
  const char* const asked = node_ipc          ? "--node-ipc"
                            : !socket.empty() ? "--socket"
                            : !pipe.empty()   ? "--pipe"
                            : !port.empty()   ? "--port"
                                              : nullptr;
  if (asked == nullptr) return;
  throw request_failure(std::string(asked) + " asks for another connection than this server has",
                        "--stdio, or no flag: it uses standard input and output");
}

std::unique_ptr<ProtocolStream> open_stream(const ClientFlags& flags) {
  flags.check();
  take_standard_input("an editor's messages");
  auto stream = std::make_unique<ProtocolStream>();
  stream->end_with(flags.process);
  return stream;
}

}  // namespace flashlab::cli
