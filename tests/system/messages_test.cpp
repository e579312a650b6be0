// Messages between processes: every byte that is missing, wrong or too many.
#include "system/messages.hpp"

#include <sys/socket.h>
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>

#include "tests/catch_shim.hpp"

namespace flashlab::test {
namespace {

using namespace flashlab::system;

struct Channel {
  Descriptor here, there;
};

Channel open_channel() {
  auto [here, there] = connected_sockets(std::chrono::seconds(60));
  return {std::move(here), std::move(there)};
}

}  // namespace

TEST_CASE("messages arrive one by one, empty ones too", "[channel]") {
  Channel channel = open_channel();
  const std::string zeros(1000, '\0');
  CHECK(send_message(*channel.here, "one"));
  CHECK(send_message(*channel.here, ""));
  CHECK(send_message(*channel.here, zeros));
  CHECK(receive_message(*channel.there) == "one");
  CHECK(receive_message(*channel.there) == "");
  CHECK(receive_message(*channel.there) == zeros);
  channel.here.close();
  CHECK_FALSE(receive_message(*channel.there));
  CHECK_FALSE(send_message(*channel.there, "x"));
}

TEST_CASE("a message that is cut off, too long or not waited for is none", "[channel]") {
  {
    Channel channel = open_channel();
    const std::uint64_t length = 3;
    REQUIRE(send(*channel.here, &length, sizeof length, 0) == ssize_t{sizeof length});
    REQUIRE(send(*channel.here, "ab", 2, 0) == 2);
    channel.here.close();
    CHECK_FALSE(receive_message(*channel.there));
  }
  {
    Channel channel = open_channel();
    const std::uint64_t length = kMostMessageBytes + 1;
    REQUIRE(send(*channel.here, &length, sizeof length, 0) == ssize_t{sizeof length});
    CHECK_FALSE(receive_message(*channel.there));
  }
  {
    Channel channel = open_channel();
    CHECK_FALSE(send_message(*channel.here, std::string(kMostMessageBytes + 1, 'x')));
    REQUIRE(send_message(*channel.here, "one"));
    CHECK_FALSE(receive_message(*channel.there, [] { return false; }));
    int waits = 0;
    CHECK(receive_message(*channel.there, [&] { return ++waits > 0; }) == "one");
    CHECK(waits == 2);  // for the length and for the content
  }
}

TEST_CASE("a descriptor has one owner", "[channel]") {
  Channel channel = open_channel();
  const int number = *channel.here;
  Descriptor moved(std::move(channel.here));
  CHECK_FALSE(channel.here);
  CHECK(*moved == number);
  Descriptor assigned;
  CHECK_FALSE(assigned);
  CHECK(*assigned == -1);
  assigned = std::move(moved);
  CHECK(assigned);
  CHECK_FALSE(moved);  // NOLINT(bugprone-use-after-move): that is the question
  const Descriptor zero_or_more(assigned.release());
  CHECK(zero_or_more);
  CHECK_FALSE(assigned);
  assigned.close();  // nothing left to close
  CHECK(send_message(*zero_or_more, "still open"));
}

}  // namespace flashlab::test
