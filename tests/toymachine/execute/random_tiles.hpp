// Programs on tiles with random loops and instructions. Many are wrong: their tiles do not go
// together. Those that run are counted.
#pragma once

#include <random>
#include <string>
#include <vector>

namespace flashlab::test {

class RandomTiles {
 public:
  explicit RandomTiles(std::uint64_t seed) : random_(seed) {}

  std::string text() {
    std::string result =
        ".isa attention\n.param n, m, B, C\n.input a(n, m) tile (B, C)\n"
        ".output o(n, m) tile (B, C)\nfor z in 0..14\n  FILL 0, R[z]\nend\n";
    while (result.find("LOAD") == std::string::npos) body(result, pick(1, 3));
    return result;
  }

 private:
  struct Loop {
    std::string variable;
    bool rows = false, columns = false;  // it goes through the tiles of a along this axis
  };

  int pick(int low, int high) { return std::uniform_int_distribution(low, high)(random_); }

  void body(std::string& text, int depth) {
    const std::string indent(2 * loops_.size(), ' ');
    for (int statements = pick(1, 3); statements > 0; --statements) {
      if (depth > 0 && pick(0, 2) > 0) {
        Loop loop{"i" + std::to_string(++used_)};
        text += indent + "for " + loop.variable + " in " + range(loop) + "\n";
        loops_.push_back(loop);
        body(text, depth - 1);
        loops_.pop_back();
        text += indent + "end\n";
      } else {
        for (int more = pick(1, 3); more > 0; --more) text += indent + instruction() + "\n";
      }
    }
  }

  std::string range(Loop& loop) {
    const std::string outer = loops_.empty() ? "1" : loops_.back().variable;
    switch (pick(0, 9)) {
      case 0:
      case 1:
      case 2:
        loop.rows = true;
        return "0..tiles(a)";
      case 3:
      case 4:
      case 5:
        loop.columns = true;
        return "0..tiles(a, 1)";
      case 6:
        return "0.." + outer + " + 1";
      case 7:
        loop.rows = true;
        return "1..tiles(a)";
      case 8:
        return "0..3 step 2";
      default:
        return "0..min(" + outer + ", 2)";
    }
  }

  std::string index(bool Loop::*axis) {
    for (std::size_t l = loops_.size(); l-- > 0;) {
      if (loops_[l].*axis) return pick(0, 9) == 0 ? "0" : loops_[l].variable;
    }
    return "0";
  }

  std::string cell(const std::string& array) {
    return array + "[" + index(&Loop::rows) + "][" + index(&Loop::columns) + "]";
  }

  /// R4 and beyond are also reached by index; loops run at most 4 times where registers are.
  std::string reg() {
    if (loops_.empty() || pick(0, 2) > 0) return "R" + std::to_string(pick(0, 5));
    const std::string& variable =
        loops_[static_cast<std::size_t>(pick(0, static_cast<int>(loops_.size()) - 1))].variable;
    static const char* const kIndices[] = {"4 + ", "5 + ", "4 + 2*", "8 - "};
    return "R[" + (kIndices[pick(0, 3)] + variable) + "]";
  }

  std::string instruction() {
    static const char* const kTwo[] = {"ADD ", "MUL ", "MAX "};
    static const char* const kOne[] = {"EXP ", "MOV ", "ROWSUM ", "ROWMAX "};
    switch (pick(0, 9)) {
      case 0:
      case 1:
      case 2:
        return "LOAD " + cell("a") + ", " + reg();
      case 3:
        return "FILL 0, " + reg();
      case 4:
        return "STORE " + reg() + ", " + cell("o");
      case 5: {
        const std::string factor = reg();
        return "MAC_Z " + factor + ", " + factor + "^T, R[13]";
      }
      case 6:
      case 7:
        return kOne[pick(0, 3)] + reg() + ", " + reg();
      default:
        const std::string sum = reg();
        return kTwo[pick(0, 2)] + sum + ", " + reg() + ", " + sum;
    }
  }

  std::mt19937 random_;
  int used_ = 0;
  std::vector<Loop> loops_;
};

}  // namespace flashlab::test
