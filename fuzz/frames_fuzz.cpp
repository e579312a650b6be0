// Cuts any bytes into frames, as they arrive in one piece and in small ones: both must give the same
// frames, each either an object or an error with a message, and what was read is written and read
// again unchanged.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/protocol/frames.hpp"
#include "fuzz/claims.hpp"

using namespace flashlab;

namespace {

std::vector<cli::Frame> frames_of(std::string_view bytes, std::size_t piece) {
  cli::FrameReader reader;
  std::vector<cli::Frame> frames;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    reader.push(bytes.substr(at, piece));
    while (auto frame = reader.next()) frames.push_back(std::move(*frame));
  }
  return frames;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto frames = frames_of(text, std::max<std::size_t>(size, 1));
  for (const cli::Frame& frame : frames) {
    fuzz::expect(frame.body.is_object() == frame.error.empty(), "a frame is an object or an error",
                 text);
    if (!frame.error.empty()) continue;
    const auto again = frames_of(cli::framed(cli::message_text(frame.body)), 7);
    fuzz::expect(again.size() == 1 && again[0].error.empty(), "a written frame can be read", text);
  }
  if (size > cli::FrameReader::kMostHeaderBytes) return 0;  // a long header is found as it arrives
  const auto pieces = frames_of(text, 3);
  bool same = pieces.size() == frames.size();
  for (std::size_t i = 0; same && i < frames.size(); ++i) {
    same = pieces[i].error == frames[i].error && pieces[i].body == frames[i].body;
  }
  fuzz::expect(same, "frames do not depend on the pieces in which they arrive", text);
  return 0;
}
