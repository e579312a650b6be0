// What attention prints as text and as JSON, and the first and last values that its flags take.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/cli/command.hpp"

namespace flashlab::test {
namespace {

const std::string kTinyRun = "attention --width 500 ";

std::string first_line_of(const std::string& flags) {
  const Outcome outcome = flashlab(kTinyRun + flags);
  REQUIRE(outcome.code == 0);
  return outcome.out.substr(0, outcome.out.find('\n'));
}

nlohmann::json tiny_json(const std::string& flags) {
  return json_of(flashlab(kTinyRun + flags + " --json"));
}

/// The set of instructions that attention uses here: a build has one or several.
std::string set_in_use() { return tiny_json("-N 1 -d 1")["instruction_set"].get<std::string>(); }

}  // namespace

TEST_CASE("the first line states the problem and where it runs") {
  const std::pair<const char*, const char*> cases[] = {
      {"-N 8 -d 4", "batch 1, 1 head, 8 queries, 8 keys, head_dim 4, float; cpu, "},
      {"-B 2 -H 4 --kv-heads 2 --seqlen-q 3 --seqlen-k 5 -d 4 --dtype bf16",
       "batch 2, 4 heads on 2 kv heads, 3 queries, 5 keys, head_dim 4, bf16; cpu, "},
      {"-H 4 --kv-heads 1 -N 8 -d 4 --mask causal",
       "batch 1, 4 heads on 1 kv head, 8 queries, 8 keys, head_dim 4, causal, float; cpu, "},
      {"-N 8 -d 4 --key-lengths 3 --dtype double",
       "batch 1, 1 head, 8 queries, 8 keys, head_dim 4, key lengths, double; cpu, "},
      {"", "batch 1, 1 head, 512 queries, 512 keys, head_dim 64, float; cpu, "},
      {"--seqlen-q 3", "batch 1, 1 head, 3 queries, 512 keys, head_dim 64, float; cpu, "}};
  const std::string set = set_in_use();
  for (const auto& [flags, line] : cases) CHECK(first_line_of(flags) == line + set);
}

TEST_CASE("a verification that agrees says so, of every output and of all") {
  const Outcome outcome = flashlab(kTinyRun + "-N 8 -d 4 -v all --verify");
  CHECK(outcome.code == 0);
  CHECK_THAT(outcome.out, contains("\nagrees: rounding explains the error of every output\n"));
  CHECK_THAT(outcome.out,
             contains("\nerror: ||out - ref|| / ||ref||; ref: naive, bwd-naive in double on the "
                      "same inputs; plain: the same variants in this data type\n"));
  CHECK_THAT(outcome.out, !contains("wrong"));
}

TEST_CASE("a verification names its references, and each output's errors and bound") {
  const nlohmann::json verification = tiny_json("-N 8 -d 4 -v flash1 --verify")["verification"];
  CHECK(verification["forward_reference"] == "naive");
  CHECK(verification["backward_reference"] == "bwd-naive");
  CHECK(verification["agrees"] == true);
  REQUIRE(verification["outputs"].size() == 2);
  CHECK(verification["outputs"][0]["output"] == "O");
  CHECK(verification["outputs"][1]["output"] == "lse");
  for (const nlohmann::json& output : verification["outputs"]) {
    CHECK(output["variant"] == "flash1");
    CHECK(output["agrees"] == true);
    CHECK(output["error"]["relative"] <= output["allowed_relative"]);
    // At least twice the plain error and 4 units of 2^-23.
    const double least = 2 * output["plain_error"]["relative"].get<double>() + 4 * 0x1p-23;
    CHECK(output["allowed_relative"].get<double>() >= least * (1 - 1e-12));
    CHECK(output["allowed_relative"].get<double>() < 1e-5);
    CHECK(output["error"]["max"] < 1e-5);
  }
}

TEST_CASE("queries that see nothing have an lse of minus infinity, and an output of 0") {
  const nlohmann::json outputs = tiny_json("-N 4 -d 2 --key-lengths 0")["runs"][0]["outputs"];
  CHECK(outputs["lse"]["infinite"] == 4);
  CHECK(outputs["lse"]["nan"] == 0);
  CHECK(outputs["lse"]["norm"] == 0);
  CHECK(outputs["O"]["infinite"] == 0);
  CHECK(outputs["O"]["nan"] == 0);
  CHECK(outputs["O"]["norm"] == 0);
  CHECK(outputs["O"]["sum"] == 0);
}

TEST_CASE("with one key the output is V, whose norm and sum follow from its elements") {
  // One key: every query's output is v, so that n queries have n times its sum, sqrt(n) its norm.
  const auto output = [](const std::string& queries) {
    return tiny_json("--seqlen-k 1 -d 1 --seqlen-q " + queries)["runs"][0]["outputs"]["O"];
  };
  const double one = output("1")["norm"];
  CHECK(std::abs(std::abs(output("1")["sum"].get<double>()) - one) < 1e-6);
  // Seeds draw Q first, so that v is another number for 4 queries; sum = 4 v, norm = 2 |v|.
  const nlohmann::json four = output("4");
  CHECK(std::abs(std::abs(four["sum"].get<double>()) - 2 * four["norm"].get<double>()) < 1e-5);
}

TEST_CASE("a run names its threads and its workspace, and runs of all variants stand in order") {
  const nlohmann::json document = tiny_json("-N 8 -d 4 -t 2 -v all");
  CHECK(document["device"] == "cpu");
  CHECK(document["instruction_set"] == set_in_use());
  CHECK_FALSE(document.contains("verification"));
  CHECK_FALSE(document.contains("measurement"));
  REQUIRE(document["runs"].size() == 11);
  CHECK(document["runs"][0]["variant"] == "naive");
  CHECK(document["runs"][9]["variant"] == "bwd-twopass");
  for (const nlohmann::json& run : document["runs"]) {
    CAPTURE(run["variant"]);
    CHECK(run["threads"] == 2);
    CHECK_FALSE(run.contains("kernel"));
    const bool is_backward = run["variant"].get<std::string>().starts_with("bwd-");
    CHECK(run["outputs"].size() == (is_backward ? 3 : 2));
    CHECK(run["outputs"].contains(is_backward ? "dQ" : "O"));
    CHECK(run["outputs"].contains(is_backward ? "dV" : "lse"));
  }
  CHECK(document["runs"][0]["workspace_bytes"] > 0);
}

TEST_CASE("a measurement's median, rate and FLOPs follow from its times and its problem") {
  for (const char* repeat : {"1", "2", "3", "4"}) {
    CAPTURE(repeat);
    const nlohmann::json measured = tiny_json("-N 16 -d 4 --mask causal --bench --repeat " +
                                              std::string(repeat))["measurement"];
    const nlohmann::json& variant = measured["variants"][0];
    const std::vector<double> seconds = variant["seconds"];
    REQUIRE(seconds.size() == std::stoul(repeat));
    CHECK(std::is_sorted(seconds.begin(), seconds.end()));
    const std::size_t half = seconds.size() / 2;
    CHECK(variant["median_seconds"] ==
          (seconds.size() % 2 == 1 ? seconds[half] : (seconds[half - 1] + seconds[half]) / 2));
    CHECK(variant["flops"] == 4.0 * 136 * 4);  // 16 * 17 / 2 visible pairs, head_dim 4
    CHECK(variant["flops_per_s"] ==
          variant["flops"].get<double>() / variant["median_seconds"].get<double>());
    CHECK(variant["share_of_product"] ==
          variant["flops_per_s"].get<double>() / measured["product_flops_per_s"].get<double>());
  }
  CHECK(tiny_json("-N 4 -d 2 --bench")["measurement"]["variants"][0]["seconds"].size() == 10);
}

TEST_CASE("verification and measurement together print no single run") {
  const nlohmann::json document = tiny_json("-N 4 -d 2 --verify --bench --repeat 1");
  CHECK_FALSE(document.contains("runs"));
  CHECK(document.contains("verification"));
  CHECK(document.contains("measurement"));
  const Outcome outcome = flashlab(kTinyRun + "-N 4 -d 2 --verify --bench --repeat 1");
  CHECK_THAT(outcome.out, contains("median ms"));
  CHECK_THAT(outcome.out, contains("\nproduct: "));
  CHECK_THAT(outcome.out, contains("\nagrees: "));
}

TEST_CASE("sizes of attention have a least value, and one less is refused by name") {
  struct Least {
    const char *flag, *least, *below;
  };
  for (const auto& [flag, least, below] :
       {Least{"-B", "0", "--batch -1 is not a size\n  expected 0 or more"},
        Least{"-H", "1", "--heads 0 is not a size\n  expected 1 or more"},
        Least{"--kv-heads", "1", "--kv-heads 0 is not a size\n  expected 1 or more"},
        Least{"-N", "0", "--n -1 is not a size\n  expected 0 or more"},
        Least{"--seqlen-q", "0", "--seqlen-q -1 is not a size\n  expected 0 or more"},
        Least{"--seqlen-k", "0", "--seqlen-k -1 is not a size\n  expected 0 or more"},
        Least{"-d", "1", "--head-dim 0 is not a size\n  expected 1 or more"}}) {
    CAPTURE(flag);
    CHECK(flashlab(kTinyRun + flag + " " + least).code == 0);
    const Outcome outcome = flashlab(kTinyRun + flag + " " + std::to_string(std::stoi(least) - 1));
    CHECK(outcome.code == 2);
    CHECK_THAT(outcome.err, contains(below));
  }
  CHECK(flashlab(kTinyRun + "-N 2 -d 512").code == 0);
  CHECK(flashlab(kTinyRun + "-N 2 --threads 1").code == 0);
  CHECK(flashlab(kTinyRun + "-N 2 --threads 4097").code == 2);
  CHECK(flashlab(kTinyRun + "-N 2 --bench --repeat 0").code == 2);
  CHECK(flashlab(kTinyRun + "-N 2 --bench --repeat 100001").code == 2);
}

TEST_CASE("each flag of a device is refused on the other") {
  struct Idle {
    const char *flags, *says;
  };
  for (const auto& [flags, says] :
       {Idle{"--by-kernel", "--by-kernel has no effect on the device cpu"},
        Idle{"--by-kernel --repeat 2", "--by-kernel has no effect on the device cpu"},
        Idle{"--products native", "--products has no effect on the device cpu"},
        Idle{"--kernel x", "--kernel has no effect on the device cpu"},
        Idle{"--num-splits 1", "--num-splits has no effect on the device cpu"},
        Idle{"--round-statistics", "--round-statistics has no effect on the device cpu"},
        Idle{"--device cuda --threads 1", "--threads has no effect on the device cuda"},
        Idle{"--device cuda --instruction-set baseline",
             "--instruction-set has no effect on the device cuda"},
        Idle{"--repeat 2", "--repeat has no effect when nothing is measured"},
        Idle{"--verify --repeat 2", "--repeat has no effect when nothing is measured"}}) {
    CAPTURE(flags);
    const Outcome outcome = flashlab("attention -N 2 " + std::string(flags));
    CHECK(outcome.code == 2);
    CHECK_THAT(outcome.err, contains(says));
  }
  CHECK(flashlab("attention -N 2 --num-splits 0 --device cuda").code == 2);
}

TEST_CASE("each name of a type and of a mask is its own") {
  for (const char* dtype : {"float", "double", "bf16", "fp16"}) {
    CHECK(tiny_json("-N 2 -d 2 --dtype " + std::string(dtype))["problem"]["dtype"] == dtype);
  }
  for (const char* mask : {"none", "causal", "causal-bottom-right"}) {
    CHECK(tiny_json("-N 2 -d 2 --mask " + std::string(mask))["problem"]["mask"] == mask);
  }
  CHECK(tiny_json("-N 2 -d 2 --seed 7")["problem"]["seed"] == 7);
  CHECK(tiny_json("-N 2 -d 2 --seed 7")["runs"][0]["outputs"] !=
        tiny_json("-N 2 -d 2 --seed 8")["runs"][0]["outputs"]);
}

}  // namespace flashlab::test
