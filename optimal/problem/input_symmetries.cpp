#include "optimal/problem/input_symmetries.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

#include "toymachine/forms/form_algebra.hpp"

namespace flashlab::optimal {
namespace {

class SymmetrySearch {
 public:
  SymmetrySearch(const std::vector<Stated::Cell>& outputs, const std::vector<CellName>& cells)
      : outputs_(outputs), cells_(cells) {}

  std::vector<Renumbering> run() {
    find_symmetries();
    return std::move(found_);
  }

 private:
  Renumbering renumbered(const std::map<CellName, CellName>& swapped) const {
    Renumbering result;
    for (const CellName& cell : cells_) {
      const auto found = swapped.find(cell);
      const auto place =
          std::find(cells_.begin(), cells_.end(), found == swapped.end() ? cell : found->second);
      if (place == cells_.end()) return {};
      result.push_back(static_cast<int>(place - cells_.begin()));
    }
    return result;
  }

  bool keeps_outputs(const Renumbering& renumbering) const {
    constexpr double kNear = 1e-9;
    const auto base = [](std::size_t i, int point) {
      return std::sin(static_cast<double>(i + 1) * (1.3 + point)) + 0.1 * point;
    };
    for (int point = 0; point < 3; ++point) {
      std::vector<double> before, after;
      for (const Stated::Cell& output : outputs_) {
        const auto at = [&](bool is_moved) {
          return toy::value_at(output.form, [&](const auto& array, const auto& indices) {
            const auto place =
                std::find(cells_.begin(), cells_.end(), CellName(array, indices)) - cells_.begin();
            const auto number = static_cast<std::size_t>(place);
            return base(is_moved ? static_cast<std::size_t>(renumbering[number]) : number, point);
          });
        };
        before.push_back(at(false));
        after.push_back(at(true));
      }
      std::sort(before.begin(), before.end());
      std::sort(after.begin(), after.end());
      for (std::size_t i = 0; i < before.size(); ++i) {
        if (!(std::abs(before[i] - after[i]) < kNear)) return false;
      }
    }
    return true;
  }

  void try_symmetry(const std::map<CellName, CellName>& swapped) {
    const Renumbering renumbering = renumbered(swapped);
    if (renumbering.empty() || !tried_.insert(renumbering).second) return;
    if (keeps_outputs(renumbering)) found_.push_back(renumbering);
  }

  void find_symmetries() {
    for (const CellName& a : cells_) {
      for (const CellName& b : cells_) {
        if (a < b) try_symmetry({{a, b}, {b, a}});
      }
    }
    swap_indices();
    swap_arrays();
  }

  /// Swaps two values of an index, along any set of the axes that have both.
  void swap_indices() {
    constexpr std::size_t kMostAxes = 8;
    std::set<std::pair<std::string, std::size_t>> all;  // array and axis
    std::int64_t extent = 0;
    for (const auto& [array, indices] : cells_) {
      for (std::size_t axis = 0; axis < indices.size(); ++axis) {
        all.insert({array, axis});
        extent = std::max(extent, indices[axis] + 1);
      }
    }
    const std::vector<std::pair<std::string, std::size_t>> axes(all.begin(), all.end());
    if (axes.size() > kMostAxes) return;
    for (std::int64_t i = 0; i < extent; ++i) {
      for (std::int64_t j = i + 1; j < extent; ++j) {
        for (std::size_t set = 1; set < std::size_t{1} << axes.size(); ++set) {
          std::map<CellName, CellName> swapped;
          for (const CellName& cell : cells_) {
            CellName moved = cell;
            for (std::size_t a = 0; a < axes.size(); ++a) {
              if ((set >> a & 1) == 0 || axes[a].first != cell.first) continue;
              std::int64_t& index = moved.second[axes[a].second];
              if (index == i || index == j) index = i + j - index;
            }
            swapped[cell] = moved;
          }
          try_symmetry(swapped);
        }
      }
    }
  }

  using Cells = std::map<std::string, std::set<std::vector<std::int64_t>>>;  // by array
  using Names = std::map<std::string, std::string>;

  /// Swaps arrays with the same indices in pairs, for any set of pairs.
  void swap_arrays() {
    constexpr std::size_t kMostArrays = 8;
    Cells arrays;
    for (const auto& [array, indices] : cells_) arrays[array].insert(indices);
    if (arrays.size() <= kMostArrays) swap_arrays(arrays, arrays.begin(), {});
  }

  void swap_arrays(const Cells& arrays, Cells::const_iterator next, const Names& names) {
    if (next == arrays.end()) {
      std::map<CellName, CellName> swapped;
      for (const CellName& cell : cells_) {
        const auto found = names.find(cell.first);
        if (found != names.end()) swapped[cell] = {found->second, cell.second};
      }
      if (!swapped.empty()) try_symmetry(swapped);
      return;
    }
    const auto& [array, indices] = *next;
    swap_arrays(arrays, std::next(next), names);
    if (names.contains(array)) return;
    for (auto other = std::next(next); other != arrays.end(); ++other) {
      if (other->second != indices || names.contains(other->first)) continue;
      Names more = names;
      more[array] = other->first;
      more[other->first] = array;
      swap_arrays(arrays, std::next(next), more);
    }
  }

  const std::vector<Stated::Cell>& outputs_;
  const std::vector<CellName>& cells_;
  std::set<Renumbering> tried_;
  std::vector<Renumbering> found_;
};

}  // namespace

std::vector<Renumbering> symmetries(const std::vector<Stated::Cell>& outputs,
                                    const std::vector<CellName>& cells) {
  return SymmetrySearch(outputs, cells).run();
}

}  // namespace flashlab::optimal
