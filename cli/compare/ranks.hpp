// `flashlab compare --gpus`: attention over several GPUs, predicted and measured.
#pragma once

#include "cli/compare/options.hpp"
#include "results/machine_model.hpp"

namespace flashlab::cli {

/// Prints a table: how long the GPUs compute, how long the link is busy, how much of that is exposed.
/// `measures`: the GPU here is this machine. Throws Failure.
int compare_ranks(const CompareFlags& flags, const compare::MachineModel& machine,
                  const compare::MachineModel& data_sheet, bool measures);

}  // namespace flashlab::cli
