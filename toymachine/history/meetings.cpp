#include "toymachine/history/meetings.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace flashlab::toy {
namespace {

using Indices = std::vector<std::int64_t>;

/// Two loaded tiles that a step multiplies. `first` belongs to the array that was declared first.
struct Product {
  std::size_t step = 0;
  TraceCell first, second;
};

/// The tile from which each register's value comes, as long as it comes from only one.
class Provenance {
 public:
  const TraceCell* of(std::int64_t number) const {
    const auto found = cells_.find(number);
    return found == cells_.end() ? nullptr : &found->second;
  }

  void follow(const RecordedStep& step) {
    if (step.register_written < 0) return;
    if (step.read) {
      cells_[step.register_written] = *step.read;
      return;
    }
    std::optional<TraceCell> only;
    bool is_mixed = step.spec().flop_kind == FlopKind::kProduct;
    for (const std::int64_t number : step.register_reads) {
      const TraceCell* cell = of(number);
      if (cell == nullptr) continue;
      is_mixed |= only && (only->array != cell->array || only->indices != cell->indices);
      only = *cell;
    }
    if (only && !is_mixed) {
      cells_[step.register_written] = *only;
    } else {
      cells_.erase(step.register_written);
    }
  }

 private:
  std::map<std::int64_t, TraceCell> cells_;  // by register
};

bool is_matrix(const RecordedRun& run, const TraceCell& cell) {
  return run.program->arrays[cell.array].counts.size() == 2;
}

/// Returns the products of the two arrays that are multiplied first.
std::vector<Product> products_of(const RecordedRun& run) {
  std::vector<Product> products;
  Provenance provenance;
  for (std::size_t at = 0; at < run.steps.size(); ++at) {
    const RecordedStep& step = run.steps[at];
    if (step.spec().flop_kind == FlopKind::kProduct) {
      const TraceCell* first = provenance.of(step.register_reads[0]);
      const TraceCell* second = provenance.of(step.register_reads[1]);
      if (first != nullptr && second != nullptr && first->array != second->array &&
          is_matrix(run, *first) && is_matrix(run, *second)) {
        if (first->array > second->array) std::swap(first, second);
        if (products.empty() || (products.front().first.array == first->array &&
                                 products.front().second.array == second->array)) {
          products.push_back({at, *first, *second});
        }
      }
    }
    provenance.follow(step);
  }
  return products;
}

/// The axes of the two arrays that do not vanish in the product. Those that vanish have the same
/// index in every product.
struct KeptAxes {
  std::size_t first = 0, second = 0;
};

KeptAxes kept_axes(const std::vector<Product>& products) {
  KeptAxes best;
  std::size_t most_values = 0;
  for (const auto& [first, second] :
       {KeptAxes{0, 0}, KeptAxes{0, 1}, KeptAxes{1, 1}, KeptAxes{1, 0}}) {
    std::set<std::int64_t> values;
    const bool vanish = std::all_of(
        products.begin(), products.end(), [&, f = first, s = second](const Product& product) {
          values.insert(product.first.indices[1 - f]);
          return product.first.indices[1 - f] == product.second.indices[1 - s];
        });
    if (vanish && values.size() > most_values) {
      best = {first, second};
      most_values = values.size();
    }
  }
  return best;
}

/// Marks the elements that a mask has replaced.
void hide(const TraceValue& value, Meeting& meeting) {
  const auto size = static_cast<std::size_t>(value.rows * value.cols);
  meeting.hidden.resize(size, false);
  meeting.hidden_rows = value.rows;
  meeting.hidden_columns = value.cols;
  for (std::size_t i = 0; i < size; ++i) {
    const double element = value.is_tile() ? value.elements[i] : value.number;
    if (element < 0 && std::isinf(element)) meeting.hidden[i] = true;
  }
}

/// A load or store, with the meetings around it.
struct Move {
  std::uint32_t pass = 0;
  TileMoves::Kind kind = TileMoves::Kind::kLoad;
  TraceCell cell;
  std::size_t next_product = 0;  // into the products
};

std::vector<Move> moves_of(const RecordedRun& run, const std::vector<Product>& products) {
  std::vector<Move> moves;
  std::size_t next = 0;
  for (std::size_t at = 0; at < run.steps.size(); ++at) {
    while (next < products.size() && products[next].step < at) ++next;
    const RecordedStep& step = run.steps[at];
    const std::uint32_t pass = step.instruction->pass;
    if (step.read) moves.push_back({pass, TileMoves::Kind::kLoad, *step.read, next});
    if (!step.stored) continue;
    const auto kind = step.spec().is_update() ? TileMoves::Kind::kUpdate : TileMoves::Kind::kStore;
    moves.push_back({pass, kind, *step.stored, next});
  }
  return moves;
}

class MeetingFinder {
 public:
  MeetingFinder(const RecordedRun& run, std::vector<Product> products)
      : run_(run), products_(std::move(products)), axes_(kept_axes(products_)) {}

