#include "generate/source/cuda_source.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "device_files.hpp"
#include "generate/source/expressions.hpp"
#include "generate/source/fragment_source.hpp"
#include "generate/source/kernel_text.hpp"
#include "generate/source/names.hpp"
#include "tensor_core_files.hpp"
#include "text/lists.hpp"
#include "warpgroup_files.hpp"

namespace flashlab::generate {
namespace {

constexpr std::int64_t kMostUnrolled = 16;  // statements of all iterations

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/// A kernel whose registers are tiles in shared memory.
class KernelWriter {
 public:
  KernelWriter(const toy::BoundProgram& program, const Plan& plan, const Launch& launch,
               std::string name)
      : program_(program),
        plan_(plan),
        launch_(launch),
        kernel_(program, plan, launch, std::move(name)),
        names_(kernel_.names()) {}

  std::string write() {
    kernel_.begin();
    registers();
    body();
    return kernel_.end();
  }

 private:
  void line(const std::string& text) { kernel_.line(text); }

  void registers() {
    if (launch_.registers.empty()) return;
    const std::string real = element_text(plan_.real);
    line("// Registers");
    line(real + "* const memory = shared_memory<" + real + ">();");
    if (launch_.scratch_elements > 0) {
      line(real + "* const scratch = memory + " + std::to_string(launch_.scratch_offset) + ";");
    }
    for (const Names::Variable& variable : names_.variables()) {
      std::vector<std::string> places;
      for (std::int64_t i = 0; i < variable.count; ++i) {
        places.push_back(place_of(variable.first + i));
      }
      if (!variable.indexed && variable.count == 1) {
        line("Tile<" + real + "> " + variable.name + " = " + places.front() + ";");
      } else {
        kernel_.list(
            "Tile<" + real + "> " + variable.name + "[" + std::to_string(variable.count) + "] = {",
            places, "};");
      }
    }
  }
  std::string place_of(std::int64_t number) const {
    const auto at = std::lower_bound(
        launch_.registers.begin(), launch_.registers.end(), number,
        [](const RegisterPlace& place, std::int64_t n) { return place.number < n; });
    const bool is_written = at != launch_.registers.end() && at->number == number;
    return is_written ? "tile_at(memory + " + std::to_string(at->offset) + ")" : "tile_at(memory)";
  }

  void body() {
    for (std::size_t at = launch_.first_node; at < launch_.last_node; ++at) {
      const toy::Node& node = program_.nodes[at];
      if (node.kind == toy::Node::Kind::kBlock) {
        block(node);
      } else if (node.kind == toy::Node::Kind::kLoopBegin) {
        if (program_.loops[node.loop].values.empty()) {
          line(kernel_.source_line(program_.loops[node.loop].span) + " (never runs)");
          at = node.partner;
        } else {
          loop(at, node.loop);
        }
      } else if (node.kind == toy::Node::Kind::kLoopEnd && node.partner != grid_node()) {
        kernel_.indent(-1);
        line("}");
      }
    }
  }
  std::size_t grid_node() const { return launch_.grid_loop ? launch_.grid_node : SIZE_MAX; }

  void loop(std::size_t at, std::uint32_t id) {
    const toy::BoundLoop& loop = program_.loops[id];
    const std::string& variable = names_.loop(id);
    const std::string step = std::to_string(loop.step);
    line(kernel_.source_line(loop.span));
    if (at == grid_node()) {
      const std::string first = text_of(loop.lower, names_);
      line("const Index " + variable + " = " + (first == "0" ? "" : first + " + ") +
           (loop.step == 1 ? "" : step + "ll * ") + "static_cast<Index>(blockIdx.x);");
      return;
    }
    if (selects_registers(id)) line(is_unrolled(id) ? "#pragma unroll" : "#pragma unroll 1");
    line("for (Index " + variable + " = " + text_of(loop.lower, names_) + "; " + variable + " < " +
         text_of(loop.upper, names_) + "; " + variable + " += " + step + ") {");
    kernel_.indent(1);
  }

