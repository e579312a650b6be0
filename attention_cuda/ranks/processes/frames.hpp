// What the processes of a group send each other over TCP: frames with a header of fixed size, in the
// byte order of the computer, which is that of all computers with NVIDIA GPUs.
//
// Trust    a peer that sends no frame, too long a one, or one of another rank is refused; one that
//          knows the format is believed, as NCCL believes it
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace flashlab::cuda {

struct Frame {
  enum class Kind : std::uint32_t {
    kHello,    // a rank has come; data: a Hello
    kWelcome,  // rank 0: all have come; data: a byte, whether all are on one computer
    kText,     // a text for RankNetwork::gather
    kWaits,    // this rank waits for rank `topic`; -1: no longer
    kFailed,   // rank `topic` has failed; data: the reason
    kBye,      // this rank ends as planned
    kAlive,    // this rank's process is there
    kMessage   // data for RankNetwork::receive
  };
  static constexpr int kAll = -1;

  Kind kind = Kind::kBye;
  int from = 0, to = kAll;
  int topic = 0, number = 0;
  std::string data;
};

/// What a rank says of itself.
struct Hello {
  static constexpr std::uint32_t kProtocol = 1;

  std::uint32_t protocol = kProtocol;
  std::int32_t rank = 0, num_ranks = 0;
  char computer[64] = {};  // names it uniquely, and ends with zeros
  char gpu[16] = {};       // its UUID
};

/// Returns the bytes of a frame.
std::string encoded(const Frame& frame);

/// Takes the first frame off the bytes that have arrived; nothing: it is not complete. Throws
/// std::runtime_error: these bytes are none.
std::optional<Frame> decode(std::string& bytes);

/// Returns the Hello in data; nothing: it is none.
std::optional<Hello> hello_in(std::string_view data);
std::string data_of(const Hello& hello);

}  // namespace flashlab::cuda
