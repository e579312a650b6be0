// Sessions with the servers for editors: messages in, messages out.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/cli/command.hpp"

namespace flashlab::test {

inline std::string frame_of(const std::string& content) {
  return "Content-Length: " + std::to_string(content.size()) + "\r\n\r\n" + content;
}

/// All messages of a server's output, which must consist of whole frames.
inline std::vector<nlohmann::json> messages_in(const std::string& output) {
  constexpr const char* kHeader = "Content-Length: ";
  std::vector<nlohmann::json> messages;
  for (std::size_t at = 0; at < output.size();) {
    REQUIRE(output.compare(at, 16, kHeader) == 0);
    const auto end = output.find("\r\n\r\n", at);
    REQUIRE(end != std::string::npos);
    const auto size = std::stoul(output.substr(at + 16, end - at - 16));
    messages.push_back(nlohmann::json::parse(output.substr(end + 4, size)));
    at = end + 4 + size;
  }
  return messages;
}

/// Sends raw bytes to `flashlab dap` or `flashlab lsp`, requires that it ends well, and returns what
/// it sent.
inline std::vector<nlohmann::json> protocol_session(const Workplace& place,
                                                    const std::string& server,
                                                    const std::string& bytes) {
  place.write("input", bytes);
  const Outcome outcome = place.shell("flashlab " + server + " < input");
  INFO(outcome.err);
  REQUIRE(outcome.code == 0);
  return messages_in(outcome.out);
}

}  // namespace flashlab::test
