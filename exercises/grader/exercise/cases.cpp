#include "exercises/grader/exercise/cases.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <random>
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

/// A value goes on to the next place, except at about twelve of them.
void repeat_in_blocks(std::vector<double>& values, std::mt19937_64& generator) {
  constexpr std::uint64_t kBlocks = 12;
  for (std::size_t i = 1; i < values.size(); ++i) {
    if (generator() % values.size() >= kBlocks) values[i] = values[i - 1];
  }
}

/// The first of several values is 0, and about a quarter of the others: x / x is 1 elsewhere.
void put_zeros(std::vector<double>& values, std::mt19937_64& generator) {
  for (std::size_t i = 0; i < values.size() && values.size() > 1; ++i) {
    if (generator() % 4 == 0 || i == 0) values[i] = 0;
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
  if (family == Family::kTiny) put_zeros(values, generator);
  if (family == Family::kBlocks) repeat_in_blocks(values, generator);
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

/// Half of the huge inputs have one sign in each array, which alternates: products of q and k are all far below 0, say,
/// where a maximum that starts at 0 is wrong at any number of keys. Among many keys some product is near 0, and there
/// only positive ones show that a maximum is missing. So of several arrays the first has a sign for each row.
class Signs {
 public:
  Signs(Family family, std::uint64_t seed) : generator_(seed ^ kApart) {
    const std::uint64_t drawn = generator_();
    alternates_ = family == Family::kHuge && drawn % 2 == 0;
    sign_ = drawn / 2 % 2 == 0 ? 1 : -1;
  }
  /// Sets the signs of the next array, which is one of `arrays`.
  void apply(NamedArray& array, std::size_t arrays) {
    if (!alternates_ || array.values.empty()) return;
    const auto row = static_cast<std::size_t>(array.extents.empty() ? 1 : array.extents.back());
    const bool by_rows = is_first_ && arrays > 1 && array.extents.size() > 1;
    double sign = sign_;
    for (std::size_t i = 0; i < array.values.size(); ++i) {
      // The first row keeps the array's sign: with one row, it is as if there were no rows.
      if (by_rows && i > 0 && i % row == 0) sign = generator_() % 2 == 0 ? sign_ : -sign_;
      array.values[i] = std::copysign(array.values[i], sign);
    }
    sign_ = -sign_;
    is_first_ = false;
  }

 private:
  static constexpr std::uint64_t kApart = 0x9216'd5d9'8979'fb1b;  // from the numbers of any array
  std::mt19937_64 generator_;
  bool alternates_ = false, is_first_ = true;
  double sign_ = 1;
};

NamedArrays draw_inputs(const ProgramTask& task, const toy::BoundProgram& bound, Family family,
                        std::uint64_t seed) {
  NamedArrays inputs;
  Signs signs(family, seed);
  const auto arrays = static_cast<std::size_t>(std::count_if(
      bound.arrays.begin(), bound.arrays.end(),
      [](const toy::BoundArray& array) { return array.role == toy::ArrayRole::kInput; }));
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
    if (!ranged) signs.apply(drawn, arrays);
    for (double& value : drawn.values) value = toy::round_to(array.element_type, value);
    inputs[array.name] = std::move(drawn);
  }
  return inputs;
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
  constexpr std::array<Family, 10> kOrder{
      Family::kRandom,   Family::kAscending, Family::kDescending, Family::kValley, Family::kBlocks,
      Family::kConstant, Family::kTiny,      Family::kSpike,      Family::kHuge,   Family::kFar};
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
    const auto chosen = others.begin() + static_cast<std::ptrdiff_t>(generator() % others.size());
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
