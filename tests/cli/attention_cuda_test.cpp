// `flashlab attention --device cuda`, on an emulated GPU: what it runs, verifies, measures and
// refuses; and the benchmark of all kernels.
#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/cli/command.hpp"

namespace flashlab::test {
namespace {

const std::string kSmallOnGpu =
    "attention --device cuda -B 2 -H 4 --kv-heads 2 --seqlen-q 20 --seqlen-k 33 -d 8 ";

/// The command with an emulated GPU.
Outcome emulated(const std::string& arguments) {
  return Workplace().shell("FLASHLAB_CUDA_LIBRARY='" FLASHLAB_EMULATED_LIBRARY "' flashlab " +
                           arguments);
}

nlohmann::json small_gpu_json(const std::string& flags) {
  return json_of(emulated(kSmallOnGpu + flags + " --json"));
}

/// The sum of some member over the elements of an array.
double sum_of(const nlohmann::json& array, const char* member) {
  double sum = 0;
  for (const auto& element : array) sum += element[member].get<double>();
  return sum;
}

TEST_CASE("without a GPU, or built without CUDA, one line says so") {
  const Outcome outcome = flashlab("attention --device cuda");
  if (outcome.code == 0) FLASHLAB_SKIP("there is a GPU");
  CHECK(outcome.code == 2);
  CHECK(outcome.out == "");
  CHECK_THAT(outcome.err, contains("CUDA"));
  CHECK_THAT(outcome.err, contains("--device cpu"));
  CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
}

TEST_CASE("a library of kernels that is none, or of another build, is refused in one line") {
  const Workplace place;
  place.write("none.so", "no library");
  for (const std::string& library : {std::string("none.so"), std::string("missing.so")}) {
    CAPTURE(library);
    const Outcome outcome =
        place.shell("FLASHLAB_CUDA_LIBRARY=$PWD/" + library + " flashlab attention --device cuda");
    CHECK(outcome.code == 2);
    CHECK_THAT(outcome.err, contains(library));
    CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
  }
}

TEST_CASE("a library without the entrance that a command needs is named, and what it lacks") {
  Dl_info here{};
  REQUIRE(dladdr(reinterpret_cast<void*>(&std::terminate), &here) != 0);  // some library
  const Outcome outcome = Workplace().shell("FLASHLAB_CUDA_LIBRARY=" + std::string(here.dli_fname) +
                                            " flashlab attention --device cuda");
  CHECK(outcome.code == 2);
  CHECK_THAT(outcome.err,
             contains("has no flashlab_gpu_library: it was built without this command"));
}

TEST_CASE("the library of kernels lets in nobody who knows other structures than its own") {
  void* const library = dlopen(FLASHLAB_EMULATED_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library != nullptr);
  for (const char* const entrance : {"flashlab_gpu_library", "flashlab_gpu_measurements"}) {
    CAPTURE(entrance);
    const auto enter = reinterpret_cast<void* (*)(const char*)>(dlsym(library, entrance));
    REQUIRE(enter != nullptr);
    CHECK(enter("") == nullptr);
    CHECK(enter("0.2.0, interface 1, fields 1") == nullptr);
  }
}

TEST_CASE("on a GPU the same inputs come to the same outputs as on the CPU") {
  const auto on_gpu = small_gpu_json("--mask causal");
  CHECK(on_gpu["device"] == "cuda");
  CHECK(on_gpu["gpu"]["name"] == "emulated GPU");
  REQUIRE(on_gpu["runs"].size() == 1);
  CHECK(on_gpu["runs"][0]["kernel"] == "flash2_fp32");
  const auto on_cpu =
      json_of(flashlab("attention -B 2 -H 4 --kv-heads 2 --seqlen-q 20 --seqlen-k 33 -d 8 "
                       "--mask causal --json"));
  const double ours = on_gpu["runs"][0]["outputs"]["O"]["norm"],
               theirs = on_cpu["runs"][0]["outputs"]["O"]["norm"];
  CHECK(std::abs(ours - theirs) < 1e-5 * theirs);
}

TEST_CASE("every variant that a GPU has is verified") {
  for (const char* flags : {"", "--mask causal --dtype bf16", "--dtype fp16 --key-lengths 0,30",
                            "--products tf32", "--products tf32x3 --mask causal-bottom-right"}) {
    CAPTURE(flags);
    const auto document = small_gpu_json("--variant all --verify " + std::string(flags));
    CHECK(document["verification"]["agrees"] == true);
    CHECK(document["verification"]["outputs"].size() >= 2);
  }
  const auto document = small_gpu_json("--variant all --verify");
  CHECK(document["verification"]["outputs"].size() == 7 * 2 + 4 * 3);
  CHECK_FALSE(document.contains("not_run"));
}

TEST_CASE("what --variant all cannot run is named") {
  const auto document = small_gpu_json("--variant all --products tf32x3");
  CHECK_FALSE(document["runs"].empty());
  CHECK_THAT(document["not_run"]["online"].get<std::string>(), contains("tf32x3"));
}

TEST_CASE("a measurement on a GPU has a time a repetition, the kernel and its rate") {
  const auto measured = small_gpu_json("-v bwd-twopass --bench --repeat 3")["measurement"];
  REQUIRE(measured["variants"].size() == 1);
  const auto& row = measured["variants"][0];
  CHECK(row["kernel"] == "bwd_twopass_fp32");
  CHECK(row["seconds"].size() == 3);
  CHECK(row["flops"] == 10.0 * 2 * 4 * 20 * 33 * 8);
  const double flops = row["flops_per_s"].get<double>() * row["median_seconds"].get<double>();
  CHECK(std::abs(flops - row["flops"].get<double>()) < 1);
  CHECK_FALSE(row.contains("floor_seconds"));  // no data sheet has the emulated GPU
}

TEST_CASE("the flag --by-kernel divides a call among its kernels") {
  const auto breakdowns = small_gpu_json("--variant all --by-kernel --repeat 2")["by_kernel"];
  REQUIRE(breakdowns.size() == 11);
  for (const auto& breakdown : breakdowns) {
    CAPTURE(breakdown["variant"].get<std::string>());
    const auto& launches = breakdown["launches"];
    REQUIRE_FALSE(launches.empty());
    CHECK(std::abs(sum_of(launches, "share") - 1) < 1e-9);
    CHECK(std::abs(sum_of(launches, "seconds") - breakdown["seconds"].get<double>()) < 1e-9);
  }
  CHECK(breakdowns[0]["launches"].size() > 5);  // naive: one kernel per step
}

TEST_CASE("a kernel's name is enough, its options reach it") {
  CHECK(small_gpu_json("--kernel bwd_naive")["runs"][0]["variant"] == "bwd-naive");
  const auto workspace = [](const std::string& splits) -> std::int64_t {
    return small_gpu_json("-v split-kv --num-splits " + splits)["runs"][0]["workspace_bytes"];
  };
  CHECK(workspace("7") > workspace("2"));
}

TEST_CASE("without --variant the problem and the GPU determine it") {
  const std::string few = "attention --device cuda --dtype bf16 --seqlen-q 1 --seqlen-k 2048 -d 8 ";
  const auto variant = [](const std::string& flags) {
    return json_of(emulated(flags + " --json"))["runs"][0]["variant"];
  };
  CHECK(variant(few) == "split-kv");
  CHECK(variant(few + "-v auto") == "split-kv");
  CHECK(variant(few + "-v flash2") == "flash2");
  CHECK(variant(few + "--kernel flash2_mma_sm80") == "flash2");
  CHECK(variant(kSmallOnGpu + "--dtype bf16") == "flash2");
  CHECK(json_of(flashlab("attention -v auto -N 8 -d 8 --json"))["runs"][0]["variant"] == "flash2");
}

TEST_CASE("the flag --list has the kernels of a GPU") {
  const auto document = json_of(emulated("attention --list --json"));
  CHECK(document["has_gpu_library"] == true);
  const auto& variants = document["variants"];
  const auto& kernels = variants[5]["gpu_kernels"];
  REQUIRE(kernels.size() >= 2);
  CHECK(kernels[0]["kernel"] == "flash2_fp32");
  CHECK(kernels[0]["arithmetic"][0]["dtype"] == "float");
  for (const auto& variant : variants) CHECK_FALSE(variant["gpu_kernels"].empty());
}

TEST_CASE("a time of one call without a warm-up is called so, on either device") {
  const std::string note = "ms: of one call, without a warm-up. --bench measures the time.\n";
  CHECK_THAT(emulated(kSmallOnGpu + "--width 80").out, contains(note));
  CHECK_THAT(flashlab("attention -N 8 -d 8 --width 80").out, contains(note));
  CHECK_THAT(flashlab("attention -N 8 -d 8 --bench --repeat 1 --width 80").out, !contains(note));
}

TEST_CASE("the tables of a GPU fit 80 columns") {
  for (const char* flags : {"", "--verify", "--bench --repeat 1", "--by-kernel --repeat 1",
                            "--products tf32x3", "--list"}) {
    CAPTURE(flags);
    const Outcome outcome = emulated(kSmallOnGpu + "--variant all --width 80 " + flags);
    CHECK(outcome.code == 0);
    CHECK(outcome.err == "");
    CHECK(widest_line(outcome.out) <= 80);
    CHECK_THAT(outcome.out, contains("flash2"));
  }
}

TEST_CASE("what a GPU cannot do is refused with what was expected") {
  struct Wrong {
    const char* flags;
    std::vector<const char*> says;
  };
  const std::vector<Wrong> cases = {
      {"--dtype double", {"dtype: double", "float"}},
      {"-v naive --products tf32x3", {"tf32x3", "for naive"}},
      {"-d 300", {"head_dim: 300", "at most 256"}},
      {"--kernel flash3", {"flash3", "--list"}},
      {"-v flash2 --kernel bwd_naive", {"bwd_naive", "a kernel of flash2"}},
      {"--round-statistics", {"round_statistics", "bf16"}},
      {"-v bwd-onepass --deterministic", {"deterministic: true", "bwd-twopass"}},
      {"--num-splits 0", {"--num-splits"}},
      {"--repeat 3", {"--repeat", "--by-kernel"}},
      {"-H 6 --kv-heads 4 --bench", {"K: 4 heads", "divides Q's 6 heads"}},
      {"-B 2 --key-lengths 3 --bench", {"key_lengths: 1 entries", "2 batch entries"}},
      {"-B 100000000 -H 100000000 --bench", {"2^48 elements"}},
  };
  for (const Wrong& wrong : cases) {
    CAPTURE(wrong.flags);
    const Outcome outcome = emulated("attention --device cuda " + std::string(wrong.flags));
    CHECK(outcome.code == 2);
    CHECK(outcome.out == "");
    for (const char* part : wrong.says) CHECK_THAT(outcome.err, contains(part));
  }
}

TEST_CASE("windows and packed sequences are the GPU's problem, too") {
  for (const char* flags :
       {"-N 40 --window 3", "-N 40 --mask causal --window 5", "--packed 5,0,30 --mask causal"}) {
    CAPTURE(flags);
    const auto document = json_of(emulated(
        "attention --device cuda -d 16 --dtype bf16 --verify --json " + std::string(flags)));
    CHECK(document["verification"]["agrees"] == true);
  }
}

TEST_CASE("a backward pass in a fixed order is verified like any other") {
  const auto document = json_of(emulated(
      "attention --device cuda -v bwd-onepass -N 150 -d 64 --dtype bf16 --deterministic --verify "
      "--json"));
  CHECK(document["verification"]["agrees"] == true);
}

TEST_CASE("device memory that is not there is a limit") {
  const Outcome outcome = emulated("attention --device cuda -H 64 -N 1000000 --bench");
  CHECK(outcome.code == 3);
  CHECK_THAT(outcome.err, contains("no device memory for Q: 16384000000 bytes"));
}

TEST_CASE("the benchmark times every kernel and writes what it found") {
  const Workplace place;
  const Outcome outcome =
      place.shell("'" FLASHLAB_EMULATED_BENCHMARK
                  "' --shape float,1,1,20,8 --shape bf16,1,1,20,8,causal --runs 2 --json out.json "
                  "--commit abc");
  CHECK(outcome.err == "");
  REQUIRE(outcome.code == 0);
  CHECK_THAT(outcome.out, contains("x first"));
  const auto document = nlohmann::json::parse(place.read("out.json"));
  CHECK(document["gpu"] == "emulated GPU");
  CHECK(document["commit"] == "abc");
  CHECK_THAT(document["command"].get<std::string>(), contains("--runs 2"));
  std::size_t arithmetics = 0;
  for (const auto& row : document["rows"]) {
    CAPTURE(row["kernel"].get<std::string>());
    CHECK(row["samples_ms"].size() == 2);
    CHECK(row["times_first"] > 0);
    arithmetics += row["dtype"] == "float" ? 1 : 0;
  }
  CHECK(arithmetics >= 10);
  CHECK(document["rows"].back()["mask"] == "causal");
}

TEST_CASE("the benchmark refuses what it does not understand") {
  for (const char* flags :
       {"--shape float,1,2", "--shape double,1,1,8,8", "--runs 0", "--wrong 1", "--json"}) {
    CAPTURE(flags);
    const Outcome outcome =
        Workplace().shell("'" FLASHLAB_EMULATED_BENCHMARK "' " + std::string(flags));
    CHECK(outcome.code == 2);
    CHECK_THAT(outcome.err, contains("expected"));
  }
}

}  // namespace
}  // namespace flashlab::test
