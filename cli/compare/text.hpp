// The tables of `flashlab compare`.
#pragma once

#include <string>
#include <vector>

#include "cli/terminal/terminal.hpp"
#include "results/machine_model.hpp"
#include "results/result_file.hpp"

namespace flashlab::cli {

/// Returns "H200, rates measured 2026-11-21; bf16, batch 4, 8 heads, d 64": what all rows share.
std::string comparison_heading(const compare::Comparison& comparison,
                               const compare::MachineModel& machine, const Terminal& terminal);

/// Bytes to the SMs and milliseconds: counted, predicted, measured and their ratios. With `steps`,
/// one line for each kernel of a call.
std::string times_table(const compare::Comparison& comparison, bool steps,
                        const Terminal& terminal);
/// Predicted milliseconds under three sets of assumptions, which are listed below the table.
std::string models_table(const compare::Comparison& comparison,
                         const compare::MachineModel& machine, const Terminal& terminal);
/// Bytes by the Pallas post's formula and text, by the toy program, by the kernel's blocks,
/// by the hardware.
std::string bytes_table(const compare::Comparison& comparison, const Terminal& terminal);
/// FLOPs per byte of DRAM: by the Pallas post's formulas, by the program's counts, by the hardware.
std::string intensity_table(const compare::Comparison& comparison,
                            const compare::MachineModel& machine, const Terminal& terminal);
/// Shared memory of each kernel's blocks, with the GPU's limit and the Pallas post's own budget.
std::string shared_memory_table(const compare::Comparison& comparison,
                                const compare::MachineModel& machine, const Terminal& terminal);
/// FLOPs by the Pallas post's formula, by the usual count, and as the toy program executes them.
std::string flops_table(const compare::Comparison& comparison, const Terminal& terminal);
/// One line per row, "flash2, N 4096: …".
std::string sentences(const compare::Comparison& comparison, const Terminal& terminal);
/// What stands below them: calls that were not measured and whose program's arrays take more memory than
/// the GPU has (a kernel may put two of them into one place), the number of close predictions, and, on
/// a terminal, where the words are explained.
std::string closing_lines(const compare::Comparison& comparison,
                          const compare::MachineModel& machine, const Terminal& terminal);

/// Formats a word and its meaning in lines that fit.
std::string note(const std::string& word, const std::string& meaning, const Terminal& terminal);

/// Returns "1.09 GB", "137 GFLOP", "640 TFLOP/s": three digits and a prefix.
std::string with_prefix(double value, const std::string& unit);

}  // namespace flashlab::cli
