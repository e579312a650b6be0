// flashlab projections: both ways of computing the gradients of X and of the weights.
#include "tests/cli/command.hpp"

namespace flashlab::test {

TEST_CASE("both ways of computing the gradients of X and of the weights agree", "[projections]") {
  for (const char* flags : {"-N 70 -H 2 -d 16", "-B 2 -N 1 -H 1 -d 1", "-N 65 -d 8 --d-model 5"}) {
    const Outcome outcome = flashlab(std::string("projections --threads 2 ") + flags);
    INFO(flags << "\n" << outcome.out << outcome.err);
    CHECK(outcome.code == 0);
    CHECK_THAT(outcome.out, contains("Both ways agree.") && contains("dW_Q: largest difference"));
    CHECK(widest_line(outcome.out) <= 80);
  }
}

TEST_CASE("streaming the gradients takes less memory, whatever n is", "[projections]") {
  const auto streamed = [](const std::string& n) {
    const std::string out = flashlab("projections --threads 1 -H 2 -d 8 -N " + n).out;
    const std::string row = out.substr(out.find("streamed"));
    const std::string line = row.substr(0, row.find('\n'));
    return line.substr(line.rfind("  "));
  };
  CHECK(streamed("100") == streamed("400"));
}

TEST_CASE("sizes that cannot be are refused with the flag's range", "[projections]") {
  CHECK(flashlab("projections -N 0").code == 2);
  CHECK_THAT(flashlab("projections -d 1000").err, contains("--head-dim"));
  const Outcome large = flashlab("projections -N 16777216 -H 16777216 -d 512");
  CHECK((large.code == 2 || large.code == 3));
  CHECK_THAT(large.err, contains("error"));
}

}  // namespace flashlab::test
