// Allocates arrays in the caller's workspace one after another. A row's workspace_bytes and its
// launcher call this with the same arrays in the same order; workspace_bytes has no memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace flashlab::cuda {

class Workspace {
 public:
  explicit Workspace(std::byte* memory = nullptr) : memory_(memory) {}

  /// Returns 256-byte aligned memory, or null if only the size is computed.
  template <class Element>
  Element* take(std::int64_t count) {
    std::byte* const array = memory_ == nullptr ? nullptr : memory_ + bytes_;
    bytes_ += (static_cast<std::size_t>(count) * sizeof(Element) + 255) / 256 * 256;
    return reinterpret_cast<Element*>(array);
  }

  std::size_t bytes() const { return bytes_; }

 private:
  std::byte* memory_;
  std::size_t bytes_ = 0;
};

}  // namespace flashlab::cuda
