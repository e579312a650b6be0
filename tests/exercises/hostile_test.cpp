// Submissions that mean harm: each gets its verdict soon, shows nothing raw, and changes
// nothing for a student who meant none.
#include <sys/stat.h>

#include <ctime>
#include <fstream>
#include <functional>
#include <set>

#include "exercises/grader/grade/classroom.hpp"
#include "exercises/grader/report/reports.hpp"
#include "tests/exercises/class_folder.hpp"

namespace flashlab::test {
namespace {

using namespace exercises;
using std::string;
using Outcomes = std::set<Outcome>;

const Outcomes kRight{Outcome::kFull, Outcome::kCostly};
const Outcomes kWrong{Outcome::kWrong};
const Outcomes kRejected{Outcome::kRejected};
const Outcomes kLimit{Outcome::kLimit};
// Refused before or while it runs: which, is for the assembler to say.
const Outcomes kRefused{Outcome::kWrong, Outcome::kRejected, Outcome::kLimit};

const string kDotHead =
    ".isa attention\n.registers 8\n.param n = 4\n.input x[n]\n.input y[n]\n.output s[1]\n";
const string kBody =
    "FILL 0, R2\nfor i in 0..n\n  LOAD x[i], R0\n  LOAD y[i], R1\n  MAC R0, R1, R2, R2\nend\n"
    "STORE R2, s[0]\n";

string head_with(const string& line, const string& instead) {
  string text = kDotHead;
  const std::size_t at = text.find(line);
  REQUIRE(at != string::npos);
  return text.replace(at, line.size(), instead);
}

string repeated(const string& text, std::size_t times) {
  string all;
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

/// The body inside this many loops.
string nested(std::size_t depth, const string& range, const string& body) {
  string text;
  for (std::size_t i = 0; i < depth; ++i)
    text += "for v" + std::to_string(i) + " in " + range + "\n";
  return text + body + repeated("end\n", depth);
}

string crlf(const string& text) {
  string all;
  for (const char c : text) all += c == '\n' ? string("\r\n") : string(1, c);
  return all;
}

string utf16(const string& text) {
  string all = "\xFF\xFE";
  for (const char c : text) all += {c, '\0'};
  return all;
}

struct Hostile {
  string name, text;
  Outcomes expected;
};

std::vector<Hostile> loop_bombs() {
  const string idle = "FILL 0, R3\n";
  return {
      {"a loop of 10^9", kDotHead + nested(1, "0..1000000000", idle) + kBody, kLimit},
      {"five loops of 1000", kDotHead + nested(5, "0..1000", idle) + kBody, kLimit},
      {"a loop to the largest integer",
       kDotHead + nested(1, "0..9223372036854775807", idle) + kBody, kRefused},
      {"a bound that overflows", kDotHead + nested(1, "0..n*n*4611686018427387904", idle) + kBody,
       kRefused},
      {"a bound of 10^5 digits", kDotHead + nested(1, "0.." + string(50'000, '9'), idle) + kBody,
       kRefused},
      {"empty loops within each other", kDotHead + nested(12, "0..1000", "") + kBody, kRefused},
      {"loops whose bounds are other loops",
       kDotHead + "for a in 0..100000\nfor b in a..100000\nfor c in b..100000\n" + idle +
           "end\nend\nend\n" + kBody,
       kLimit},
      {"4000 loops in each other", kDotHead + nested(4000, "0..2", idle), kRefused},
      {"10^5 loops in each other", kDotHead + nested(100'000, "0..1", idle), kLimit},
      {"a step of 0", kDotHead + "for i in 0..n step 0\n" + idle + "end\n" + kBody, kRefused},
      {"a step below 0", kDotHead + "for i in 0..n step 0-1\n" + idle + "end\n" + kBody, kRefused},
      {"a step of 10^18",
       kDotHead + "for i in 0..9000000000000000000 step 1000000000000000000\n" + idle + "end\n" +
           kBody,
       kRefused},
      {"loops that never end", kDotHead + repeated("for i in 0..2\n", 4000), kRefused},
      {"ends without loops", kDotHead + kBody + repeated("end\n", 10'000), kRefused},
      {"the loop variable again", kDotHead + "for i in 0..n\nfor i in 0..n\nend\nend\n" + kBody,
       kRefused},
  };
}

std::vector<Hostile> declarations() {
  return {
      {"n of 10^18", head_with("n = 4", "n = 1000000000000000000") + kBody, kRight},
      {"n beyond 64 bits", head_with("n = 4", "n = 99999999999999999999999") + kBody, kRejected},
      {"no n", head_with(".param n = 4\n", "") + kBody, kRejected},
      // What the machine has is the exercise's to say; a declaration of more changes nothing ...
      {"10^9 registers", head_with(".registers 8", ".registers 1000000000") + kBody, kRight},
      {"one register more", head_with(".registers 8", ".registers 9") + kBody, kRight},
      // ... and a use of more is refused.
      {"the ninth register", head_with(".registers 8", ".registers 9") + "FILL 0, R8\n" + kBody,
       kRefused},
      {"an input of 10^12", head_with("x[n]", "x[1000000000000]") + kBody, kRejected},
      {"an input of n^9", head_with("x[n]", "x[n*n*n*n*n*n*n*n*n]") + kBody, kRejected},
      {"an extent of 0", head_with("x[n]", "x[0]") + kBody, kRejected},
      {"an extent below 0", head_with("x[n]", "x[n-100]") + kBody, kRejected},
      {"a temporary of 10^12", kDotHead + ".temp t[1000000000000]\n" + kBody, kRefused},
      {"2000 arrays more",
       kDotHead +
           [] {
             string text;
             for (int i = 0; i < 2000; ++i) text += ".input z" + std::to_string(i) + "[n]\n";
             return text;
           }() +
           kBody,
       kRejected},
      {"the output as an input", head_with(".output s[1]", ".input s[1]") + kBody, kRejected},
      {"an input as an output", head_with(".input y[n]", ".output y[n]") + kBody, kRejected},
      {"a declaration twice", kDotHead + ".output s[1]\n" + kBody, kRejected},
      {"tiles for elements", head_with("x[n]", "x(n, n) tile (1, 1)") + kBody, kRejected},
      {"another element type", head_with(".output s[1]", ".output s[1] bf16") + kBody, kRejected},
      {"a name of 60 000 letters",
       kDotHead + ".param " + string(60'000, 'a') + " = 1\n" + kBody,
       {Outcome::kFull, Outcome::kCostly, Outcome::kRejected, Outcome::kLimit}},
      {"a constant that is infinite",
       kDotHead + ".const c = exp(exp(exp(9)))\nFILL c, R2\nSTORE R2, s[0]\n", kRefused},
      {"a constant divided by 0", kDotHead + ".const c = 1/(n-n)\n" + kBody, kRefused},
      {"2000 constants in a chain",
       kDotHead + ".const c0 = 2\n" +
           [] {
             string text;
             for (int i = 1; i < 2000; ++i) {
               text += ".const c" + std::to_string(i) + " = c" + std::to_string(i - 1) + "*c" +
                       std::to_string(i - 1) + "\n";
             }
             return text;
           }() +
           kBody,
       {Outcome::kFull, Outcome::kCostly, Outcome::kRejected, Outcome::kLimit}},
      {"an unknown machine", head_with(".isa attention", ".isa quantum") + kBody, kRejected},
  };
}

std::vector<Hostile> tricks() {
  const string store = "STORE R2, s[0]\n";
  return {
      {"an index at the end", kDotHead + "LOAD x[n], R2\n" + store, kRefused},
      {"an index below 0", kDotHead + "LOAD x[0-1], R2\n" + store, kRefused},
      {"an index that overflows",
       kDotHead + "for i in 0..n\nLOAD x[i*9223372036854775807], R2\nend\n" + store, kRefused},
      {"an index divided by 0", kDotHead + "LOAD x[floor(1/0)], R2\n" + store, kRefused},
      {"an index divided by n - n", kDotHead + "LOAD x[floor(1/(n-n))], R2\n" + store, kRefused},
      {"an index in 10 000 brackets",
       kDotHead + "LOAD x[" + string(10'000, '(') + "0" + string(10'000, ')') + "], R2\n" + store,
       kRefused},
      {"an index of 10 000 signs",
       kDotHead + "LOAD x[" + string(10'000, '-') + "0], R2\n" + store,
       {Outcome::kWrong, Outcome::kRejected, Outcome::kLimit}},
      {"an index with 10 000 terms",
       kDotHead + "LOAD x[0" + repeated("+0", 10'000) + "], R2\n" + store, kRefused},
      {"register 10^9", kDotHead + "FILL 0, R1000000000\n" + kBody, kRefused},
      {"register R[10^18]", kDotHead + "FILL 0, R[1000000000000000000]\n" + kBody, kRefused},
      {"register R[-1]", kDotHead + "FILL 0, R[0-1]\n" + kBody, kRefused},
      {"a register that nobody wrote", kDotHead + "STORE R5, s[0]\n", kRefused},
      {"the output read first", kDotHead + "LOAD s[0], R2\n" + store, kRefused},
      {"a store to an input", kDotHead + "FILL 0, R0\nSTORE R0, x[0]\n" + kBody, kRefused},
      {"0 divided by 0", kDotHead + "FILL 0, R2\nDIV R2, R2, R2\n" + store, kWrong},
      {"a tower of exponentials", kDotHead + "FILL 1, R2\n" + repeated("EXP R2, R2\n", 20) + store,
       kWrong},
      {"nothing is stored", kDotHead + "FILL 0, R2\n", kRefused},
      {"a constant for an answer", kDotHead + "FILL 0.5, R2\n" + store, kWrong},
      {"0 for an answer", kDotHead + "FILL 0, R2\n" + store, kWrong},
      {"an infinite constant", kDotHead + "FILL 1e999, R2\n" + store, kRefused},
      {"no number for a constant", kDotHead + "FILL nan, R2\n" + store, kRefused},
      {"a label that claims the result",
       kDotHead + "FILL 0, R2\n.name R2 = sum(i in 0..n: x[i] * y[i])\n" + store, kRefused},
      {"the name of the reference", "; reference.toy solution.toy\n.include reference.toy\n",
       kRejected},
      {"the largest constant, stored n times",
       kDotHead + "FILL 3e38, R2\nfor i in 0..n\n" + store + "end\n", kWrong},
  };
}

std::vector<Hostile> bytes() {
  const string right = kDotHead + kBody;
  return {
      {"nothing", "", kRejected},
      {"blanks", "  \n\t\n", kRejected},
      {"comments", repeated("; nothing\n", 100), kRejected},
      {"a byte order mark", "\xEF\xBB\xBF", kRejected},
      {"a byte order mark and a program", "\xEF\xBB\xBF" + right, kRight},
      {"CRLF", crlf(right), kRight},
      {"no line end", right.substr(0, right.size() - 1), kRight},
      {"NUL bytes", right + string("; \0\0", 4), kRejected},
      {"UTF-16", utf16(right), kRejected},
      {"a zip file", string("PK\x03\x04\x14\0\0\0", 8) + string(300, '\x81'), kRejected},
      {"no UTF-8 in a comment", right + "; \xFF\xC0\x80\xED\xA0\x80\n", kRight},
      {"no UTF-8 in an instruction", kDotHead + "LO\xFF\xFE x[0], R0\n", kRejected},
      {"terminal escapes in a comment", "; \x1b]0;owned\x07\x1b[2J\n" + right, kRight},
      {"terminal escapes in an instruction", kDotHead + "\x1b[2JLOAD x[0], R0\n", kRejected},
      {"terminal escapes in a label", kDotHead + "FILL 0, R2\n.name R2 = \x1b[31mred\n" + kBody,
       kRefused},
      {"markup in a comment", "; ]]><script>alert(1)</script><!--\n" + right, kRight},
      {"markup in an instruction", kDotHead + "]]></failure><script>alert(1)</script>\n",
       kRejected},
      {"a spreadsheet's formula", "=HYPERLINK(\"http://x\")\n", kRejected},
      {"right-to-left marks", "; \xE2\x80\xAE\xE2\x81\xA6 drow\n" + right, kRight},
      {"a line of 10^6 bytes", right + ";" + string(1'000'000, 'x') + "\n", kLimit},
      {"a line of 60 000 bytes", right + ";" + string(60'000, 'x') + "\n", kRight},
      {"a wrong line of 60 000 bytes", kDotHead + string(60'000, 'x') + "\n", kRejected},
      {"a word of 60 000 bytes in an index", kDotHead + "LOAD x[" + string(60'000, 'q') + "], R0\n",
       kRejected},
      {"20 000 wrong lines", kDotHead + repeated("?\n", 20'000), kRejected},
      {"20 000 line ends", string(20'000, '\n') + right, kRight},
      {"6000 instructions to no use", kDotHead + repeated("FILL 0,R3\n", 6000) + kBody, kRight},
  };
}

std::vector<Hostile> all_hostile() {
  std::vector<Hostile> all;
  for (auto* group : {loop_bombs, declarations, tricks, bytes}) {
    for (Hostile& one : group()) all.push_back(std::move(one));
  }
  return all;
}

/// The template on a machine with every instruction, so that every trick can be tried.
std::shared_ptr<const Exercise> open_exercise() {
  return dot_product({{"exercise.toml", R"(
title = "A dot product on a large machine"
[machine]
level = "attention"
registers = 8
arrays = [".input x[n]", ".input y[n]", ".output s[1]"]
sizes = [{ n = 1 }, { n = 2 }, { n = 5 }, { n = 16 }]
[expect]
reference = "reference.toy"
[cost]
full = { cycles = "3*n + 2" }
[[wrong]]
file = "wrong/forgets_the_last.toy"
)"}});
}

bool has_raw_control(const string& text) {
  return std::any_of(text.begin(), text.end(), [](unsigned char c) {
    return (c < 0x20 && c != '\n' && c != '\r') || c == 0x7F;
  });
}

bool has_part(const string& text, const string& part) { return text.find(part) != string::npos; }

}  // namespace

TEST_CASE("hostile submissions get the verdict they deserve, and none takes long") {
  const Grader grader(open_exercise());
  const std::vector<Hostile> all = all_hostile();
  REQUIRE(all.size() >= 60);
  for (const Hostile& hostile : all) {
    CAPTURE(hostile.name);
    const std::clock_t start = std::clock();  // of this process: other programs may run
    const SubmissionText read = check_submission_text(hostile.text, grader.exercise());
    const Verdict verdict =
        read.readable ? grade_text(grader, read.text) : refused(grader.exercise(), read);
    CHECK(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC < 10);  // sanitizers are slow
    CAPTURE(to_string(verdict.outcome));
    CHECK(hostile.expected.count(verdict.outcome) == 1);
    CHECK(verdict.passed() == (verdict.points > 0));
    CHECK((verdict.passed() || !verdict.findings.empty()));
  }
}

TEST_CASE("a class of hostile submissions changes no normal student's marks") {
  const ClassFolderOnDisk folder;
  const std::vector<Hostile> all = all_hostile();
  for (std::size_t i = 0; i < all.size(); ++i) {
    folder.write("h" + std::to_string(100 + i) + ".toy", all[i].text);
  }
  for (const char* name :
       {"%2E%2E%2F..%2Fetc%2Fpasswd.toy", "-rf.toy", "--all.toy", "$(touch owned).toy", "`id`.toy",
        "%n%s%p.toy", "=1+1.toy", "<b>x<b>.toy", "]]>.toy", "\x1b[2J.toy", "a\nb.toy",
        "\xFF\xFE.toy", "\xE2\x80\xAEyot.toy", "'; drop.toy", "&amp;.toy", "NUL.toy",
        "{{style}}.toy"}) {
    folder.write(name, kDotHead + kBody);
  }
  folder.write(string(250, 'x') + ".toy", kDotHead + kBody);
  std::filesystem::create_symlink("normal.toy", folder.path("thief.toy"));
  std::filesystem::create_symlink("/dev/zero", folder.path("zero.toy"));
  std::filesystem::create_symlink("loop.toy", folder.path("loop.toy"));
  std::filesystem::create_directory_symlink("..", folder.path("up"));
  REQUIRE(mkfifo(folder.path("pipe.toy").c_str(), 0600) == 0);
  std::filesystem::create_directory(folder.path("folder.toy"));
  folder.write("normal.toy", kDotHead + kBody);

  const Grader grader(open_exercise());
  const ClassFolder listed = list_class(folder.path());
  REQUIRE(listed.students.size() == all.size() + 18 + 6 + 1);
  const auto results = grade_class(grader, listed.students, {2, {}});
  for (const StudentResult& result : results) CHECK_FALSE(has_raw_control(result.name));
  const Verdict& normal = *result_of(results, "normal").verdict;
  CHECK(normal.outcome == Outcome::kFull);
  CHECK(normal.points == 10);
  for (const char* name : {"thief", "zero", "loop", "up", "pipe", "folder.toy"}) {
    CAPTURE(name);
    CHECK(result_of(results, name).verdict->outcome == Outcome::kUnreadable);
  }
  CHECK(result_of(results, "{{style}}").verdict->outcome == Outcome::kFull);
  const ClassReport report = make_class_report(grader.exercise(), results, {});
  for (const auto writer : {write_json, write_csv, write_junit, write_html}) {
    CHECK_FALSE(has_raw_control(written(writer, report)));
  }
  for (const auto writer : {write_junit, write_html}) {
    CHECK_FALSE(has_part(written(writer, report), "<script>alert"));
    CHECK_FALSE(has_part(written(writer, report), "<b>"));
  }
  CHECK_FALSE(has_part(written(write_csv, report), "\n=1+1"));
}

TEST_CASE("a file without permission to read it is unreadable") {
  if (geteuid() == 0) FLASHLAB_SKIP("root may read everything");
  const ClassFolderOnDisk folder;
  folder.write("shut.toy", kBody);
  REQUIRE(chmod(folder.path("shut.toy").c_str(), 0) == 0);
  const auto text = read_submission_file(folder.path("shut.toy"), *open_exercise());
  CHECK(text.outcome == Outcome::kUnreadable);
}

}  // namespace flashlab::test
