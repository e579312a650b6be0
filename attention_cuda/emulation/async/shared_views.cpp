#include "attention_cuda/emulation/async/shared_views.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace flashlab::cuda::emulation {
namespace {

constexpr unsigned char kNotWritten = 0xFF;

}  // namespace

void SharedViews::begin(std::span<unsigned char> generic) {
  generic_ = generic;
  async_.assign(generic.size(), kNotWritten);
  unfenced_.clear();
}

void SharedViews::wrote(int thread, SharedRange bytes) { unfenced_.push_back({thread, bytes}); }

void SharedViews::fence(int thread) {
  std::erase_if(unfenced_, [&](const Write& write) {
    if (write.thread != thread) return false;
    std::memcpy(async_.data() + write.bytes.begin, generic_.data() + write.bytes.begin,
                write.bytes.end - write.bytes.begin);
    return true;
  });
}

void SharedViews::require_fenced(SharedRange bytes, const std::string& reader) const {
  const auto first = generic_.begin() + static_cast<std::ptrdiff_t>(bytes.begin);
  const auto last = generic_.begin() + static_cast<std::ptrdiff_t>(bytes.end);
  const auto differs =
      std::mismatch(first, last, async_.begin() + static_cast<std::ptrdiff_t>(bytes.begin)).first;
  if (differs == last) return;
  const auto at = static_cast<std::size_t>(differs - generic_.begin());
  std::string writer = "were written through a pointer, which no fence.proxy.async covers here";
  for (const Write& write : unfenced_) {
    if (at < write.bytes.begin || at >= write.bytes.end) continue;
    writer = "thread " + std::to_string(write.thread) + " wrote without fence.proxy.async";
  }
  throw std::logic_error(reader + " reads bytes of shared memory that " + writer + ": byte " +
                         std::to_string(at));
}

void SharedViews::read(std::size_t at, std::span<unsigned char> to,
                       const std::string& reader) const {
  require_fenced({at, at + to.size()}, reader);
  std::memcpy(to.data(), async_.data() + at, to.size());
}

void SharedViews::write(std::size_t at, std::span<const unsigned char> from) {
  std::memcpy(generic_.data() + at, from.data(), from.size());
  std::memcpy(async_.data() + at, from.data(), from.size());
}

void SharedViews::poison(SharedRange bytes) {
  std::memset(generic_.data() + bytes.begin, kNotWritten, bytes.end - bytes.begin);
  std::memset(async_.data() + bytes.begin, kNotWritten, bytes.end - bytes.begin);
}

}  // namespace flashlab::cuda::emulation
