// Loops that can be counted separately from each other. Private to counting.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "toymachine/count/iteration_space.hpp"

namespace flashlab::toy::detail {

/// Loops that depend on each other, renumbered from 0 (the outermost) on.
struct NestComponent {
  std::vector<NestLoop> loops;
  std::size_t innermost = 0;  // its number in the program
  std::string key;            // equal for components that run equally often
};

/// Groups the loops of one path by which bounds depend on which variables. The path's number of
/// iterations is the product of its groups' numbers.
std::vector<NestComponent> components(const std::vector<NestLoop>& path);

}  // namespace flashlab::toy::detail
