#include "attention_cuda/ranks/processes/frames.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <type_traits>

namespace flashlab::cuda {
namespace {

constexpr std::uint32_t kMagic = 0x666c7231, kMostBytes = 16 << 20;

struct Header {
  std::uint32_t magic, num_bytes, kind;
  std::int32_t from, to, topic, number;
};
static_assert(std::is_trivially_copyable_v<Header> && std::is_trivially_copyable_v<Hello>);

}  // namespace

std::string encoded(const Frame& frame) {
  if (frame.data.size() > kMostBytes) {
    throw std::runtime_error("a message to another rank has " + std::to_string(frame.data.size()) +
                             " bytes: expected at most " + std::to_string(kMostBytes));
  }
  const Header header = {kMagic,
                         static_cast<std::uint32_t>(frame.data.size()),
                         static_cast<std::uint32_t>(frame.kind),
                         frame.from,
                         frame.to,
                         frame.topic,
                         frame.number};
  std::string bytes(sizeof header, '\0');
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes + frame.data;
}

std::optional<Frame> decode(std::string& bytes) {
  Header header = {};
  // Wrong bytes are noticed before the header is complete.
  if (std::memcmp(bytes.data(), &kMagic, std::min(bytes.size(), sizeof kMagic)) != 0) {
    throw std::runtime_error("it does not speak as a rank of flashlab does");
  }
  if (bytes.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.num_bytes > kMostBytes ||
      header.kind > static_cast<std::uint32_t>(Frame::Kind::kMessage)) {
    throw std::runtime_error("it does not speak as a rank of flashlab does");
  }
  const std::size_t end = sizeof header + header.num_bytes;
  if (bytes.size() < end) return std::nullopt;
  Frame frame = {static_cast<Frame::Kind>(header.kind),
                 header.from,
                 header.to,
                 header.topic,
                 header.number,
                 bytes.substr(sizeof header, header.num_bytes)};
  bytes.erase(0, end);
  return frame;
}

std::optional<Hello> hello_in(std::string_view data) {
  Hello hello;
  if (data.size() != sizeof hello) return std::nullopt;
  std::memcpy(&hello, data.data(), sizeof hello);
  return hello;
}

std::string data_of(const Hello& hello) {
  std::string data(sizeof hello, '\0');
  std::memcpy(data.data(), &hello, sizeof hello);
  return data;
}

}  // namespace flashlab::cuda
