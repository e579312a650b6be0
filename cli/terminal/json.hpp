// JSON in the commands' format: keys keep the order in which they were set.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace flashlab::cli {

using Json = nlohmann::ordered_json;

}  // namespace flashlab::cli
