// Functions that all benchmarks measure with, and the description of the machine they ran on.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace flashlab::bench {

using nlohmann::json;

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

inline double seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

inline std::string command_output(const std::string& command) {
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string text;
  std::array<char, 256> buffer{};
  while (pipe && std::fgets(buffer.data(), buffer.size(), pipe.get())) text += buffer.data();
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

inline std::string processor() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

inline json context(const std::string& command) {
  const std::time_t now = std::time(nullptr);
  std::array<char, 32> date{};
  std::strftime(date.data(), date.size(), "%Y-%m-%d", std::gmtime(&now));
  return {{"command", command},
          {"date", date.data()},
          {"processor", processor()},
          {"compiler", __VERSION__},
          {"commit",
           command_output("git -C '" FLASHLAB_PROGRAMS "' rev-parse --short HEAD 2>/dev/null")},
          {"python", command_output("python3 --version 2>/dev/null")}};
}

}  // namespace flashlab::bench
