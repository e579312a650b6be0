// A search on disk, to go on with: a header that says of which search, what it has, a checksum.
//
// Layout, in the machine's own byte order: kMagic, the format's version, the search's fingerprint,
// then what BestFirst writes, then a checksum of all that comes before it. A file is written under
// a temporary name and renamed, so that it is whole or not there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace flashlab::optimal::detail {

/// What is searched, as a number: computation, machine, costs, start.
class Fingerprint {
 public:
  Fingerprint& add(std::int64_t value);
  Fingerprint& add(std::string_view text);
  std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 0;
};

/// Of bytes that come in pieces of any size.
class Checksum {
 public:
  void add(const char* data, std::size_t count);
  std::uint64_t value() const;

 private:
  void add_byte(char byte);

  std::uint64_t hash_ = 0, word_ = 0, length_ = 0;  // word_: bytes that are no whole word yet
};

/// Errors of both: CheckpointError.
class CheckpointWriter {
 public:
  CheckpointWriter(std::string path, std::uint64_t fingerprint);
  /// Leaves no temporary file behind where finish() was not reached.
  ~CheckpointWriter();
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;

  template <class Value>
  void value(const Value& value) {
    bytes(&value, sizeof value);
  }
  template <class Value>
  void list(const std::vector<Value>& values) {
    value(std::uint64_t{values.size()});
    bytes(values.data(), values.size() * sizeof(Value));
  }
  void bytes(const void* data, std::size_t count);
  /// The file is there, whole.
  void finish();

 private:
  std::string path_, temporary_;
  std::ofstream out_;
  Checksum checksum_;
};

class CheckpointReader {
 public:
  static bool is_there(const std::string& path);
  /// Reads all of the file once, and refuses it if it is not whole or is another search's.
  CheckpointReader(std::string path, std::uint64_t fingerprint);

  template <class Value>
  Value value() {
    Value result;
    bytes(&result, sizeof result);
    return result;
  }
  template <class Value>
  std::vector<Value> list() {
    std::vector<Value> result(value<std::uint64_t>());
    bytes(result.data(), result.size() * sizeof(Value));
    return result;
  }
  void bytes(void* data, std::size_t count);

 private:
  void check_whole();
  void check_header(std::uint64_t fingerprint);

  std::string path_;
  std::ifstream in_;
};

}  // namespace flashlab::optimal::detail
