// A comparison as one HTML file: what came out, pictures, rates, and every row.
#pragma once

#include <ostream>
#include <vector>

#include "compare/picture/pictures.hpp"
#include "results/machine_model.hpp"
#include "results/result_file.hpp"

namespace flashlab::compare {

struct ReportOptions {
  MachineModel sheet;    // by the data sheet alone
  MachineModel machine;  // that the predictions were made with
  std::vector<PeerSeries> peers;
};

/// Needs no network, no script and no other file. What the result file says is shown as text,
/// whatever it holds.
void write_report(std::ostream& out, const Comparison& comparison, const ReportOptions& options);

}  // namespace flashlab::compare
