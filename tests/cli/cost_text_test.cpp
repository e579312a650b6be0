// `flashlab cost` as people read it: short enough for a window, and no name broken.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tests/cli/command.hpp"

namespace flashlab::test {
namespace {

std::size_t lines_in(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

std::vector<std::string> bundled_programs() {
  std::vector<std::string> names;
  for (const auto& entry : json_of(flashlab("programs --json"))) {
    names.push_back(entry["name"]);
  }
  return names;
}

/// The names and rounded quotients of a text: what is left between blanks, products and exponents.
std::set<std::string> names_in(const std::string& text) {
  constexpr const char* kBetween = " \n*^,;.";
  std::set<std::string> names;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t start = std::min(text.find_first_not_of(kBetween, at), text.size());
    const std::size_t end = std::min(text.find_first_of(kBetween, start), text.size());
    if (end > start) names.insert(text.substr(start, end - start));
    at = end;
  }
  return names;
}

/// Whether each line closes the quotients that it opens.
bool keeps_quotients_whole(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto count = [&](const std::string& sign) {
      std::size_t number = 0;
      for (std::size_t at = line.find(sign); at != std::string::npos;
           at = line.find(sign, at + 1)) {
        ++number;
      }
      return number;
    };
    if (count("⌈") != count("⌉") || count("⌊") != count("⌋")) return false;
  }
  return true;
}

/// The text without its line ends, for sentences that are wrapped.
std::string on_one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

/// A program with so many arrays that not even one row for each fits.
std::string many_arrays() {
  std::string text = ".isa softmax\n.registers 1\n.param n = 4\n", body = "for i in 0..n\n";
  for (int i = 0; i < 70; ++i) {
    const std::string name = "x" + std::to_string(i);
    text += ".input " + name + "[n]\n";
    body += "  LOAD " + name + "[i], R0\n";
  }
  return text + ".output y[n]\n" + body + "  STORE R0, y[i]\nend\n";
}

}  // namespace

TEST_CASE("the cost of every bundled program is at most 60 lines, and no wider than the window") {
  const std::vector<std::string> programs = bundled_programs();
  CHECK(programs.size() > 50);
  for (const std::string& program : programs) {
    for (const std::string width : {"60", "80", "120"}) {
      INFO(program << " at " << width);
      const std::string text = flashlab("cost " + program + " --unicode --width " + width).out;
      CHECK(widest_line(text) <= std::stoul(width));
      CHECK(keeps_quotients_whole(text));
      if (width != "60") CHECK(lines_in(text) <= 60);
    }
  }
}

TEST_CASE("all of a cost, and its passes, are no wider than the window, and break no name") {
  for (const std::string program : {"naive", "bwd_naive", "ring_causal_zigzag", "flash2_window"}) {
    const std::string whole = flashlab("cost " + program + " --all --width 500").out;
    const std::set<std::string> names = names_in(whole);
    for (const std::string width : {"60", "80", "120"}) {
      INFO(program << " at " << width);
      CHECK(keeps_quotients_whole(
          flashlab("cost " + program + " --all --unicode --width " + width).out));
      const std::string text = flashlab("cost " + program + " --all --width " + width).out;
      CHECK(widest_line(text) <= std::stoul(width));
      for (const std::string& name : names_in(text)) {
        INFO(name);
        const bool is_rule = name.find_first_not_of('-') == std::string::npos;
        CHECK((is_rule || names.contains(name)));
      }
    }
  }
}

TEST_CASE("the passes come with --passes, everything with --all, and JSON has all") {
  const std::string brief = on_one_line(flashlab("cost naive").out);
  CHECK_THAT(brief, !contains("1. Product") && contains("--passes prints the counts of each pass"));
  const std::string passes = flashlab("cost naive --passes").out;
  CHECK_THAT(passes, contains("1. Product") && !contains("--passes"));
  const std::string all = flashlab("cost flash2_window --all").out;
  CHECK_THAT(all, contains(" for w = 0; ") && contains("k loaded, tiles") &&
                      !contains("smaller term") && !contains("--all"));
  const std::string cut = flashlab("cost flash2_window").out;
  CHECK_THAT(cut, contains("smaller terms (4 cases)") && contains("--all prints"));
  const auto json = json_of(flashlab("cost flash2_window --json"));
  CHECK_THAT(json["formula"]["flops"].get<std::string>(), contains("w >= 1"));
  CHECK(json_of(flashlab("cost flash2_window --all --json")) == json);
}

TEST_CASE("a short cost is whole and says nothing about flags") {
  const std::string text = flashlab("cost softmax_online").out;
  CHECK_THAT(text, !contains("--all") && !contains("smaller term"));
}

TEST_CASE("a formula is cut to the case of the sizes and to the terms that grow fastest") {
  const std::string text = flashlab("cost flash2_window -D n=64 -D w=8").out;
  // Of steps, the case of a window that is shorter than the sequence: 5 D N W is its largest term.
  CHECK_THAT(text, contains("  steps") && contains("ceil(d/Bd)*ceil(n/B)*ceil(w/B) + "));
}

TEST_CASE("if there are too many arrays, the last ones are left out, and that is said") {
  const Workplace place;
  place.write("many.toy", many_arrays());
  const std::string text = place.shell("flashlab cost many.toy").out;
  CHECK(lines_in(text) <= 60);
  CHECK_THAT(on_one_line(text), contains("x1 loaded") && contains("Rows of arrays are left out") &&
                                    !contains("x69 loaded"));
  CHECK_THAT(place.shell("flashlab cost many.toy --all").out, contains("x69 loaded"));
}

}  // namespace flashlab::test
