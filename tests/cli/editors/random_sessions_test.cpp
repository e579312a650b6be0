// Sessions of any order and any types end well. FLASHLAB_SESSION_SECONDS=3600 searches for an hour.
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <map>
#include <random>

#include "cli/debug/debug_session.hpp"
#include "cli/protocol/dap_server.hpp"
#include "cli/protocol/lsp_server.hpp"
#include "cli/terminal/text_input.hpp"
#include "fuzz/session_messages.hpp"
#include "tests/catch_shim.hpp"
#include "toymachine/execute/dram.hpp"

namespace flashlab::test {
namespace {

using nlohmann::json;

/// Messages of whole frames; an error stands for bytes that are none.
std::vector<cli::Frame> all_frames(const std::string& bytes) {
  cli::FrameReader reader;
  reader.push(bytes);
  std::vector<cli::Frame> frames;
  while (auto frame = reader.next()) frames.push_back(std::move(*frame));
  return frames;
}

/// How often each request must be answered: once, until the server has ended.
std::map<std::string, int> numbers_in(const std::vector<cli::Frame>& frames, bool is_lsp,
                                      bool sent) {
  std::map<std::string, int> count;
  for (const cli::Frame& frame : frames) {
    if (!frame.error.empty()) continue;
    const json& message = frame.body;
    if (is_lsp) {
      // Whatever it is: a method that is no text is refused.
      const bool is_request = message.contains("method");
      if (message.contains("id") && is_request == sent) ++count[message["id"].dump()];
    } else if (sent) {
      if (message.value("type", json()) == "response" || message.value("type", json()) == "event")
        continue;
      const bool is_number = message.contains("seq") && message["seq"].is_number_integer();
      ++count[std::to_string(is_number ? message["seq"].get<std::int64_t>() : 0)];
    } else if (message["type"] == "response") {
      ++count[message["request_seq"].dump()];
    }
  }
  return count;
}

/// Returns what is wrong about a server's output; empty: nothing.
std::string problem_of(const std::string& sent, const std::string& written, bool is_lsp) {
  const auto answers = all_frames(written);
  for (const cli::Frame& frame : answers) {
    if (!frame.error.empty()) return "it wrote what is no frame: " + frame.error;
  }
  const auto wanted = numbers_in(all_frames(sent), is_lsp, true);
  for (const auto& [number, times] : numbers_in(answers, is_lsp, false)) {
    if (number == "null" || number == "0") continue;
    const auto found = wanted.find(number);
    if (found == wanted.end() || times > found->second) return "too many answers to " + number;
  }
  return {};
}

void run_commands(std::mt19937_64& random) {
  const auto choose = [&](std::size_t below) { return random() % below; };
  fuzz::SessionMessages messages(choose);
  const auto loaded =
      cli::load_program(choose(2) == 0 ? "softmax_online" : "flash2", toy::Limits{});
  const toy::BoundProgram program = loaded.bind(toy::CapacityBinding{});
  auto dram = toy::InitialDram::make(program, {});
  toy::RegisterSymbols symbols(program, *dram, false);
  auto run = toy::Replay::start(program, std::move(*dram), {});
  cli::DebugSession session(std::move(*run), {}, std::move(symbols));
  for (std::size_t count = choose(30); count > 0; --count) {
    session.execute(messages.command());
    REQUIRE_FALSE(session.where().empty());
  }
}

}  // namespace

TEST_CASE("random sessions get at most one answer to each request, and never end a server",
          "[sessions]") {
  cli::take_standard_input("the test's bytes");
  const char* const wanted = std::getenv("FLASHLAB_SESSION_SECONDS");
  const bool is_search = wanted != nullptr;
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::seconds(is_search ? std::atoi(wanted) : 0);
  std::uint64_t seed = is_search ? std::random_device()() : 0, done = 0;
  for (; is_search ? std::chrono::steady_clock::now() < end : done < 300; ++done) {
    std::mt19937_64 random(seed + done);
    INFO("seed " << seed + done);
    const auto choose = [&](std::size_t below) { return random() % below; };
    const std::size_t kind = random() % 3;
    if (is_search && done % 1000 == 0)
      std::cerr << done << " sessions from seed " << seed << std::endl;
    if (kind == 2) {
      run_commands(random);
      continue;
    }
    const bool is_lsp = kind == 0;
    const std::string sent = fuzz::SessionMessages(choose).session(is_lsp);
    const std::string written = is_lsp ? fuzz::outcome_of_session<cli::LspServer>(sent)
                                       : fuzz::outcome_of_session<cli::DapServer>(sent);
    const std::string why = problem_of(sent, written, is_lsp);
    if (!why.empty()) WARN(sent);
    REQUIRE(why.empty());
  }
  if (is_search) std::cerr << done << " sessions from seed " << seed << "\n";
}

}  // namespace flashlab::test
