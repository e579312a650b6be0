// Standard output in ASCII, whatever a command prints.
#pragma once

namespace flashlab::cli {

/// From now on std::cout passes everything through in_ascii(). Call it after page_output().
void print_in_ascii();

}  // namespace flashlab::cli
