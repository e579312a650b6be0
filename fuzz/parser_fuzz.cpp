// Assembles any text, or expects a message. A program that is printed and read again must
// be the same.
#include "fuzz/claims.hpp"

using namespace flashlab;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto program = fuzz::program_of(fuzz::text_of(data, size));
  if (program == nullptr) return 0;
  const std::string printed = toy::disassemble(*program);
  const auto source = std::make_shared<const toy::SourceText>("printed", printed);
  const auto again = toy::assemble(source, toy::Limits{});
  fuzz::expect(static_cast<bool>(again), "a printed program assembles",
               printed + "\n" + toy::format(again.diagnostics, *source));
  fuzz::expect(toy::disassemble(*again) == printed, "printing is stable", printed);
  return 0;
}
