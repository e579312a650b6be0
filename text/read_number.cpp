#include "text/read_number.hpp"

#if defined(FLASHLAB_FAST_FLOAT)
#include "text/fast_float_number.hpp"
#endif

namespace flashlab {

std::from_chars_result read_number(std::string_view text, double& value) {
#if defined(FLASHLAB_FAST_FLOAT)
  return detail::read_with_fast_float(text, value);
#else
  return std::from_chars(text.data(), text.data() + text.size(), value);
#endif
}

}  // namespace flashlab
