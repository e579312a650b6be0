// The commands that need only the machine.
#include <array>

#include "cli/options/commands.hpp"

namespace flashlab::cli {
namespace {

constexpr std::array<AddCommand, 10> kMachineCommands{
    add_tour,  add_run,  add_trace,  add_timeline, add_cost,
    add_sweep, add_diff, add_tables, add_isa,      add_programs};

}  // namespace

std::span<const AddCommand> commands() { return kMachineCommands; }

std::vector<std::string> words_of_bare_call() { return {"--help"}; }

}  // namespace flashlab::cli
