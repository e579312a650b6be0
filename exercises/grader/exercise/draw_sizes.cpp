// The sizes that a seed draws.
#include "exercises/grader/exercise/draw_sizes.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>

#include "exercises/grader/exercise/cases.hpp"

namespace flashlab::exercises {
namespace {

using ColumnLine = std::array<Column, 3>;

template <class Values>
void shuffle_columns(Values& values, std::mt19937_64& generator) {
  for (std::size_t i = values.size(); i > 1; --i) {
    std::swap(values[i - 1], values[generator() % i]);
  }
}

/// Disjoint lines, each the first that is left: with 16 rows five, which have all columns.
std::vector<ColumnLine> disjoint_lines(std::set<Column>& left) {
  std::vector<ColumnLine> lines;
  for (auto a = left.begin(); a != left.end();) {
    const auto b = std::find_if(std::next(a), left.end(),
                                [&](Column other) { return left.contains(*a ^ other); });
    if (b == left.end()) {
      ++a;
      continue;
    }
    lines.push_back({*a, *b, *a ^ *b});
    left.erase(lines.back()[1]);
    left.erase(lines.back()[2]);
    a = left.erase(a);
  }
  return lines;
}

}  // namespace

bool bit_of(Column column, std::size_t row) { return std::popcount(column & row) % 2 != 0; }

std::vector<ParameterColumns> pairwise_columns(std::size_t rows, std::size_t parameters,
                                               std::mt19937_64& generator) {
  std::vector<ParameterColumns> all(parameters);
  if (rows < 2 || !std::has_single_bit(rows)) return all;
  std::set<Column> left;
  for (Column column = 1; column < rows; ++column) left.insert(column);
  const std::size_t with_parity =
      rows - 1 > parameters ? std::min(parameters, rows - 1 - parameters) : 0;
  std::vector<ColumnLine> lines = disjoint_lines(left);
  shuffle_columns(lines, generator);
  const std::size_t with_line = std::min(lines.size(), with_parity);
  std::vector<Column> unused(left.begin(), left.end()), others;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    shuffle_columns(lines[i], generator);
    if (i < with_line) {
      all[i] = {lines[i][0], lines[i][1]};
      others.push_back(lines[i][2]);
    } else {
      unused.insert(unused.end(), lines[i].begin(), lines[i].end());
    }
  }
  // Taken from the back. The sum of two columns is known where both are, so the last ones give theirs first.
  shuffle_columns(unused, generator);
  others.insert(others.end(), unused.begin(), unused.end());
  for (ParameterColumns& one : all) {
    if (one.half != 0 || others.empty()) continue;
    one.half = others.back();
    others.pop_back();
  }
  for (std::size_t i = with_line; i < with_parity && !others.empty(); ++i) {
    all[i].parity = others.back();
    others.pop_back();
  }
  return all;
}

namespace {

/// Uniform in 0..count-1, the same on every platform.
std::uint64_t below(std::mt19937_64& generator, std::uint64_t count) { return generator() % count; }

/// Values of a parameter, `step` apart; both ends belong to them.
struct Stratum {
  std::int64_t first = 0, last = 0, step = 1;

