// JSON as the commands write it: keys stay in the order in which they were set.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace flashlab::cli {

using Json = nlohmann::ordered_json;

}  // namespace flashlab::cli
