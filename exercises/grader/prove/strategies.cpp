#include "exercises/grader/prove/strategies.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include "exercises/grader/prove/program_lines.hpp"
#include "exercises/grader/prove/right_sizes.hpp"

namespace flashlab::exercises {
namespace {

constexpr std::array<std::string_view, kNumStrategyFamilies> kNames{
    "less_work", "few_rounds", "dram_sums", "kept", "second_pass", "unpriced", "trick"};

/// How a loop leaves work out.
struct Damage {
  std::string name;
  std::string
      upper;        // in LOWER, UPPER and KEEP, which is 1 where the program is to be right, else 0
  bool is_for_all;  // for all rules of sizes, or for the coarse ones only
};
const std::array<Damage, 4>& damages() {
  static const std::array<Damage, 4> kAll{
      {{"does nothing", "(LOWER) + KEEP*((UPPER) - (LOWER))", false},
       {"does half", "(UPPER) - (1 - KEEP)*floordiv((UPPER) - (LOWER) + 1, 2)", false},
       {"leaves out the last round", "(UPPER) - (1 - KEEP)", true},
       {"stops after two rounds", "(UPPER) - (1 - KEEP)*max(0, (UPPER) - (LOWER) - 2)", false}}};
  return kAll;
}

std::string with(std::string text, std::string_view word, const std::string& by) {
  for (std::size_t at = text.find(word); at != std::string::npos;
       at = text.find(word, at + by.size())) {
    text.replace(at, word.size(), by);
  }
  return text;
}

/// Every index of a cell is 0: "o[0][0]" for "o[i][c]".
std::string at_zero(const std::string& cell) {
  std::string text = array_of(cell);
  for (const char c : cell) {
    if (c == '[') text += "[0]";
  }
  return text;
}

class Generator {
 public:
  explicit Generator(const ProgramTask& task)
      : task_(task), solution_(task.solution->source->text()), lines_(solution_) {}

  std::vector<Strategy> run() {
    less_work();
    few_rounds();
    for (const InstructionLine& store : stores()) {
      dram_sums(store);
      unpriced(store);
      tricks(store);
    }
    kept();
    second_pass();
    tricks_with_declarations();
    return std::move(all_);
  }

 private:
  void add(StrategyFamily family, StrategyRule rule, std::string name, std::string text) {
    if (text == solution_ || !known_.insert(text).second) return;
    all_.push_back({family, rule, std::move(name), std::move(text)});
  }

  static std::string loop_text(const LoopLine& loop, const std::string& upper) {
    return "for " + loop.variable + " in " + loop.lower + ".." + upper + loop.rest;
  }

  /// The line behind which a declaration may use all parameters.
  std::size_t last_parameter() const {
    const auto params = lines_.declarations(".param"), machines = lines_.declarations(".machines");
    std::size_t last = 0;
    for (const auto* list : {&params, &machines}) {
      for (const std::size_t line : *list) last = std::max(last, line);
    }
    return last;
  }

  void less_work() {
    std::size_t fine = 0;
    for (const RightSizes& right : right_sizes(task_)) {
      if (right.is_fine) ++fine;
      for (std::size_t l = 0; l < lines_.loops().size(); ++l) {
        const LoopLine& loop = lines_.loops()[l];
        for (const Damage& damage : damages()) {
          // Where sizes are fine, they matter, and not the loop: one for each is enough.
          if (right.is_fine && (!damage.is_for_all || fine % lines_.loops().size() != l)) continue;
          std::string upper = with(damage.upper, "LOWER", loop.lower);
          upper = with(with(upper, "UPPER", loop.upper), "KEEP", "keep_");
          ChangedLines changed(lines_);
          changed.replace(loop.line, loop_text(loop, upper))
              .after(last_parameter(), ".param keep_ = " + right.expression);
          add(StrategyFamily::kLessWork, StrategyRule::kNoPoints,
              "line " + std::to_string(loop.line + 1) + " " + damage.name + " unless " + right.name,
              changed.text());
        }
      }
    }
  }

  void few_rounds() {
    for (const LoopLine& loop : lines_.loops()) {
      for (const int rounds : {1, 2, 3, 5, 8, 16, 40}) {
        const std::string upper =
            "min(" + loop.upper + ", (" + loop.lower + ") + " + std::to_string(rounds) + ")";
        add(StrategyFamily::kFewRounds, StrategyRule::kNoPoints,
            "line " + std::to_string(loop.line + 1) + " makes at most " + std::to_string(rounds) +
                " rounds",
            ChangedLines(lines_).replace(loop.line, loop_text(loop, upper)).text());
      }
    }
  }

