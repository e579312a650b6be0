#include "exercises/grader/grade/best_costs.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "text/visible.hpp"
#include "toymachine/language/request_error.hpp"

namespace flashlab::exercises {
namespace {

constexpr const char* kBestFormat = "flashlab-best";
constexpr int kBestVersion = 1;

toy::Diagnostic damaged_best_file(std::string what) {
  return toy::request_error(std::move(what), "a file that `flashlab grade --best` wrote");
}

void keep_lower(Costs& costs, const std::string& key, const toy::Count& value) {
  const auto [entry, is_new] = costs.emplace(key, value);
  if (!is_new && value < entry->second) entry->second = value;
}

/// Reads a count from a text of digits. Throws json::type_error for other values.
toy::Count count_of_json(const nlohmann::json& value) {
  const auto& digits = value.get_ref<const std::string&>();
  const bool good =
      !digits.empty() && digits.size() <= 1000 &&
      std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!good) throw std::invalid_argument("'" + visible_start(digits, 40) + "' is not a count");
  return toy::Count(digits);
}

BestCosts from_json(const nlohmann::json& document) {
  if (document.at("format") != kBestFormat) throw std::invalid_argument("it has another format");
  if (document.at("version") != kBestVersion) {
    throw std::invalid_argument("it has version " + visible_start(document["version"].dump(), 40) +
                                ", and this command knows version " + std::to_string(kBestVersion));
  }
  BestCosts best;
  for (const auto& [exercise, sizes] :
       document.at("exercises").get_ref<const nlohmann::json::object_t&>()) {
    for (const auto& [size, costs] : sizes.get_ref<const nlohmann::json::object_t&>()) {
      for (const auto& [key, value] : costs.get_ref<const nlohmann::json::object_t&>()) {
        best.by_exercise[exercise][size][key] = count_of_json(value);
      }
    }
  }
  return best;
}

}  // namespace

Costs best_of(const std::vector<StudentResult>& students) {
  Costs best;
  for (const StudentResult& student : students) {
    if (!student.verdict->passed()) continue;
    for (const CostLine& line : student.verdict->costs) keep_lower(best, line.key, line.value);
  }
  return best;
}

const Costs& BestCosts::merge(const std::string& exercise, const Size& size, const Costs& costs) {
  Costs& kept = by_exercise[exercise][to_string(size)];
  for (const auto& [key, value] : costs) keep_lower(kept, key, value);
  return kept;
}

toy::Result<BestCosts> parse_best_costs(const std::string& text) {
  try {
    return from_json(nlohmann::json::parse(text));
  } catch (const nlohmann::json::parse_error& error) {
    return damaged_best_file("it is damaged: not JSON from byte " + std::to_string(error.byte) +
                             " on");
  } catch (const nlohmann::json::exception&) {
    return damaged_best_file("it is damaged: a key is missing or has a value of the wrong type");
  } catch (const std::invalid_argument& error) {
    return damaged_best_file(error.what());
  }
}

std::string to_json(const BestCosts& best) {
  nlohmann::json exercises = nlohmann::json::object();
  for (const auto& [exercise, sizes] : best.by_exercise) {
    for (const auto& [size, costs] : sizes) {
      for (const auto& [key, value] : costs) exercises[exercise][size][key] = value.get_str();
    }
  }
  const nlohmann::json document = {
      {"format", kBestFormat}, {"version", kBestVersion}, {"exercises", exercises}};
  return document.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace flashlab::exercises
