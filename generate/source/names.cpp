#include "generate/source/names.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "toymachine/language/operations.hpp"

namespace flashlab::generate {
namespace {

/// Words of C++ and CUDA, and what the device code declares besides the operations.
const std::set<std::string>& reserved_words() {
  static const std::set<std::string> kReserved = {"alignas",
                                                  "alignof",
                                                  "and",
                                                  "and_eq",
                                                  "asm",
                                                  "auto",
                                                  "bitand",
                                                  "bitor",
                                                  "bool",
                                                  "break",
                                                  "case",
                                                  "catch",
                                                  "char",
                                                  "char8_t",
                                                  "char16_t",
                                                  "char32_t",
                                                  "class",
                                                  "compl",
                                                  "concept",
                                                  "const",
                                                  "consteval",
                                                  "constexpr",
                                                  "constinit",
                                                  "const_cast",
                                                  "continue",
                                                  "co_await",
                                                  "co_return",
                                                  "co_yield",
                                                  "decltype",
                                                  "default",
                                                  "delete",
                                                  "do",
                                                  "double",
                                                  "dynamic_cast",
                                                  "else",
                                                  "enum",
                                                  "explicit",
                                                  "export",
                                                  "extern",
                                                  "false",
                                                  "float",
                                                  "for",
                                                  "friend",
                                                  "goto",
                                                  "if",
                                                  "inline",
                                                  "int",
                                                  "long",
                                                  "mutable",
                                                  "namespace",
                                                  "new",
                                                  "noexcept",
                                                  "not",
                                                  "not_eq",
                                                  "nullptr",
                                                  "operator",
                                                  "or",
                                                  "or_eq",
                                                  "private",
                                                  "protected",
                                                  "public",
                                                  "register",
                                                  "reinterpret_cast",
                                                  "requires",
                                                  "return",
                                                  "short",
                                                  "signed",
                                                  "sizeof",
                                                  "static",
                                                  "static_assert",
                                                  "static_cast",
                                                  "struct",
                                                  "switch",
                                                  "template",
                                                  "this",
                                                  "thread_local",
                                                  "throw",
                                                  "true",
                                                  "try",
                                                  "typedef",
                                                  "typeid",
                                                  "typename",
                                                  "union",
                                                  "unsigned",
                                                  "using",
                                                  "virtual",
                                                  "void",
                                                  "volatile",
                                                  "wchar_t",
                                                  "while",
                                                  "xor",
                                                  "xor_eq",
                                                  "blockDim",
                                                  "blockIdx",
                                                  "gridDim",
                                                  "threadIdx",
                                                  "warpSize",
                                                  "asm_",
                                                  "main",
                                                  "errno",
                                                  "assert",
                                                  "linux",
                                                  "unix",
                                                  "NULL",
                                                  "EOF",
                                                  "INFINITY",
                                                  "NAN",
                                                  "Array",
                                                  "Cell",
                                                  "Index",
                                                  "Tile",
                                                  "Bf16",
                                                  "Fp16",
                                                  "add_to",
                                                  "ceil_divide",
                                                  "floor_divide",
                                                  "larger",
                                                  "memory",
                                                  "minus_infinity",
                                                  "scalar",
                                                  "scratch",
                                                  "set",
                                                  "set_by_way_of",
                                                  "shared_memory",
                                                  "smaller",
                                                  "store",
                                                  "tile_at",
                                                  "toy",
                                                  "transposed",
                                                  "Fragment",
                                                  "FastExponential",
                                                  "Place",
                                                  "RowValues",
                                                  "Scalar",
                                                  "SharedColumn",
                                                  "SharedTile",
                                                  "add_product",
                                                  "arrive",
                                                  "copy",
                                                  "copy_column",
                                                  "end_of_loop",
                                                  "exponential_of_difference",
                                                  "fast_exponential",
                                                  "fast_exponential_of_difference",
                                                  "fast_quotient",
                                                  "fill_beyond",
                                                  "length_of_tile",
                                                  "load",
                                                  "mask",
                                                  "put",
                                                  "scale",
                                                  "set_places",
                                                  "set_product",
                                                  "shared_at",
                                                  "tensor_product",
                                                  "turned",
                                                  "Box",
                                                  "Boxes",
                                                  "LoadedColumn",
                                                  "Ring",
                                                  "SwizzledTile",
                                                  "TensorMap",
                                                  "add_to_by",
                                                  "add_warpgroup_product",
                                                  "give_up_registers",
                                                  "meet",
                                                  "prepare",
                                                  "release",
                                                  "set_warpgroup_product",
                                                  "start_roles",
                                                  "store_by",
                                                  "take_registers",
                                                  "wait_for",
                                                  "warp_of_block"};
  return kReserved;
}

const std::set<std::string>& reserved_names() {
  static const std::set<std::string> kReserved = [] {
    std::set<std::string> names = reserved_words();
    for (const toy::OperationSpec& spec : toy::kOperations) {
      names.emplace(spec.function);
      names.insert("set_" + std::string(spec.function));
    }
    return names;
  }();
  return kReserved;
}

/// Identifiers with two underscores, or one before a capital letter, belong to the compiler.
std::string permitted(std::string name) {
  for (std::size_t at = name.find("__"); at != std::string::npos; at = name.find("__")) {
    name.replace(at, 2, "_u");
  }
  return name.starts_with('_') ? "u" + name : name;
}

}  // namespace

Names::Names(const toy::BoundProgram& program, const Launch& launch) {
  name_registers(program, launch);
  for (const toy::BoundArray& array : program.arrays) arrays_.push_back(unused(array.name));
  // Loops that are not inside each other may share a name, but no other variable.
  std::set<std::string> names_of_loops;
  for (const toy::BoundLoop& loop : program.loops) {
    std::string name = permitted(loop.var);
    while (reserved_names().contains(name) || taken_.contains(name)) name += "_";
    loops_.push_back(std::move(name));
  }
}

std::string Names::unused(std::string name) {
  constexpr const char* kDerived[] = {"", "_data", "_map", "_boxes"};
  const auto is_taken = [&](const char* suffix) { return taken_.contains(name + suffix); };
  name = permitted(std::move(name));
  while (reserved_names().contains(name) ||
         std::any_of(std::begin(kDerived), std::end(kDerived), is_taken)) {
    name += "_";
  }
  for (const char* const suffix : kDerived) taken_.insert(name + suffix);
  return name;
}

void Names::name_registers(const toy::BoundProgram& program, const Launch& launch) {
  std::set<std::int64_t> numbers;  // of registers that are referred to, and do not belong to a name
  std::set<std::size_t> names;     // into named_registers
  bool by_number = false;          // whether a loop selects among all registers
  for_each_instruction(program, launch, [&](const toy::BoundInstruction& instruction) {
    for (const toy::BoundOperand& operand : instruction.operands) {
      if (!toy::is_register(operand.kind)) continue;
      if (operand.register_name != toy::kUnnamed) {
        names.insert(operand.register_name);
      } else if (operand.index.is_constant()) {
        numbers.insert(operand.index.constant);
      } else {
        by_number = true;
      }
    }
  });
  if (by_number) {
    variables_.push_back({unused("R"), 0, program.num_registers, true});
    return;
  }
  for (std::size_t i = 0; i < program.named_registers.size(); ++i) {
    const toy::NamedRegisters& named = program.named_registers[i];
    const auto first = numbers.lower_bound(named.first);
    const auto last = numbers.lower_bound(named.first + named.count);
    if (first == last && !names.contains(i)) continue;
    numbers.erase(first, last);
    variables_.push_back({unused(named.name), named.first, named.count, named.indexed});
  }
  for (const std::int64_t number : numbers) {
    variables_.push_back({unused("R" + std::to_string(number)), number, 1, false});
  }
  std::sort(variables_.begin(), variables_.end(),
            [](const Variable& a, const Variable& b) { return a.first < b.first; });
}

const Names::Variable& Names::variable(const toy::BoundProgram& program,
                                       const toy::BoundOperand& operand) const {
  const std::int64_t number = operand.register_name == toy::kUnnamed
                                  ? operand.index.constant
                                  : program.named_registers[operand.register_name].first;
  return variable(number);
}

const Names::Variable& Names::variable(std::int64_t number) const {
  const auto after =
      std::upper_bound(variables_.begin(), variables_.end(), number,
                       [](std::int64_t n, const Variable& variable) { return n < variable.first; });
  return after == variables_.begin() ? variables_.front() : *(after - 1);
}

}  // namespace flashlab::generate
