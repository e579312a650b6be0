// `flashlab gpu` on a GPU that the emulation plays: what it prints, checks and survives.
#include <nlohmann/json.hpp>

#include "tests/cli/command.hpp"
#include "tests/cli/gpu/fake_gpu.hpp"

namespace flashlab::test {
TEST_CASE("gpu runs a program on every head, and compares results with the machine") {
  const FakeGpu fake;
  const auto run = json_of(fake.gpu("flash2 -D n=12,B=2 --batch 2 --heads 3 --check 2 --json"));
  const auto cost = json_of(flashlab("cost flash2 -D n=12,B=2 --json"));
  CHECK(run["launches"].size() == 1);
  CHECK(run["launches"][0]["blocks"] == 6 * 6);
  CHECK(run["sm_traffic"]["bytes_read"] == 6 * cost["value"]["bytes_loaded"].get<int>());
  CHECK(run["sm_traffic"]["bytes_written"] == 6 * cost["value"]["bytes_stored"].get<int>());
  CHECK(run["call_ms"].size() == 5);
  REQUIRE(run["checked"].size() == 4);  // o and lse of two problems
  CHECK(run["checked"][0]["problem"] == 6);
  CHECK(run["checked"][2]["problem"] == 3);
  for (const auto& output : run["checked"]) {
    CHECK(output["largest_error"] > 0);
    CHECK(output["largest_error"] <= output["allowed_error"]);
  }
  const Outcome text = fake.gpu("flash2 -D n=12,B=2 --batch 2 --heads 3 --repeat 2");
  CHECK(text.code == 0);
  CHECK_THAT(text.out, contains("2 calls on new inputs"));
  CHECK_THAT(text.out, contains("6 of 6"));
  CHECK(widest_line(text.out) <= 80);
}

TEST_CASE("gpu survives a GPU that hangs, crashes, is full, or computes too little") {
  const FakeGpu fake;
  const std::string call = "flash2 --heads 2 --time-limit 60";
  REQUIRE(fake.gpu(call).code == 0);
  const Outcome hangs = fake.gpu("flash2 --heads 2 --time-limit 0.5", "hangs");
  CHECK(hangs.code == 3);
  CHECK_THAT(hangs.err, contains("did not finish within 0.5 s") && contains("--time-limit"));
  const Outcome crashes = fake.gpu(call, "crashes");
  CHECK(crashes.code == 1);
  CHECK_THAT(crashes.err, contains("ended by signal 6"));
  const Outcome small = fake.gpu("flash2 --heads 60000", "small");
  CHECK(small.code == 3);
  CHECK_THAT(small.err, contains("60000 times q 128, k 128, v 128, o 128, lse 32") &&
                            contains("1 MB that are free"));
  const Outcome forgets = fake.gpu(call, "forgets");
  CHECK(forgets.code == 1);
  CHECK_THAT(forgets.err, contains("o[0][0] of problem 2 is NaN"));
  for (const Outcome& outcome : {hangs, crashes, small, forgets}) CHECK(outcome.out == "");
}

TEST_CASE("gpu compares results in 16 bits, with additions in one step") {
  const FakeGpu fake;
  const auto run = json_of(fake.gpu("bwd_onepass --dtype bf16 --heads 2 --repeat 1 --json"));
  CHECK(run["launches"].size() == 3);
  CHECK(run["checked"].size() == 3);
  CHECK(run["dtype"] == "bf16");
}

TEST_CASE("gpu gives products to warpgroups at level 2, on every head") {
  const FakeGpu fake;
  const std::string call = "flash2_causal -D n=100,d=72,B=64,Bk=32 --dtype bf16 --level 2";
  const auto run = json_of(fake.gpu(call + " --heads 2 --check 2 --repeat 1 --json"));
  CHECK(run["level"] == 2);
  REQUIRE(run["checked"].size() == 4);
  for (const auto& output : run["checked"]) {
    CHECK(output["largest_error"] <= output["allowed_error"]);
  }
  const auto plan = json_of(flashlab("gpu " + call + " --plan --json"));
  CHECK(plan["shared_bytes_limit"] == 227 << 10);
  CHECK(plan["launches"][0]["warpgroups"] == true);
  CHECK(plan["launches"][0]["threads"] == 256);
  const auto small =
      json_of(flashlab("gpu flash2 -D n=96,d=64,B=48 --dtype bf16 --level 2 --plan --json"));
  CHECK(small["launches"][0]["warpgroups"] == false);
  CHECK_THAT(small["launches"][0]["no_warpgroups"]["reason"].get<std::string>(),
             contains("48 rows") && contains("64"));
}

TEST_CASE("gpu multiplies on tensor cores at level 1, at edges of tiles and transposed") {
  const FakeGpu fake;
  const auto run = [&](const std::string& arguments) {
    return json_of(fake.gpu(arguments + " --level 1 --repeat 1 --heads 2 --json"));
  };
  for (const auto& result : {run("flash2 -D n=45,nk=70,d=24,B=33,Bk=17 --dtype bf16"),
                             run("bwd_onepass -D n=21,nk=37,d=20,B=16,Bk=12,Bd=7 --dtype fp16")}) {
    CHECK(result["level"] == 1);
    for (const auto& output : result["checked"]) CHECK(output["largest_error"] > 0);
  }
  const Outcome floats = flashlab("gpu flash2 --level 1 --plan");
  CHECK(floats.code == 2);
  CHECK_THAT(floats.err, contains("--level 1 with --dtype float") && contains("bf16 or fp16"));
  const Outcome numbers = flashlab("gpu softmax_online --level 1 --dtype bf16 --plan");
  CHECK(numbers.code == 1);
  CHECK_THAT(numbers.err, contains("elements are numbers, and tensor cores multiply tiles"));
}

TEST_CASE("gpu compiles to PTX of an older GPU, and refuses what that GPU cannot do") {
  const FakeGpu fake;
  const auto run = json_of(fake.gpu("flash2 --repeat 1 --arch compute_75 --json"));
  CHECK(run["gpu"]["architecture"] == "compute_75");
  CHECK(run["gpu"]["compute_capability"] == 90);
  for (const std::string wrong : {"compute_100", "compute_70", "sm_75", "compute_", "compute_7x"}) {
    INFO(wrong);
    const Outcome refused = fake.gpu("flash2 --arch " + wrong);
    CHECK(refused.code == 2);
    CHECK_THAT(refused.err,
               contains("--arch '" + wrong + "'") && contains("compute_75 to compute_90"));
  }
  const Outcome bf16 = fake.gpu("flash2 --level 1 --dtype bf16 --arch compute_75");
  CHECK(bf16.code == 2);
  CHECK_THAT(bf16.err, contains("compute capability 7.5") && contains("--dtype fp16"));
  const Outcome wide =
      fake.gpu("flash2 -D n=128,d=64,B=64,Bk=64 --level 2 --dtype bf16 --arch compute_90");
  CHECK(wide.code == 2);
  CHECK_THAT(wide.err, contains("--level 2 with --arch compute_90"));
}

TEST_CASE("gpu draws an input from the range that a program needs") {
  const FakeGpu fake;
  const std::string merge =
      FLASHLAB_SOURCE_DIR "/exercises/32_split_kv_merge/solution.toy --repeat 1 --heads 2";
  const Outcome right = fake.gpu(merge + " --range l=1..8 --range num=1..8");
  CHECK(right.code == 0);
  CHECK_THAT(right.out, contains("lse"));
  CHECK(fake.gpu(merge + " --range l=8..1").code == 2);
  const Outcome other = fake.gpu(merge + " --range o=1..8");
  CHECK(other.code == 2);
  CHECK_THAT(other.err, contains("--range 'o': there is no such input"));
  CHECK(fake.gpu(merge + " --range o=1..8 --predict-only").err == other.err);
}

TEST_CASE("gpu predicts less time on tensor cores") {
  const auto predicted = [](const std::string& level) {
    return json_of(flashlab("gpu flash2 -D n=4096,d=64,B=32 --heads 32 --dtype bf16 --level " +
                            level + " --predict-only --json"))["predicted_ms"]
        .get<double>();
  };
  CHECK(predicted("1") < predicted("0") / 3);
}

TEST_CASE("gpu says why the hardware's counters are missing") {
  const FakeGpu fake;
  const Outcome none = fake.gpu("sum_plain --repeat 1", "none", "FLASHLAB_CUDA_LIBRARY=none.so");
  CHECK(none.code == 0);
  CHECK_THAT(none.out, contains("no bytes measured: no GPU kernels (CUDA): none.so"));
  const auto off = json_of(fake.gpu("sum_plain --repeat 1 --no-counters --json"));
  CHECK(off["measured"]["why_no_counters"] == "not requested (--no-counters)");
#ifdef FLASHLAB_EMULATED_LIBRARY
  const Outcome emulated =
      fake.gpu("sum_plain --repeat 1", "none", "FLASHLAB_CUDA_LIBRARY=" FLASHLAB_EMULATED_LIBRARY);
  CHECK_THAT(emulated.out, contains("built without CUPTI"));
#endif
}

TEST_CASE("gpu names what is missing here") {
  const Workplace place;
  const auto shell = [&](const std::string& driver, const std::string& nvrtc,
                         const std::string& wishes) {
    return place.shell("FLASHLAB_CUDA_DRIVER=" + driver + " FLASHLAB_NVRTC=" + nvrtc +
                       " FLASHLAB_FAKE_GPU=" + wishes + " flashlab gpu flash2");
  };
  const std::string fake = FLASHLAB_FAKE_CUDA;
  const Outcome driver = shell("none.so", fake, "none");
  CHECK(driver.code == 2);
  CHECK_THAT(driver.err, contains("FLASHLAB_CUDA_DRIVER is none.so") && contains("--predict-only"));
  const Outcome nvrtc = shell(fake, "none.so", "none");
  CHECK(nvrtc.code == 2);
  CHECK_THAT(nvrtc.err, contains("no NVRTC") && contains("nvidia-cuda-nvrtc of pip"));
  const Outcome absent = shell(fake, fake, "absent");
  CHECK(absent.code == 2);
  CHECK_THAT(absent.err, contains("no GPU to run on: cudaErrorNoDevice"));
}

TEST_CASE("gpu --predict-only counts and predicts without a GPU") {
  const auto run = json_of(
      flashlab("gpu flash2 -D n=4096,d=64,B=32 --batch 4 --heads 32 --predict-only --json"));
  CHECK(run["gpu"].is_null());
  CHECK(run["predicted_for"] == "H200");
  CHECK(run["product_flops"] == 128LL * 4 * 4096 * 4096 * 64);
  CHECK(run["predicted_ms"] > 1);
  CHECK_FALSE(run.contains("measured"));
  const Outcome text =
      flashlab("gpu bwd_twopass -D n=512,d=64,B=16 --dtype fp16 --predict-only --gpu a100");
  CHECK(text.code == 0);
  CHECK_THAT(text.out, contains("A100") && contains("nothing measured") && contains("launch 3"));
  CHECK_THAT(text.out, contains("lse in float: one number per row"));
}

TEST_CASE("gpu predicts a longer time for more work, and less traffic for 16-bit numbers") {
  const auto predicted = [](const std::string& flags) {
    return json_of(flashlab("gpu flash2 -D d=64,B=32," + flags + " --predict-only --json"));
  };
  const auto once = predicted("n=2048 --heads 32"), twice = predicted("n=2048 --heads 64"),
             narrow = predicted("n=2048 --heads 32 --dtype bf16");
  CHECK(twice["predicted_ms"].get<double>() > 1.9 * once["predicted_ms"].get<double>());
  const auto lse = 32 * 2048 * 4;
  CHECK(2 * (narrow["sm_traffic"]["bytes_written"].get<int>() - lse) ==
        once["sm_traffic"]["bytes_written"].get<int>() - lse);
}

TEST_CASE("gpu refuses requests that cannot run") {
  const Outcome heads = flashlab("gpu flash2 --batch 300 --heads 300");
  CHECK(heads.code == 2);
  CHECK_THAT(heads.err, contains("--batch 300 times --heads 300") && contains("65535"));
  const Outcome steps = flashlab("gpu sum_plain -D n=1000 --max-steps 1000");
  CHECK(steps.code == 3);
  CHECK_THAT(steps.err, contains("--max-steps"));
  const Outcome arrays = flashlab("gpu sum_plain -D n=2000000000");
  CHECK(arrays.code == 3);
  CHECK_THAT(arrays.err, contains("--max-array-bytes"));
  const Outcome atomics = flashlab("gpu bwd_onepass --dtype bf16 --plan");
  CHECK(atomics.code == 0);
  const Outcome gpu = flashlab("gpu flash2 --predict-only --gpu x1000");
  CHECK(gpu.code == 2);
  CHECK_THAT(gpu.err, contains("gpus.json"));
}

}  // namespace flashlab::test
