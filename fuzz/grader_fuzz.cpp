// Grades any text. The verdict must have a reason for lost points, be safe to show, survive the
// transfer from a worker, and take no more than the limit. The text is a submission of the exercise
// that its first line names, "; exercise 08_online_softmax", or else of the template.
#include <map>

#include "exercises/grader/exercise/catalogue.hpp"
#include "exercises/grader/grade/classroom.hpp"
#include "exercises/isolation/wire.hpp"
#include "fuzz/claims.hpp"
#include "text/visible.hpp"

using namespace flashlab;
using namespace flashlab::exercises;

namespace {

constexpr std::int64_t kMilliseconds = 200;
/// The limit is asked for between steps of the grading. With sanitizers the longest of them takes some 50 ms, and on
/// a computer with other work 100.
constexpr std::int64_t kLongestStep = 200;

using Graders = std::map<std::string, std::unique_ptr<const Grader>, std::less<>>;

std::unique_ptr<const Grader> grader_of(const std::string& id, const Files& files) {
  ReadResult read = read_exercise(id, files);
  GraderOptions options;
  options.milliseconds = kMilliseconds;
  options.bytes = 64 << 20;
  return std::make_unique<const Grader>(
      std::make_shared<const Exercise>(std::move(read.exercise.value())), options);
}

/// Exercises that can be prepared and graded in little time. Those about bytes and times are counted
/// at large sizes.
bool is_quick(const ExerciseSource& source) {
  const auto read = read_exercise(source.id, source.files);
  return read.exercise && read.exercise->kind == Kind::kProgram &&
         read.exercise->program.counted.ranges.empty() && !read.exercise->program.speed;
}

const Grader& grader_for(std::string_view text) {
  static const std::unique_ptr<const Grader> kTemplate =
      grader_of("01_dot", template_exercise().files);
  static Graders graders;
  constexpr std::string_view kStart = "; exercise ";
  if (!text.starts_with(kStart)) return *kTemplate;
  text.remove_prefix(kStart.size());
  const std::string id(text.substr(0, text.find('\n')));
  const auto known = graders.find(id);
  if (known != graders.end()) return *known->second;
  for (const ExerciseSource& source : builtin_exercises()) {
    if (source.id != id || !is_quick(source)) continue;
    return *graders.emplace(id, grader_of(id, source.files)).first->second;
  }
  return *kTemplate;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const Grader& grader = grader_for(text);
  const std::int64_t start = toy::thread_nanoseconds();
  const Verdict verdict = grade_text(grader, text);
  const std::int64_t used = (toy::thread_nanoseconds() - start) / 1'000'000;
  fuzz::expect(used <= kMilliseconds + kLongestStep, "the limit is kept", text);
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
