// Both sides of the door to the GPU library compare a text before any structure crosses it: what
// the text notices of each structure.
#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "attention_cuda/door/crossing.hpp"
#include "compare/rows/gpu_measurements.hpp"
#include "tests/catch_shim.hpp"

namespace flashlab::test {
namespace {

using system::Field;
using system::fields_of;
using system::fingerprint_of;

/// Whether an exchange of any two fields is noticed, whatever their types are.
template <class Struct>
bool notices_exchanges() {
  const std::vector<Field> fields = fields_of<Struct>();
  std::set<std::uint64_t> found = {fingerprint_of(fields)};
  std::size_t num_exchanges = 0;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    for (std::size_t k = i + 1; k < fields.size(); ++k) {
      std::vector<Field> other = fields;
      std::swap(other[i].name, other[k].name);
      std::swap(other[i].kind, other[k].kind);
      found.insert(fingerprint_of(other));
      ++num_exchanges;
    }
  }
  return found.size() == 1 + num_exchanges;
}

}  // namespace

TEST_CASE("every exchange of two fields in a structure that crosses the door is noticed") {
  CHECK(notices_exchanges<cuda::door::GpuCall>());
  CHECK(notices_exchanges<AttentionProblem>());
  CHECK(notices_exchanges<cuda::ExecutionOptions>());
  CHECK(notices_exchanges<cuda::GpuInfo>());
  CHECK(notices_exchanges<BackwardTensors>());
  CHECK(notices_exchanges<cuda::door::SampledCall>());
}

TEST_CASE("a list of fields has places that do not overlap and that fill the structure") {
  std::vector<Field> fields = fields_of<cuda::GpuInfo>();
  std::ranges::sort(fields, {}, &Field::offset);
  std::size_t end = 0;
  for (const Field& field : fields) {
    INFO(field.name);
    CHECK(field.offset >= end);
    CHECK(field.offset < end + alignof(std::max_align_t));
    end = field.offset + field.size;
  }
  CHECK(sizeof(cuda::GpuInfo) - end < alignof(std::max_align_t));
}

TEST_CASE("what both sides compare says the version and the number of the interface") {
  const std::string door = cuda::door::gpu_library_interface();
  CHECK_THAT(door, contains(", interface 1, fields "));
  CHECK(door == cuda::door::gpu_library_interface());
  CHECK(door != compare::gpu_measurements_interface());
}

}  // namespace flashlab::test