  /// The stores to outputs.
  std::vector<InstructionLine> stores() const {
    std::vector<InstructionLine> found;
    for (const InstructionLine& one : lines_.instructions()) {
      if (one.mnemonic != "STORE" || one.operands.size() != 2) continue;
      for (const auto& array : task_.interface->arrays) {
        if (array.role != toy::ArrayRole::kOutput) continue;
        if (array.name == array_of(one.operands[1])) found.push_back(one);
      }
    }
    return found;
  }

  /// Whether the cell's indices need no loop but those in `loops`.
  bool is_visible(const std::string& cell, const std::vector<std::size_t>& loops) const {
    for (std::size_t l = 0; l < lines_.loops().size(); ++l) {
      if (std::find(loops.begin(), loops.end(), l) != loops.end()) continue;
      const std::string& variable = lines_.loops()[l].variable;
      const bool is_shadowed = std::any_of(loops.begin(), loops.end(), [&](std::size_t other) {
        return lines_.loops()[other].variable == variable;
      });
      if (!is_shadowed && has_name(cell.substr(array_of(cell).size()), variable)) return false;
    }
    return true;
  }

  /// A register that the loop's body writes before it reads it: free at the body's end.
  std::optional<std::string> free_register(std::size_t loop, const std::string& but) const {
    std::set<std::string> seen;
    for (const InstructionLine& one : lines_.instructions()) {
      const bool is_inside = std::find(one.loops.begin(), one.loops.end(), loop) != one.loops.end();
      if (!is_inside || one.operands.empty() || one.mnemonic == "STORE") continue;
      for (std::size_t i = 0; i + 1 < one.operands.size(); ++i) {
        seen.insert(one.operands[i].substr(0, one.operands[i].find('^')));
      }
      const std::string& target = one.operands.back();
      if (one.loops.back() == loop && target != but && !seen.contains(target)) return target;
      seen.insert(target);
    }
    return std::nullopt;
  }

  /// Keeps the register that is stored in DRAM while a loop adds to it.
  void dram_sums(const InstructionLine& store) {
    const std::string &sum = store.operands[0], &cell = store.operands[1];
    for (const InstructionLine& one : lines_.instructions()) {
      if (one.loops.empty() || one.operands.size() < 3 || one.operands.back() != sum) continue;
      const bool adds = std::count(one.operands.begin(), one.operands.end() - 1, sum) > 0;
      if (!adds || !is_visible(cell, one.loops)) continue;
      const std::string line = "line " + std::to_string(one.line + 1) + ": " + sum + " in " + cell;
      add(StrategyFamily::kDramSums, StrategyRule::kLosesPoints, line + " by STORE",
          ChangedLines(lines_)
              .after(one.line, "STORE " + sum + ", " + cell + "\nLOAD " + cell + ", " + sum)
              .text());
      const std::vector<std::size_t> outside(one.loops.begin(), one.loops.end() - 1);
      if (!is_visible(cell, outside)) continue;
      const LoopLine& loop = lines_.loops()[one.loops.back()];
      by_atomics(one, loop, sum, cell, line);
      if (const auto other = free_register(one.loops.back(), sum)) {
        // What a STORE would write, as an update by the difference from what is there.
        add(StrategyFamily::kDramSums, StrategyRule::kLosesPoints,
            line + " by ATOMIC_ADD of the difference",
            ChangedLines(lines_)
                .before(loop.line, "STORE " + sum + ", " + cell)
                .after(loop.line, "LOAD " + cell + ", " + sum)
                .before(loop.end, "LOAD " + cell + ", " + *other + "\nSUB " + sum + ", " + *other +
                                      ", " + *other + "\nATOMIC_ADD " + *other + ", " + cell)
                .after(loop.end, "LOAD " + cell + ", " + sum)
                .text());
      }
    }
  }

