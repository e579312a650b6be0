// Processes that are started and waited for.
#include "system/child_process.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <string>
#include <system_error>
#include <utility>

#include "system/messages.hpp"
#include "tests/catch_shim.hpp"

namespace flashlab::test {

using namespace flashlab::system;
using std::chrono::milliseconds;

TEST_CASE("a copy of this process works, answers, and ends with what it returns") {
  auto [mine, its] = connected_sockets(std::chrono::seconds(0));
  ChildProcess child([&, &mine = mine, &its = its] {
    mine.close();
    send_message(*its, "done");
    return 7;
  });
  its.close();
  CHECK(child.is_running());
  CHECK(receive_message(*mine) == "done");
  const int status = child.wait();
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 7);
  CHECK_FALSE(child.is_running());
}

TEST_CASE("a process that does not end in time is killed, and one that is left is, too") {
  ChildProcess child([] { return pause(); });
  const int status = child.wait(milliseconds(20));
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGKILL);
  auto [mine, its] = connected_sockets(std::chrono::seconds(0));
  {
    const ChildProcess left([&, &mine = mine] {
      mine.close();
      return pause();
    });
    its.close();
  }
  CHECK_FALSE(receive_message(*mine));  // its end is closed
}

TEST_CASE("a process that ends in time is not killed") {
  ChildProcess child([] { return 0; });
  const int status = child.wait(std::chrono::minutes(1));
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("a program gets its words, its environment and its input, and nothing else") {
  auto [mine, its] = connected_sockets(std::chrono::seconds(60));
  ChildProcess child(
      ProgramCall{"/bin/sh",
                  {"sh", "-c", "read word; test \"$word $NAME $1\" = \"in here too\"", "sh", "too"},
                  {"NAME=here"},
                  *its});
  its.close();
  REQUIRE(write(*mine, "in\n", 3) == 3);
  const int status = child.wait();
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK_THROWS_AS(ChildProcess(ProgramCall{"/no/such/program", {"none"}, {}, *mine}),
                  std::system_error);
}

TEST_CASE("a process has one owner, who sees how much processor time it takes") {
  ChildProcess child([] {
    while (getppid() > 0) {
    }
    return 0;
  });
  ChildProcess owner(std::move(child));
  CHECK_FALSE(child.is_running());  // NOLINT(bugprone-use-after-move): that is the question
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (owner.processor_time() < 1'000'000 && std::chrono::steady_clock::now() < until) {
    usleep(1000);
  }
  CHECK(owner.processor_time() >= 1'000'000);
  CHECK(WTERMSIG(owner.kill()) == SIGKILL);
  CHECK(owner.processor_time() == 0);
}

}  // namespace flashlab::test
