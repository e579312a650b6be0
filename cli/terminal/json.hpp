// JSON in the commands' format: keys keep the order in which they were set.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace flashlab::cli {

using Json = nlohmann::ordered_json;

/// Prints it to standard output, with a line's end. What is no UTF-8, of the names of files, is replaced.
void print_json(const Json& json);

}  // namespace flashlab::cli
