// The same bits each time, progress, cancellation, and what a call holds in memory.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <thread>
#include <vector>

#include "tests/attention_cpu/plain_tensors.hpp"
#include "tests/attention_cpu/running_variants.hpp"
#include "tests/catch_shim.hpp"

using namespace flashlab;
using namespace flashlab::test;

namespace {

using Tensors = PlainTensors<float>;

std::vector<std::string_view> all_variants_here() {
  std::vector<std::string_view> names = variants_here(Pass::kForward);
  for (const std::string_view name : variants_here(Pass::kBackward)) names.push_back(name);
  return names;
}

cpu::ExecutionOptions with_threads(int num_threads) {
  cpu::ExecutionOptions execution;
  execution.num_threads = num_threads;
  return execution;
}

/// Everything that was computed, one array after the other.
std::vector<float> results(std::string_view variant, Tensors tensors,
                           const cpu::ExecutionOptions& execution) {
  tensors.run("online", {Mask::kCausalBottomRight, {}, {}}, with_threads(1));
  tensors.run(variant, {Mask::kCausalBottomRight, {}, {}}, execution);
  std::vector<float> all;
  for (const auto* array : {&tensors.O, &tensors.lse, &tensors.dQ, &tensors.dK, &tensors.dV}) {
    std::copy_if(array->begin(), array->end(), std::back_inserter(all),
                 [](float x) { return x == x; });
  }
  return all;
}

const Tensors& some_heads() {
  static const Tensors tensors({2, 4, 2, 130, 275, 40});
  return tensors;
}

/// One head, long enough for many tiles of any variant.
const Tensors& long_head() {
  static const Tensors tensors({1, 1, 1, 1500, 1500, 8});
  return tensors;
}

/// How often thread 0 reports progress, taking a rest each time.
std::int64_t reports(std::string_view variant, Tensors tensors, int num_threads,
                     std::chrono::microseconds rest) {
  tensors.run("online");
  std::int64_t count = 0;
  cpu::ExecutionOptions execution = with_threads(num_threads);
  execution.progress = [&](double) {
    ++count;
    if (rest.count() > 0) std::this_thread::sleep_for(rest);
  };
  tensors.run(variant, {}, execution);
  return count;
}

/// Two threads may share a problem: while thread 0 rests, the other takes what is left. A busy
/// machine may keep it from running, so one try of many must show it; without sharing none can.
void check_that_two_threads_share(std::string_view variant, const Tensors& tensors) {
  const std::int64_t alone = reports(variant, tensors, 1, {});
  CHECK(alone >= 8);
  std::int64_t of_two = alone;
  for (int tries = 0, rest_us = 100; tries < 12 && of_two > alone / 2 + 1; ++tries, rest_us *= 2) {
    of_two = reports(variant, tensors, 2, std::chrono::microseconds(rest_us));
  }
  INFO("thread 0 did " << of_two << " of " << alone << " units of work");
  CHECK(of_two <= alone / 2 + 1);
}

}  // namespace

TEST_CASE("two passes that load O compute the same bits as those that load one number per query") {
  CHECK(results("bwd-twopass-loads-o", some_heads(), with_threads(2)) ==
        results("bwd-twopass", some_heads(), with_threads(2)));
}

TEST_CASE("a call gives the same bits twice", "[determinism]") {
  for (const std::string_view variant : all_variants_here()) {
    for (const int num_threads : {1, 2, 3, 7}) {
      INFO(variant << ", " << num_threads << " threads");
      cpu::ExecutionOptions execution = with_threads(num_threads);
      const std::vector<float> first = results(variant, some_heads(), execution);
      CHECK(first == results(variant, some_heads(), execution));
      execution.progress = [](double) { std::this_thread::yield(); };
      CHECK(first == results(variant, some_heads(), execution));
    }
  }
}

TEST_CASE("gradients have the same bits whatever the number of threads", "[determinism]") {
  for (const std::string_view variant : {"bwd-onepass", "bwd-twopass"}) {
    const std::vector<float> one = results(variant, some_heads(), with_threads(1));
    for (const int num_threads : {2, 3, 7}) {
      INFO(variant << ", " << num_threads << " threads");
      CHECK(one == results(variant, some_heads(), with_threads(num_threads)));
    }
  }
}

TEST_CASE("one long head is shared among threads", "[parallel]") {
  for (const std::string_view variant : all_variants_here()) {
    INFO(variant);
    check_that_two_threads_share(variant, long_head());
  }
}

