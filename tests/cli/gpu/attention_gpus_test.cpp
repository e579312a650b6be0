// `flashlab attention --gpus`, on emulated GPUs.
#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/command.hpp"
#include "tests/cli/editors/pseudo_terminal.hpp"

namespace flashlab::test {
namespace {

/// The command on a computer with three emulated GPUs.
Outcome on_three_gpus(const std::string& flags) {
  return Workplace().shell(
      "FLASHLAB_EMULATED_GPUS=3 FLASHLAB_CUDA_LIBRARY='" FLASHLAB_EMULATED_LIBRARY
      "' flashlab attention --device cuda -H 2 --kv-heads 1 -N 40 -d 8 " +
      flags);
}

/// It fails with one error that contains the text.
void check_refused(const std::string& flags, const std::string& text) {
  CAPTURE(flags);
  const Outcome outcome = on_three_gpus(flags);
  CHECK(outcome.code == 2);
  CHECK_THAT(outcome.err, contains(text));
  CHECK(outcome.out.empty());
}

TEST_CASE("every variant over several GPUs is verified") {
  const auto found = json_of(on_three_gpus("--gpus 3 -v all --mask causal --verify --json"));
  CHECK(found["gpus"] == 3);
  CHECK(found["sharding"] == "zigzag");
  CHECK(found["verification"]["agrees"] == true);
  CHECK(found["verification"]["outputs"].size() == 2 * 2 + 2 * 3);  // O, lse; dQ, dK, dV
  const auto contiguous = json_of(
      on_three_gpus("--gpus 2 -v ring --mask causal --sharding contiguous --verify --json"));
  CHECK(contiguous["sharding"] == "contiguous");
  CHECK(contiguous["verification"]["agrees"] == true);
}

TEST_CASE("a measurement over several GPUs names them and what they ran") {
  const auto found = json_of(on_three_gpus("--gpus 2 -v bwd-ring --bench --repeat 2 --json"));
  CHECK(found["gpus"] == 2);
  const auto& row = found["measurement"]["variants"][0];
  CHECK(row["kernel"] == "bwd-ring of bwd-onepass");
  CHECK(row["seconds"].size() == 2);
  CHECK(row["workspace_bytes"] > 0);
  const auto both = json_of(on_three_gpus("--gpus 2 -v ring,bwd-ring --bench --repeat 1 --json"));
  CHECK(both["measurement"]["variants"].size() == 2);
  // 20 tokens each: Q, O, dO, dQ of 2 heads and K, V, dK, dV of one, of 8 floats; lse of 2 heads:
  // together 4 * 1280 + 4 * 640 + 160 bytes.
  CHECK_THAT(on_three_gpus("--gpus 2 -v bwd-ring --bench --repeat 2 --json").err,
             contains(" on each GPU, 7.7 KiB of tensors and "));
  CHECK_THAT(on_three_gpus("--gpus 2 --mask causal").out, contains("GPUs (emulated GPU), zigzag"));
}

TEST_CASE(
    "the memory of all variants is stated before the first one runs, and refused if it is "
    "missing") {
  const std::string err =
      on_three_gpus("--gpus 2 -v ring,bwd-ring --mask causal --bench --repeat 1").err;
  // 20 tokens each: Q and O of 2 heads, K and V of one, of 8 floats, and lse of 2 heads.
  CHECK_THAT(err, contains("ring of flash2: ") && contains("3.9 KiB of tensors") &&
                      contains("\nbwd-ring of bwd-onepass: ") && contains("7.7 KiB of tensors"));
  CHECK(err.find("ring of flash2: ", err.find("bwd-ring")) == std::string::npos);  // said once
  // 2^24 tokens each. Q, O, K and V of 2 heads on 1: (2 * 2 + 2) * 64 * 4 bytes each, and lse.
  const Outcome refused = Workplace().shell(
      "FLASHLAB_EMULATED_GPUS=2 FLASHLAB_CUDA_LIBRARY='" FLASHLAB_EMULATED_LIBRARY
      "' flashlab attention --device cuda -H 2 --kv-heads 1 -N 33554432 -d 64 --gpus 2 --bench");
  CHECK(refused.code == 3);
  CHECK_THAT(refused.err, contains("24.1 GiB of tensors") &&
                              contains("flashlab: error: ring of flash2 needs ") &&
                              contains("GiB on the GPU of rank 0, where 8.00 GiB are free: "
                                       "expected fewer tokens, or more GPUs"));
  CHECK(refused.out.empty());
}

TEST_CASE(
    "on a terminal, a measurement over several GPUs says which run it is in and for how long") {
  setenv("FLASHLAB_EMULATED_GPUS", "2", 1);
  setenv("FLASHLAB_CUDA_LIBRARY", FLASHLAB_EMULATED_LIBRARY, 1);
  PseudoTerminal terminal(24, 120,
                          {"attention", "--device", "cuda", "--gpus", "2", "-v", "ring", "-N", "64",
                           "-d", "8", "--bench", "--repeat", "20000"});
  unsetenv("FLASHLAB_EMULATED_GPUS");
  unsetenv("FLASHLAB_CUDA_LIBRARY");
  if (!terminal.is_possible()) FLASHLAB_SKIP("there are no pseudo-terminals");
  const std::string shown = terminal.output_with(" of 20001 runs, 1 s", 1);
  const auto memory = shown.find(" on each GPU, "), run = shown.find(" of 20001 runs, 1 s");
  REQUIRE(run != std::string::npos);
  CHECK(memory < run);
  terminal.interrupt();
}

TEST_CASE("kernels that watch for failures of other GPUs give the same bits") {
  const std::string flags = "--gpus 2 -v all --mask causal --dtype bf16 --deterministic --json";
  const auto usual = json_of(on_three_gpus(flags)),
             watching = json_of(on_three_gpus(flags + " --stop-kernels"));
  for (std::size_t k = 0; k < 4; ++k)
    CHECK(watching["runs"][k]["outputs"] == usual["runs"][k]["outputs"]);
}

TEST_CASE(
    "dQ is verified where kernels sum it themselves, and under masks whose calls have other "
    "tiles") {
  const std::string flags = "--gpus 2 -v all --dtype bf16 --verify --json";
  for (const char* mask : {"", " --mask causal --sharding contiguous", " --mask causal"})
    CHECK(json_of(on_three_gpus(flags + mask))["verification"]["agrees"] == true);
}

TEST_CASE("NCCL moves the keys if asked to, and one that is missing or old is one line") {
  const auto with_nccl = [](const std::string& library, const std::string& variables = {}) {
    return Workplace().shell(
        variables + " FLASHLAB_NCCL_LIBRARY='" + library +
        "' FLASHLAB_EMULATED_GPUS=2 FLASHLAB_CUDA_LIBRARY='" FLASHLAB_EMULATED_LIBRARY
        "' flashlab attention --device cuda -H 2 -N 40 -d 8 --gpus 2 -v "
        "ring,bwd-ring --transfers nccl --verify --json");
  };
  const auto check_one_line = [](const Outcome& outcome, const std::string& text) {
    CHECK(outcome.code == 1);
    CHECK_THAT(outcome.err, contains(text));
    CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
    CHECK(outcome.out.empty());
  };
  CHECK(json_of(with_nccl(FLASHLAB_FAKE_NCCL))["verification"]["agrees"] == true);
  check_one_line(with_nccl("/nowhere/libnccl.so.2"), "NCCL is not found (/nowhere/libnccl.so.2");
  check_one_line(with_nccl(FLASHLAB_FAKE_NCCL, "FLASHLAB_FAKE_NCCL_VERSION=21505"),
                 "NCCL 2.15.5: expected 2.18.0 or later");
}

TEST_CASE("what several GPUs cannot do is refused with what was expected") {
  check_refused("--gpus 4", "gpus: 4");
  check_refused("--gpus 2 -v flash2", "variant: flash2");
  check_refused("--gpus 2 -v ring,,bwd-ring", "variant: ");
  check_refused("-v ring", "--gpus N");
  check_refused("--sharding zigzag", "--gpus N");
  check_refused("--stop-kernels", "--gpus N");
  check_refused("--gpus 2 --stop-kernels", "stop_flag: given");  // of floats
  check_refused("--gpus 2 --by-kernel", "--by-kernel is for one GPU");
  check_refused("--gpus 2 --products fp16x3", "state");
  check_refused("--gpus 2 --mask causal-bottom-right --key-lengths 7", "key_lengths");
}

}  // namespace
}  // namespace flashlab::test