  bool selects_registers(std::uint32_t id) const {
    bool selects = false;
    for_each_instruction(program_, launch_, [&](const toy::BoundInstruction& instruction) {
      for (const toy::BoundOperand& operand : instruction.operands) {
        selects = selects || (toy::is_register(operand.kind) && operand.index.coefficient(id) != 0);
      }
    });
    return selects;
  }
  /// Unrolled, the index of a register is a constant. Loops that would become too many statements
  /// stay loops, because the compiler would take minutes for them.
  bool is_unrolled(std::uint32_t id) const {
    const toy::BoundLoop& loop = program_.loops[id];
    if (loop.trips.low != loop.trips.high) return false;
    std::int64_t statements = 0;
    for_each_instruction(program_, launch_, [&](const toy::BoundInstruction& instruction) {
      statements += copies_in(id, instruction);
    });
    return statements <= kMostUnrolled;
  }
  /// How often the instruction is written if this loop and all loops inside it are unrolled; 0 if it
  /// is not inside. Saturates above kMostUnrolled.
  std::int64_t copies_in(std::uint32_t id, const toy::BoundInstruction& instruction) const {
    std::int64_t copies = 1;
    for (std::uint32_t at = instruction.loop; at != toy::kNoLoop; at = program_.loops[at].parent) {
      copies =
          std::min(kMostUnrolled + 1,
                   copies * std::max<std::int64_t>(
                                1, std::min(kMostUnrolled + 1, program_.loops[at].trips.high)));
      if (at == id) return copies;
    }
    return 0;
  }

  void block(const toy::Node& node) {
    for (std::uint32_t site = node.first; site < node.last; ++site) {
      const toy::BoundInstruction& instruction = program_.instructions[site];
      line(kernel_.source_line(instruction.span));
      line(statement_text(program_, instruction, names_, plan_.real, plan_.factors,
                          needs_scratch(program_, instruction)));
    }
  }

  const toy::BoundProgram& program_;
  const Plan& plan_;
  const Launch& launch_;
  KernelText kernel_;
  const Names& names_;
};

}  // namespace

std::string kernel_name(const std::string& program, std::size_t launch) {
  std::string name;
  for (const char c : program) {
    if (is_word(c)) {
      name += c;
    } else if (!name.empty() && name.back() != '_') {
      name += '_';
    }
  }
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) name = "toy_" + name;
  if (name.back() != '_') name += '_';
  return name + std::to_string(launch + 1);
}

std::string device_functions(int level) {
  std::string text;
  for (const EmbeddedFile& file : device_files) {
    text += std::string(text.empty() ? "" : "\n") + std::string(file.text);
  }
  if (level == 0) return text;
  for (const EmbeddedFile& file : tensor_core_files) text += "\n" + std::string(file.text);
  if (level == 1) return text;
  for (const EmbeddedFile& file : warpgroup_files) text += "\n" + std::string(file.text);
  return text;
}

std::string cuda_kernels(const toy::BoundProgram& program, const Plan& plan,
                         const std::string& name) {
  std::string text;
  for (std::size_t i = 0; i < plan.launches.size(); ++i) {
    text += (i > 0 ? "\n" : "") + cuda_kernel(program, plan, name, i);
  }
  return text;
}

std::string cuda_kernel(const toy::BoundProgram& program, const Plan& plan, const std::string& name,
                        std::size_t launch) {
  const Launch& chosen = plan.launches[launch];
  const std::string kernel = kernel_name(name, launch);
  return chosen.fragments ? fragment_kernel(program, plan, chosen, kernel)
                          : KernelWriter(program, plan, chosen, kernel).write();
}

std::string cuda_source(const toy::BoundProgram& program, const Plan& plan,
                        const std::string& name) {
  return device_functions(plan.level()) + "\n" + cuda_kernels(program, plan, name);
}

}  // namespace flashlab::generate
