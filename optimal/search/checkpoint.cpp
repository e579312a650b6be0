#include "optimal/search/checkpoint.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <utility>

#include "optimal/search/limits.hpp"
#include "optimal/search/node_table.hpp"
#include "text/whole_file.hpp"

namespace flashlab::optimal::detail {
namespace {

constexpr std::array<char, 16> kMagic{'f', 'l', 'a', 's', 'h', 'l', 'a', 'b',
                                      ' ', 's', 'e', 'a', 'r', 'c', 'h', '\n'};
/// Must change whenever a search's states, their order or the file's layout change.
constexpr std::uint64_t kVersion = 1;
constexpr std::size_t kHeaderBytes = sizeof kMagic + sizeof kVersion + sizeof(std::uint64_t);

}  // namespace

void Checksum::add(const char* data, std::size_t count) {
  for (; count > 0 && length_ % sizeof word_ != 0; --count) add_byte(*data++);
  for (; count >= sizeof word_; count -= sizeof word_, data += sizeof word_) {
    std::uint64_t word;
    std::memcpy(&word, data, sizeof word);
    hash_ = mixed_bits(hash_ ^ word) + 1;
    length_ += sizeof word;
  }
  for (; count > 0; --count) add_byte(*data++);
}

void Checksum::add_byte(char byte) {
  word_ |= std::uint64_t{static_cast<unsigned char>(byte)} << (length_ % sizeof word_ * 8);
  if (++length_ % sizeof word_ != 0) return;
  hash_ = mixed_bits(hash_ ^ word_) + 1;
  word_ = 0;
}

std::uint64_t Checksum::value() const { return mixed_bits(mixed_bits(hash_ ^ word_) ^ length_); }

Fingerprint& Fingerprint::add(std::int64_t value) {
  hash_ = mixed_bits(hash_ ^ static_cast<std::uint64_t>(value)) + 1;
  return *this;
}

Fingerprint& Fingerprint::add(std::string_view text) {
  add(static_cast<std::int64_t>(text.size()));
  for (const char letter : text) add(letter);
  return *this;
}

CheckpointWriter::CheckpointWriter(std::string path, std::uint64_t fingerprint)
    : path_(std::move(path)), temporary_(path_ + ".part"), out_(temporary_, std::ios::binary) {
  if (!out_) throw CheckpointError(path_ + ": a checkpoint cannot be written there");
  bytes(kMagic.data(), sizeof kMagic);
  value(kVersion);
  value(fingerprint);
}

CheckpointWriter::~CheckpointWriter() {
  if (!out_.is_open()) return;
  out_.close();
  std::remove(temporary_.c_str());
}

void CheckpointWriter::bytes(const void* data, std::size_t count) {
  const auto* begin = static_cast<const char*>(data);
  out_.write(begin, static_cast<std::streamsize>(count));
  checksum_.add(begin, count);
}

void CheckpointWriter::finish() {
  value(checksum_.value());
  out_.flush();
  const bool is_good = out_.good();
  out_.close();
  try {
    if (!is_good) throw NotWritten("no space");
    put_in_place(temporary_, path_);
  } catch (const NotWritten&) {
    std::remove(temporary_.c_str());
    throw CheckpointError(path_ + ": the checkpoint could not be written");
  }
}

bool CheckpointReader::is_there(const std::string& path) {
  return !path.empty() && std::ifstream(path).is_open();
}

CheckpointReader::CheckpointReader(std::string path, std::uint64_t fingerprint)
    : path_(std::move(path)), in_(path_, std::ios::binary) {
  if (!in_) throw CheckpointError(path_ + ": the checkpoint cannot be read");
  check_header(fingerprint);
  check_whole();
  in_.clear();
  in_.seekg(static_cast<std::streamoff>(kHeaderBytes));
}

void CheckpointReader::check_header(std::uint64_t fingerprint) {
  std::array<char, sizeof kMagic> magic{};
  in_.read(magic.data(), sizeof magic);
  if (in_.gcount() != sizeof magic || magic != kMagic) {
    throw CheckpointError(path_ + " is not a checkpoint of a search");
  }
  if (value<std::uint64_t>() != kVersion) {
    throw CheckpointError(path_ + " is a checkpoint of another version");
  }
  if (value<std::uint64_t>() != fingerprint) {
    throw CheckpointError(path_ + " is the checkpoint of another search");
  }
}

void CheckpointReader::check_whole() {
  in_.seekg(0, std::ios::end);
  std::streamoff left = in_.tellg();
  in_.seekg(0);
  Checksum checksum;
  std::vector<char> block(std::size_t{1} << 20);
  left -= static_cast<std::streamoff>(sizeof(std::uint64_t));
  for (; left > 0 && in_; left -= in_.gcount()) {
    in_.read(block.data(), std::min<std::streamoff>(left, std::ssize(block)));
    checksum.add(block.data(), static_cast<std::size_t>(in_.gcount()));
  }
  if (left != 0 || value<std::uint64_t>() != checksum.value()) {
    throw CheckpointError(path_ + ": the checkpoint is damaged or cut off");
  }
}

void CheckpointReader::bytes(void* data, std::size_t count) {
  in_.read(static_cast<char*>(data), static_cast<std::streamsize>(count));
  if (static_cast<std::size_t>(in_.gcount()) != count) {
    throw CheckpointError(path_ + ": the checkpoint ends too early");
  }
}

}  // namespace flashlab::optimal::detail
