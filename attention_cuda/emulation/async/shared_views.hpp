// A block's shared memory as threads see it (the generic view) and as asynchronous operations see
// it (the async view). What a thread writes enters the async view when that thread executes
// fence.proxy.async. PTX may allow more; this rule is strict, so that a missing fence always shows.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace flashlab::cuda::emulation {

/// Bytes [begin, end) of shared memory.
struct SharedRange {
  std::size_t begin = 0, end = 0;
  bool overlaps(const SharedRange& other) const { return begin < other.end && other.begin < end; }
  std::string text() const { return std::to_string(begin) + " to " + std::to_string(end - 1); }
};

class SharedViews {
 public:
  /// Starts a block whose async view holds nothing. `generic` is the memory that threads access.
  void begin(std::span<unsigned char> generic);
  bool has_begun() const { return !async_.empty(); }
  void end() { async_.clear(); }

  /// Notes what a thread wrote by an instruction. Writes through a pointer are not noted; reading
  /// them asynchronously is an error.
  void wrote(int thread, SharedRange bytes);
  /// fence.proxy.async of a thread.
  void fence(int thread);

  /// An asynchronous read. Throws std::logic_error for bytes that were written and not fenced.
  void read(std::size_t at, std::span<unsigned char> to, const std::string& reader) const;
  /// Throws unless the async view of these bytes is what threads wrote.
  void require_fenced(SharedRange bytes, const std::string& reader) const;
  /// The async view itself; call require_fenced() first.
  const unsigned char* async_bytes() const { return async_.data(); }
  /// An asynchronous write, which both views show.
  void write(std::size_t at, std::span<const unsigned char> from);
  /// Fills both views with NaN: what an asynchronous write will overwrite.
  void poison(SharedRange bytes);

 private:
  struct Write {
    int thread;
    SharedRange bytes;
  };
  std::span<unsigned char> generic_;
  std::vector<unsigned char> async_;
  std::vector<Write> unfenced_;
};

}  // namespace flashlab::cuda::emulation
