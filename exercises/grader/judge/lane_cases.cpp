#include "exercises/grader/judge/lane_cases.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace flashlab::exercises {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

toy::LaneValue everywhere(float value) {
  toy::LaneValue result;
  std::fill_n(result.lane, toy::kLanes, value);
  return result;
}

void check_size(const std::string& name, std::int64_t have, std::size_t wanted) {
  if (have == static_cast<std::int64_t>(wanted)) return;
  throw std::runtime_error("the array " + name + " has " + std::to_string(have) +
                           " elements, and the inputs have " + std::to_string(wanted));
}

/// The float nearest to `end` that is still close enough to `expected`.
float last_accepted(double expected, double scale, double tolerance, float end) {
  const auto right = [&](float value) { return close_enough(value, expected, scale, tolerance); };
  const double distance = std::isfinite(expected) ? tolerance * scale : 0;
  auto edge = static_cast<float>(end < 0 ? expected - distance : expected + distance);
  for (int i = 0; i < 2 && !right(edge); ++i) edge = std::nextafter(edge, -end);
  if (!right(edge)) return kNaN;  // no float is close enough
  for (int i = 0; i < 2 && right(std::nextafter(edge, end)); ++i) edge = std::nextafter(edge, end);
  return edge;
}

/// A case without values: only the places of arrays.
LaneCase empty_case(const toy::BoundProgram& bound) {
  LaneCase lanes;
  for (const toy::BoundArray& array : bound.arrays) {
    lanes.arrays.push_back({array.name, static_cast<std::int32_t>(array.offset),
                            static_cast<std::int32_t>(array.size)});
  }
  lanes.dram.assign(static_cast<std::size_t>(bound.dram_elements), everywhere(kNaN));
  return lanes;
}

void fill_inputs(LaneCase& lanes, const LaneCase::Array& array, const SizedCases& cases) {
  for (std::size_t lane = 0; lane < toy::kLanes; ++lane) {
    const NamedArrays& inputs = cases.cases[lanes.case_of(lane)].inputs;
    const auto found = inputs.find(array.name);
    if (found == inputs.end()) throw std::runtime_error("no input fills the array " + array.name);
    check_size(array.name, array.size, found->second.values.size());
    for (std::int32_t i = 0; i < array.size; ++i) {
      const std::int32_t cell = array.first + i;
      lanes.dram[static_cast<std::size_t>(cell)].lane[lane] =
          static_cast<float>(found->second.values[static_cast<std::size_t>(i)]);
    }
  }
}

void expect_array(LaneCase& lanes, const LaneCase::Array& array, const SizedCases& cases,
                  double tolerance) {
  const std::size_t before = lanes.expected.size();
  for (std::int32_t i = 0; i < array.size; ++i) lanes.expected.push_back({array.first + i, {}, {}});
  for (std::size_t lane = 0; lane < toy::kLanes; ++lane) {
    const NamedArray& wanted = cases.cases[lanes.case_of(lane)].expected.at(array.name);
    check_size(array.name, array.size, wanted.values.size());
    const double scale = scale_of(wanted);
    for (std::size_t i = 0; i < wanted.values.size(); ++i) {
      ExpectedCell& cell = lanes.expected[before + i];
      cell.low.lane[lane] = last_accepted(wanted.values[i], scale, tolerance, -kInfinity);
      cell.high.lane[lane] = last_accepted(wanted.values[i], scale, tolerance, kInfinity);
    }
  }
}

/// Throws unless every expected array is one of the program's.
void check_declared(const NamedArrays& expected, const toy::BoundProgram& bound) {
  for (const auto& [name, values] : expected) {
    const auto is_it = [&wanted = name](const toy::BoundArray& array) {
      return array.name == wanted;
    };
    if (std::any_of(bound.arrays.begin(), bound.arrays.end(), is_it)) continue;
    throw std::runtime_error("the program has no array " + name);
  }
}

}  // namespace

std::vector<LaneCase> make_lane_cases(const SizedCases& cases, const toy::BoundProgram& bound,
                                      const Tolerance& tolerance) {
  std::vector<LaneCase> all;
  for (std::size_t first = 0; first < cases.cases.size(); first += toy::kLanes) {
    check_declared(cases.cases[first].expected, bound);
    LaneCase lanes = empty_case(bound);
    lanes.first_case = first;
    lanes.num_cases = std::min(toy::kLanes, cases.cases.size() - first);
    for (std::size_t a = 0; a < bound.arrays.size(); ++a) {
      const LaneCase::Array& array = lanes.arrays[a];
      if (bound.arrays[a].role == toy::ArrayRole::kInput) fill_inputs(lanes, array, cases);
      if (cases.cases[first].expected.contains(array.name)) {
        expect_array(lanes, array, cases, tolerance.of(array.name));
      }
    }
    all.push_back(std::move(lanes));
  }
  return all;
}

LaneCase lay_out(const LaneCase& lanes, const toy::BoundProgram& bound) {
  LaneCase result = empty_case(bound);
  result.first_case = lanes.first_case;
  result.num_cases = lanes.num_cases;
  for (std::size_t a = 0; a < bound.arrays.size(); ++a) {
    if (bound.arrays[a].role == toy::ArrayRole::kTemp) continue;  // each program has its own
    const LaneCase::Array& to = result.arrays[a];
    for (const LaneCase::Array& from : lanes.arrays) {
      if (from.name != to.name) continue;
      check_size(to.name, to.size, static_cast<std::size_t>(from.size));
      std::copy_n(lanes.dram.begin() + from.first, from.size, result.dram.begin() + to.first);
      for (const ExpectedCell& cell : lanes.expected) {
        if (cell.element < from.first || cell.element >= from.first + from.size) continue;
        result.expected.push_back({cell.element - from.first + to.first, cell.low, cell.high});
      }
    }
  }
  if (result.expected.size() != lanes.expected.size()) {
    throw std::runtime_error("the program lacks an array whose results are expected");
  }
  return result;
}

std::optional<WrongCell> first_wrong(const LaneCase& lanes, std::span<const toy::LaneValue> dram) {
  for (std::size_t i = 0; i < lanes.expected.size(); ++i) {
    const ExpectedCell& cell = lanes.expected[i];
    const float* value = dram[static_cast<std::size_t>(cell.element)].lane;
    unsigned right = 1;  // bitwise: the loop has no branch
    for (std::size_t lane = 0; lane < toy::kLanes; ++lane) {
      right &= static_cast<unsigned>(value[lane] >= cell.low.lane[lane]) &
               static_cast<unsigned>(value[lane] <= cell.high.lane[lane]);
    }
    if (right != 0) continue;
    for (std::size_t lane = 0; lane < toy::kLanes; ++lane) {
      if (!(value[lane] >= cell.low.lane[lane] && value[lane] <= cell.high.lane[lane])) {
        return WrongCell{i, lane};
      }
    }
  }
  return std::nullopt;
}

}  // namespace flashlab::exercises
