// An exercise as read from its folder. The folder is data: exercise.toml states the task, the
// machine, the sizes and the points; texts and programs are files beside it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "toymachine/count/polynomial/polynomial.hpp"
#include "toymachine/language/machine.hpp"
#include "toymachine/language/program.hpp"
#include "toymachine/language/source.hpp"

namespace flashlab::exercises {

/// A program to write, or questions to answer.
enum class Kind : std::uint8_t { kProgram, kQuestions };

/// Values of the parameters: one size that submissions are run at.
using Size = std::map<std::string, std::int64_t>;
std::string to_string(const Size& size);  // "n = 4, d = 2"

/// The kind of values in a family of inputs. Every family fills all inputs.
enum class Family : std::uint8_t {
  kRandom,      // uniform in the array's range
  kAscending,   // the same, sorted
  kDescending,  //
  kConstant,    // one value everywhere
  kHuge,        // uniform in +-Inputs::huge
  kTiny,        // uniform in +-Inputs::tiny, some exactly 0, the first of several always
  kSpike,       // near 0, except one element of size Inputs::huge
  kFar,     // one value in +-Inputs::huge, plus the array's range: far from 0, and close together
  kValley,  // in the array's range, largest at both ends and smallest in the middle
  kBlocks,  // in the array's range, about twelve runs of equal values, of different lengths
};
std::string_view to_string(Family family);
std::optional<Family> parse_family(std::string_view name);

struct Range {
  double low = -1, high = 1;
};

/// Sizes that no submission knows. Each parameter is drawn from a range that includes both ends.
struct DrawnSizes {
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> ranges;  // empty: no sizes are drawn
  std::int64_t count = 1;
};

/// How many sizes are drawn unless the exercise says. A program that is right at half of all sizes, whichever
/// half it is, is right at all of them for about one seed in 2^8. Sixteen sizes cover each pair of values of
/// two parameters that have up to four.
inline constexpr std::int64_t kUsualDraws = 8, kUsualDrawsOfSeveral = 16;

struct Inputs {
  std::vector<Family> families;         // never empty
  std::map<std::string, Range> ranges;  // by array; [-1, 1) for an array without an entry
  double huge = 1e4, tiny = 1e-6;
  /// Computes the inputs that have the names of its outputs (lse from q and k). Null: none.
  std::shared_ptr<const toy::Program> derive;
};

/// Limits for a submission's counters, as formulas in the parameters: "14*n - 4".
using CountFormulas = std::map<std::string, toy::Polynomial>;  // by key of counter_descriptions()

struct Cost {
  CountFormulas full;  // at most this: all points for cost
  CountFormulas most;  // more than this: not accepted
  /// Keys of `full` that the learner predicts: no text of the exercise tells them.
  std::vector<std::string> predict;
  std::set<std::string> most_of_solution;  // more than the solution: not accepted; none of `most`
  /// A program without the exercise's idea: its cost earns no points. Null: twice `full` does.
  std::shared_ptr<const toy::Program> naive;
};

struct Points {
  double correct = 6, cost = 4;
};

/// How far a result may be off: of |out - expected|, relative to the array's largest value.
struct Tolerance {
  Tolerance(double every = 1e-5) : usual(every) {}  // NOLINT: a number is a tolerance
  double of(const std::string& array) const {
    const auto found = by_array.find(array);
    return found == by_array.end() ? usual : found->second;
  }

