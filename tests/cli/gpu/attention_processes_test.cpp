// `flashlab attention` as several processes, as torchrun starts them, on emulated GPUs.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "tests/cli/command.hpp"

namespace flashlab::test {
namespace {

/// A script that starts ranks in the background, and waits for all of them.
class Launch {
 public:
  explicit Launch(int num_ranks, int port = free_port()) : num_ranks_(num_ranks) {
    script_ = "export FLASHLAB_EMULATED_GPUS=" + std::to_string(num_ranks) +
              " FLASHLAB_EMULATED_IPC=1 OMP_NUM_THREADS=1"
              " FLASHLAB_CUDA_LIBRARY='" FLASHLAB_EMULATED_LIBRARY
              "'\n"
              "export FLASHLAB_PORT=" +
              std::to_string(port) + "\n";
  }

  /// Each launch of a test program has a port of its own, far from those that the system gives away.
  static int free_port() {
    static int next =
        20000 + static_cast<int>(std::chrono::steady_clock::now().time_since_epoch().count() /
                                 1000 % 10000);
    return next++;
  }

  Launch& then(const std::string& line) {
    script_ += line + "\n";
    return *this;
  }
  /// variables: "LOCAL_RANK=0".
  Launch& start(int rank, const std::string& flags, const std::string& variables = "") {
    const std::string number = std::to_string(rank), name = std::to_string(num_started_);
    script_ += "WORLD_SIZE=" + std::to_string(num_ranks_) + " RANK=" + number +
               " LOCAL_RANK=" + number + " " + variables +
               " '" FLASHLAB_BINARY "' attention --device cuda -H 2 --kv-heads 1 -d 8 " + flags +
               " > out." + name + " 2> err." + name + " & p" + name + "=$!\n";
    ++num_started_;
    return *this;
  }
  Launch& start_all(const std::string& flags) {
    for (int rank = 0; rank < num_ranks_; ++rank) start(rank, flags);
    return *this;
  }
  /// Returns what each process did, in the order of their starts.
  std::vector<Outcome> run() {
    for (int k = 0; k < num_started_; ++k) {
      const std::string name = std::to_string(k);
      script_ += "wait $p" + name + "; echo $? > code." + name + "\n";
    }
    const Workplace place;
    place.shell(script_);
    std::vector<Outcome> outcomes;
    for (int k = 0; k < num_started_; ++k) {
      const std::string name = std::to_string(k);
      outcomes.push_back({std::stoi(place.read("code." + name)), place.read("out." + name),
                          place.read("err." + name)});
    }
    return outcomes;
  }

