#include "cli/grading/grading_seed.hpp"

#ifdef __APPLE__
#include <sys/random.h>
#endif
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <optional>
#include <set>
#include <system_error>

#include "cli/grading/kept_seed.hpp"
#include "cli/terminal/failure.hpp"
#include "cli/terminal/files.hpp"
#include "text/lists.hpp"
#include "text/sha256.hpp"
#include "text/visible.hpp"
#include "text/width.hpp"

namespace flashlab::cli {
namespace {

namespace fs = std::filesystem;

/// The first 63 bits.
std::uint64_t number_of(const Digest& digest) {
  std::uint64_t number = 0;
  std::memcpy(&number, digest.data(), sizeof number);
  return number & static_cast<std::uint64_t>(INT64_MAX);
}

/// Seed and key from the operating system. One is no function of the other.
KeptSeed drawn_seed() {
  std::array<char, 64> bytes{};
  if (getentropy(bytes.data(), bytes.size()) != 0) {
    throw request_failure(
        std::string("the system gives no random numbers: ") + std::strerror(errno), "--seed N");
  }
  const std::string_view all(bytes.data(), bytes.size());
  return {number_of(sha256(all.substr(0, 32))),
          hex(sha256(all.substr(32))).substr(0, kNamesKeyDigits)};
}

KeptSeed seed_from_secret(const std::string& path) {
  constexpr std::int64_t kMostBytes = 1 << 16;
  constexpr std::size_t kFewest = 16;
  const std::string expected =
      "a file with a text of at least 16 characters that only you know: "
      "head -c 24 /dev/urandom | base64 > " +
      printable(path);
  std::error_code code;
  if (!fs::is_regular_file(fs::status(path, code))) {
    throw request_failure("--secret '" + printable(path) + "' is not a file", expected);
  }
  const std::string text = read_text_file(path, kMostBytes, expected);
  const std::string secret(trimmed(text));
  if (secret.size() < kFewest) {
    throw request_failure(
        "--secret '" + printable(path) + "' holds " + std::to_string(secret.size()) + " characters",
        expected);
  }
  return {number_of(sha256("flashlab seed\n" + secret)),
          hex(sha256("flashlab pseudonyms\n" + secret)).substr(0, kNamesKeyDigits)};
}

std::string absolute_path(const std::string& path) {
  std::error_code code;
  const fs::path canonical = fs::canonical(path, code);
  return code ? fs::absolute(path, code).string() : canonical.string();
}

/// The folder of a class; for several files, the folders that hold them.
std::string class_path(const GradeOptions& options) {
  if (!options.all_folder.empty()) return absolute_path(options.all_folder);
  std::set<std::string> folders;
  for (const std::string& file : options.files) {
    folders.insert(fs::path(absolute_path(file)).parent_path().string());
  }
  return joined(folders, ":");
}

/// The same sentence in every grading of the class, so that equal gradings print the same.
std::string sentence_about(const std::string& shown, const KeptSeedFile& file) {
  if (file.problem().empty()) {
    return "Seed " + shown + ", kept for this class: another grading of it has the same inputs.";
  }
  return "Seed " + shown + ", not kept (" + file.problem() + "): --seed=" + shown +
         " grades with the same inputs again.";
}

/// A seed to try. Only one that is fair is kept with the class.
struct Candidate {
  enum class Keep { kNothing, kFirst, kInPlace };

