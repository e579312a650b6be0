// The sizes that a seed draws.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <utility>

#include "exercises/grader/exercise/cases.hpp"

namespace flashlab::exercises {
namespace {

/// Uniform in 0..count-1, the same on every platform.
std::uint64_t below(std::mt19937_64& generator, std::uint64_t count) { return generator() % count; }

/// A part of a range; both ends belong to it.
struct Stratum {
  std::int64_t first = 0, last = 0;
};

/// Cuts a range into `count` parts of equal width, in random order. A range of fewer values gives parts
/// of one value each, and every value is one of them.
std::vector<Stratum> strata(const std::pair<std::int64_t, std::int64_t>& range, std::int64_t count,
                            std::mt19937_64& generator) {
  const std::int64_t width = range.second - range.first + 1;
  std::vector<Stratum> parts;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t first = (i * width + (width < count ? width - 1 : 0)) / count;
    const std::int64_t last = std::max(first, (i + 1) * width / count - 1);
    parts.push_back({range.first + first, range.first + last});
  }
  for (std::size_t i = parts.size(); i > 1; --i) {
    std::swap(parts[i - 1], parts[below(generator, i)]);
  }
  return parts;
}

std::int64_t sum_of(const Size& size) {
  return std::accumulate(size.begin(), size.end(), std::int64_t{0},
                         [](std::int64_t sum, const auto& entry) { return sum + entry.second; });
}

void add_parameters(const toy::Expression& expression, std::set<std::string>& names) {
  if (expression.op == toy::ExpressionOp::kParam) names.insert(expression.name);
  for (const toy::ExpressionPtr& argument : expression.args) add_parameters(*argument, names);
}

/// The parameters that make tiles large: those of the tiles that the exercise gives, B and Bk, and of the
/// bytes that registers may hold.
std::set<std::string> tile_parameters(const ProgramTask& task) {
  std::set<std::string> names;
  for (const toy::ArrayDeclaration& array : task.interface->arrays) {
    for (const toy::ExpressionPtr& side : array.tile) add_parameters(*side, names);
  }
  if (!task.most_register_bytes) return names;
  for (const toy::Atom& atom : task.most_register_bytes->atoms()) {
    if (atom.kind() == toy::Atom::Kind::kSymbol) names.insert(atom.key());
  }
  return names;
}

/// Exchanges values between the draws until one of them has the largest arrays and the smallest tiles: a
/// program for at most k rows or tiles is wrong there, whatever k is. Each draw keeps a part of each range
/// for itself, but of the end parts it keeps the ends. Nothing is exchanged if two draws would be equal, or one that is displayed.
void take_most_tiles(const ProgramTask& task, const DrawnSizes& rule, std::vector<Size>& drawn) {
  const std::set<std::string> tiles = tile_parameters(task);
  if (tiles.empty() || drawn.size() < 2) return;
  std::vector<Size> exchanged = drawn;
  for (const auto& [name, range] : rule.ranges) {
    const std::int64_t wanted = tiles.contains(name) ? range.first : range.second;
    const auto nearest = std::min_element(
        exchanged.begin(), exchanged.end(), [&, &name = name](const Size& a, const Size& b) {
          return std::abs(a.at(name) - wanted) < std::abs(b.at(name) - wanted);
        });
    std::swap(exchanged.front()[name], (*nearest)[name]);
    exchanged.front()[name] = wanted;  // the end of the part that the nearest one was drawn from
  }
  const std::set<Size> different(exchanged.begin(), exchanged.end());
  const bool is_displayed = std::any_of(task.sizes.begin(), task.sizes.end(),
                                        [&](const Size& size) { return different.contains(size); });
  if (different.size() == exchanged.size() && !is_displayed) drawn = std::move(exchanged);
}

/// Draws a Latin hypercube: the draws share out the parts of each parameter's range. Sizes that are known
/// already are drawn again, and left out if there are no others.
std::vector<Size> draw_once(const ProgramTask& task, const DrawnSizes& rule,
                            std::mt19937_64& generator) {
  constexpr int kMostTries = 100;
  std::vector<Size> drawn;
  const auto is_known = [&](const Size& size) {
    return std::find(task.sizes.begin(), task.sizes.end(), size) != task.sizes.end() ||
           std::find(drawn.begin(), drawn.end(), size) != drawn.end();
  };
  std::map<std::string, std::vector<Stratum>> parts;
  for (const auto& [name, range] : rule.ranges) {
    parts[name] = strata(range, rule.count, generator);
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(rule.count); ++i) {
    Size size;
    for (int tries = 0; tries == 0 || (is_known(size) && tries < kMostTries); ++tries) {
      for (const auto& [name, range] : rule.ranges) {
        const bool is_whole_range = tries > kMostTries / 2;
        const Stratum part =
            is_whole_range ? Stratum{range.first, range.second} : parts.at(name)[i];
        const auto width = static_cast<std::uint64_t>(part.last - part.first) + 1;
        size[name] = part.first + static_cast<std::int64_t>(below(generator, width));
      }
    }
    if (drawn.empty() || !is_known(size)) drawn.push_back(std::move(size));
  }
  take_most_tiles(task, rule, drawn);
  return drawn;
}

/// Whether the sizes have a value in each half of each parameter's range, an even and an odd one, as far as
/// the range has such values that are not among the exercise's own.
bool cover_halves(const std::vector<Size>& sizes, const ProgramTask& task, const DrawnSizes& rule) {
  for (const auto& [name, range] : rule.ranges) {
    // For each half and each parity: has the range such a value, has a size one?
    std::array<bool, 4> wanted{}, there{};
    const auto note = [&, middle = (range.first + range.second) / 2](std::int64_t value,
                                                                     std::array<bool, 4>& where) {
      where[value <= middle ? 0 : 1] = true;
      where[value % 2 == 0 ? 2 : 3] = true;
    };
    std::set<std::int64_t> known;
    for (const Size& size : task.sizes) known.insert(size.at(name));
    const std::int64_t enough = std::min(range.second, range.first + 200);
    for (std::int64_t value = range.first; value <= enough; ++value) {
      if (!known.contains(value)) note(value, wanted);
    }
    if (!known.contains(range.second)) note(range.second, wanted);
    for (const Size& size : sizes) {
      if (!known.contains(size.at(name))) note(size.at(name), there);
    }
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (wanted[i] && !there[i]) return false;
    }
  }
  return true;
}

