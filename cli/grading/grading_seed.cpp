#include "cli/grading/grading_seed.hpp"

#ifdef __APPLE__
#include <sys/random.h>
#endif
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <optional>
#include <set>
#include <system_error>
#include <thread>

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

/// The seed of a class for which one is given, directly or by a secret.
void use_given(const GradeOptions& options, KeptSeedFile& file, const std::optional<KeptSeed>& kept,
               GradingSeed& chosen) {
  if (kept && kept->seed != chosen.value) {
    const std::string other = "this class was graded with seed " + seed_text(kept->seed) +
                              " before (" + printable(file.path()) + ")";
    if (options.resume) {
      throw request_failure("--resume: " + other,
                            "--resume without " +
                                std::string(options.secret.empty() ? "--seed" : "--secret") +
                                ", or a new grading without --resume");
    }
    chosen.notes.push_back(other + "; with another one, points may differ");
  }
  if (options.secret.empty() && kept) chosen.names_key = kept->names_key;
  file.replace({chosen.value, chosen.names_key});
  chosen.sentence = options.secret.empty() ? sentence_about(chosen.shown, file)
                                           : "The seed is made from the secret in '" +
                                                 printable(options.secret) + "'.";
}

/// The seed of a class for which none is given.
void keep_or_draw(KeptSeedFile& file, const std::optional<KeptSeed>& kept, bool is_new,
                  GradingSeed& chosen) {
  KeptSeed used = kept ? *kept : drawn_seed();
  if (!kept) {
    used = file.keep_first(used);
  } else if (is_new) {
    used.seed = drawn_seed().seed;
    file.replace(used);
  }
  chosen.value = used.seed;
  chosen.is_drawn = !kept || is_new;
  chosen.names_key = used.names_key;
  chosen.shown = seed_text(used.seed);
  chosen.sentence = sentence_about(chosen.shown, file);
}

}  // namespace

GradingSeed choose_seed(const GradeOptions& options) {
  GradingSeed chosen;
  chosen.value = options.inputs_seed;
  chosen.names_key = drawn_seed().names_key;
  const auto number = parse_seed(options.seed);
  if (!options.secret.empty()) {
    const KeptSeed made = seed_from_secret(options.secret);
    chosen.value = made.seed;
    chosen.names_key = made.names_key;
  } else if (number) {
    chosen.value = *number;
    chosen.shown = seed_text(*number);
  }
  std::error_code code;
  const bool exists = options.all_folder.empty() || fs::is_directory(options.all_folder, code);
  if (options.single() || !exists) {
    if (options.draws_seed()) {
      chosen.value = drawn_seed().seed;
      chosen.is_drawn = true;
      chosen.shown = seed_text(chosen.value);
      chosen.sentence = "Seed " + chosen.shown + ", drawn.";
    }
    return chosen;
  }
  KeptSeedFile file(class_path(options));
  const std::optional<KeptSeed> kept = file.read();
  if (!options.secret.empty() || number) {
    use_given(options, file, kept, chosen);
  } else {
    if (options.resume && options.draws_seed()) {
      throw request_failure("--resume with --seed new", "one of them");
    }
    keep_or_draw(file, kept, options.draws_seed(), chosen);
  }
  return chosen;
}

GradingSeed choose_fair_seed(GradeOptions& options,
                             const std::function<bool(const GradeOptions&)>& is_fair) {
  constexpr int kMostDraws = 20;
  constexpr std::chrono::milliseconds kWait{50};
  GradeOptions tried = options;
  std::vector<std::string> notes;
  for (int i = 0; i < kMostDraws; ++i) {
    GradingSeed seed = choose_seed(tried);
    if (i == 0) notes = seed.notes;
    const bool is_default = seed.value == GradeOptions().inputs_seed;
    options.inputs_seed = tried.inputs_seed = seed.value;
    options.names_key = tried.names_key = seed.names_key;
    if (is_default || is_fair(tried)) {
      seed.notes = notes;
      return seed;
    }
    if (seed.is_drawn) {
      tried.seed = GradeOptions::kNewSeed;
      tried.resume = false;  // nothing was graded with a new seed
    } else if (options.seed.empty() && options.secret.empty()) {
      // Another grading of the class, which began at the same time, may be about to draw a new one.
      std::this_thread::sleep_for(kWait);
    } else {
      break;
    }
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