 private:
  int num_ranks_, num_started_ = 0;
  std::string script_;
};

/// Something else that listens where rank 0 should, answers the first who comes, and reads until he leaves.
class OtherServer {
 public:
  explicit OtherServer(int port) : listening_(::socket(AF_INET, SOCK_STREAM, 0)) {
    const int yes = 1;
    ::setsockopt(listening_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::bind(listening_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    REQUIRE(::listen(listening_, 1) == 0);
    answer_ = std::thread([this] {
      const int peer = ::accept(listening_, nullptr, nullptr);
      if (peer < 0) return;
      std::string greeting;
      for (int i = 0; i < 9; ++i) greeting += "220 hello\r\n";
      ::send(peer, greeting.data(), greeting.size(), MSG_NOSIGNAL);
      std::array<char, 4096> said;
      while (::recv(peer, said.data(), said.size(), 0) > 0) continue;
      ::close(peer);
    });
  }
  ~OtherServer() {
    ::shutdown(listening_, SHUT_RDWR);  // ends accept()
    answer_.join();
    ::close(listening_);
  }
  OtherServer(const OtherServer&) = delete;
  OtherServer& operator=(const OtherServer&) = delete;

 private:
  int listening_;
  std::thread answer_;
};

/// All of them end with the code and an error that contains the text.
void check_all_processes_failed(const std::vector<Outcome>& outcomes, int code,
                                const std::string& text) {
  for (std::size_t k = 0; k < outcomes.size(); ++k) {
    INFO("process " << k);
    CHECK(outcomes[k].code == code);
    CHECK_THAT(outcomes[k].err, contains(text));
    CHECK(outcomes[k].out.empty());
  }
}

/// Rank 0 says its memory when all have agreed, and soon after that they run.
const std::string kUntilTheyMeasure =
    "for k in {1..300}; do grep -q 'on each GPU' err.0 && break; sleep 0.05; done; sleep 0.3";
const std::string kLongRun = "-N 40 --bench --repeat 100000 --rank-timeout 2";

}  // namespace

TEST_CASE("several processes give the bits of one process with as many GPUs, and rank 0 prints") {
  for (const std::string flags :
       {"-N 40 -v all --mask causal --json", "-N 2 -v all --json",
        "-N 33 -v all --mask causal --sharding contiguous --dtype bf16 --json"}) {
    CAPTURE(flags);
    const std::vector<Outcome> outcomes = Launch(3).start_all(flags).run();
    const auto ours = json_of(outcomes[0]);
    for (const int rank : {1, 2}) {
      CHECK(outcomes[static_cast<std::size_t>(rank)].code == 0);
      CHECK(outcomes[static_cast<std::size_t>(rank)].out.empty());
    }
    const auto one = json_of(Workplace().shell(
        "FLASHLAB_EMULATED_GPUS=3 FLASHLAB_CUDA_LIBRARY='" FLASHLAB_EMULATED_LIBRARY
        "' flashlab attention --device cuda -H 2 --kv-heads 1 -d 8 --gpus 3 " +
        flags));
    CHECK(ours["processes"] == 3);
    CHECK(one["processes"] == 1);
    REQUIRE(ours["runs"].size() == 4);
    for (std::size_t k = 0; k < 4; ++k) {
      CHECK(ours["runs"][k]["outputs"] == one["runs"][k]["outputs"]);
      CHECK(ours["runs"][k]["outputs"].begin().value()["sha256"].get<std::string>().size() == 64);
    }
  }
}

TEST_CASE("several processes are verified and measured as one is") {
  const auto outcomes =
      Launch(2).start_all("-N 40 -v all --mask causal --verify --bench --repeat 2 --json").run();
  const auto found = json_of(outcomes[0]);
  CHECK(found["verification"]["agrees"] == true);
  CHECK(found["measurement"]["variants"].size() == 4);
  CHECK(outcomes[1].code == 0);
}

TEST_CASE("a process that ignores the others runs alone") {
  const auto outcomes = Launch(2).start(1, "-N 8 --gpus 1").run();
  CHECK(outcomes[0].code == 0);
  CHECK_THAT(outcomes[0].out, contains("1 GPU"));
  check_all_processes_failed(Launch(2).start(0, "-N 8 --gpus 3").run(), 2, "--gpus 2");
}

TEST_CASE("if a process is killed, the others end with its number") {
  // With a flag that stops kernels, too.
  const auto at_work = [](int killed, const std::string& flags = {}) {
    return Launch(3)
        .start_all(kLongRun + flags)
        .then(kUntilTheyMeasure)
        .then("kill -9 $p" + std::to_string(killed))
        .run();
  };
  auto outcomes = at_work(2);
  outcomes.pop_back();
  check_all_processes_failed(outcomes, 1, "rank 2: its process has ended");
  outcomes = at_work(1, " --stop-kernels --dtype bf16");
  outcomes.erase(outcomes.begin() + 1);
  check_all_processes_failed(outcomes, 1, "rank 1: its process has ended");
  outcomes = at_work(0);  // through which the others speak
  outcomes.erase(outcomes.begin());
  check_all_processes_failed(outcomes, 1, "rank 0: its process has ended");
}

TEST_CASE("if a process hangs, all end with its number and the timeout") {
  for (const std::string hanging : {"0", "1"}) {
    CAPTURE(hanging);
    const auto outcomes = Launch(3)
                              .start_all(kLongRun)
                              .then(kUntilTheyMeasure)
                              .then("kill -STOP $p" + hanging)
                              .then("sleep 3; kill -CONT $p" + hanging)
                              .run();
    for (std::size_t rank = 0; rank < outcomes.size(); ++rank) {
      CHECK(outcomes[rank].code == 1);
      if (std::to_string(rank) == hanging) continue;  // when it wakes up, its own time is over
      CHECK_THAT(outcomes[rank].err, contains("rank " + hanging + ": it "));
    }
  }
}

TEST_CASE("a rank that does not come is named to those who have") {
  check_all_processes_failed(Launch(3).start(0, kLongRun).start(1, kLongRun).run(), 1,
                             "rank 2: it did not come to");
  check_all_processes_failed(Launch(3).start(1, kLongRun).start(2, kLongRun).run(), 1,
                             "rank 0: it cannot be reached at 127.0.0.1");
}

TEST_CASE("a rank without a GPU is named to all others as soon as they have come") {
  const std::string flags = "-N 40 --rank-timeout 60", two_gpus = "FLASHLAB_EMULATED_GPUS=2";
  // One of the others comes later than the rank without a GPU.
  auto outcomes = Launch(3)
                      .start(0, flags)
                      .start(2, flags, two_gpus)
                      .then("sleep 4")
                      .start(1, flags, two_gpus)
                      .run();
  const std::string refusal = "LOCAL_RANK: 2";
  CHECK(outcomes[1].code == 2);
  CHECK_THAT(outcomes[1].err, contains(refusal) && contains("expected 0 … 1, the GPUs of this"));
  outcomes.erase(outcomes.begin() + 1);
  check_all_processes_failed(outcomes, 1, "rank 2: " + refusal + ": expected 0 … 1");
}

TEST_CASE("ranks with the same number, or on the same GPU, or of other groups are named") {
  check_all_processes_failed(
      Launch(3).start(0, kLongRun).start(1, kLongRun).start(1, kLongRun, "LOCAL_RANK=2").run(), 1,
      "rank 1: two processes have this number");
  check_all_processes_failed(Launch(2).start(0, kLongRun).start(1, kLongRun, "LOCAL_RANK=0").run(),
                             1, "expected a GPU for each rank");
  check_all_processes_failed(Launch(2).start(0, kLongRun).start(1, kLongRun, "WORLD_SIZE=3").run(),
                             1, "rank 1: it is one of 3 ranks: expected 2, as on rank 0");
  check_all_processes_failed(Launch(2).start(1, kLongRun, "LOCAL_RANK=7 WORLD_SIZE=9").run(), 2,
                             "LOCAL_RANK: 7");
}

TEST_CASE("copy engines are refused to a process that sees only its own GPU, and NCCL is taken") {
  const std::string alone = "FLASHLAB_EMULATED_GPUS=1 FLASHLAB_EMULATED_FIRST_GPU=1";
  const auto both = [&](const std::string& flags) {
    return Launch(2)
        .then("export FLASHLAB_NCCL_LIBRARY=/nowhere/libnccl.so")
        .start(0, flags)
        .start(1, flags, alone)
        .run();
  };
  check_all_processes_failed(both("-N 8 --transfers copy-engines"), 2,
                             "nccl: rank 1 does not see the GPU of rank 0");
  check_all_processes_failed(both("-N 8"), 1, "rank 0: NCCL is not found");
}

TEST_CASE("processes that disagree are all told which rank and what") {
  struct Case {
    const char *zero, *one, *error;
  };
  for (const auto& [zero, one, error] :
       {Case{"-N 40", "-N 41", "rank 1's seqlen_q: 41\n  expected 40, as on rank 0"},
        {"-N 40", "-N 40 --dtype bf16", "rank 1's dtype: bf16\n  expected float, as on rank 0"},
        {"-N 40", "-N 40 --mask causal --sharding contiguous",
         "rank 1's mask: causal\n  expected none, as on rank 0"},
        {"-N 40", "-N 40 -v gather-kv", "rank 1's variant: gather-kv\n  expected ring"}}) {
    check_all_processes_failed(Launch(2).start(0, zero).start(1, one).run(), 2, error);
  }
}

TEST_CASE("who connects without being a rank is ignored") {
  // One is silent, one speaks another protocol, one sends much.
  const std::string strangers =
      "sleep 0.5\nbash -c 'exec 5<>/dev/tcp/127.0.0.1/$FLASHLAB_PORT; "
      "echo GET / > /dev/tcp/127.0.0.1/$FLASHLAB_PORT; "
      "head -c 300000 /dev/zero > /dev/tcp/127.0.0.1/$FLASHLAB_PORT; sleep 1' 2> /dev/null &\n"
      "sleep 0.5";
  const auto outcomes = Launch(2).start(0, "-N 8").then(strangers).start(1, "-N 8").run();
  CHECK(outcomes[0].code == 0);
  CHECK(outcomes[1].code == 0);
}

TEST_CASE("a rank that is not rank 0's is not believed") {
  const int port = Launch::free_port();
  const OtherServer other(port);
  check_all_processes_failed(Launch(2, port).start(1, kLongRun).run(), 1, "is not rank 0");
}

}  // namespace flashlab::test
