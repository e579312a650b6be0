#include "exercises/grader/exercise/score_json.hpp"

#include <nlohmann/json.hpp>

#include "toymachine/count/count_json.hpp"

namespace flashlab::exercises {

std::string dumped(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json size_json(const Size& size) {
  Json all = Json::object();
  for (const auto& [name, value] : size) all[name] = value;
  return all;
}

Json scores_json(const Verdict& verdict) {
  Json all = Json::array();
  for (const SizeScore& score : verdict.scores) {
    Json one = {{"size", size_json(score.size)},
                {"cycles", toy::count_json(score.cycles)},
                {"loads", toy::count_json(score.loads)},
                {"best", score.is_best()}};
    if (score.order) {
      one["order"] = {{"cycles", toy::count_json(score.order->cycles)},
                      {"loads", toy::count_json(score.order->loads)},
                      {"copy_cycles", toy::count_json(score.order->copy_cycles)},
                      {"unused_cycles", toy::count_json(score.order->unused_cycles)}};
    }
    if (score.proof) {
      one["proof"] = {{"verdict", to_string(score.proof->verdict)},
                      {"computation", score.proof->computation},
                      {"allowed", score.proof->allowed},
                      {"floor_loads", toy::count_json(score.proof->floor_loads)},
                      {"floor_cycles", toy::count_json(score.proof->floor_cycles)},
                      {"at_least_cycles", toy::count_json(score.proof->at_least_cycles)},
                      {"at_most_cycles", toy::count_json(score.proof->at_most_cycles)}};
    }
    all.push_back(std::move(one));
  }
  return all;
}

Json load_lines_json(const Verdict& verdict) {
  Json all = Json::array();
  for (const LoadLine& line : verdict.loads) {
    all.push_back({{"line", line.line},
                   {"compulsory", toy::count_json(line.compulsory)},
                   {"forced", toy::count_json(line.forced)},
                   {"avoidable", toy::count_json(line.avoidable)}});
    if (!line.why.empty()) all.back()["why"] = line.why;
  }
  return all;
}

}  // namespace flashlab::exercises
