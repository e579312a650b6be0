#include "toymachine/history/register_lives.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace flashlab::toy {

std::vector<RegisterLife> register_lives(const RecordedRun& run) {
  std::vector<RegisterLife> lives;
  std::map<std::int64_t, std::size_t> current;  // register to its life
  std::set<std::pair<std::uint32_t, std::vector<std::int64_t>>> loaded;
  for (std::size_t at = 0; at < run.steps.size(); ++at) {
    const RecordedStep& step = run.steps[at];
    for (const std::int64_t number : step.register_reads) {
      const auto found = current.find(number);
      if (found == current.end()) continue;
      lives[found->second].last_used = at;
      lives[found->second].is_used = true;
    }
    const std::int64_t number = step.register_written;
    if (number < 0) continue;
    const auto found = current.find(number);
    const bool in_place =
        std::count(step.register_reads.begin(), step.register_reads.end(), number) > 0 &&
        step.spec().flop_kind == FlopKind::kProduct;
    if (in_place && found != current.end()) {
      lives[found->second].content = step.symbol;
      continue;
    }
    if (found != current.end()) lives[found->second].replaced = at;
    RegisterLife life;
    life.register_number = number;
    life.written = life.last_used = at;
    life.replaced = run.steps.size();
    life.content = step.symbol;
    if (step.read) {
      life.is_loaded = true;
      life.is_loaded_again = !loaded.insert({step.read->array, step.read->indices}).second;
    }
    current[number] = lives.size();
    lives.push_back(std::move(life));
  }
  return lives;
}

}  // namespace flashlab::toy
