// What is wrong with an exercise's folder is said with its place.
#include "exercises/grader/exercise/catalogue.hpp"
#include "exercises/grader/exercise/exercise.hpp"
#include "tests/catch_shim.hpp"

namespace {

using namespace flashlab::exercises;
using namespace flashlab::test;

/// The template with a stretch of one file replaced.
Files template_with(const std::string& file, const std::string& from, const std::string& to) {
  Files files = template_exercise().files;
  std::string& text = files[file];
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  text.replace(at, from.size(), to);
  return files;
}

std::string errors_of(const Files& files, const std::string& id = "copy") {
  const ReadResult read = read_exercise(id, files);
  CHECK(read.exercise.has_value() == read.errors.empty());
  return format(read.errors, files);
}

/// All that is said after one change of exercise.toml.
std::string errors(const std::string& from, const std::string& to) {
  return errors_of(template_with("exercise.toml", from, to));
}

/// An exercise with one question, that line for line holds `rules`.
std::string question_errors(const std::string& rules) {
  Files files = {{"problem.md", "Read."},
                 {"hints.md", "## Concept\na\n## Place\nb\n## Operand\nc\n## Solution\nd\n"}};
  files["exercise.toml"] =
      "title = \"Quiz\"\n[[question]]\nid = \"q\"\nask = \"How many?\"\n" + rules;
  return errors_of(files);
}

const std::string kSizes = "sizes = [{ n = 1 }, { n = 2 }, { n = 5 }, { n = 16 }]";

}  // namespace

TEST_CASE("the template and every built-in exercise can be read", "[reader]") {
  CHECK(errors_of(template_exercise().files) == "");
  for (const ExerciseSource& source : builtin_exercises()) {
    CHECK(errors_of(source.files, source.id) == "");
  }
}

TEST_CASE("a message has file, line, column, what was expected and a near miss", "[reader]") {
  CHECK(
      errors("registers = 3", "regsters = 3") ==
      "exercise.toml:6:1: error: unknown key 'regsters' in [machine]\n"
      "  6 | regsters = 3\n    | ^~~~~~~~\n"
      "  expected one of level, extra, registers, operands, sizes, drawn, draws, counts, counted, "
      "temporaries, tiles, register_bytes, arrays\n"
      "  did you mean registers?\n");
}

TEST_CASE("columns count bytes, as the assembler's do", "[reader]") {
  CHECK_THAT(errors("sizes = [{ n = 1 }", "sizes = [{ \"é\" = 1, n = 1.5 }"),
             contains("exercise.toml:8:26: error: the value of n is not a size"));
}

TEST_CASE("all errors are said at once", "[reader]") {
  const std::string said = errors("level = \"matmul\"", "level = \"soft\"\nextra = [\"EXPP\"]");
  CHECK_THAT(said, contains("unknown level 'soft'"));
  CHECK_THAT(said, contains("there is no instruction 'EXPP'"));
}

TEST_CASE("what exercise.toml must say is asked for", "[reader]") {
  CHECK_THAT(errors("title = \"A dot product\"", ""), contains("'title' is missing"));
  CHECK_THAT(errors("A dot product", "  "), contains("the text is empty"));
  CHECK_THAT(errors("A dot product", "A \\u001b[31m"), contains("holds a control character"));
  CHECK_THAT(errors("A dot product", "A\\nB"), contains("has a line end or a tab"));
  CHECK_THAT(errors("title = \"A dot product\"", "title = 3"), contains("has the wrong type"));
  CHECK_THAT(errors("file = \"wrong/forgets_the_last.toy\"\nline = 11", ""),
             contains("'file' is missing in [[wrong]]"));
}

TEST_CASE("a machine that cannot be is refused", "[reader]") {
  CHECK_THAT(errors("registers = 3", "registers = \"k + 1\""), contains("exercise.toml:6:13"));
  CHECK_THAT(errors("registers = 3", "operands = \"pined\""), contains("unknown rule 'pined'"));
  CHECK_THAT(errors("registers = 3", "extra = [\"MAC\"]"),
             contains("MAC is on the machine already"));
  CHECK_THAT(errors(".input y[n]", ".input y[n - 2]"), contains("at n = 1"));
  CHECK_THAT(errors(".input y[n]", ".temp y[n]"), contains("declares no input and no output"));
  CHECK_THAT(errors(".input y[n]", ".input x[n]"), contains("is listed twice"));
  CHECK_THAT(errors(".output s[1]", ".input s[1]"), contains("no output"));
}

