// Messages between the grader and its workers: every byte that is missing, wrong or too many.
#include <sys/socket.h>
#include <sys/types.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "exercises/isolation/channel.hpp"
#include "exercises/isolation/wire.hpp"
#include "tests/catch_shim.hpp"

namespace flashlab::test {
namespace {

using namespace flashlab::exercises;

struct Channel {
  Descriptor here, there;
};

Channel open_channel() {
  int ends[2] = {-1, -1};
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

}  // namespace

TEST_CASE("a request is read as it was written, whole or not at all", "[wire]") {
  const std::string bytes = encode(GradingRequest{"a name", "a text", false});
  const GradingRequest read = decode_request(bytes);
  CHECK(read.name == "a name");
  CHECK(read.text == "a text");
  CHECK_FALSE(read.for_report);
  CHECK(decode_request(encode(GradingRequest{"", "", true})).for_report);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    CHECK_THROWS_AS(decode_request(bytes.substr(0, length)), WireError);
  }
  CHECK_THROWS_WITH(decode_request(bytes + '\0'), "bytes are left over");
}

TEST_CASE("a truth value is 0 or 1", "[wire]") {
  std::string bytes = encode(GradingRequest{"", "", true});
  REQUIRE(bytes.size() == 17);  // two lengths and the truth value
  CHECK(bytes.back() == 1);
  bytes.back() = 0;
  CHECK_FALSE(decode_request(bytes).for_report);
  for (const char wrong : {'\x02', '\xFF'}) {
    bytes.back() = wrong;
    CHECK_THROWS_WITH(decode_request(bytes), "a truth value is neither 0 nor 1");
  }
}

TEST_CASE("a length reaches to the end and not beyond", "[wire]") {
  std::string bytes = encode(GradingRequest{"", "", true});
  bytes[8] = 1;  // the text's length: it takes the truth value's byte
  CHECK_THROWS_WITH(decode_request(bytes), "the bytes end too early");
  bytes[8] = 2;
  CHECK_THROWS_WITH(decode_request(bytes), "a length is beyond the end");
}

TEST_CASE("an outcome is one of those that there are", "[wire]") {
  Verdict verdict;
  verdict.outcome = Outcome::kCrashed;
  std::string bytes = encode(verdict);
  CHECK(decode_verdict(bytes).outcome == Outcome::kCrashed);
  CHECK(bytes[0] == static_cast<char>(Outcome::kCrashed));
  ++bytes[0];
  CHECK_THROWS_WITH(decode_verdict(bytes), "a word is out of its range");
  bytes[0] = 0;
  CHECK(decode_verdict(bytes).outcome == Outcome::kFull);
}

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
