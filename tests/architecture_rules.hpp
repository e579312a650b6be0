// The rules of the folders: what each may use, and the order of its rooms (the folders inside it).
// structure_test.cpp holds the sources against them, architecture_test.cpp docs/architecture.md.
#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace flashlab::test {

/// What each folder may include, link and read: itself, and what stands below it.
inline const std::map<std::string, std::set<std::string>>& may_use() {
  static const std::map<std::string, std::set<std::string>> kMayUse = {
      {"system", {"system"}},
      {"text", {"text"}},
      {"gpu", {"gpu"}},
      {"results", {"attention", "gpu", "results", "text"}},
      {"toymachine", {"text", "toymachine"}},
      {"attention", {"attention"}},
      {"attention_cpu", {"attention", "attention_cpu"}},
      {"attention_cuda", {"attention", "attention_cuda", "gpu", "system"}},
      {"compare",
       {"attention", "attention_cuda", "compare", "gpu", "results", "system", "text",
        "toymachine"}},
      {"optimal", {"optimal", "text", "toymachine"}},
      {"generate", {"generate", "system", "text", "toymachine"}},
      {"exercises", {"exercises", "optimal", "results", "system", "text", "toymachine"}},
      {"language_model", {"language_model", "text", "toymachine"}},
      {"cli",
       {"attention", "attention_cpu", "attention_cuda", "cli", "compare", "exercises", "generate",
        "gpu", "language_model", "optimal", "results", "text", "toymachine"}},
  };
  return kMayUse;
}

/// The rooms of a folder, from the ground floor up: a room includes from those before it. "." is the
/// folder itself. Files with the endings behind a room's name stand on a floor of their own, because
/// what a header states is used by all, and what carries it out uses all: "kernels .cu".
inline const std::map<std::string, std::vector<std::string>>& floors() {
  static const std::map<std::string, std::vector<std::string>> kFloors = {
      {"system", {"."}},
      {"text", {".", "picture"}},
      {"gpu", {"sheets"}},
      {"results", {"."}},
      {"toymachine",
       {"budget", "language", "bind", "execute", "count/polynomial", "count", "run", "links",
        "forms", "replay", "trace", "history", "timeline"}},
      {"attention", {".", "detail", "ranks", ". .cpp", "detail .cpp", "ranks .cpp"}},
      {"attention_cpu", {".", "detail", "variants", "detail .cpp", ". .cpp"}},
      {"attention_cuda",
       {"ptx",
        ".",
        "detail",
        "device",
        "device/key_tile",
        "kernels .hpp",
        "kernels/forward_wgmma",
        "kernels/backward_wgmma",
        "kernels",
        "kernels .cu",
        "detail .cpp .cu",
        "ranks",
        "ranks/processes",
        "ranks/processes .cpp",
        "ranks .cpp",
        ". .cpp",
        "torch",
        "door",
        "emulation/nvtx3",
        "emulation/async",
        "emulation",
        "emulation/async .cpp",
        "emulation .cpp",
        "emulation/attention_cuda/ptx",
        "emulation/attention_cuda/ranks/processes"}},
      {"optimal", {"search", "problem", "products", "values", "solve"}},
      {"generate", {"plan", "source/device", "source", "run/device", "run"}},
      {"exercises",
       {"grader/exercise", "grader/submission", "grader/judge", "grader/repair", "grader/explain",
        "grader/grade", "grader/prove", "grader/report", "isolation"}},
      {"language_model", {"."}},
      {"compare", {"model", "counters", "rows", "cuda/ptx", "cuda", "picture", "report"}},
      {"cli",
       {"terminal", "options", "machine", "debug", "help", "attention", "compare", "gpu",
        "exercises", "protocol", "editors", "grading", "optimal", "picture", "requests", "."}},
  };
  return kFloors;
}

/// Includes from a higher floor that are left, and why.
inline const std::map<std::filesystem::path, std::map<std::filesystem::path, std::string>>&
left_includes() {
  static const std::map<std::filesystem::path, std::map<std::filesystem::path, std::string>> kLeft =
      {{"attention_cuda/detail/c_arguments.hpp",
        {{"attention_cuda/ranks/communicator.hpp",
          "the C interface of several GPUs reads its arguments beside that of one"}}},
       {"attention_cuda/emulation/async/async_operations.hpp",
        {{"attention_cuda/emulation/run_queue.hpp",
          "a list of threads, which knows nothing of the emulation"}}},
       {"attention_cuda/kernels/backward_wgmma/fp16x3_loading.cuh",
        {{"attention_cuda/kernels/flash2_fp16x3_split.cuh",
          "both passes split fp32 in the same way, and the forward kernel was there first"}}},
       {"attention_cuda/kernels/backward_wgmma/fp16x3_split.cuh",
        {{"attention_cuda/kernels/flash2_fp16x3_split.cuh",
          "both passes split fp32 in the same way, and the forward kernel was there first"}}},
       {"attention_cuda/kernels/forward_wgmma/launch.cuh",
        {{"attention_cuda/kernels/flash2_wgmma_sm90.cuh",
          "it launches the kernel that is made of the other parts in its room"}}}};
  return kLeft;
}

/// The name of a room in floors(), without its endings.
inline std::string room_of(const std::string& floor) { return floor.substr(0, floor.find(' ')); }

/// The floor of a file; nothing for a file outside of the folder's rooms.
inline std::optional<std::size_t> floor_of(const std::string& folder,
                                           const std::filesystem::path& file) {
  const std::string room = file.parent_path().lexically_relative(folder).generic_string();
  const auto& all = floors().at(folder);
  std::optional<std::size_t> found;
  for (std::size_t k = 0; k < all.size(); ++k) {
    std::istringstream words(all[k]);
    std::string name, ending;
    words >> name;
    if (name != room) continue;
    if (name == all[k]) found = found.value_or(k);
    while (words >> ending) {
      if (file.extension() == ending) return k;
    }
  }
  return found;
}

}  // namespace flashlab::test