/// A program that is wrong in either half of any range, at its even or its odd values, or at one value of a
/// short range, or for few tiles only, meets such a size with every seed. Small sizes come first: a failure is easier to explain
/// there.
std::vector<Size> draw_sizes(const ProgramTask& task, const DrawnSizes& rule, std::uint64_t seed) {
  constexpr int kMostTries = 200;
  if (rule.ranges.empty()) return {};
  std::mt19937_64 generator(seed);
  std::vector<Size> drawn = draw_once(task, rule, generator);
  for (int i = 1; rule.count > 1 && !cover_halves(drawn, task, rule) && i < kMostTries; ++i) {
    drawn = draw_once(task, rule, generator);
  }
  std::stable_sort(drawn.begin(), drawn.end(),
                   [](const Size& a, const Size& b) { return sum_of(a) < sum_of(b); });
  return drawn;
}

}  // namespace

std::vector<Size> drawn_sizes(const ProgramTask& task, std::uint64_t seed) {
  return draw_sizes(task, task.drawn, seed ^ 0x5bd1'e995'7b7d'159b);
}

std::vector<Size> counted_sizes(const ProgramTask& task, std::uint64_t seed) {
  return draw_sizes(task, task.counted, seed ^ 0x2545'f491'4f6c'dd1d);
}

}  // namespace flashlab::exercises
