// Binds any program to sizes, or expects a message.
#include "fuzz/claims.hpp"

using namespace flashlab;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::within_budget([&] {
    const auto program = fuzz::program_of(fuzz::text_of(data, size));
    if (program == nullptr) return;
    const auto bound = fuzz::bound_of(program);
    if (!bound) return;
    fuzz::expect(bound->num_registers >= 0, "there is no negative number of registers",
                 program->source->text());
    for (const toy::BoundArray& array : bound->arrays) {
      fuzz::expect(array.size >= 0 && array.offset >= 0, "an array lies in DRAM",
                   program->source->text());
    }
  });
  return 0;
}
