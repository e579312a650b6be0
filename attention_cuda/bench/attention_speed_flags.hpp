// The flags of attention_speed_cuda.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "attention/tensor.hpp"

namespace flashlab::bench {

inline constexpr const char* kUsage =
    "Usage: attention_speed_cuda [FLAG ...]\n\n"
    "  --shape TYPE,B,H,N,D[,causal]  float, bf16 or fp16; may come several times\n"
    "                                 (float,4,1,8192,64 and bf16,4,32,4096,64).\n"
    "                                 H may be heads/kv_heads, N queries/keys: 32/8, 1/8192\n"
    "  --kernels NAME,...             only these (see `flashlab attention --list`)\n"
    "  --runs N                       samples of each, fewer of slow ones (9)\n"
    "  --json FILE                    also writes raw samples and context to this file\n"
    "  --commit TEXT                  the commit to record in the file (git's)\n";

struct Shape {
  DataType dtype;
  std::int64_t batch, num_heads, num_kv_heads, seqlen_q, seqlen_k, head_dim;
  bool is_causal;
};

/// The default is two shapes: rows of the course's table of numbers, and one for tensor cores.
struct Settings {
  std::vector<Shape> shapes;
  std::vector<std::string> kernels;
  int runs = 9;
  std::string json_file, commit;
};

inline std::vector<std::string> split(const std::string& text, char separator = ',') {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

inline std::int64_t number(const std::string& flag, const std::string& text) {
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stopped != end || value < 1) {
    throw std::invalid_argument(flag + ": " + text + ": expected a number from 1 on");
  }
  return value;
}

/// Two sizes "32/8", or one that counts twice.
inline std::pair<std::int64_t, std::int64_t> two_sizes(const std::string& text) {
  const std::vector<std::string> parts = split(text, '/');
  if (parts.size() > 2) {
    throw std::invalid_argument("--shape: " + text + ": expected one number, or two as 32/8");
  }
  return {number("--shape", parts.front()), number("--shape", parts.back())};
}

inline Shape parse_shape(const std::string& text) {
  const std::vector<std::string> parts = split(text);
  const bool is_causal = parts.size() == 6 && parts[5] == "causal";
  for (const auto dtype : {DataType::kFloat32, DataType::kBFloat16, DataType::kFloat16}) {
    if (parts[0] != to_string(dtype) || (parts.size() != 5 && !is_causal)) continue;
    const auto [num_heads, num_kv_heads] = two_sizes(parts[2]);
    const auto [seqlen_q, seqlen_k] = two_sizes(parts[3]);
    return {dtype,    number("--shape", parts[1]), num_heads, num_kv_heads, seqlen_q,
            seqlen_k, number("--shape", parts[4]), is_causal};
  }
  throw std::invalid_argument("--shape: " + text +
                              ": expected TYPE,B,H,N,D or TYPE,B,H,N,D,causal");
}

/// Throws std::invalid_argument: the flag, its value, what was expected.
inline Settings parse(const std::vector<std::string>& words) {
  Settings settings;
  for (std::size_t k = 0; k < words.size(); k += 2) {
    const std::string& flag = words[k];
    if (k + 1 == words.size()) throw std::invalid_argument(flag + ": expected a value; see --help");
    const std::string& value = words[k + 1];
    if (flag == "--shape") {
      settings.shapes.push_back(parse_shape(value));
    } else if (flag == "--kernels") {
      settings.kernels = split(value);
    } else if (flag == "--runs") {
      settings.runs = static_cast<int>(std::min<std::int64_t>(number(flag, value), 100000));
    } else if (flag == "--json") {
      settings.json_file = value;
    } else if (flag == "--commit") {
      settings.commit = value;
    } else {
      throw std::invalid_argument(flag + ": expected a flag that --help lists");
    }
  }
  if (settings.shapes.empty()) {
    settings.shapes = {parse_shape("float,4,1,8192,64"), parse_shape("bf16,4,32,4096,64")};
  }
  return settings;
}

}  // namespace flashlab::bench