TEST_CASE("split-kv shares one query's keys among threads", "[parallel]") {
  // As many parts as suit the threads. If thread 0 did them all, its first report would be of one
  // part and there would be as many reports as parts.
  Tensors tensors({1, 1, 1, 1, 20'000, 8});
  bool is_shared = false;
  for (int tries = 0, rest_us = 100; tries < 12 && !is_shared; ++tries, rest_us *= 2) {
    std::vector<double> shares;
    cpu::ExecutionOptions execution = with_threads(2);
    execution.progress = [&](double share) {
      shares.push_back(share);
      std::this_thread::sleep_for(std::chrono::microseconds(rest_us));
    };
    tensors.run("split-kv", {}, execution);
    const double parts_of_all =
        static_cast<double>(shares.size()) * (shares.empty() ? 0 : shares[0]);
    is_shared = std::fabs(parts_of_all - 1) > 0.01;
  }
  CHECK(is_shared);
}

TEST_CASE("progress rises, and one thread's ends at 1", "[progress]") {
  for (const std::string_view variant : all_variants_here()) {
    for (const int num_threads : {1, 3}) {
      INFO(variant << ", " << num_threads << " threads");
      Tensors tensors = some_heads();
      tensors.run("online");
      std::vector<double> shares;
      cpu::ExecutionOptions execution = with_threads(num_threads);
      execution.progress = [&](double share) { shares.push_back(share); };
      tensors.run(variant, {}, execution);
      CHECK(std::is_sorted(shares.begin(), shares.end()));
      CHECK(std::all_of(shares.begin(), shares.end(), [](double x) { return x > 0 && x <= 1; }));
      if (num_threads == 1) CHECK((!shares.empty() && shares.back() == 1));
    }
  }
}

TEST_CASE("a call that is cancelled throws", "[progress]") {
  for (const std::string_view variant : all_variants_here()) {
    INFO(variant);
    Tensors tensors = some_heads();
    tensors.run("online");
    std::atomic<bool> cancelled = true;
    int num_reports = 0;
    cpu::ExecutionOptions execution = with_threads(2);
    execution.cancelled = &cancelled;
    execution.progress = [&](double) { ++num_reports; };
    CHECK_THROWS_AS(tensors.run(variant, {}, execution), cpu::Cancelled);
    CHECK(num_reports == 0);
  }
}

TEST_CASE("a call that is cancelled on the way does not finish its work", "[progress]") {
  for (const std::string_view variant : all_variants_here()) {
    Tensors tensors = long_head();
    tensors.run("online");
    std::atomic<bool> cancelled = false;
    std::int64_t num_reports = 0;
    cpu::ExecutionOptions execution = with_threads(1);
    execution.cancelled = &cancelled;
    execution.progress = [&](double) {
      ++num_reports;
      cancelled = true;
    };
    INFO(variant);
    CHECK_THROWS_AS(tensors.run(variant, {}, execution), cpu::Cancelled);
    CHECK(num_reports == 1);
  }
}

TEST_CASE("flash2 holds no more than O(N d) beside the tensors", "[memory]") {
  const auto bytes = [](std::string_view variant, std::int64_t seqlen) {
    PlainTensors<float> tensors({1, 1, 1, seqlen, seqlen, 8});
    return tensors.run(variant, {}, with_threads(2)).workspace_bytes;
  };
  CHECK(bytes("flash2", 2048) <= 4 * bytes("flash2", 512));
  CHECK(bytes("split-kv", 2048) <= 5 * bytes("split-kv", 512));
  for (const std::string_view variant : variants_here(Pass::kForward)) {
    if (variant != "naive" && variant != "fused-softmax") continue;
    INFO(variant << " holds " << bytes(variant, 2048) << " bytes");
    CHECK(bytes(variant, 2048) >= 2048 * 2048 * 4);
  }
}

TEST_CASE("an execution says which threads and instructions it ran with", "[memory]") {
  for (const cpu::InstructionSet set : cpu::instruction_sets()) {
    cpu::ExecutionOptions execution = with_threads(3);
    execution.instruction_set = set;
    Tensors tensors({1, 1, 1, 9, 9, 4});
    const cpu::Execution done = tensors.run("online", {}, execution);
    CHECK(done.num_threads == 3);
    CHECK(done.instruction_set == set);
  }
}
