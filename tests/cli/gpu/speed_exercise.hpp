// Exercise 37 and a class that hands it in.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/gpu/fake_gpu.hpp"

namespace flashlab::test {

/// The text with one part replaced; requires that the part is there.
inline std::string with_part(std::string text, const std::string& part, const std::string& by) {
  const std::size_t at = text.find(part);
  REQUIRE(at != std::string::npos);
  return text.replace(at, part.size(), by);
}

/// A class in the folder "class". Exercise 90_small is exercise 37, timed at level 0 and at a size that
/// the emulation computes in a moment.
class SpeedClass : public FakeGpu {
 public:
  SpeedClass() {
    namespace fs = std::filesystem;
    const fs::path folder = place().path("ex/90_small");
    fs::create_directories(folder.parent_path());
    fs::copy(fs::path(FLASHLAB_SOURCE_DIR) / "exercises" / "37_fast_attention", folder,
             fs::copy_options::recursive);
    std::string toml = place().read("ex/90_small/exercise.toml");
    toml = with_part(toml, "size = { n = 768, nk = 768, d = 64 }",
                     "size = { n = 48, nk = 48, d = 8 }");
    toml = with_part(toml, "batch = 16\nheads = 32\n", "heads = 2\nlevel = 0\ndtype = \"float\"\n");
#ifdef FLASHLAB_HAS_ADDRESS_SANITIZER
    toml = with_part(toml, "[limits]\n", "[limits]\nmilliseconds = 60000\n");
#endif
    for (const char* const file :
         {"given.toy", "solution.toy"}) {  // tiles of different sizes there
      const bool is_given = std::string(file) == "given.toy";
      std::string text = place().read("ex/90_small/" + std::string(file));
      text = with_part(text, is_given ? "min(n, 64)" : "min(n, 128)",
                       is_given ? "min(n, 8)" : "min(n, 16)");
      place().write("ex/90_small/" + std::string(file), text);
    }
    place().write("ex/90_small/exercise.toml", toml);
    fs::create_directory(place().path("class"));
  }

  std::string solution() const { return place().read("ex/90_small/solution.toy"); }
  void hand_in(const std::string& name, const std::string& text) const {
    place().write("class/" + name + ".toy", text);
  }
  /// The students' results by name.
  std::map<std::string, nlohmann::json> grade(const std::string& arguments,
                                              const std::string& wishes = "none") const {
    const auto report = json_of(flashlab("grade " + arguments + " --all class --json -", wishes));
    std::map<std::string, nlohmann::json> students;
    for (const auto& student : report["students"]) students[student["name"]] = student;
    return students;
  }
};

}  // namespace flashlab::test
