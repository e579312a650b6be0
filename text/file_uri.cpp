#include "text/file_uri.hpp"

#include <cstddef>

#include "text/read_number.hpp"

namespace flashlab {
namespace {

constexpr std::string_view kFile = "file://";
constexpr int kHex = 16;

bool stands_for_itself(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("-._~/").find(c) != std::string_view::npos;
}

}  // namespace

std::string file_uri(std::string_view path) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string uri(kFile);
  for (const char c : path) {
    if (stands_for_itself(c)) {
      uri += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    uri += '%';
    uri += kDigits[byte / kHex];
    uri += kDigits[byte % kHex];
  }
  return uri;
}

std::string path_of_uri(std::string_view uri) {
  if (!uri.starts_with(kFile)) return std::string(uri);
  std::string_view rest = uri.substr(kFile.size());
  constexpr std::string_view kHere = "localhost/";
  if (rest.starts_with(kHere)) rest.remove_prefix(kHere.size() - 1);
  if (!rest.starts_with('/')) return std::string(uri);  // of another computer
  std::string path;
  for (std::size_t at = 0; at < rest.size(); ++at) {
    unsigned byte = 0;
    const std::string_view digits = rest.substr(at + 1, 2);
    const bool is_escape = rest[at] == '%' && digits.size() == 2 &&
                           read_number(digits, byte, kHex).ptr == digits.data() + 2;
    path += is_escape ? static_cast<char>(byte) : rest[at];
    if (is_escape) at += 2;
  }
  return path;
}

}  // namespace flashlab