TEST_CASE("sizes have the same parameters, and values in range", "[reader]") {
  CHECK_THAT(errors("{ n = 2 }", "{ m = 2 }"), contains("other parameters than the first one"));
  CHECK_THAT(errors("{ n = 2 }", "{ n = 1 }"), contains("this size is listed twice"));
  CHECK_THAT(errors("{ n = 2 }", "{ n = -2 }"), contains("the value of n is not a size"));
  CHECK_THAT(errors(kSizes, "sizes = []"), contains("no size at all"));
  std::string many = "sizes = [{ n = 1 }";
  for (int n = 2; n < 70; ++n) many += ", { n = " + std::to_string(n) + " }";
  CHECK_THAT(errors(kSizes, many + "]"), contains("69 entries"));
}

TEST_CASE("inputs and expected results name what there is", "[reader]") {
  const std::string inputs = "[inputs]\n";
  CHECK_THAT(errors("ranges = { x = [0.5, 2]", "ranges = { z = [0, 1]"),
             contains("'z' is not an input of this exercise"));
  CHECK_THAT(errors("ranges = { x = [0.5, 2]", "ranges = { x = [1, 0]"),
             contains("this is not a range of 'x'"));
  CHECK_THAT(errors(inputs, inputs + "families = [\"rndom\"]\n"), contains("did you mean random?"));
  CHECK_THAT(errors(inputs, inputs + "huge = 0\n"), contains("not above 0"));
  CHECK_THAT(errors("\"reference.toy\"", "\"builtin:softmx\""), contains("did you mean softmax?"));
  CHECK_THAT(errors("\"reference.toy\"", "\"refrence.toy\""),
             contains("did you mean reference.toy?"));
  CHECK_THAT(errors("\"reference.toy\"", "\"reference.toy\"\ncheck = [\"t\"]"),
             contains("'t' is not an output"));
  CHECK_THAT(errors("\"reference.toy\"", "\"reference.toy\"\ntolerance = 2"),
             contains("not between 0 and 1"));
}

TEST_CASE("a cost formula has a value at every size", "[reader]") {
  const std::string cycles = "\"3*n + 1\"";
  CHECK(errors(cycles, "\"3*ceil(n/4) + n²\"") == "");
  CHECK_THAT(errors(cycles, "\"3*m\""), contains("'cycles': unknown name 'm'"));
  CHECK_THAT(errors(cycles, "\"3/n\""), contains("'cycles' divides by a parameter"));
  CHECK_THAT(errors(cycles, "\"ceil(n/(n - 5))\""), contains("'cycles' has no value at n = 1"));
  CHECK_THAT(errors(cycles, "\"3 - n\""), contains("'cycles' is -13 at n = 16"));
  CHECK_THAT(errors("cycles =", "cycels ="), contains("did you mean cycles?"));
  CHECK_THAT(errors("[[wrong]]", "most = { loads = 3 }\n[[wrong]]"),
             contains("loads is below the cost for full marks at n = 16"));
}

TEST_CASE("files that are missing or do not assemble are named", "[reader]") {
  for (const char* name : {"starter.toy", "solution.toy", "problem.md", "hints.md"}) {
    Files files = template_exercise().files;
    files.erase(name);
    CHECK_THAT(errors_of(files), contains("there is no " + std::string(name)));
  }
  CHECK_THAT(errors_of(template_with("solution.toy", "STORE", "STOER")),
             contains("solution.toy:17:1"));
  CHECK_THAT(errors_of(template_with("hints.md", "## Place", "## Plase")),
             contains("expected ## Place"));
  CHECK_THAT(errors_of(template_with("problem.md", "# A", "# \x1b")), contains("problem.md:1:1"));
  CHECK_THAT(errors("title", "demo = true\ntitle"), contains("no starter of its own"));
}

TEST_CASE("wrong submissions are files below wrong, each once", "[reader]") {
  CHECK_THAT(errors("wrong/forgets", "wrong/foregts"),
             contains("did you mean wrong/forgets_the_last.toy?"));
  CHECK_THAT(errors("wrong/forgets_the_last.toy", "solution.toy"), contains("wrong/NAME.toy"));
  CHECK_THAT(errors("line = 11", "line = 99"), contains("one of the 16 lines"));
}

