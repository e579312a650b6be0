// The seed that is kept with a class, so that a second grading has the same inputs.
//
// The file is in the user's state folder, under the path of the class. A file beside the class could
// be handed out with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace flashlab::cli {

/// Hexadecimal digits of KeptSeed::names_key.
inline constexpr std::size_t kNamesKeyDigits = 32;

struct KeptSeed {
  std::uint64_t seed = 0;
  std::string names_key;  // determines pseudonyms; independent of the seed
};

/// Returns the folder for state that is not in any file of the user's: $XDG_STATE_HOME/flashlab, or
/// ~/.local/state/flashlab. Empty if there is no home folder.
std::string state_folder();

class KeptSeedFile {
 public:
  /// `class_path`: absolute, without links, so that a class has one name.
  explicit KeptSeedFile(const std::string& class_path);

  /// Returns what is kept; nothing if the class was not graded before. Throws Failure with the place
  /// if the file is damaged.
  std::optional<KeptSeed> read() const;

  /// Keeps a seed that was drawn. Returns what is kept then: if another grading was first, its seed.
  /// On failure, returns `drawn`, and problem() says why it is not kept.
  KeptSeed keep_first(const KeptSeed& drawn);
  /// Replaces what is kept. On failure, problem() says why.
  void replace(const KeptSeed& by);

  const std::string& problem() const { return problem_; }
  const std::string& path() const { return path_; }

 private:
  std::string written(const KeptSeed& kept);

  std::string class_path_, path_, problem_;
};

/// Returns "4711", or "0x2f…" for large ones: a spreadsheet would round 19 digits.
std::string seed_text(std::uint64_t seed);
/// Reads a decimal number, or a hexadecimal one after 0x. Nothing if it is neither, or 2^63 or more.
std::optional<std::uint64_t> parse_seed(const std::string& text);

}  // namespace flashlab::cli
