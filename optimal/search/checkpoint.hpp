// A checkpoint of a search on disk, from which the search can resume.
//
// Layout, in the machine's own byte order: kMagic, the format's version, the search's fingerprint,
// the data that BestFirst writes, and a checksum of all bytes before it. A file is written under a
// temporary name and then renamed, so that it is either complete or absent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace flashlab::optimal::detail {

/// Identifies a search as a number: a hash of its computation, machine, costs and start.
class Fingerprint {
 public:
  Fingerprint& add(std::int64_t value);
  Fingerprint& add(std::string_view text);
  std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 0;
};

/// Checksum of a byte stream. The result does not depend on how the stream is cut into pieces.
class Checksum {
 public:
  void add(const char* data, std::size_t count);
  std::uint64_t value() const;

 private:
  void add_byte(char byte);

  std::uint64_t hash_ = 0, word_ = 0, length_ = 0;  // word_: the bytes of an incomplete word
};

/// Errors of writer and reader: CheckpointError.
class CheckpointWriter {
 public:
  CheckpointWriter(std::string path, std::uint64_t fingerprint);
  /// Removes the temporary file unless finish() was reached.
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
  /// Writes the checksum and gives the complete file its name.
  void finish();

 private:
  std::string path_, temporary_;
  std::ofstream out_;
  Checksum checksum_;
};

class CheckpointReader {
 public:
  static bool is_there(const std::string& path);
  /// Reads the whole file once. Refuses an incomplete file and one of another search.
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
