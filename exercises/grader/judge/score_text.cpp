#include "exercises/grader/judge/score_text.hpp"

#include <algorithm>

namespace flashlab::exercises {
namespace {

std::string cycles(const toy::Count& count) {
  return count.get_str() + (count == 1 ? " cycle" : " cycles");
}

std::string at_size_words(const Size& size) { return size.empty() ? "" : " at " + to_string(size); }

/// "3", "between 1 and 4", "at most 4".
std::string between(const toy::Count& least, const toy::Count& most) {
  if (least == most) return most.get_str();
  if (least == 0) return "at most " + most.get_str();
  return "between " + least.get_str() + " and " + most.get_str();
}

/// Builds the list of places where cycles are spent. The first entry includes the unit.
class Parts {
 public:
  void add(const toy::Count& amount, const std::string& where) {
    if (amount > 0) add(amount.get_str(), amount == 1, where);
  }
  void add(const std::string& amount, bool is_one, const std::string& where) {
    if (text_.empty()) {
      text_ = amount + (is_one ? " cycle lies in " : " cycles lie in ") + where;
    } else {
      text_ += ", " + amount + " in " + where;
    }
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

std::string order_sentence(const SizeScore& score) {
  const OrderCost& order = *score.order;
  const toy::Count in_loads = score.cycles - order.copy_cycles - order.unused_cycles - order.cycles;
  // A loop may need its copies, so they alone are not reported unless the best is known.
  if (!score.is_searched() && in_loads == 0 && order.unused_cycles == 0) return {};
  Parts parts;
  parts.add(in_loads, "the placement of loads");
  parts.add(order.unused_cycles, "results that nothing needs");
  parts.add(order.copy_cycles, "copies (a program without loops needs none)");
  if (score.is_searched() && order.cycles > score.proof->at_least_cycles) {
    const toy::Count least = std::max<toy::Count>(0, order.cycles - score.proof->at_most_cycles);
    const toy::Count most = order.cycles - score.proof->at_least_cycles;
    parts.add(between(least, most), most == 1, "the order itself");
  }
  if (parts.text().empty()) return {};
  return "Your order of operations allows " + cycles(order.cycles) + at_size_words(score.size) +
         ": " + parts.text() + ".";
}

std::string sentence(const SizeScore& score) {
  const std::string yours = cycles(score.cycles) + at_size_words(score.size);
  if (score.is_best()) return yours + ": proved to be the best there is.";
  if (score.is_beyond_proof()) {
    return yours + ": fewer than the " + score.proof->at_least_cycles.get_str() +
           " of the proof, which is about these programs: " + score.proof->allowed +
           ". Please show yours to your teacher.";
  }
  return score.order ? order_sentence(score) : "";
}

}  // namespace

std::vector<std::string> score_sentences(const Verdict& verdict) {
  const SizeScore* searched = nullptr;  // the largest searched size
  for (const SizeScore& score : verdict.scores) {
    if (score.is_searched()) searched = &score;
  }
  std::vector<std::string> all;
  for (const SizeScore& score : verdict.scores) {
    const bool is_told =
        &score == searched || &score == &verdict.scores.back() || score.is_beyond_proof();
    std::string one = is_told ? sentence(score) : "";
    if (!one.empty()) all.push_back(std::move(one));
  }
  const bool is_open = !verdict.scores.empty() && !verdict.scores.back().is_best() &&
                       verdict.scores.back().is_searched();
  if (is_open && !verdict.order_unknown.empty()) {
    all.push_back("What your order of operations allows is not known: " + verdict.order_unknown +
                  ".");
  }
  return all;
}

std::string proven_text(const SizeScore& score) {
  if (!score.is_searched()) return {};
  const toy::Count &least = score.proof->at_least_cycles, &most = score.proof->at_most_cycles;
  return least == most ? most.get_str() : least.get_str() + " to " + most.get_str();
}

std::string Distance::text() const {
  return least == most ? most.get_str() : least.get_str() + " to " + most.get_str();
}

std::optional<Distance> distance_of(const SizeScore& score) {
  if (!score.is_searched() || score.is_beyond_proof()) return std::nullopt;
  return Distance{std::max<toy::Count>(0, score.cycles - score.proof->at_most_cycles),
                  score.cycles - score.proof->at_least_cycles};
}

toy::Count avoidable_loads(const Verdict& verdict) {
  toy::Count all;
  for (const LoadLine& line : verdict.loads) all += line.avoidable;
  return all;
}

std::string loads_text(const Verdict& verdict) {
  toy::Count compulsory, forced;
  for (const LoadLine& line : verdict.loads) {
    compulsory += line.compulsory;
    forced += line.forced;
  }
  return compulsory.get_str() + " compulsory (the first of each value), " + forced.get_str() +
         " forced (by the order of operations), " + avoidable_loads(verdict).get_str() +
         " avoidable";
}

}  // namespace flashlab::exercises
