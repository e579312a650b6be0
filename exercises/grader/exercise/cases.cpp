#include "exercises/grader/exercise/cases.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <random>
#include <set>
#include <stdexcept>

#include "toymachine/execute/dram.hpp"
#include "toymachine/links/machines.hpp"
#include "toymachine/run/interpreter.hpp"

namespace flashlab::exercises {
namespace {

/// Uniform in [low, high), the same on every platform.
double uniform(std::mt19937_64& generator, double low, double high) {
  return low + (high - low) * std::ldexp(static_cast<double>(generator() >> 11), -53);
}

/// The largest values go to both ends, alternately, and the smallest to the middle.
void order_as_valley(std::vector<double>& values) {
  std::vector<double> falling = values;
  std::sort(falling.rbegin(), falling.rend());
  std::size_t left = 0, right = values.size();
  for (std::size_t i = 0; i < falling.size(); ++i) {
    values[i % 2 == 0 ? left++ : --right] = falling[i];
  }
}

void fill_from_family(std::vector<double>& values, Family family, const Range& range,
                      const Inputs& inputs, std::mt19937_64& generator) {
  for (double& value : values) {
    switch (family) {
      case Family::kHuge:
        value = uniform(generator, -inputs.huge, inputs.huge);
        break;
      case Family::kTiny:
        value = uniform(generator, -inputs.tiny, inputs.tiny);
        break;
      default:
        value = uniform(generator, range.low, range.high);
        break;
    }
  }
  if (values.empty()) return;
  if (family == Family::kAscending) std::sort(values.begin(), values.end());
  if (family == Family::kDescending) std::sort(values.rbegin(), values.rend());
  if (family == Family::kConstant) std::fill(values.begin(), values.end(), values[0]);
  if (family == Family::kValley) order_as_valley(values);
  if (family == Family::kFar) {
    const double base = uniform(generator, -inputs.huge, inputs.huge);
    for (double& value : values) value += base;
  }
  if (family == Family::kSpike) values[generator() % values.size()] = inputs.huge;
}

/// The parameters of a size that the program has.
toy::CapacityBinding binding_at(const std::shared_ptr<const toy::Program>& program,
                                const Size& size) {
  toy::CapacityBinding binding;
  for (const toy::ParamDeclaration& param : program->params) {
    if (const auto value = size.find(param.name); value != size.end()) {
      binding.params[param.name] = value->second;
    }
  }
  return binding;
}

toy::BoundProgram bind_or_throw(const std::shared_ptr<const toy::Program>& program,
                                const Size& size) {
  auto bound = toy::bind(program, binding_at(program, size));
  if (!bound) throw std::runtime_error(toy::format(bound.diagnostics, *program->source));
  return std::move(*bound);
}

/// With the arrays of all machines as one: each has a first axis more (toy::Machines::joined).
toy::BoundProgram bind_interface(const std::shared_ptr<const toy::Program>& interface,
                                 const Size& size) {
  auto machines = toy::bind_machines(interface, binding_at(interface, size));
  if (!machines) throw std::runtime_error(toy::format(machines.diagnostics, *interface->source));
  return std::move(machines->joined);
}

NamedArrays draw_inputs(const ProgramTask& task, const toy::BoundProgram& bound, Family family,
                        std::uint64_t seed) {
  NamedArrays inputs;
  for (const toy::BoundArray& array : bound.arrays) {
    if (array.role != toy::ArrayRole::kInput) continue;
    std::seed_seq sequence(array.name.begin(), array.name.end());
    std::vector<std::uint32_t> words(2);
    sequence.generate(words.begin(), words.end());
    std::mt19937_64 generator(seed ^ (std::uint64_t{words[0]} << 32 | words[1]));
    NamedArray drawn{array.extents, std::vector<double>(static_cast<std::size_t>(array.size))};
    const auto range = task.inputs.ranges.find(array.name);
    const bool ranged = range != task.inputs.ranges.end();
    fill_from_family(drawn.values, ranged && !is_ordinary(family) ? Family::kRandom : family,
                     ranged ? range->second : Range{}, task.inputs, generator);
    for (double& value : drawn.values) value = toy::round_to(array.element_type, value);
    inputs[array.name] = std::move(drawn);
  }
  return inputs;
}

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

/// The parameters of the tiles that the exercise gives: B, Bk.
std::set<std::string> tile_parameters(const ProgramTask& task) {
  std::set<std::string> names;
  for (const toy::ArrayDeclaration& array : task.interface->arrays) {
    for (const toy::ExpressionPtr& side : array.tile) add_parameters(*side, names);
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

/// The families at a size where a run takes long: the first one, and the one that overflows if range is
/// judged.
std::vector<Family> large_families(const ProgramTask& task) {
  const std::vector<Family>& all = task.inputs.families;
  const bool has_huge = std::find(all.begin(), all.end(), Family::kHuge) != all.end();
  if (task.numerics.range_safe && has_huge && all.front() != Family::kHuge) {
    return {all.front(), Family::kHuge};
  }
  return {all.front()};
}

}  // namespace

bool is_ordinary(Family family) {
  return family != Family::kHuge && family != Family::kTiny && family != Family::kSpike &&
         family != Family::kFar;
}

std::vector<std::size_t> plainest_first(const std::vector<Case>& cases) {
  constexpr std::array<Family, 9> kOrder{Family::kRandom, Family::kAscending, Family::kDescending,
                                         Family::kValley, Family::kConstant,  Family::kTiny,
                                         Family::kSpike,  Family::kHuge,      Family::kFar};
  const auto place = [&](std::size_t i) {
    return std::find(kOrder.begin(), kOrder.end(), cases[i].family) - kOrder.begin();
  };
  std::vector<std::size_t> order(cases.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return place(a) < place(b); });
  return order;
}

NamedArrays run_reference(const std::shared_ptr<const toy::Program>& program, const Size& size,
                          const NamedArrays& inputs) {
  const toy::BoundProgram bound = bind_or_throw(program, size);
  std::map<std::string, toy::InputSource> sources;
  for (const toy::BoundArray& array : bound.arrays) {
    const auto found = inputs.find(array.name);
    if (array.role != toy::ArrayRole::kInput || found == inputs.end()) continue;
    sources[array.name] = toy::ListInput{found->second.extents, found->second.values};
  }
  auto dram = toy::initial_dram(bound, sources);
  if (!dram) throw std::runtime_error(toy::format(dram.diagnostics, *program->source));
  const auto run = toy::run(bound, std::span<double>(*dram));
  if (!run) throw std::runtime_error(toy::format(run.diagnostics, *program->source));
  NamedArrays outputs;
  for (const toy::BoundArray& array : bound.arrays) {
    if (array.role != toy::ArrayRole::kOutput) continue;
    const auto first = dram->begin() + array.offset;
    outputs[array.name] = {array.extents, std::vector<double>(first, first + array.size)};
  }
  return outputs;
}

NamedArrays reference_results(const ProgramTask& task, const Size& size,
                              const NamedArrays& inputs) {
  NamedArrays results = task.reference != nullptr
                            ? run_reference(task.reference, size, inputs)
                            : run_builtin_reference(task.builtin_reference, inputs);
  for (const std::string& name : task.check) {
    if (!results.contains(name)) {
      throw std::runtime_error("the reference does not compute '" + name + "'");
    }
  }
  return results;
}

std::vector<Size> drawn_sizes(const ProgramTask& task, std::uint64_t seed) {
  return draw_sizes(task, task.drawn, seed ^ 0x5bd1'e995'7b7d'159b);
}

std::vector<Size> counted_sizes(const ProgramTask& task, std::uint64_t seed) {
  return draw_sizes(task, task.counted, seed ^ 0x2545'f491'4f6c'dd1d);
}

SizedCases cases_at(const ProgramTask& task, const Size& size, const std::vector<Family>& families,
                    std::uint64_t seed, std::uint64_t number) {
  const toy::BoundProgram bound = bind_interface(task.interface, size);
  SizedCases sized{size, {}};
  for (const Family family : families) {
    Case entry;
    entry.family = family;
    entry.inputs = draw_inputs(task, bound, family, seed + 0x9e37'79b9'7f4a'7c15 * number++);
    if (task.inputs.derive != nullptr) {
      for (auto& [name, array] : run_reference(task.inputs.derive, size, entry.inputs)) {
        for (double& value : array.values) value = static_cast<float>(value);
        entry.inputs[name] = std::move(array);
      }
    }
    NamedArrays results = reference_results(task, size, entry.inputs);
    for (const std::string& name : task.check) {
      entry.expected[name] = std::move(results.at(name));
    }
    sized.cases.push_back(std::move(entry));
  }
  return sized;
}

namespace {

/// The draws share the families. Tiles are run one case after another.
constexpr std::size_t kDrawnCases = 4, kDrawnTileCases = 2;

/// `count` families at a drawn size: those of large sizes, and others that the seed draws. So nobody knows
/// the size at which a family does not come, and huge inputs come at each if range is judged.
std::vector<Family> drawn_families(const ProgramTask& task, std::uint64_t seed, std::size_t count) {
  std::vector<Family> families = large_families(task), others;
  for (const Family family : task.inputs.families) {
    if (std::find(families.begin(), families.end(), family) == families.end()) {
      others.push_back(family);
    }
  }
  std::mt19937_64 generator(seed);
  while (families.size() < count && !others.empty()) {
    const auto chosen =
        others.begin() + static_cast<std::ptrdiff_t>(below(generator, others.size()));
    families.push_back(*chosen);
    others.erase(chosen);
  }
  while (families.size() < count) families.push_back(task.inputs.families.front());
  return families;
}

}  // namespace

std::vector<SizedCases> make_cases(const ProgramTask& task, std::uint64_t seed, std::size_t count) {
  std::vector<SizedCases> all;
  std::vector<Size> sizes = task.sizes;
  for (Size& size : drawn_sizes(task, seed)) sizes.push_back(std::move(size));
  std::vector<Family> families;
  for (std::size_t i = 0; i < count; ++i) {
    families.push_back(task.inputs.families[i % task.inputs.families.size()]);
  }
  for (const Size& size : sizes) {
    const bool is_drawn = all.size() >= task.sizes.size();
    if (is_drawn) {
      const bool tiled = bind_interface(task.interface, size).tiled;
      families = drawn_families(task, seed + all.size(),
                                std::min(count, tiled ? kDrawnTileCases : kDrawnCases));
    }
    all.push_back(cases_at(task, size, families, seed, all.size() * count));
  }
  return all;
}

LargeCases make_large_cases(const ProgramTask& task, std::uint64_t seed) {
  constexpr std::uint64_t kFirstNumber = std::uint64_t{1} << 32;  // apart from those of make_cases
  LargeCases large;
  std::uint64_t number = kFirstNumber;
  const auto add = [&](const Size& size) {
    const std::vector<Family> families = large_families(task);
    SizedCases sized = cases_at(task, size, families, seed, number);
    number += families.size();
    return sized;
  };
  for (const Size& size : counted_sizes(task, seed)) large.counted.push_back(add(size));
  if (task.speed) large.timed = add(task.speed->size);
  return large;
}

double scale_of(const NamedArray& expected) {
  double scale = 0;
  for (const double value : expected.values) {
    if (std::isfinite(value)) scale = std::max(scale, std::abs(value));
  }
  return scale;
}

bool close_enough(double value, double expected, double scale, double tolerance) {
  if (std::isnan(value) || std::isnan(expected)) return false;
  if (value == expected) return true;  // equal infinities, too
  return std::abs(value - expected) <= tolerance * scale;
}

}  // namespace flashlab::exercises
