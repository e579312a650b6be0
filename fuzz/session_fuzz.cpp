// Holds sessions with the language server, the debug adapter and the debugger's commands: requests in any
// order, with members that are missing or of any type, answers that come late, and requests while the
// run searches. Whatever a client sends, the server answers in whole frames, each with an object.
#include <unistd.h>

#include <cstdint>
#include <string>

#include "cli/debug/debug_session.hpp"
#include "cli/protocol/dap_server.hpp"
#include "cli/protocol/lsp_server.hpp"
#include "cli/terminal/text_input.hpp"
#include "fuzz/claims.hpp"
#include "fuzz/session_messages.hpp"
#include "toymachine/execute/dram.hpp"

using namespace flashlab;

namespace {

void debug_commands(const toy::BoundProgram& program, auto& messages, std::size_t count) {
  auto dram = toy::InitialDram::make(program, {});
  if (!dram) return;
  toy::RegisterSymbols symbols(program, *dram, false);
  auto run = toy::Replay::start(program, std::move(*dram), {});
  if (!run) return;
  cli::DebugSession session(std::move(*run), {}, std::move(symbols));
  for (; count > 0; --count) {
    session.execute(messages.command());
    fuzz::expect(!session.where().empty(), "the debugger knows where it is", {});
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  cli::take_standard_input("the fuzzer's bytes");
  std::size_t at = 0;
  const auto choose = [&](std::size_t below) -> std::size_t {
    return at < size && below > 0 ? data[at++] % below : 0;
  };
  fuzz::SessionMessages messages(choose);
  fuzz::within_budget([&] {
    const std::size_t kind = choose(3);
    if (kind == 2) {
      const auto loaded = cli::load_program("softmax_online", fuzz::small_limits());
      return debug_commands(loaded.bind(toy::CapacityBinding{}), messages, 1 + choose(20));
    }
    const std::string bytes = messages.session(kind == 0);
    const std::string written = kind == 0 ? fuzz::outcome_of_session<cli::LspServer>(bytes)
                                          : fuzz::outcome_of_session<cli::DapServer>(bytes);
    cli::FrameReader reader;
    reader.push(written);
    while (const auto frame = reader.next()) {
      fuzz::expect(frame->error.empty(), "what a server writes is frames with objects", written);
    }
  });
  return 0;
}
