// Messages between the grader and its workers: every byte that is missing, wrong or too many.
#include <string>

#include "exercises/isolation/wire.hpp"
#include "tests/catch_shim.hpp"

namespace flashlab::test {

using namespace flashlab::exercises;

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

}  // namespace flashlab::test
