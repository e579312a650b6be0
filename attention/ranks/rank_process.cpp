#include "attention/ranks/rank_process.hpp"

#include <algorithm>
#include <cstddef>
#include <initializer_list>

#include "attention/problem.hpp"

namespace flashlab {
namespace {

struct Setting {
  std::string name;
  std::string text;  // empty: not set
};

Setting first_of(const Environment& environment, std::initializer_list<const char*> names) {
  for (const char* const name : names) {
    const char* const text = environment(name);
    if (text != nullptr && *text != '\0') return {name, text};
  }
  return {*names.begin(), ""};
}

int number_in(const Setting& setting, int least, int most) {
  constexpr std::size_t kMostDigits = 9;
  const bool are_digits =
      std::ranges::all_of(setting.text, [](char c) { return c >= '0' && c <= '9'; });
  const bool is_number = are_digits && !setting.text.empty() && setting.text.size() <= kMostDigits;
  const int number = is_number ? std::stoi(setting.text) : 0;
  if (!is_number || number < least || number > most) {
    throw ProblemError(setting.name, setting.text.empty() ? "not set" : setting.text,
                       std::to_string(least) + " … " + std::to_string(most));
  }
  return number;
}

std::string port_in(const Environment& environment) {
  constexpr int kMostPort = 65535, kUsualPort = 29500;
  const Setting own = first_of(environment, {"FLASHLAB_PORT"});
  if (!own.text.empty()) return std::to_string(number_in(own, 1, kMostPort));
  const Setting of_launcher = first_of(environment, {"MASTER_PORT"});
  const int port = of_launcher.text.empty() ? kUsualPort : number_in(of_launcher, 1, kMostPort);
  return std::to_string(port == kMostPort ? port - 1 : port + 1);
}

}  // namespace

std::optional<RankProcess> rank_process(const Environment& environment) {
  constexpr int kMostRanks = 1 << 16;
  const Setting rank = first_of(environment,
                                {"RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID", "PMI_RANK"}),
                num_ranks = first_of(environment, {"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE",
                                                   "SLURM_STEP_NUM_TASKS", "PMI_SIZE"}),
                local_rank = first_of(environment, {"LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK",
                                                    "SLURM_LOCALID", "MPI_LOCALRANKID"});
  if (num_ranks.text.empty()) return std::nullopt;
  RankProcess result;
  result.num_ranks = number_in(num_ranks, 1, kMostRanks);
  if (result.num_ranks == 1) return std::nullopt;
  result.rank = number_in(rank, 0, result.num_ranks - 1);
  result.local_rank =
      local_rank.text.empty() ? result.rank : number_in(local_rank, 0, result.num_ranks - 1);
  const Setting address = first_of(environment, {"MASTER_ADDR"});
  result.address = address.text.empty() ? "127.0.0.1" : address.text;
  result.port = port_in(environment);
  return result;
}

}  // namespace flashlab
