// Standard input and output, on descriptors that may be non-blocking.
#pragma once

namespace flashlab::cli {

/// From now on std::cin, std::cout and std::cerr wait where their descriptors would not
/// (descriptor_io.hpp). Call it before anything is read or written.
void use_waiting_streams();

}  // namespace flashlab::cli