  void by_atomics(const InstructionLine& one, const LoopLine& loop, const std::string& sum,
                  const std::string& cell, const std::string& line) {
    std::string update;
    if (one.mnemonic == "ADD") {
      const std::string& term = one.operands[0] == sum ? one.operands[1] : one.operands[0];
      update = "ATOMIC_ADD " + term + ", " + cell;
    } else if (one.mnemonic == "MAC" && one.operands.size() == 4 && one.operands[2] == sum) {
      const std::string factor = one.operands[0].substr(0, one.operands[0].find('^'));
      update = "MAC_Z " + one.operands[0] + ", " + one.operands[1] + ", " + factor +
               "\nATOMIC_ADD " + factor + ", " + cell;
    } else {
      return;
    }
    ChangedLines changed(lines_);
    changed.before(loop.line, "STORE " + sum + ", " + cell)
        .replace(one.line, update)
        .after(loop.end, "LOAD " + cell + ", " + sum);
    add(StrategyFamily::kDramSums, StrategyRule::kLosesPoints, line + " by ATOMIC_ADD",
        changed.text());
  }

  /// LOAD, change, STORE of one cell, as one ATOMIC_ADD.
  void unpriced(const InstructionLine& store) {
    const auto& all = lines_.instructions();
    const std::string &value = store.operands[0], &cell = store.operands[1];
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].line != store.line || i < 2) continue;
      const InstructionLine &load = all[i - 2], &change = all[i - 1];
      if (load.mnemonic != "LOAD" || load.operands[0] != cell || change.mnemonic != "ADD") continue;
      const std::string& read = load.operands[1];
      const std::string& term =
          change.operands[0] == read ? change.operands[1] : change.operands[0];
      add(StrategyFamily::kUnpriced, StrategyRule::kNotCheaper,
          "line " + std::to_string(store.line + 1) + ": an ATOMIC_ADD in place of LOAD, ADD, STORE",
          ChangedLines(lines_)
              .drop(load.line)
              .drop(change.line)
              .replace(store.line, "ATOMIC_ADD " + term + ", " + cell)
              .text());
    }
    add(StrategyFamily::kUnpriced, StrategyRule::kNotCheaper,
        "line " + std::to_string(store.line + 1) + ": stored as 0, then added to",
        ChangedLines(lines_)
            .replace(store.line, "STORE " + value + ", " + cell + "\nSUB " + value + ", " + value +
                                     ", " + value + "\nATOMIC_ADD " + value + ", " + cell)
            .text());
  }

  /// The declaration of an output as one of another name and role.
  std::optional<std::string> copied_declaration(const std::string& array, const std::string& role,
                                                const std::string& name) const {
    for (const std::size_t line : lines_.declarations(".output")) {
      const std::string& text = lines_.lines()[line];
      const std::size_t at = text.find_first_not_of(' ', text.find(".output") + 7);
      const std::size_t end = text.find_first_of("([ ", at);
      if (text.substr(at, end - at) != array) continue;
      return role + " " + name + text.substr(end);
    }
    return std::nullopt;
  }

  void kept() {
    for (const InstructionLine& store : stores()) {
      const std::string& cell = store.operands[1];
      const std::string array = array_of(cell), kept = "kept_" + cell.substr(array.size());
      const auto declaration = copied_declaration(array, ".temp", "kept_");
      if (!declaration) continue;
      add(StrategyFamily::kKept, StrategyRule::kLosesPoints,
          "line " + std::to_string(store.line + 1) + ": the result passes through a .temp",
          ChangedLines(lines_)
              .before(lines_.body(), *declaration)
              .before(store.line, "STORE " + store.operands[0] + ", " + kept + "\nLOAD " + kept +
                                      ", " + store.operands[0])
              .text());
    }
  }

  void second_pass() {
    const std::vector<std::string>& all = lines_.lines();
    std::string body;
    for (std::size_t i = lines_.body(); i < all.size(); ++i) body += all[i] + "\n";
    add(StrategyFamily::kSecondPass, StrategyRule::kLosesPoints, "all work twice",
        solution_ + body);
    const auto results = stores();
    if (results.empty()) return;
    const std::string cell = at_zero(results.front().operands[1]);
    const std::string lines = "STORE " + results.front().operands[0] + ", " + cell + "\nLOAD " +
                              cell + ", " + results.front().operands[0] + "\nend\n";
    for (const char* const range :
         {"0..0 - 1000", "1000..0", "0..0 step 1000", "0..0 - 7 step 3", "5..5"}) {
      add(StrategyFamily::kSecondPass, StrategyRule::kNotCheaper,
          std::string("accesses in an empty loop, ") + range,
          solution_ + "for z_ in " + range + "\n" + lines);
    }
  }

  void trick(const std::string& name, const std::string& text) {
    add(StrategyFamily::kTrick, StrategyRule::kNoPoints, name, text);
  }

  void tricks(const InstructionLine& store) {
    const std::string &value = store.operands[0], &cell = store.operands[1];
    const std::string array = array_of(cell), indices = cell.substr(array.size());
    const std::string at = " (line " + std::to_string(store.line + 1) + ")";
    const auto before = [&](const std::string& lines) {
      return ChangedLines(lines_).before(store.line, lines).text();
    };
    trick("stores nothing" + at, ChangedLines(lines_).drop(store.line).text());
    if (at_zero(cell) != cell) {
      trick(
          "stores everything in one cell" + at,
          ChangedLines(lines_).replace(store.line, "STORE " + value + ", " + at_zero(cell)).text());
    }
    trick("reads the output of the last call" + at, before("LOAD " + cell + ", " + value));
    trick("is not a number" + at, before("SUB " + value + ", " + value + ", " + value + "\nDIV " +
                                         value + ", " + value + ", " + value));
    std::string grows;
    for (int i = 0; i < 6; ++i) grows += "ADD " + value + ", " + value + ", " + value + "\n";
    for (int i = 0; i < 6; ++i) grows += "MUL " + value + ", " + value + ", " + value + "\n";
    trick("is infinite" + at, before(grows + "EXP " + value + ", " + value));
    trick("is not scaled back" + at, before("ADD " + value + ", " + value + ", " + value));
    trick("reads a clock" + at, before("CLOCK " + value));
    for (const auto& [role, name] : {std::pair{".temp", "a temporary of the last call"},
                                     {".input", "results it brings along"}}) {
      if (const auto declaration = copied_declaration(array, role, "mine_")) {
        trick("reads " + std::string(name) + at,
              ChangedLines(lines_)
                  .before(lines_.body(), *declaration)
                  .before(store.line, "LOAD mine_" + indices + ", " + value)
                  .text());
      }
    }
    for (const auto& input : task_.interface->arrays) {
      if (input.role != toy::ArrayRole::kInput) continue;
      std::string first = input.name;
      for (std::size_t axis = 0; axis < input.extents.size(); ++axis) first += "[0]";
      trick("writes to the input " + input.name + at, before("STORE " + value + ", " + first));
      trick("returns the input " + input.name + at, before("LOAD " + first + ", " + value));
    }
    std::string many;
    for (int i = 0; i < 10000; ++i) many += "STORE " + value + ", " + cell + "\n";
    trick("has ten thousand lines" + at, before(many));
  }

  void tricks_with_declarations() {
    for (const std::size_t line : lines_.declarations(".input")) {
      const std::string& text = lines_.lines()[line];
      const std::string code = text.substr(0, text.find(';'));
      trick("has narrower numbers (line " + std::to_string(line + 1) + ")",
            ChangedLines(lines_).replace(line, code + " fp16").text());
      const std::size_t open = code.find_first_of("([");
      const std::size_t end = code.find_first_of(",)]", open);
      if (open == std::string::npos || end == std::string::npos) continue;
      trick("has a smaller array (line " + std::to_string(line + 1) + ")",
            ChangedLines(lines_)
                .replace(line, code.substr(0, open + 1) + "1" + code.substr(end))
                .text());
    }
    for (const InstructionLine& load : lines_.instructions()) {
      if (load.mnemonic != "LOAD") continue;
      const std::string& cell = load.operands[0];
      const std::size_t close = cell.find(']');
      trick("reads outside of its array (line " + std::to_string(load.line + 1) + ")",
            ChangedLines(lines_)
                .replace(load.line, "LOAD " + cell.substr(0, close) + " + 1000000" +
                                        cell.substr(close) + ", " + load.operands[1])
                .text());
    }
    if (!lines_.instructions().empty()) {
      const std::string& first = lines_.lines()[lines_.instructions().front().line];
      trick("makes a billion steps",
            ChangedLines(lines_)
                .before(lines_.body(), "for z_ in 0..1000000000\n" + first + "\nend")
                .text());
    }
  }

  const ProgramTask& task_;
  std::string solution_;
  ProgramLines lines_;
  std::vector<Strategy> all_;
  std::set<std::string> known_;
};

}  // namespace

std::string_view to_string(StrategyFamily family) {
  return kNames[static_cast<std::size_t>(family)];
}

std::optional<StrategyFamily> parse_strategy_family(std::string_view name) {
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<StrategyFamily>(found - kNames.begin());
}

std::vector<Strategy> strategies(const ProgramTask& task) { return Generator(task).run(); }

}  // namespace flashlab::exercises
