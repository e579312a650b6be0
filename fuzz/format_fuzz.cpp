// Formats any text. Only whitespace may change, formatting again changes nothing, and a program is
// the same program as before. A byte order mark is kept, and is not part of the compared text.
#include <algorithm>
#include <string>

#include "fuzz/claims.hpp"
#include "text/utf8.hpp"
#include "toymachine/language/formatting.hpp"

using namespace flashlab;

namespace {

std::string without_whitespace(std::string text) {
  std::erase_if(text, [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); });
  return text;
}

std::shared_ptr<const toy::SourceText> named_text(const std::string& text) {
  return std::make_shared<const toy::SourceText>("fuzz.toy", text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto source = fuzz::text_of(data, size);
  const std::string text(source->text());
  if (text.starts_with(kByteOrderMark)) return 0;  // the mark after a first one, which is left out
  std::string formatted = toy::formatted(*source);
  if (source->has_byte_order_mark()) {
    fuzz::expect(formatted.starts_with(kByteOrderMark), "formatting keeps the mark", text);
    formatted.erase(0, kByteOrderMark.size());
  }
  fuzz::expect(without_whitespace(formatted) == without_whitespace(text),
               "formatting changes whitespace only", text + "\n=>\n" + formatted);
  const auto formatted_source = named_text(formatted);
  fuzz::expect(toy::formatted(*formatted_source) == formatted, "formatting again changes nothing",
               text + "\n=>\n" + formatted);
  const auto before = fuzz::program_of(source), after = fuzz::program_of(formatted_source);
  fuzz::expect((before == nullptr) == (after == nullptr),
               "a formatted program is as valid as before", text + "\n=>\n" + formatted);
  if (before != nullptr) {
    fuzz::expect(toy::disassemble(*before) == toy::disassemble(*after),
                 "a formatted program means the same", text + "\n=>\n" + formatted);
  }
  return 0;
}
