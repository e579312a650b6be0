#include "tests/generate/generated_run.hpp"

#include <cstddef>
#include <cstring>
#include <map>
#include <string>

#include "tests/attention_cpu/half_formats.hpp"
#include "tests/catch_shim.hpp"
#include "tests/generate/generated_code.hpp"

namespace flashlab::test {
namespace {

using RunFunction = void (*)(void* const*);

const std::map<std::string, RunFunction>& code_by_name() {
  static const auto kCode = [] {
    std::map<std::string, RunFunction> result;
    for (const GeneratedCode& code : generated_code()) result[code.identifier] = code.run;
    return result;
  }();
  return kCode;
}

/// An array as it is in the GPU's memory.
std::vector<std::byte> stored(const toy::BoundArray& array, const double* values) {
  std::vector<std::byte> bytes;
  const auto add = [&](const auto& number) {
    const auto* first = reinterpret_cast<const std::byte*>(&number);
    bytes.insert(bytes.end(), first, first + sizeof(number));
  };
  for (std::int64_t i = 0; i < array.size; ++i) {
    const bool bf16 = array.element_type == toy::ElementType::kBf16;
    if (array.element_type == toy::ElementType::kFloat) {
      add(static_cast<float>(values[i]));
    } else if (array.element_type == toy::ElementType::kDouble) {
      add(values[i]);
    } else {
      add(nearest(values[i], bf16 ? kBFloat16Format : kFloat16Format));
    }
  }
  return bytes;
}

template <class Number>
Number number_at(const std::vector<std::byte>& bytes, std::size_t i) {
  Number number;
  std::memcpy(&number, bytes.data() + i * sizeof(number), sizeof(number));
  return number;
}

double element_at(const toy::BoundArray& array, const std::vector<std::byte>& bytes,
                  std::size_t i) {
  switch (array.element_type) {
    case toy::ElementType::kFloat:
      return number_at<float>(bytes, i);
    case toy::ElementType::kDouble:
      return number_at<double>(bytes, i);
    case toy::ElementType::kBf16:
      return value_of(number_at<std::uint16_t>(bytes, i), kBFloat16Format);
    case toy::ElementType::kFp16:
      return value_of(number_at<std::uint16_t>(bytes, i), kFloat16Format);
  }
  return 0;
}

}  // namespace

std::vector<double> run_generated(const GenerateCase& one, std::vector<double> dram) {
  const auto code = code_by_name().find(identifier_of(one));
  REQUIRE(code != code_by_name().end());
  std::vector<std::vector<std::byte>> memory;
  for (const toy::BoundArray& array : one.bound->arrays) {
    memory.push_back(stored(array, dram.data() + array.offset));
  }
  std::vector<void*> arrays;
  for (std::vector<std::byte>& bytes : memory) arrays.push_back(bytes.data());
  code->second(arrays.data());
  for (std::size_t a = 0; a < memory.size(); ++a) {
    const toy::BoundArray& array = one.bound->arrays[a];
    for (std::int64_t i = 0; i < array.size; ++i) {
      dram[static_cast<std::size_t>(array.offset + i)] =
          element_at(array, memory[a], static_cast<std::size_t>(i));
    }
  }
  return dram;
}

bool has_updates(const toy::BoundProgram& program) {
  for (const toy::BoundInstruction& instruction : program.instructions) {
    if (toy::instruction_set()[instruction.row].is_update()) return true;
  }
  return false;
}

toy::Count repeated_bytes(const generate::Plan& plan) {
  toy::Count bytes = 0;
  for (const generate::Launch& launch : plan.launches) {
    for (const generate::RepeatedLoad& load : launch.repeated) {
      bytes += toy::Count(static_cast<long>(load.bytes)) * static_cast<long>(launch.blocks - 1);
    }
  }
  return bytes;
}

}  // namespace flashlab::test
