#include "toymachine/links/link_errors.hpp"

#include <algorithm>
#include <string>

#include "text/lists.hpp"

namespace flashlab::toy::detail {
namespace {

constexpr std::size_t kMostMachinesNamed = 8;

std::string text_of_waiting(const WaitingMachine& machine) {
  return "machine " + std::to_string(machine.rank) + " waits in line " +
         std::to_string(machine.span.line) +
         (machine.sends ? " to send to machine " : " for a message of machine ") +
         std::to_string(machine.other) + (machine.other_has_ended ? ", which has ended" : "");
}

}  // namespace

Diagnostic deadlock_error(const std::vector<WaitingMachine>& waiting) {
  const std::size_t named = std::min(waiting.size(), kMostMachinesNamed);
  const std::vector<WaitingMachine> first(waiting.begin(),
                                          waiting.begin() + static_cast<std::ptrdiff_t>(named));
  std::string what = "no machine can go on: " + joined(first, "; ", text_of_waiting);
  if (named < waiting.size()) {
    what += "; and " + std::to_string(waiting.size() - named) + " more";
  }
  return {Severity::kError,
          Fault::kProgram,
          waiting.front().span,
          std::move(what),
          "for each receiver a sender that does not wait for the same machine before",
          {}};
}

Diagnostic message_left_error(const BoundProgram& sender, std::int64_t to, std::uint32_t site) {
  return {Severity::kError,
          Fault::kProgram,
          sender.instructions[site].span,
          "machine " + std::to_string(to) + " never receives the last message that machine " +
              std::to_string(sender.machine->rank) + " sends to it here",
          "a receiver for each message",
          {}};
}

}  // namespace flashlab::toy::detail
