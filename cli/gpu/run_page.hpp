// What a program did on a GPU, or should do there, as one page for a browser.
#pragma once

#include <ostream>
#include <string>

#include "cli/gpu/run_report.hpp"

namespace flashlab::cli {

/// Writes a page that needs no network, script or other file: the tables of run_text(), a bar for each
/// time, the program and its CUDA source. `setting`: sizes of the program, in words. Texts are escaped.
void write_run_page(std::ostream& out, const GpuRunReport& report, const std::string& setting);

}  // namespace flashlab::cli