  Meetings find() {
    const auto& arrays = run_.program->arrays;
    result_.row_array = products_.front().first.array;
    result_.column_array = products_.front().second.array;
    result_.num_rows = arrays[result_.row_array].counts[axes_.first];
    result_.num_columns = arrays[result_.column_array].counts[axes_.second];
    walk();
    const std::vector<Move> moves = moves_of(run_, products_);
    for (PassMeetings& pass : result_.passes) add_moves(moves, pass);
    return std::move(result_);
  }

 private:
  std::int64_t row_of(const Product& product) const { return product.first.indices[axes_.first]; }
  std::int64_t column_of(const Product& product) const {
    return product.second.indices[axes_.second];
  }

  /// Collects the meetings in order, and what the masks after each of them hide.
  void walk() {
    std::size_t next = 0;
    for (std::size_t at = 0; at < run_.steps.size(); ++at) {
      const RecordedStep& step = run_.steps[at];
      if (next < products_.size() && products_[next].step == at) {
        meet(step.instruction->pass, products_[next++]);
      } else if (!result_.passes.empty() && step.spec().is_mask()) {
        hide(step.value, result_.passes.back().path.back());
      }
    }
  }

  void meet(std::uint32_t pass, const Product& product) {
    if (result_.passes.empty() || result_.passes.back().pass != pass)
      result_.passes.push_back({pass, {}, {}});
    std::vector<Meeting>& path = result_.passes.back().path;
    const std::int64_t row = row_of(product), column = column_of(product);
    if (path.empty() || path.back().row != row || path.back().column != column)
      path.push_back({row, column, 0, 0, {}});
  }

  std::size_t axis_of(std::uint32_t array) const {
    if (array == result_.row_array) return axes_.first;
    return array == result_.column_array ? axes_.second : 0;
  }

  /// Whether an array follows the rows of the matrix: its tiles are moved next to a meeting of the
  /// same row more often than next to one of the same column. A result is stored after its meeting.
  bool is_on_rows(const std::vector<Move>& moves, std::uint32_t array) const {
    if (array == result_.row_array) return true;
    if (array == result_.column_array) return false;
    std::int64_t rows = 0, columns = 0;
    for (const Move& move : moves) {
      if (move.cell.array != array) continue;
      const std::int64_t index = move.cell.indices[0];
      const auto matches = [&](auto of) {
        const bool before = move.next_product > 0 && of(products_[move.next_product - 1]) == index;
        const bool after = move.kind == TileMoves::Kind::kLoad &&
                           move.next_product < products_.size() &&
                           of(products_[move.next_product]) == index;
        return before || after;
      };
      rows += matches([&](const Product& product) { return row_of(product); });
      columns += matches([&](const Product& product) { return column_of(product); });
    }
    const std::int64_t count = run_.program->arrays[array].counts[0];
    if (count != result_.num_rows && count == result_.num_columns) return false;
    return rows >= columns || count != result_.num_columns;
  }

  void add_moves(const std::vector<Move>& moves, PassMeetings& pass) const {
    using Key = std::pair<std::uint32_t, TileMoves::Kind>;
    std::map<Key, std::map<Indices, std::int64_t>> times;
    for (const Move& move : moves) {
      if (move.pass == pass.pass) ++times[{move.cell.array, move.kind}][move.cell.indices];
    }
    for (const auto& [key, cells] : times) {
      const BoundArray& array = run_.program->arrays[key.first];
      // A matrix over both rows and columns is no strip beside the matrix of meetings.
      if (array.counts.size() != 2 ||
          (array.counts[0] > 1 && array.counts[0] == result_.num_rows &&
           array.counts[1] == result_.num_columns && array.counts[1] > 1 &&
           key.first != result_.row_array && key.first != result_.column_array)) {
        continue;
      }
      TileMoves strip{key.first, key.second, is_on_rows(moves, key.first), {}};
      const std::size_t axis = axis_of(key.first);
      strip.times.assign(static_cast<std::size_t>(array.counts[axis]), 0);
      for (const auto& [indices, count] : cells) {
        std::int64_t& most = strip.times[static_cast<std::size_t>(indices[axis])];
        most = std::max(most, count);
      }
      pass.moves.push_back(std::move(strip));
    }
  }

  const RecordedRun& run_;
  std::vector<Product> products_;
  KeptAxes axes_;
  Meetings result_;
};

}  // namespace

std::optional<Meetings> meetings(const RecordedRun& run) {
  std::vector<Product> products = products_of(run);
  if (products.empty()) return std::nullopt;
  return MeetingFinder(run, std::move(products)).find();
}

}  // namespace flashlab::toy
