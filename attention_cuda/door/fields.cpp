#include "attention_cuda/door/fields.hpp"

#include <algorithm>

namespace flashlab::cuda::door {

std::uint64_t fingerprint_of(std::vector<Field> fields) {
  std::ranges::stable_sort(fields, {}, &Field::offset);
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const Field& field : fields) {
    const std::string text = field.name + " " + field.kind + " " + std::to_string(field.offset) +
                             " " + std::to_string(field.size) + "\n";
    for (const char c : text) {
      hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    }
  }
  return hash;
}

}  // namespace flashlab::cuda::door
