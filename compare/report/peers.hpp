// Other libraries' times, measured beside ours in one process by
// attention_cuda/bench/beside_torch.py.
#pragma once

#include <string_view>
#include <vector>

#include "compare/picture/pictures.hpp"

namespace flashlab::compare {

/// The times of other libraries for the calls that some row is of: a series a library, pass, type,
/// head_dim and mask. Throws ResultFileError: not such a file.
std::vector<PeerSeries> parse_peers(std::string_view text, const std::vector<Row>& rows);

}  // namespace flashlab::compare
