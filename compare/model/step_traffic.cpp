#include "compare/model/step_traffic.hpp"

#include <algorithm>

namespace flashlab::compare {
namespace {

bool is_of_keys(std::string_view array) {
  return array == "k" || array == "v" || array == "dk" || array == "dv";
}

bool is_touched(const ArrayCount& array) { return array.loaded + array.stored + array.updated > 0; }

}  // namespace

std::int64_t StepTraffic::bytes_of(std::string_view array, const Names& elements) const {
  const bool is_element = std::find(elements.begin(), elements.end(), array) != elements.end();
  return is_element ? size_in_bytes(problem_.dtype) : kFloatBytes;
}

std::int64_t StepTraffic::heads_of(const ArrayCount& array) const {
  return is_of_keys(array.name) ? kv_heads() : heads();
}

/// Elements of one head that must be moved: under a causal mask no query sees keys after
/// the last query.
std::int64_t StepTraffic::size_of(const ArrayCount& array) const {
  const bool is_hidden = problem_.mask != Mask::kNone && problem_.seqlen_k > problem_.seqlen_q;
  if (!is_hidden || !is_of_keys(array.name)) return array.size;
  return array.size / problem_.seqlen_k * problem_.seqlen_q;
}

Traffic StepTraffic::sm() const {
  if (launch_.moved) return {launch_.moved->read, launch_.moved->written};
  Traffic traffic;
  for (const ArrayCount& array : counts_.arrays) {
    const bool is_shared = launch_.is_per_kv_head && is_of_keys(array.name);
    const std::int64_t workers = is_shared ? kv_heads() : heads();
    traffic.bytes_read += array.loaded * workers * bytes_loaded(array.name);
    traffic.bytes_written += (array.stored + array.updated) * workers * bytes_stored(array.name);
  }
  return traffic;
}

std::int64_t StepTraffic::footprint() const {
  std::int64_t bytes = 0;
  for (const ArrayCount& array : counts_.arrays) {
    if (!is_touched(array)) continue;
    const std::int64_t size =
        array.loaded > 0 ? bytes_loaded(array.name) : bytes_stored(array.name);
    bytes +=
        array.size * heads_of(array) * size / (is_of_keys(array.name) ? launch_.num_launches : 1);
  }
  return bytes;
}

Traffic StepTraffic::dram(std::int64_t l2_bytes, const std::vector<std::string>& in_l2) const {
  const std::int64_t rounds = footprint() > l2_bytes ? launch_.num_launches : 1;
  Traffic traffic;
  for (const ArrayCount& array : counts_.arrays) {
    const std::int64_t size = size_of(array) * (is_of_keys(array.name) ? 1 : rounds);
    const bool is_there = std::find(in_l2.begin(), in_l2.end(), array.name) != in_l2.end();
    if (!is_there) {
      traffic.bytes_read +=
          std::min(array.loaded, size) * heads_of(array) * bytes_loaded(array.name);
    }
    traffic.bytes_written +=
        std::min(array.stored + array.updated, size) * heads_of(array) * bytes_stored(array.name);
  }
  if (launch_.moved) {  // hidden pairs need not be moved
    traffic.bytes_read = std::min(traffic.bytes_read, launch_.moved->read);
    traffic.bytes_written = std::min(traffic.bytes_written, launch_.moved->written);
  }
  return traffic;
}

std::int64_t StepTraffic::temporaries() const {
  std::int64_t loaded = 0, stored = 0;
  for (const ArrayCount& array : counts_.arrays) {
    if (!array.is_temporary) continue;
    const std::int64_t size = array.size * heads_of(array);
    if (array.loaded > 0) loaded += size * bytes_loaded(array.name);
    if (array.stored + array.updated > 0) stored += size * bytes_stored(array.name);
  }
  return std::max(loaded, stored);
}

std::vector<std::string> StepTraffic::touched() const {
  std::vector<std::string> names;
  for (const ArrayCount& array : counts_.arrays) {
    if (is_touched(array)) names.push_back(array.name);
  }
  return names;
}

}  // namespace flashlab::compare
