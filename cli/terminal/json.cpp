#include "cli/terminal/json.hpp"

#include <iostream>
#include <nlohmann/json.hpp>

namespace flashlab::cli {

void print_json(const Json& json) {
  std::cout << json.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
}

}  // namespace flashlab::cli