TEST_CASE("an answer is read by its question's own rule", "[reader]") {
  CHECK(question_errors("kind = \"number\"\nanswer = \"2^10\"\n") == "");
  CHECK_THAT(question_errors("kind = \"number\"\nanswer = \"n\"\n"), contains("unknown name 'n'"));
  CHECK_THAT(question_errors("kind = \"formula\"\nanswer = \"2n\"\nvariables = [\"m\"]\n"),
             contains("exercise.toml:6:10: error: 'answer' in [[question]]: unknown name 'n'"));
  CHECK_THAT(question_errors("kind = \"choice\"\nanswer = \"c\"\nchoices = [\"x\", \"y\"]\n"),
             contains("'c' is none of the choices"));
  CHECK_THAT(question_errors("kind = \"chocie\"\nanswer = \"c\"\n"), contains("unknown kind"));
  CHECK_THAT(question_errors("kind = \"open\"\nanswer = \"c\"\ntolerance = 0.1\n"),
             contains("only a number has it"));
}

TEST_CASE("a mistake is neither the right answer nor another mistake", "[reader]") {
  const std::string formula = "kind = \"formula\"\nanswer = \"2*n\"\nvariables = [\"n\"]\n";
  CHECK_THAT(question_errors(formula + "mistakes = [{ answer = \"n + n\", says = \"x\" }]\n"),
             contains("this is the right answer"));
  CHECK_THAT(question_errors(formula + "mistakes = [{ answer = \"n\", says = \"x\" }, "
                                       "{ answer = \"2n/2\", says = \"y\" }]\n"),
             contains("a mistake above is the same answer"));
}

TEST_CASE("a condition relates two variables of one question", "[reader]") {
  const auto with_condition = [](const std::string& condition) {
    Files files = {{"problem.md", "Read."},
                   {"hints.md", "## Concept\na\n## Place\nb\n## Operand\nc\n## Solution\nd\n"}};
    files["exercise.toml"] = "title = \"Quiz\"\nconditions = [\"" + condition +
                             "\"]\n[[question]]\nid = \"q\"\nask = \"How many?\"\n"
                             "kind = \"formula\"\nanswer = \"n/B\"\nvariables = [\"n\", \"B\"]\n";
    return errors_of(files);
  };
  CHECK(with_condition("B divides n") == "");
  CHECK(with_condition("B <= n") == "");
  CHECK_THAT(with_condition("n is a multiple of B"),
             contains("exercise.toml:2:14") && contains("expected 'B divides n' or 's <= n'"));
  CHECK_THAT(with_condition("n divides n"), contains("cannot be read"));
  CHECK_THAT(with_condition("d divides n"), contains("no question has the variables"));
}

TEST_CASE("question keys are words of small letters, each once", "[reader]") {
  const std::string number = "kind = \"number\"\nanswer = \"1\"\n";
  CHECK_THAT(question_errors(number + "[[question]]\nid = \"q\"\nask = \"?\"\n" + number),
             contains("'q' is used twice"));
  CHECK_THAT(question_errors(number + "[[question]]\nid = \"Q 2\"\nask = \"?\"\n" + number),
             contains("'Q 2' is not a key"));
}

TEST_CASE("a hostile file is refused, not read", "[reader]") {
  Files files = template_exercise().files;
  std::string deep = "a";
  for (int i = 0; i < 100'000; ++i) deep += ".a";
  for (const std::string& text : {deep + " = 1", "[" + deep + "]", "x = { " + deep + " = 1 }"}) {
    files["exercise.toml"] = text;
    CHECK_THAT(errors_of(files), contains("a key with too many parts"));
  }
  files["exercise.toml"] = std::string(100'000, '[');
  CHECK_FALSE(errors_of(files).empty());
  files["exercise.toml"] = std::string("title = \"\0\"", 11);
  CHECK_THAT(errors_of(files), contains("a character that is not text"));
  files["exercise.toml"] = std::string(2'000'000, '#');
  CHECK_THAT(errors_of(files), contains("at most 1 MiB"));
}

TEST_CASE("the name of the folder is one that can be typed", "[reader]") {
  CHECK_THAT(errors_of(template_exercise().files, "a b"), contains("'a b' is not a name"));
  CHECK_THAT(errors_of(template_exercise().files, ""), contains("letters, digits, _ and -"));
}