  std::int64_t count() const { return (last - first) / step + 1; }
};

/// Cuts values into `count` parts of equal width, in random order. Fewer values give parts of one value each,
/// and every value is one of them.
std::vector<Stratum> strata(const Stratum& values, std::int64_t count, std::mt19937_64& generator) {
  const std::int64_t width = values.count();
  std::vector<Stratum> parts;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t first = (i * width + (width < count ? width - 1 : 0)) / count;
    const std::int64_t last = std::max(first, (i + 1) * width / count - 1);
    parts.push_back(
        {values.first + first * values.step, values.first + last * values.step, values.step});
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

/// A half of a range and the parity of its values, as far as the parameter has columns for them.
struct Level {
  bool is_upper = false, is_odd = false;
  auto operator<=>(const Level&) const = default;
};

/// The end of a range where a program has the most to do: the largest arrays and the smallest tiles.
std::int64_t busy_end(const Stratum& range, bool is_tile) {
  return is_tile ? range.first : range.last;
}

/// The values of a range at a level. If it has none of this parity, those of the half.
Stratum values_at(const Stratum& range, const ParameterColumns& columns, const Level& level) {
  Stratum values = range;
  const std::int64_t middle = (range.first + range.last) / 2;
  if (columns.half != 0 && range.first < range.last) {
    (level.is_upper ? values.first : values.last) = middle + (level.is_upper ? 1 : 0);
  }
  if (columns.parity == 0) return values;
  const std::int64_t first = values.first + ((values.first % 2 != 0) != level.is_odd ? 1 : 0);
  if (first > values.last) return values;
  return {first, values.last - (values.last - first) % 2, 2};
}

/// The part of a parameter's range that each draw has for itself. Its columns say which half the draws have, and
/// which parity; draws that agree in both share these values out. If it begins at its busy end, the first draw
/// has that value.
std::vector<Stratum> shares_of(const Stratum& range, const ParameterColumns& columns,
                               std::optional<std::int64_t> first_value, std::size_t count,
                               std::mt19937_64& generator) {
  Level first;
  if (first_value) {
    first = {*first_value > (range.first + range.last) / 2, *first_value % 2 != 0};
  } else if (columns.half != 0) {
    first = {generator() % 2 != 0, generator() % 2 != 0};
  }
  std::map<Level, std::vector<std::size_t>> draws;
  for (std::size_t i = 0; i < count; ++i) {
    draws[{bit_of(columns.half, i) != first.is_upper, bit_of(columns.parity, i) != first.is_odd}]
        .push_back(i);
  }
  std::vector<Stratum> parts(count);
  for (const auto& [level, members] : draws) {
    std::vector<Stratum> shares = strata(values_at(range, columns, level),
                                         static_cast<std::int64_t>(members.size()), generator);
    if (first_value && members.front() == 0) {
      const auto its = std::find_if(shares.begin(), shares.end(), [&](const Stratum& share) {
        return share.first == *first_value || share.last == *first_value;
      });
      if (its != shares.end()) std::iter_swap(shares.begin(), its);
      shares.front() = {*first_value, *first_value};
    }
    for (std::size_t i = 0; i < members.size(); ++i) parts[members[i]] = shares[i];
  }
  return parts;
}

/// The parameters that are drawn, those with the fewest values first: all their pairs are covered.
std::vector<std::string> drawn_parameters(const DrawnSizes& rule, std::mt19937_64& generator) {
  std::vector<std::string> names;
  for (const auto& [name, range] : rule.ranges) names.push_back(name);
  for (std::size_t i = names.size(); i > 1; --i) {
    std::swap(names[i - 1], names[below(generator, i)]);
  }
  const auto width = [&](const std::string& name) {
    const auto& range = rule.ranges.at(name);
    return range.second - range.first;
  };
  // One that has a single value needs no column.
  std::stable_sort(names.begin(), names.end(), [&](const std::string& a, const std::string& b) {
    return (width(a) == 0 ? INT64_MAX : width(a)) < (width(b) == 0 ? INT64_MAX : width(b));
  });
  return names;
}

/// The size with the most to do, unless it is displayed, or the task has one parameter only and no tiles: a
/// program for at most k rows, tiles or products is wrong there, whatever k is.
std::optional<Size> busiest_size(const ProgramTask& task, const DrawnSizes& rule) {
  const std::set<std::string> tiles = tile_parameters(task);
  if (rule.count < 2 || (tiles.empty() && rule.ranges.size() < 2)) return std::nullopt;
  Size size;
  for (const auto& [name, range] : rule.ranges) {
    size[name] = busy_end({range.first, range.second}, tiles.contains(name));
  }
  if (std::find(task.sizes.begin(), task.sizes.end(), size) != task.sizes.end())
    return std::nullopt;
  return size;
}

/// Draws a Latin hypercube over an orthogonal array: the draws share out the parts of each parameter's range, and
/// each two parameters have all pairs of halves and parities. Sizes that are known already are drawn again, and left
/// out if there are no others.
std::vector<Size> draw_once(const ProgramTask& task, const DrawnSizes& rule,
                            std::mt19937_64& generator) {
  constexpr int kMostTries = 100;
  std::vector<Size> drawn;
  const auto is_known = [&](const Size& size) {
    return std::find(task.sizes.begin(), task.sizes.end(), size) != task.sizes.end() ||
           std::find(drawn.begin(), drawn.end(), size) != drawn.end();
  };
  const auto count = static_cast<std::size_t>(rule.count);
  const std::optional<Size> busiest = busiest_size(task, rule);
  // Of many draws it is one more: else the ends of two long ranges would come together only.
  const bool is_apart = rule.count >= kUsualDraws;
  const std::vector<std::string> names = drawn_parameters(rule, generator);
  const auto varying = static_cast<std::size_t>(
      std::count_if(rule.ranges.begin(), rule.ranges.end(),
                    [](const auto& entry) { return entry.second.first < entry.second.second; }));
  // A single parameter is cut into as many parts as there are draws, so that one of them is near its end.
  std::vector<ParameterColumns> columns =
      pairwise_columns(varying < 2 ? 0 : count, varying, generator);
  columns.resize(names.size());  // those at the end have one value
  std::map<std::string, std::vector<Stratum>> parts;
  for (std::size_t p = 0; p < names.size(); ++p) {
    const auto& range = rule.ranges.at(names[p]);
    const auto first = busiest && !is_apart ? std::optional(busiest->at(names[p])) : std::nullopt;
    parts[names[p]] = shares_of({range.first, range.second}, columns[p], first, count, generator);
  }
  for (std::size_t i = 0; i < count; ++i) {
    Size size;
    for (int tries = 0; tries == 0 || (is_known(size) && tries < kMostTries); ++tries) {
      for (const auto& [name, range] : rule.ranges) {
        const bool is_whole_range = tries > kMostTries / 2;
        const Stratum part =
            is_whole_range ? Stratum{range.first, range.second} : parts.at(name)[i];
        size[name] =
            part.first + part.step * static_cast<std::int64_t>(below(
                                         generator, static_cast<std::uint64_t>(part.count())));
      }
    }
    if (drawn.empty() || !is_known(size)) drawn.push_back(std::move(size));
  }
  if (busiest && is_apart && !is_known(*busiest)) drawn.push_back(*busiest);
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
/// short range, or where two parameters have two of these, or for few tiles only, meets such a size with every seed.
/// Small sizes come first: a failure is easier to explain there.
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
