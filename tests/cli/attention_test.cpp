// `flashlab attention`: what it runs, verifies, measures and refuses. And `flashlab projections`.
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/cli/command.hpp"

namespace flashlab::test {
namespace {

const std::string kSmallOnCpu =
    "attention -B 2 -H 4 --kv-heads 2 --seqlen-q 20 --seqlen-k 33 -d 8 ";

nlohmann::json small_cpu_json(const std::string& flags) {
  return json_of(flashlab(kSmallOnCpu + flags + " --json"));
}

TEST_CASE("attention runs flash2 once unless told otherwise") {
  const auto document = json_of(flashlab("attention -N 16 -d 4 --json"));
  CHECK(document["format"] == "flashlab-attention");
  CHECK(document["version"] == 1);
  REQUIRE(document["runs"].size() == 1);
  CHECK(document["runs"][0]["variant"] == "flash2");
  CHECK(document["runs"][0]["seconds"] > 0);
  CHECK(document["runs"][0]["outputs"]["O"]["norm"] > 0);
  CHECK(document["problem"]["softmax_scale"] == 0.5);
}

TEST_CASE("the flags state the problem") {
  const auto problem = small_cpu_json(
      "--mask causal-bottom-right --key-lengths 33,7 --window 6 --scale 0.25 --dtype bf16 --seed 9")
      ["problem"];
  const nlohmann::json expected = {{"batch", 2},
                                   {"num_heads", 4},
                                   {"num_kv_heads", 2},
                                   {"seqlen_q", 20},
                                   {"seqlen_k", 33},
                                   {"head_dim", 8},
                                   {"dtype", "bf16"},
                                   {"mask", "causal-bottom-right"},
                                   {"key_lengths", {33, 7}},
                                   {"cu_seqlens_q", nlohmann::json::array()},
                                   {"cu_seqlens_k", nlohmann::json::array()},
                                   {"window_left", 6},
                                   {"window_right", nullptr},
                                   {"softmax_scale", 0.25},
                                   {"seed", 9}};
  CHECK(problem == expected);
}

TEST_CASE("every variant is verified in every data type") {
  for (const char* dtype : {"float", "double", "bf16", "fp16"}) {
    CAPTURE(dtype);
    const auto document =
        small_cpu_json("--variant all --mask causal --verify --dtype " + std::string(dtype));
    CHECK(document["verification"]["agrees"] == true);
    CHECK(document["verification"]["outputs"].size() == 7 * 2 + 4 * 3);
  }
}

TEST_CASE("every variant is verified with a window") {
  for (const char* flags : {"--window 3", "--window 0,4", "--mask causal --window 2",
                            "--mask causal-bottom-right --window 5"}) {
    CAPTURE(flags);
    const auto document = small_cpu_json("--variant all --verify " + std::string(flags));
    CHECK(document["verification"]["agrees"] == true);
  }
}

TEST_CASE("packed sequences are verified, with as many keys or with others") {
  const auto document = json_of(flashlab(
      "attention -H 2 -d 8 --packed 5,0,12 --packed-keys 7,3,12 --mask causal-bottom-right "
      "--variant all --verify --json"));
  CHECK(document["verification"]["agrees"] == true);
  CHECK(document["problem"]["seqlen_q"] == 17);
  CHECK(document["problem"]["seqlen_k"] == 22);
  CHECK(document["problem"]["cu_seqlens_q"] == nlohmann::json({0, 5, 5, 17}));
  CHECK(document["problem"]["cu_seqlens_k"] == nlohmann::json({0, 7, 10, 22}));
  const Outcome same = flashlab("attention -H 2 -d 8 --packed 5,12");
  CHECK_THAT(same.out, contains("17 queries, 17 keys, head_dim 8, 2 packed sequences, float"));
}

TEST_CASE("queries that see no key and gradients that are 0 are verified, too") {
  for (const char* shape : {"--seqlen-q 9 --seqlen-k 5 --mask causal-bottom-right",
                            "--key-lengths 0", "--seqlen-q 3 --seqlen-k 1", "-N 0", "-B 0"}) {
    CAPTURE(shape);
    const auto document =
        json_of(flashlab("attention -d 4 --variant all --verify --json " + std::string(shape)));
    CHECK(document["verification"]["agrees"] == true);
  }
}

TEST_CASE("a run's norms do not depend on the variant") {
  const auto document = small_cpu_json("--variant all");
  const double norm = document["runs"][0]["outputs"]["O"]["norm"];
  for (const auto& run : document["runs"]) {
    if (!run["outputs"].contains("O")) continue;
    CAPTURE(run["variant"]);
    CHECK(std::abs(run["outputs"]["O"]["norm"].get<double>() - norm) < 1e-5 * norm);
  }
}

TEST_CASE("a measurement has a time a repetition, rates and memory") {
  const auto measured = small_cpu_json("-v bwd-twopass -t 2 --bench --repeat 3")["measurement"];
  REQUIRE(measured["variants"].size() == 1);
  const auto& variant = measured["variants"][0];
  CHECK(variant["seconds"].size() == 3);
  CHECK(variant["threads"] == 2);
  CHECK(variant["flops"] == 10.0 * 2 * 4 * 20 * 33 * 8);
  const double flops =
      variant["flops_per_s"].get<double>() * variant["median_seconds"].get<double>();
  CHECK(std::abs(flops - variant["flops"].get<double>()) < 1);
  CHECK(measured["product_flops_per_s"] > 0);
  CHECK(measured["process_peak_bytes"] > 1'000'000);
}

TEST_CASE("the tables of attention fit 80 columns") {
  for (const char* flags : {"", "--verify", "--bench --repeat 1"}) {
    CAPTURE(flags);
    const Outcome outcome = flashlab(kSmallOnCpu + "--variant all --width 80 " + flags);
    CHECK(outcome.code == 0);
    CHECK(outcome.err == "");
    CHECK(widest_line(outcome.out) <= 80);
    CHECK_THAT(outcome.out, contains("split-kv"));
  }
}

TEST_CASE("a wrong attention problem is refused with what was expected") {
  struct Wrong {
    const char* flags;
    std::vector<const char*> says;
  };
  const std::vector<Wrong> cases = {
      {"--variant flash3", {"variant: flash3", "flash2"}},
      {"--products tf32", {"--products", "--device cuda"}},
      {"--by-kernel", {"--by-kernel", "--device cuda"}},
      {"--device cuda --threads 2", {"--threads", "--device cpu"}},
      {"--device cuda --instruction-set avx2", {"--instruction-set", "--device cpu"}},
      {"--dtype half", {"--dtype", "half"}},
      {"-H 6 --kv-heads 4", {"K: 4 heads", "divides Q's 6 heads"}},
      {"-d 513", {"head_dim 513", "1 to 512"}},
      {"-d 0", {"--head-dim 0", "1 or more"}},
      {"-N -1", {"--n -1", "0 or more"}},
      {"-N 8 --seqlen-q 4", {"--seqlen-q", "--n"}},
      {"-B 2 --key-lengths 3", {"key_lengths: 1 entries", "2 batch entries"}},
      {"-N 8 --key-lengths 9", {"key_lengths: [9]", "0 to seqlen_k = 8"}},
      {"--window -1", {"window_left: -1", "0 keys or more"}},
      {"--window 1,2,3", {"--window has 3 numbers", "LEFT,RIGHT"}},
      {"--mask causal --window 4,0", {"window_right: 0", "mask causal"}},
      {"--packed 4,-1", {"--packed -1", "0 or more"}},
      {"--packed 4,4 --packed-keys 4", {"--packed-keys has 1 length", "--packed has: 2"}},
      {"--packed-keys 4", {"--packed-keys without --packed", "--packed N"}},
      {"--packed 4 -N 4", {"--packed with --n", "one of them"}},
      {"--packed 4 -B 2", {"cu_seqlens_q: batch 2", "batch 1"}},
      {"--packed 4 --key-lengths 2", {"given with key_lengths", "one of them"}},
      {"--packed 9223372036854775807,1", {"--packed", "2^48"}},
      {"--scale inf", {"--scale inf", "not a finite number"}},
      {"--threads 0", {"--threads"}},
      {"--repeat 3", {"--repeat", "--bench"}},
      {"-B 100000000 -H 100000000", {"2^48 elements"}},
      {"--verfy", {"mean --verify?"}},
  };
  for (const Wrong& wrong : cases) {
    CAPTURE(wrong.flags);
    const Outcome outcome = flashlab("attention " + std::string(wrong.flags));
    CHECK(outcome.code == 2);
    CHECK(outcome.out == "");
    for (const char* part : wrong.says) CHECK_THAT(outcome.err, contains(part));
  }
}

TEST_CASE("the flag --list names every variant, with or without CUDA") {
  const auto document = json_of(flashlab("attention --list --json"));
  CHECK(document["format"] == "flashlab-attention-variants");
  REQUIRE(document["variants"].size() == 11);
  CHECK(document["variants"][5]["variant"] == "flash2");
  CHECK(document["variants"][5]["pass"] == "forward");
  CHECK_FALSE(document["variants"][5]["gpu_kernels"].empty());
  const Outcome table = flashlab("attention --list --width 80");
  CHECK(widest_line(table.out) <= 80);
  CHECK_THAT(table.out, contains("Milakov"));
}

TEST_CASE("Ctrl-C ends a long run with 130") {
  const Workplace place;
  CHECK(place.code_after_interrupt("exec flashlab attention -v online -N 200000 -d 64") == 130);
}

TEST_CASE("tensors that do not fit into memory are a limit, not a crash") {
#ifdef FLASHLAB_HAS_ADDRESS_SANITIZER
  FLASHLAB_SKIP("AddressSanitizer ends the program itself");
#endif
  const Outcome outcome = flashlab("attention -t 1 -N 1000000000000");
  CHECK(outcome.code == 3);
  CHECK_THAT(outcome.err, contains("no memory for Q: 256000000000000 bytes"));
}

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
  CHECK_THAT(flashlab("projections -d 1000").err, contains("-d: Value 1000"));
  const Outcome large = flashlab("projections -N 16777216 -H 16777216 -d 512");
  CHECK((large.code == 2 || large.code == 3));
  CHECK_THAT(large.err, contains("error"));
}

}  // namespace
}  // namespace flashlab::test
