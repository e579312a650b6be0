// The commands of the whole executable.
#include <array>

#include "cli/options/commands.hpp"

namespace flashlab::cli {
namespace {

constexpr auto kAllCommands = std::to_array<AddCommand>(
    {add_tour,          add_next,     add_read,      add_run,    add_trace,  add_debug,
     add_timeline,      add_picture,  add_figure,    add_cost,   add_sweep,  add_diff,
     add_tables,        add_isa,      add_format,    add_editor, add_dap,    add_lsp,
     add_answer,        add_programs, add_exercises, add_write,  add_grade,  add_attention,
     add_projections,   add_compare,  add_optimal,   add_gpu,    add_manual, add_completion,
     add_grading_worker});

}  // namespace

std::span<const AddCommand> commands() { return kAllCommands; }

std::vector<std::string> words_of_bare_call() { return {"next", "--where"}; }

}  // namespace flashlab::cli
