// Normal forms as text.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "toymachine/forms/normal_form.hpp"
#include "toymachine/forms/normal_form_store.hpp"

namespace flashlab::toy::detail {

/// Returns the whole form, or at least its first `max_length` characters.
std::string form_text(const FormNode* form, std::size_t max_length,
                      std::span<const NumberName> names = {});

}  // namespace flashlab::toy::detail