  double usual;                            // of arrays that have none of their own
  std::map<std::string, double> by_array;  // of an output whose values lie far from 0
};

/// "Make it fast": a submission that takes at most as long as a given program, as kernels on a GPU, gets
/// all points for speed, and one that takes twice as long gets none. Times are judged outside of this
/// library (see VerdictStep).
struct Speed {
  std::shared_ptr<const toy::Program> given;
  Size size;                          // a submission runs there on few inputs
  std::int64_t batch = 1, heads = 1;  // copies of the problem
  std::string dtype = "bf16";         // of inputs and outputs
  int level = 1;                      // of the generated code: 1 multiplies on tensor cores
  std::string gpu = "h200";           // whose rates predict times; a key of gpus.json
  std::int64_t shared_bytes = 65536;  // that a block may have for its tiles
  double points = 4;
};

/// Numerical demands besides algebra. With one of them, equal formulas do not prove
/// a program right.
struct Numerics {
  bool range_safe = false;     // no overflow if the result is finite; tested on huge inputs
  bool rounding_safe = false;  // error of its class; tested on inputs that reveal it
};

/// A plausible wrong submission, and what the grader must say about it.
struct WrongSubmission {
  std::string file;        // in the folder: "wrong/keeps_old_max.toy"
  std::uint32_t line = 0;  // the line that must be named; 0: any
  std::string says;        // text that the explanation must contain; may be empty
};

/// A submission that gives the right results, at least at the public sizes, but avoids the idea
/// of the exercise.
struct AvoidingSubmission {
  std::string file;  // in the folder: "avoids/by_size.toy"
  std::string says;  // text that its verdict must contain; the verdict must not be a pass
};

/// A change of one line of the solution that keeps it right, although the grader cannot prove so.
struct Equivalent {
  std::uint32_t line = 0;
  std::string change;   // in the words of `lint --mutants`: "1 instead of 0 as expr"
  std::string because;  // why no input distinguishes the two programs
};

/// Another right program, which lint demands full marks for: often a cheaper idea than the exercise's.
struct AcceptedSubmission {
  std::string file;     // in the folder: "accepted/shifted_squares.toy"
  std::string because;  // why it is accepted
};

/// A program beside which submissions are ranked.
struct RankedProgram {
  std::string name;  // "flash1"
  std::shared_ptr<const toy::Program> program;
};

/// A program to write.
struct ProgramTask {
  toy::Level level = toy::Level::kAttention;
  std::vector<std::size_t> extra_instructions;  // rows of instruction_set() outside the level
  std::string registers;  // an expression in the parameters: "2*d + 5"; empty: no limit
  toy::OperandRule operands = toy::OperandRule::kAny;
  bool temporaries = false;  // may the submission declare .temp arrays?
  std::optional<toy::Polynomial>
      most_temporary;  // limit on their total elements; nothing: no limit
  /// Limit on the bytes that registers hold at once; nothing: no limit.
  std::optional<toy::Polynomial> most_register_bytes;
  bool free_tiles = false;  // does the submission choose the sizes of its tiles?
  std::string
      machines;  // ".machines rank of ranks", where ranks is a parameter; empty: one machine
  std::vector<std::string> arrays;  // declarations: ".input x[n]"; each machine has its own
  /// The declarations above as a program without a body. A submission's must agree with them.
  std::shared_ptr<const toy::Program> interface;
  std::vector<Size> sizes;  // public sizes, smallest first; never empty
  DrawnSizes drawn;
  /// Larger sizes, where a submission runs on few inputs. If there are some, costs are counted there
  /// only.
  DrawnSizes counted;
  std::vector<RankedProgram> beside;
  Inputs inputs;
  std::vector<std::string> check;  // outputs that are compared; never empty
  Tolerance tolerance;
  std::string builtin_reference;                  // "softmax"; empty: `reference`
  std::shared_ptr<const toy::Program> reference;  // run in double on a machine without limits
  std::shared_ptr<const toy::Program> solution;
  std::string starter;  // text; for the demonstration, its solution
  Cost cost;
  std::optional<Speed> speed;
  Points points;
  Numerics numerics;
  toy::Limits limits;  // max_steps: for one size
  std::int64_t max_milliseconds = 2000;
  std::vector<WrongSubmission> wrong;
  std::vector<AvoidingSubmission> avoiding;
  std::vector<AcceptedSubmission> accepted;
  std::string unavoidable;  // why no submission can avoid the idea; may be empty
  std::vector<Equivalent> equivalents;
  /// Families of strategies that may gain points, and why that is no fault (prove/strategies.hpp).
  std::map<std::string, std::string> excused;
};

enum class AnswerKind : std::uint8_t { kNumber, kFormula, kChoice, kOpen };

struct Mistake {
  std::string answer;
  std::string says;  // the explanation of this mistake
};

/// A condition between two variables: "B divides n", "s <= n".
struct Condition {
  enum class Relation : std::uint8_t { kDivides, kAtMost };
  std::string left, right;
  Relation relation = Relation::kDivides;
};

struct Question {
  std::string id;   // the key in an answer file: "kv_loads"
  std::string ask;  // one paragraph
  AnswerKind kind = AnswerKind::kFormula;
  std::string answer;                  // a choice's letter; an open question's model answer
  std::string because;                 // shown with a right answer; may be empty
  std::vector<std::string> choices;    // kChoice: a, b, c, …
  std::vector<std::string> variables;  // kFormula: what may occur
  std::vector<std::string> reals;      // of these: need not be whole, so no ceil or floor of them
  std::vector<Condition> conditions;   // kFormula: between its variables; counterexamples keep them
  bool leading = false;                // kFormula: the leading order suffices
  double tolerance = 0;                // kNumber: relative
  double within = 0;                   // kNumber: the answer may be off by this factor; 0: no
  std::string measured_in;             // kNumber: file with the measured answer; empty: none
  std::vector<Mistake> mistakes;
  double points = 1;
};

struct QuestionTask {
  std::vector<Question> questions;
  std::string conventions;  // printed above the questions: "a MAC is 2 FLOPs"
};

/// One file of an exercise's folder: "exercise.toml", "wrong/x.toy".
using Files = std::map<std::string, std::string, std::less<>>;

inline constexpr std::size_t kHintLevels = 4;  // concept, place, operand, solution

struct Proven;  // exercises/grader/exercise/proven.hpp

struct Exercise {
  std::string id;      // the folder's name: "07_online_softmax"
  std::string folder;  // where it was read; empty: inside the command
  std::string title;
  Kind kind = Kind::kProgram;
  bool demo = false;               // already solved: the first key press succeeds
  std::string chapter;             // "docs/04_softmax.md"; may be empty
  std::string after;               // the id of the one that it follows in the course; may be empty
  std::string problem;             // problem.md
  std::string afterwards;          // afterwards.md: answers to its last questions; may be empty
  std::vector<std::string> hints;  // kHintLevels of them
  ProgramTask program;             // kProgram
  QuestionTask questions;          // kQuestions
  /// The content of proven.json on the cheapest programs. Null if there is none, or if it does not
  /// match the exercise, which may have been edited. Then no proof is shown, and `lint` reports it.
  std::shared_ptr<const Proven> proven;
  Files files;

