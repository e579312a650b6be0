// The flags that clients of language servers and debug adapters append to every server's command.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "cli/options/flags.hpp"
#include "cli/protocol/frames.hpp"

namespace flashlab::cli {

struct ClientFlags {
  bool stdio = false;  // this is what the server does anyway
  std::int64_t process = 0;
  std::string socket, pipe, port;
  bool node_ipc = false;

  void add_to(CLI::App& command);
  /// Throws Failure if a flag asks for another connection than standard input and output.
  void check() const;
};

/// Opens the client's stream. From now on standard input belongs to it: a program or an input that is
/// named `-` is refused.
std::unique_ptr<ProtocolStream> open_stream(const ClientFlags& flags);

}  // namespace flashlab::cli
