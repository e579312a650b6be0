// Grades any text. The verdict must have a reason for lost points, be safe to show, be the same
// when the text is graded again, and survive the transfer from a worker.
#include "exercises/grader/exercise/catalogue.hpp"
#include "exercises/grader/grade/classroom.hpp"
#include "exercises/isolation/wire.hpp"
#include "fuzz/claims.hpp"
#include "text/visible.hpp"

using namespace flashlab;
using namespace flashlab::exercises;

namespace {

const Grader& grader() {
  static const Grader kGrader = [] {
    ReadResult read = read_exercise("01_dot", template_exercise().files);
    GraderOptions options;
    options.milliseconds = 200;
    options.bytes = 64 << 20;
    return Grader(std::make_shared<const Exercise>(std::move(read.exercise.value())), options);
  }();
  return kGrader;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const Verdict verdict = grade_text(grader(), text);
  fuzz::expect(verdict.points >= 0 && verdict.points <= verdict.max_points, "points are in range",
               text);
  fuzz::expect(verdict.passed() || !verdict.findings.empty(), "a loss has a reason", text);
  fuzz::expect(verdict.outcome != Outcome::kCrashed, "the grader has no error of its own", text);
  for (const Finding& finding : verdict.findings) {
    fuzz::expect(!first_unprintable(finding.what), "a finding can be shown", finding.what);
    for (const std::string& line : finding.details) {
      fuzz::expect(!first_unprintable(line), "details can be shown", line);
    }
  }
  const std::string sent = encode(verdict);
  fuzz::expect(encode(decode_verdict(sent)) == sent, "a verdict is sent whole", text);
  return 0;
}
