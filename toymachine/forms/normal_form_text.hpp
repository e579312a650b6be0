// Normal forms as text.
#pragma once

#include <cstddef>
#include <string>

#include "toymachine/forms/normal_form_store.hpp"

namespace flashlab::toy::detail {

/// Returns the whole form, or at least its first `max_length` characters.
std::string form_text(const FormNode* form, std::size_t max_length);

}  // namespace flashlab::toy::detail
