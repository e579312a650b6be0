// Messages between the machines of one program, and how an interpreter sends and receives them.
//
// Numbers and tiles of numbers travel. A run on shapes sends only shapes, and one without links
// counts its messages. All other values belong to tools that know one machine.
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "toymachine/budget/budget.hpp"
#include "toymachine/execute/execute.hpp"
#include "toymachine/execute/execution.hpp"
#include "toymachine/execute/run_errors.hpp"
#include "toymachine/execute/shape.hpp"

namespace flashlab::toy::detail {

/// The elements of one tile, row by row. A run on shapes sends no elements.
template <class Cell>
struct Message {
  Shape shape{1, 1};
  ElementType type = ElementType::kFloat;
  std::vector<Cell> elements;
};

/// The links of one machine. Each link leads to one other machine and holds one message, so a
/// machine waits in two cases: to send while the last message is still in the link, and to receive
/// while there is none. Neither depends on the order in which the machines are run.
template <class Cell>
class Links {
 public:
  virtual ~Links() = default;
  virtual bool can_send(std::int64_t to, const Step& step) = 0;
  virtual void send(std::int64_t to, const Step& step, Message<Cell> message) = 0;
  /// Returns the message in the link; null if there is none.
  virtual const Message<Cell>* waiting_from(std::int64_t from, const Step& step) = 0;
  /// Takes that message out of the link.
  virtual void received(std::int64_t from, const Step& step) = 0;
};

/// One SEND or RECV. Returns kWaits if it must be tried again when another machine went on.
template <class Value>
struct Exchange {
  using Cell = typename ValueTraits<Value>::Cell;
  static constexpr bool kShapes = std::is_same_v<Value, Shape>;
  static constexpr bool kTravels = kShapes || std::is_floating_point_v<Cell>;
  static constexpr std::int64_t kElementsPerCheck = 32;  // take 10 ns

  RunPlace place;
  Cell* dram = nullptr;
  Links<Cell>* links = nullptr;
  std::optional<Diagnostic> error;

  Status operator()(Slots<Value>& slots, Step step) {
    const bool sends = instruction_set()[place.instruction->row].is_send();
    const std::size_t memory = sends ? 0 : 1;  // SEND src, to; RECV from, dst
    Shape cell{1, 1};
    if constexpr (ValueTraits<Value>::kTiles) {
      cell = slots.cell;
      slots.work = step.work = cell.rows * cell.cols;
    }
    check_budget(1 + cell.rows * cell.cols / kElementsPerCheck);
    if (links == nullptr || !kTravels) {
      if constexpr (!kShapes) error = one_machine_error(place);
      return Status::kOk;
    }
    const std::int64_t other = slots.at[1 - memory];
    if (!place.program->machine->has_link_to(other)) {
      error = no_link_error(place, 1 - memory);
      return Status::kOk;
    }
    if constexpr (kTravels) {
      return sends ? send(slots, cell, other, step) : receive(slots, cell, other, step);
    }
    return Status::kOk;
  }

 private:
  ElementType type_of(std::size_t memory) const {
    return place.program->arrays[place.instruction->operands[memory].array].element_type;
  }

  Status send(const Slots<Value>& slots, const Shape& cell, std::int64_t to, const Step& step) {
    if (!links->can_send(to, step)) return Status::kWaits;
    Message<Cell> message{cell, type_of(0), {}};
    bool is_written = true;
    if constexpr (!kShapes) {
      message.elements.reserve(static_cast<std::size_t>(cell.rows * cell.cols));
      for_each_element(slots, 0, cell, [&](const Cell& value) {
        is_written = is_written && ValueTraits<Cell>::is_written(value);
        message.elements.push_back(value);
      });
    }
    if (is_written) {
      links->send(to, step, std::move(message));
    } else {
      error = unwritten_error(place, 0);
    }
    return Status::kOk;
  }

  Status receive(const Slots<Value>& slots, const Shape& cell, std::int64_t from,
                 const Step& step) {
    const Message<Cell>* message = links->waiting_from(from, step);
    if (message == nullptr) return Status::kWaits;
    if (!(message->shape == cell) || message->type != type_of(1)) {
      error = message_error(place, message->shape, message->type, cell);
      return Status::kOk;
    }
    if constexpr (!kShapes) {
      std::size_t next = 0;
      for_each_element(slots, 1, cell, [&](Cell& value) { value = message->elements[next++]; });
    }
    links->received(from, step);
    return Status::kOk;
  }

  /// Visits the elements of the cell that an operand names, row by row.
  template <class Visit>
  void for_each_element(const Slots<Value>& slots, std::size_t memory, const Shape& cell,
                        const Visit& visit) {
    std::int64_t stride = 1;
    if constexpr (ValueTraits<Value>::kTiles) stride = slots.stride;
    for (std::int64_t row = 0; row < cell.rows; ++row) {
      Cell* const first = dram + slots.at[memory] + row * stride;
      for (std::int64_t column = 0; column < cell.cols; ++column) visit(first[column]);
    }
  }
};

}  // namespace flashlab::toy::detail