  double max_points() const;
  /// Name of the file that a learner edits: "07_online_softmax.toy", "18_intensity.txt".
  std::string work_file() const;
  /// Returns the initial content of that file.
  std::string starter() const;
  /// Returns whether `name` is the id ("07_online_softmax"), its number ("7", "07") or the rest
  /// of it ("online_softmax").
  bool answers_to(std::string_view name) const;
};

/// Returns whether a folder of this name can hold an exercise: letters, digits, _ and -,
/// at most 64.
bool is_exercise_id(std::string_view id);

/// Returns the files of docs/results, which are inside the command: "compare_h200".
const Files& committed_measurements();

/// Reads an exercise and returns all errors at once, each with its place in its file. Errors: an
/// unknown or missing key, a wrong type, an unknown counter, family or instruction, an invalid
/// formula or declaration, a program that does not assemble, a missing file, a figure that the
/// measurements do not have.
struct ReadError {
  std::string file;  // "exercise.toml"
  toy::Diagnostic diagnostic;
};
struct ReadResult {
  std::optional<Exercise> exercise;
  std::vector<ReadError> errors;
};
/// Looks up figures that exercise.toml names in `measurements`: files of `flashlab compare`, by
/// their names without .json.
ReadResult read_exercise(const std::string& id, Files files, const std::string& folder = {},
                         const Files& measurements = committed_measurements());

/// Formats errors like the assembler's messages: place, line, caret.
std::string format(const std::vector<ReadError>& errors, const Files& files);

}  // namespace flashlab::exercises
