// What launchers tell their processes.
#include "attention/ranks/rank_process.hpp"

#include <map>
#include <string>

#include "attention/problem.hpp"
#include "tests/catch_shim.hpp"

using namespace flashlab;

namespace {

std::optional<RankProcess> with(const std::map<std::string, std::string>& variables) {
  return rank_process([&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

std::string refusal(const std::map<std::string, std::string>& variables) {
  try {
    with(variables);
  } catch (const ProblemError& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("a process that no launcher started is no rank", "[ranks]") {
  CHECK(!with({}));
  CHECK(!with({{"RANK", "0"}, {"WORLD_SIZE", "1"}}));
  // The shell of a job has a number, but is not one of several.
  CHECK(!with({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}}));
}

TEST_CASE("the names of torchrun, Open MPI, Slurm and MPICH are understood", "[ranks]") {
  const auto torchrun = with({{"RANK", "3"},
                              {"WORLD_SIZE", "4"},
                              {"LOCAL_RANK", "1"},
                              {"MASTER_ADDR", "node7"},
                              {"MASTER_PORT", "29400"}});
  REQUIRE(torchrun);
  CHECK(torchrun->rank == 3);
  CHECK(torchrun->num_ranks == 4);
  CHECK(torchrun->local_rank == 1);
  CHECK(torchrun->address == "node7");
  CHECK(torchrun->port == "29401");  // torchrun listens on its own port
  const auto mpi = with({{"OMPI_COMM_WORLD_RANK", "1"},
                         {"OMPI_COMM_WORLD_SIZE", "2"},
                         {"OMPI_COMM_WORLD_LOCAL_RANK", "0"}});
  REQUIRE(mpi);
  CHECK(mpi->local_rank == 0);
  CHECK(mpi->address == "127.0.0.1");
  CHECK(mpi->port == "29501");
  CHECK(
      with({{"SLURM_PROCID", "5"}, {"SLURM_STEP_NUM_TASKS", "8"}, {"SLURM_LOCALID", "1"}})->rank ==
      5);
  CHECK(with({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}})->local_rank == 1);
}

TEST_CASE("the port can be chosen, and stays one", "[ranks]") {
  CHECK(with({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"FLASHLAB_PORT", "7"}})->port == "7");
  CHECK(with({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_PORT", "65535"}})->port == "65534");
}

TEST_CASE("numbers of a launcher that are none are refused by name", "[ranks]") {
  CHECK(refusal({{"RANK", "2"}, {"WORLD_SIZE", "2"}}) == "RANK: 2: expected 0 … 1");
  CHECK(refusal({{"WORLD_SIZE", "2"}}) == "RANK: not set: expected 0 … 1");
  CHECK(refusal({{"RANK", "-1"}, {"WORLD_SIZE", "2"}}) == "RANK: -1: expected 0 … 1");
  CHECK(refusal({{"RANK", "0"}, {"WORLD_SIZE", "two"}}) == "WORLD_SIZE: two: expected 1 … 65536");
  CHECK(refusal({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"LOCAL_RANK", "1x"}}) ==
        "LOCAL_RANK: 1x: expected 0 … 1");
  CHECK(refusal({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_PORT", "70000"}}) ==
        "MASTER_PORT: 70000: expected 1 … 65535");
}
