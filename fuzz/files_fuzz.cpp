// Reads any file of the commands, or expects a message: comparisons, calibrations, a
// profiler's output, proofs, best costs, lists of numbers, a worker's answers. The first byte
// selects the kind.
#include <array>

#include "compare/counters/ncu_file.hpp"
#include "exercises/grader/exercise/proven.hpp"
#include "exercises/grader/grade/best_costs.hpp"
#include "exercises/isolation/wire.hpp"
#include "fuzz/claims.hpp"
#include "results/result_file.hpp"
#include "toymachine/execute/dram.hpp"

using namespace flashlab;

namespace {

/// Reads the text; an error must have a message.
template <class Error, class Read>
void expect_sentence(const Read& read) {
  try {
    read();
  } catch (const Error& error) {
    fuzz::expect(*error.what() != '\0', "an error says something", "");
  }
}

void read_comparison(const std::string& text) {
  expect_sentence<compare::ResultFileError>([&] {
    const compare::Comparison once = compare::parse_comparison(text);
    const std::string written = compare::to_text(once);
    fuzz::expect(compare::to_text(compare::parse_comparison(written)) == written,
                 "a comparison that is written and read again is the same", written);
  });
}
void read_calibration(const std::string& text) {
  expect_sentence<compare::ResultFileError>([&] { compare::parse_calibration(text); });
}
void read_profile(const std::string& text) {
  expect_sentence<compare::NcuFileError>([&] { compare::parse_ncu_csv(text); });
}
void read_proof(const std::string& text) {
  const auto proven = exercises::parse_proven(text);
  if (!fuzz::answered(proven, toy::SourceText("proven.json", text))) return;
  const std::string written = exercises::to_json(*proven);
  const auto again = exercises::parse_proven(written);
  fuzz::expect(again && exercises::to_json(*again) == written,
               "a proof that is written and read again is the same", written);
}
void read_best_costs(const std::string& text) {
  fuzz::answered(exercises::parse_best_costs(text), toy::SourceText("best.json", text));
}
void read_numbers(const std::string& text) {
  fuzz::answered(toy::parse_input_source(text), toy::SourceText("input", text));
}
void read_verdict(const std::string& text) {
  expect_sentence<exercises::WireError>([&] { exercises::decode_verdict(text); });
}

using Read = void (*)(const std::string&);
constexpr std::array<Read, 7> kReaders = {read_comparison, read_calibration, read_profile,
                                          read_proof,      read_best_costs,  read_numbers,
                                          read_verdict};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  // The first byte is 'a' for the first reader, so that a corpus can be typed.
  kReaders[static_cast<std::size_t>(data[0] - 'a') % kReaders.size()](text);
  return 0;
}
