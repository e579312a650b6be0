// What processes send each other, and what is refused as nothing that a rank sends.
#include <stdexcept>
#include <string>

#include "attention_cuda/ranks/processes/frames.hpp"
#include "tests/catch_shim.hpp"

using namespace flashlab::cuda;

namespace {

std::string refusal(std::string bytes) {
  try {
    decode(bytes);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a frame arrives as it was sent, in whatever pieces", "[ranks]") {
  const Frame first = {Frame::Kind::kMessage, 3, 1, 2, 7, std::string("a\0b", 3)},
              second = {Frame::Kind::kBye, 0, Frame::kAll, 0, 0, ""};
  const std::string bytes = encoded(first) + encoded(second);
  std::string arrived;
  for (std::size_t k = 0; k < bytes.size(); ++k) {
    arrived += bytes[k];
    const auto frame = decode(arrived);
    if (k + 1 == encoded(first).size()) {
      REQUIRE(frame);
      CHECK(frame->kind == Frame::Kind::kMessage);
      CHECK(frame->from == 3);
      CHECK(frame->to == 1);
      CHECK(frame->topic == 2);
      CHECK(frame->number == 7);
      CHECK(frame->data == first.data);
      CHECK(arrived.empty());
    } else {
      CHECK(frame.has_value() == (k + 1 == bytes.size()));
    }
  }
}

TEST_CASE("bytes that are no frame are refused at the first that is wrong", "[ranks]") {
  CHECK(refusal("GET / HTTP/1.1").find("does not speak") != std::string::npos);
  CHECK(refusal("G").find("does not speak") != std::string::npos);
  CHECK(refusal("").empty());  // nothing has arrived yet
  std::string of_4_gigabytes = encoded({});
  of_4_gigabytes.replace(4, 4, "\xff\xff\xff\xff");
  CHECK(!refusal(of_4_gigabytes).empty());
  std::string of_unknown_kind = encoded({});
  of_unknown_kind[8] = 99;
  CHECK(!refusal(of_unknown_kind).empty());
  CHECK_THROWS_WITH(encoded({Frame::Kind::kText, 0, 0, 0, 0, std::string(17 << 20, 'x')}),
                    "a message to another rank has 17825792 bytes: expected at most 16777216");
}

TEST_CASE("a hello of another length is none", "[ranks]") {
  Hello hello;
  hello.rank = 5;
  REQUIRE(hello_in(data_of(hello)));
  CHECK(hello_in(data_of(hello))->rank == 5);
  CHECK(!hello_in(data_of(hello) + "x"));
  CHECK(!hello_in(""));
}
