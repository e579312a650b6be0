// `flashlab compare --gpus`.
#include <string>

#include "tests/cli/command.hpp"

namespace flashlab::test {
namespace {

void check_compare_refused(const std::string& flags, const std::string& text) {
  CAPTURE(flags);
  const Outcome outcome = flashlab("compare " + flags);
  CHECK(outcome.code == 2);
  CHECK_THAT(outcome.err, contains(text));
  CHECK(outcome.out.empty());
}

TEST_CASE("compare predicts compute, link and what is exposed for each number of GPUs") {
  const Outcome outcome = flashlab(
      "compare --gpus 1,2,4 -v ring,bwd-ring --mask none,causal -B 1 -H 16 -d 128 "
      "--n 65536 --predict-only");
  CHECK(outcome.code == 0);
  CHECK_THAT(outcome.out, contains("H200; link 394 GB/s each way after 24 us (2 x NVIDIA H100"));
  CHECK_THAT(outcome.out, contains("exposed"));
  std::size_t rows = 0;
  for (std::size_t at = outcome.out.find("65 536"); at != std::string::npos;
       at = outcome.out.find("65 536", at + 1)) {
    ++rows;
  }
  CHECK(rows == 2 * 2 * 3);
}

TEST_CASE("compare measures what several emulated GPUs take") {
  const Outcome outcome = Workplace().shell(
      "FLASHLAB_EMULATED_GPUS=2 FLASHLAB_CUDA_LIBRARY='" FLASHLAB_EMULATED_LIBRARY
      "' COLUMNS=200 flashlab compare --gpus 2,3 -v ring -B 1 -H 1 -d 16 --n 64 --repeat 1");
  CHECK(outcome.code == 0);
  CHECK_THAT(outcome.err, contains("not measured: gpus: 3: expected 1 … 2"));
  CHECK_THAT(outcome.out, contains("emulated GPU"));
}

TEST_CASE("what compare cannot do for several GPUs is refused") {
  check_compare_refused("--gpus 0", "each from 1 to 1024");
  check_compare_refused("--gpus two", "each from 1 to 1024");
  check_compare_refused("--gpus 2 -v flash2", "--variant 'flash2'");
  check_compare_refused("--gpus 2 --json x.json", "--gpus with --json");
  check_compare_refused("--gpus 2 --html x.html", "--gpus with --html");
}

}  // namespace
}  // namespace flashlab::test
