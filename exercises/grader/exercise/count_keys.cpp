#include "exercises/grader/exercise/count_keys.hpp"

#include <algorithm>
#include <utility>

namespace flashlab::exercises {
namespace {

struct TrafficKey {
  std::string_view name;
  toy::Count toy::ArrayTraffic::*count;
  bool is_half_an_update = false;
};
constexpr TrafficKey kTraffic[] = {{"loads", &toy::ArrayTraffic::loads, true},
                                   {"stores", &toy::ArrayTraffic::stores, true},
                                   {"updates", &toy::ArrayTraffic::updates}};

/// An atomic update is a load and a store: else a sum in DRAM would evade a limit on either.
struct PricedKey {
  std::string_view name;
  toy::Count toy::Counters::*updates;
  int share = 1;  // of the updates: bytes_updated counts each byte twice
};
constexpr PricedKey kPriced[] = {{"loads", &toy::Counters::atomics},
                                 {"stores", &toy::Counters::atomics},
                                 {"bytes_loaded", &toy::Counters::bytes_updated, 2},
                                 {"bytes_stored", &toy::Counters::bytes_updated, 2}};

/// All bytes between registers and DRAM; a byte that is updated counts twice.
constexpr std::string_view kDramBytes = "dram_bytes";

/// Counts all .temp arrays together, because a submission chooses their names.
constexpr std::string_view kTemporary = "temp";

std::pair<std::string_view, std::string_view> split(std::string_view key) {
  const std::size_t dot = key.find('.');
  if (dot == std::string_view::npos) return {{}, key};
  return {key.substr(0, dot), key.substr(dot + 1)};
}

}  // namespace

std::vector<std::string> count_keys() {
  std::vector<std::string> keys{std::string(kDramBytes)};
  for (const auto& description : toy::counter_descriptions()) keys.emplace_back(description.key);
  return keys;
}

bool is_count_key(std::string_view key, const toy::Program* interface) {
  const auto [array, name] = split(key);
  if (array.empty()) {
    const std::vector<std::string> keys = count_keys();
    return std::find(keys.begin(), keys.end(), key) != keys.end();
  }
  const auto is_name = [name = name](const TrafficKey& entry) { return entry.name == name; };
  if (std::none_of(std::begin(kTraffic), std::end(kTraffic), is_name)) return false;
  return interface == nullptr || array == kTemporary ||
         std::any_of(interface->arrays.begin(), interface->arrays.end(),
                     [array = array](const auto& entry) { return entry.name == array; });
}

toy::Count updates_in(std::string_view key, const toy::Counters& counters,
                      const toy::BoundProgram& program) {
  const auto [array, name] = split(key);
  if (array.empty()) {
    for (const PricedKey& priced : kPriced) {
      if (priced.name == key) return counters.*priced.updates / priced.share;
    }
    return 0;
  }
  const bool is_priced = std::any_of(
      std::begin(kTraffic), std::end(kTraffic),
      [name = name](const auto& entry) { return entry.name == name && entry.is_half_an_update; });
  return is_priced ? count_of(std::string(array) + ".updates", counters, program) : toy::Count(0);
}

toy::Count count_of(std::string_view key, const toy::Counters& counters,
                    const toy::BoundProgram& program) {
  const auto [array, name] = split(key);
  if (array.empty()) {
    if (key == kDramBytes) {
      return counters.bytes_loaded + counters.bytes_stored + counters.bytes_updated;
    }
    for (const auto& description : toy::counter_descriptions()) {
      if (description.key == key) {
        return counters.*description.value + updates_in(key, counters, program);
      }
    }
    return 0;
  }
  const auto traffic =
      std::find_if(std::begin(kTraffic), std::end(kTraffic),
                   [name = name](const auto& entry) { return entry.name == name; });
  if (traffic == std::end(kTraffic)) return 0;
  toy::Count count = updates_in(key, counters, program);
  for (std::size_t i = 0; i < program.arrays.size(); ++i) {
    const toy::BoundArray& one = program.arrays[i];
    const bool is_meant =
        one.name == array || (array == kTemporary && one.role == toy::ArrayRole::kTemp);
    if (is_meant) count += counters.by_array[i].*traffic->count;
  }
  return count;
}

}  // namespace flashlab::exercises
