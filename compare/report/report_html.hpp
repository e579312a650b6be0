// Writes a comparison as one HTML file: results, pictures, rates, and every row.
#pragma once

#include <ostream>
#include <vector>

#include "compare/picture/pictures.hpp"
#include "results/machine_model.hpp"
#include "results/result_file.hpp"

namespace flashlab::compare {

struct ReportOptions {
  MachineModel sheet;    // rates from the data sheet alone
  MachineModel machine;  // the rates of the predictions
  std::vector<PeerSeries> peers;
};

/// Writes a page that needs no network, script or other file. Texts of the result file are escaped.
void write_report(std::ostream& out, const Comparison& comparison, const ReportOptions& options);

}  // namespace flashlab::compare
