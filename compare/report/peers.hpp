// Reads times of other libraries, which attention_cuda/bench/beside_torch.py measured in one
// process with ours.
#pragma once

#include <string_view>
#include <vector>

#include "compare/picture/pictures.hpp"

namespace flashlab::compare {

/// Returns the times of other libraries for calls that occur in the rows: one series per library,
/// pass, type, head_dim and mask. Throws ResultFileError: not such a file.
std::vector<PeerSeries> parse_peers(std::string_view text, const std::vector<Row>& rows);

}  // namespace flashlab::compare