  GradingSeed seed;
  bool is_drawn = false;  // now, and not before
  Keep keep = Keep::kNothing;
};

/// The seed of a class for which one is given, directly or by a secret: `given`.
Candidate given_to_class(const GradeOptions& options, const KeptSeedFile& file, GradingSeed given) {
  const std::optional<KeptSeed> kept = file.read();
  if (kept && kept->seed != given.value) {
    const std::string other = "this class was graded with seed " + seed_text(kept->seed) +
                              " before (" + printable(file.path()) + ")";
    if (options.resume) {
      throw request_failure("--resume: " + other,
                            "--resume without " +
                                std::string(options.secret.empty() ? "--seed" : "--secret") +
                                ", or a new grading without --resume");
    }
    given.notes.push_back(other + "; with another one, points may differ");
  }
  if (options.secret.empty() && kept) given.names_key = kept->names_key;
  return {std::move(given), false, Candidate::Keep::kInPlace};
}

/// The seed of a class for which none is given.
Candidate kept_or_drawn(const GradeOptions& options, const KeptSeedFile& file) {
  if (options.resume && options.draws_seed()) {
    throw request_failure("--resume with --seed new", "one of them");
  }
  const std::optional<KeptSeed> kept = file.read();
  Candidate found;
  KeptSeed used = kept ? *kept : drawn_seed();
  if (!kept) {
    found.keep = Candidate::Keep::kFirst;
  } else if (options.draws_seed()) {
    used.seed = drawn_seed().seed;
    found.keep = Candidate::Keep::kInPlace;
  }
  found.is_drawn = found.keep != Candidate::Keep::kNothing;
  found.seed.value = used.seed;
  found.seed.names_key = used.names_key;
  found.seed.shown = seed_text(used.seed);
  return found;
}

/// The next seed to try. `file` is that of the class; null without one.
Candidate next_candidate(const GradeOptions& options, const KeptSeedFile* file) {
  GradingSeed given;
  given.value = options.inputs_seed;
  given.names_key = drawn_seed().names_key;
  const auto number = parse_seed(options.seed);
  const bool is_given = !options.secret.empty() || number.has_value();
  if (!options.secret.empty()) {
    const KeptSeed made = seed_from_secret(options.secret);
    given.value = made.seed;
    given.names_key = made.names_key;
  } else if (number) {
    given.value = *number;
    given.shown = seed_text(*number);
  }
  if (file != nullptr) {
    return is_given ? given_to_class(options, *file, std::move(given))
                    : kept_or_drawn(options, *file);
  }
  const bool is_drawn = options.draws_seed();
  if (is_drawn) {
    given.value = drawn_seed().seed;
    given.shown = seed_text(given.value);
    given.sentence = "Seed " + given.shown + ", drawn.";
  }
  return {std::move(given), is_drawn, Candidate::Keep::kNothing};
}

/// Keeps a fair seed with its class. False if another grading of the class, which began at the same
/// time, was first.
bool keep(const Candidate& fair, KeptSeedFile& file) {
  const KeptSeed kept{fair.seed.value, fair.seed.names_key};
  if (fair.keep == Candidate::Keep::kInPlace) file.replace(kept);
  return fair.keep != Candidate::Keep::kFirst || file.keep_first(kept).seed == kept.seed;
}

}  // namespace

GradingSeed choose_fair_seed(GradeOptions& options,
                             const std::function<bool(const GradeOptions&)>& is_fair) {
  constexpr int kMostDraws = 20;
  std::optional<KeptSeedFile> file;
  std::error_code code;
  const bool exists = options.all_folder.empty() || fs::is_directory(options.all_folder, code);
  if (!options.single() && exists) file.emplace(class_path(options));
  GradeOptions tried = options;
  for (int i = 0; i < kMostDraws; ++i) {
    Candidate next = next_candidate(options, file ? &*file : nullptr);
    tried.inputs_seed = next.seed.value;
    tried.names_key = next.seed.names_key;
    const bool is_default = next.seed.value == GradeOptions().inputs_seed;
    if (is_default || is_fair(tried)) {
      if (file && !keep(next, *file)) continue;  // the kept one is next
      options.inputs_seed = tried.inputs_seed;
      options.names_key = tried.names_key;
      if (file && options.secret.empty()) {
        next.seed.sentence = sentence_about(next.seed.shown, *file);
      } else if (file) {
        next.seed.sentence =
            "The seed is made from the secret in '" + printable(options.secret) + "'.";
      }
      return std::move(next.seed);
    }
    if (!next.is_drawn) break;
  }
  throw request_failure(
      "with this seed, the exercise's own solution is not right on all inputs, so "
      "nothing was graded",
      options.secret.empty() ? "another one: --seed new"
                             : "another secret in '" + printable(options.secret) + "'");
}

void print_seed(const GradingSeed& seed, const Terminal& terminal) {
  if (seed.sentence.empty()) return;
  std::cout << "\n";
  for (const std::string& line : wrap(seed.sentence, terminal.width)) std::cout << line << "\n";
}

}  // namespace flashlab::cli
