#include "exercises/grader/exercise/score_json.hpp"

#include <nlohmann/json.hpp>

namespace flashlab::exercises {

std::string dumped(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json exact_json(const toy::Count& count) {
  static const toy::Count kLargest = toy::Count(1) << 53;
  if (count > kLargest) return count.get_str();
  return count.get_ui();
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
                {"cycles", exact_json(score.cycles)},
                {"loads", exact_json(score.loads)},
                {"best", score.is_best()}};
    if (score.order) {
      one["order"] = {{"cycles", exact_json(score.order->cycles)},
                      {"loads", exact_json(score.order->loads)},
                      {"copy_cycles", exact_json(score.order->copy_cycles)},
                      {"unused_cycles", exact_json(score.order->unused_cycles)}};
    }
    if (score.proof) {
      one["proof"] = {{"verdict", to_string(score.proof->verdict)},
                      {"computation", score.proof->computation},
                      {"allowed", score.proof->allowed},
                      {"floor_loads", exact_json(score.proof->floor_loads)},
                      {"floor_cycles", exact_json(score.proof->floor_cycles)},
                      {"at_least_cycles", exact_json(score.proof->at_least_cycles)},
                      {"at_most_cycles", exact_json(score.proof->at_most_cycles)}};
    }
    all.push_back(std::move(one));
  }
  return all;
}

Json load_lines_json(const Verdict& verdict) {
  Json all = Json::array();
  for (const LoadLine& line : verdict.loads) {
    all.push_back({{"line", line.line},
                   {"compulsory", exact_json(line.compulsory)},
                   {"forced", exact_json(line.forced)},
                   {"avoidable", exact_json(line.avoidable)}});
    if (!line.why.empty()) all.back()["why"] = line.why;
  }
  return all;
}

}  // namespace flashlab::exercises
