#include "cli/editors/zip.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string_view>

namespace flashlab::cli {
namespace {

constexpr std::uint16_t kVersion = 20;       // 2.0: folders in paths
constexpr std::uint16_t kFirstDay = 0x0021;  // 1 January 1980, where the format's days begin

constexpr std::array<std::uint32_t, 256> crc_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1U) ^ (value % 2 == 1 ? 0xEDB88320U : 0U);
    table[byte] = value;
  }
  return table;
}

std::uint32_t crc32(std::string_view bytes) {
  static constexpr auto kTable = crc_table();
  std::uint32_t crc = 0xFFFFFFFFU;
  for (const char c : bytes) {
    crc = kTable[(crc ^ static_cast<unsigned char>(c)) & 0xFFU] ^ (crc >> 8U);
  }
  return ~crc;
}

/// Numbers, the lowest byte first.
class Record {
 public:
  Record& two(std::size_t value) { return number(value, 2); }
  Record& four(std::size_t value) { return number(value, 4); }
  const std::string& bytes() const { return bytes_; }

 private:
  Record& number(std::size_t value, int count) {
    for (int i = 0; i < count; ++i) {
      bytes_ += static_cast<char>(value & 0xFFU);
      value >>= 8U;
    }
    return *this;
  }
  std::string bytes_;
};

/// What a file's two headers share.
void add_description(Record& record, std::string_view name, std::string_view text) {
  record.two(kVersion).two(0).two(0).two(0).two(kFirstDay);  // stored, at midnight
  record.four(crc32(text)).four(text.size()).four(text.size()).two(name.size()).two(0);
}

}  // namespace

std::string zip_archive(const std::map<std::string, std::string>& files) {
  std::string archive, directory;
  for (const auto& [name, text] : files) {
    Record entry, header;
    entry.four(0x02014B50).two(kVersion);
    add_description(entry, name, text);
    entry.two(0).two(0).two(0).four(0).four(archive.size());
    header.four(0x04034B50);
    add_description(header, name, text);
    archive += header.bytes() + name + text;
    directory += entry.bytes() + name;
  }
  if (archive.size() + directory.size() > UINT32_MAX || files.size() >= UINT16_MAX) {
    throw std::length_error("these files are too large for a zip archive");
  }
  Record end;
  end.four(0x06054B50).two(0).two(0).two(files.size()).two(files.size());
  end.four(directory.size()).four(archive.size()).two(0);
  return archive + directory + end.bytes();
}

}  // namespace flashlab::cli
