// Ranks whose transfers come late and in any order, and ranks that fail.
#include <atomic>
#include <chrono>
#include <exception>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "attention_cuda/emulation/delayed_communicator.hpp"
#include "attention_cuda/emulation/emulation.hpp"
#include "attention_cuda/ranks/sharded_attention.hpp"
#include "tests/attention/ranks/sharded_cases.hpp"
#include "tests/attention_cuda/ranks/sharded_run.hpp"
#include "tests/catch_shim.hpp"

using namespace flashlab;
using namespace flashlab::test;
using namespace std::chrono_literals;

namespace {

ShardedProblem small(Mask mask, Sharding sharding, int num_ranks, std::int64_t length = 20) {
  ShardedProblem problem = {masked_problems(length, length).front(), {sharding, num_ranks}};
  problem.whole.batch = 1;
  problem.whole.mask = mask;
  return problem;
}

/// A communicator that calls `before` before it starts an exchange.
class WatchedCommunicator : public cuda::Communicator {
 public:
  WatchedCommunicator(std::unique_ptr<cuda::Communicator> inner,
                      std::function<void(int exchange)> before)
      : inner_(std::move(inner)), before_(std::move(before)) {}

  int rank() const override { return inner_->rank(); }
  int num_ranks() const override { return inner_->num_ranks(); }
  void start(int exchange, std::span<const cuda::Message> messages, cuda::Stream stream) override {
    before_(exchange);
    inner_->start(exchange, messages, stream);
  }
  void wait(int exchange, cuda::Stream stream) override { inner_->wait(exchange, stream); }
  void finish(cuda::Stream stream) override { inner_->finish(stream); }
  std::vector<std::string> gather(const std::string& own) override { return inner_->gather(own); }
  const int* stop_flag() override { return inner_->stop_flag(); }
  void abort(const std::string& reason) noexcept override { inner_->abort(reason); }

 private:
  std::unique_ptr<cuda::Communicator> inner_;
  std::function<void(int)> before_;
};

struct Death {};  // of a rank's thread, which the library does not catch

/// What each rank throws if one does `what` before an exchange.
std::vector<std::exception_ptr> run_with_failure(const std::string& variant, int failing_rank,
                                                 int failing_exchange,
                                                 const std::function<void()>& what) {
  const ShardedProblem problem = small(Mask::kNone, Sharding::kContiguous, 4);
  const WholeInputs inputs = drawn_inputs(problem.whole, 1);
  cuda::emulation::DelayedGroup group(4, 5, 200ms);
  const Join join = [&](int rank) {
    return std::make_unique<WatchedCommunicator>(group.join(rank), [=](int exchange) {
      if (rank == failing_rank && exchange == failing_exchange) what();
    });
  };
  return run_ranks(4, join, [&](cuda::Communicator& communicator) {
    const DeviceShard own(shard_problem(problem, communicator.rank()), {});
    cuda::ShardedCall call(variant, problem, communicator);
    const test::DeviceMemory workspace(call.workspace_bytes());
    if (variant.starts_with("bwd")) {
      call.backward(own.backward(), workspace.get(), workspace.bytes());
    } else {
      call.forward(own.forward(), workspace.get(), workspace.bytes());
    }
    communicator.finish(nullptr);
  });
}

/// What each rank throws if rank 2 of 3 changes something before it makes its call.
std::vector<std::string> disagreement(const std::function<void(ShardedProblem&)>& change) {
  const ShardedProblem problem = small(Mask::kCausalTopLeft, Sharding::kZigzag, 3);
  cuda::emulation::DelayedGroup group(3, 1, 1s);
  const auto errors = run_ranks(
      3, [&](int rank) { return group.join(rank); },
      [&](cuda::Communicator& communicator) {
        ShardedProblem own = problem;
        if (communicator.rank() == 2) change(own);
        const cuda::ShardedCall call("ring", own, communicator);
      });
  std::vector<std::string> texts;
  for (const std::exception_ptr& error : errors) texts.push_back(text_of(error));
  return texts;
}

void check_all(const std::vector<std::string>& texts, const std::string& expected) {
  for (const std::string& text : texts) CHECK(text == expected);
}

}  // namespace

TEST_CASE("transfers may leave and arrive late and in any order: the bits are the same",
          "[ranks]") {
  for (const auto& [forward, backward] :
       {std::pair{"ring", "bwd-ring"}, {"gather-kv", "bwd-gather-kv"}}) {
    const ShardedProblem problem = small(Mask::kCausalTopLeft, Sharding::kZigzag, 4);
    const WholeInputs inputs = drawn_inputs(problem.whole, 2);
    const auto run = [&](std::uint64_t seed) {
      cuda::emulation::DelayedGroup group(4, seed, 30s);
      return run_sharded(problem, {forward, backward}, inputs,
                         [&](int rank) { return group.join(rank); });
    };
    const WholeResults first = run(1);
    for (const std::uint64_t seed : {2, 3, 4}) CHECK(run(seed) == first);
    for (const double value : first.dK.values()) REQUIRE(value == value);  // nothing was NaN
  }
}

TEST_CASE("more ranks than tokens, and ranks without any", "[ranks]") {
  const ShardedProblem problem = small(Mask::kCausalTopLeft, Sharding::kZigzag, 5, 3);
  const WholeInputs inputs = drawn_inputs(problem.whole, 2);
  const WholeResults one_gpu = run_whole(problem.whole, inputs);
  cuda::emulation::DelayedGroup group(5, 1, 30s);
  const WholeResults ours = run_sharded(problem, {"ring", "bwd-ring"}, inputs,
                                        [&](int rank) { return group.join(rank); });
  const std::vector<double> a = ours.dK.values(), b = one_gpu.dK.values();
  for (std::size_t k = 0; k < a.size(); ++k) CHECK(std::abs(a[k] - b[k]) < 1e-4);
}

TEST_CASE("a rank that ends early ends all others with its number", "[ranks]") {
  for (const char* const variant : {"ring", "gather-kv", "bwd-ring", "bwd-gather-kv"}) {
    INFO(variant);
    const auto start = std::chrono::steady_clock::now();
    const auto errors = run_with_failure(variant, 2, 1, [] { throw Death(); });
    CHECK(std::chrono::steady_clock::now() - start < 20s);
    for (int rank : {0, 1, 3}) {
      // "take part in exchange 1", or "receive what was sent to it": what a rank sees first.
      CHECK_THAT(text_of(errors[static_cast<std::size_t>(rank)]),
                 contains("rank 2: it ended and did not "));
    }
  }
}

TEST_CASE("a rank that hangs ends all others with its number and the timeout", "[ranks]") {
  for (const char* const variant : {"ring", "gather-kv"}) {
    INFO(variant);
    // It comes back after the others have ended, and then ends too.
    const auto errors = run_with_failure(variant, 1, 1, [] { std::this_thread::sleep_for(1s); });
    for (const std::exception_ptr& error : errors) {
      CHECK_THAT(text_of(error), contains("rank 1: it did not "));
      CHECK_THAT(text_of(error), contains(" within 200 ms"));
    }
  }
}

TEST_CASE("a rank whose tensors are wrong ends all others with the reason", "[ranks]") {
  const ShardedProblem problem = small(Mask::kNone, Sharding::kContiguous, 2);
  cuda::emulation::DelayedGroup group(2, 1, 5s);
  const auto errors = run_ranks(
      2, [&](int rank) { return group.join(rank); },
      [&](cuda::Communicator& communicator) {
        AttentionProblem of_rank = shard_problem(problem, communicator.rank());
        if (communicator.rank() == 1) of_rank.seqlen_k -= 1;
        const DeviceShard own(of_rank, {});
        cuda::ShardedCall call("ring", problem, communicator);
        const test::DeviceMemory workspace(call.workspace_bytes());
        call.forward(own.forward(), workspace.get(), workspace.bytes());
      });
  const std::string expected =
      "K: shape [1, 1, 9, 16]: expected [1, 1, 10, 16], the shard of rank 1";
  CHECK(text_of(errors[0]) == "rank 1: " + expected);
  CHECK(text_of(errors[1]) == expected);
}

TEST_CASE("ranks that disagree are all told which rank and what, before a kernel starts",
          "[ranks]") {
  cuda::emulation::reset_statistics();
  check_all(disagreement([](ShardedProblem& own) { own.whole.head_dim = 24; }),
            "rank 2's head_dim: 24: expected 16, as on rank 0");
  check_all(disagreement([](ShardedProblem& own) { own.whole.seqlen_k = 21; }),
            "rank 2's seqlen_k: 21: expected 20, as on rank 0");
  check_all(disagreement([](ShardedProblem& own) { own.whole.dtype = DataType::kFloat16; }),
            "rank 2's dtype: fp16: expected float, as on rank 0");
  check_all(disagreement([](ShardedProblem& own) { own.whole.mask = Mask::kNone; }),
            "rank 2's mask: none: expected causal, as on rank 0");
  check_all(disagreement([](ShardedProblem& own) { own.whole.window_left = 4; }),
            "rank 2's window_left: 4: expected none, as on rank 0");
  check_all(disagreement([](ShardedProblem& own) { own.shards.sharding = Sharding::kContiguous; }),
            "rank 2's sharding: contiguous: expected zigzag, as on rank 0");
  CHECK(cuda::emulation::launched_grids().empty());
}

TEST_CASE("a call that one rank cannot make is refused on all", "[ranks]") {
  const auto texts = disagreement([](ShardedProblem& own) {
    own.whole.cu_seqlens_q = own.whole.cu_seqlens_k = {0, 20};
  });
  const std::string refusal =
      "cu_seqlens_q: given: expected no packed sequences over several ranks";
  CHECK(texts[2] == refusal);
  for (const std::size_t rank : {0, 1}) {
    CHECK(texts[rank] == "rank 2: " + refusal + ": expected a call that every rank can make");
  }
}
