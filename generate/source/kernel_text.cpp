#include "generate/source/kernel_text.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "text/lists.hpp"

namespace flashlab::generate {
namespace {

constexpr std::size_t kMostColumns = 100;

/// A line of the program that cannot end or continue a comment: no control characters, and no
/// backslash, which would make the next line a comment as well.
std::string comment_text(std::string_view line) {
  std::string text(trimmed(line));
  for (char& c : text) {
    if (c == '\\') c = '/';
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = '?';
  }
  return text;
}

}  // namespace

std::string element_text(toy::ElementType type) {
  switch (type) {
    case toy::ElementType::kFloat:
      return "float";
    case toy::ElementType::kDouble:
      return "double";
    case toy::ElementType::kBf16:
      return "toy::Bf16";
    case toy::ElementType::kFp16:
      return "toy::Fp16";
  }
  return "float";
}

KernelText::KernelText(const toy::BoundProgram& program, const Plan& plan, const Launch& launch,
                       std::string name)
    : program_(program),
      plan_(plan),
      launch_(launch),
      names_(program, launch),
      name_(std::move(name)) {}

void KernelText::begin() {
  heading();
  signature();
  indent_ = 2;
  line("using namespace toy;");
  line("// Arrays: data, rows, columns, rows of a tile, columns of a tile");
  for (const std::string& declaration : declarations_) line(declaration);
  if (launch_.boxed.empty()) return;
  line("// The same as boxes for bulk copies: tensor map, rows of a tile, columns of a tile");
  for (const BoxedArray& boxed : launch_.boxed) {
    const toy::BoundArray& array = program_.arrays[boxed.array];
    const std::size_t rank = array.extents.size();
    const std::string& name = names_.array(boxed.array);
    line("const Boxes " + name + "_boxes{&" + name + "_map, " +
         std::to_string(array.tile[rank - 2]) + ", " + std::to_string(array.tile[rank - 1]) + "};");
  }
}

std::string KernelText::end() {
  indent_ = 0;
  line("}");
  return std::move(text_);
}

void KernelText::line(const std::string& text) {
  if (!text.empty()) text_ += std::string(indent_, ' ') + text;
  text_ += "\n";
}

void KernelText::list(std::string text, const std::vector<std::string>& entries,
                      const std::string& after) {
  const std::size_t most = kMostColumns - indent_;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::string entry = entries[i] + (i + 1 < entries.size() ? "," : after);
    const bool begins = text.ends_with('(') || text.ends_with('{') || text.ends_with("    ");
    if (text.size() + 1 + entry.size() > most) {
      line(text);
      text = "    " + entry;
    } else {
      text += (begins ? "" : " ") + entry;
    }
  }
  line(entries.empty() ? text + after : text);
}

std::string KernelText::source_line(const toy::SourceSpan& span) const {
  return "// " + std::to_string(span.line) + ": " +
         comment_text(program_.program->source->line(span.line));
}

void KernelText::heading() {
  for (const std::size_t pass : launch_.passes) {
    const std::string& title = program_.program->passes[pass];
    if (!title.empty()) line("// " + comment_text(title));
  }
  for (const Reason& reason : launch_.joins) line("// One launch: " + comment_text(reason.text));
  line("// Blocks: " + std::to_string(launch_.blocks) + " of " + std::to_string(launch_.threads) +
       " threads, " + std::to_string(plan_.shared_bytes(launch_)) + " bytes of shared memory");
  if (launch_.one_block) {
    line("// One block: " + comment_text(launch_.one_block->text));
  }
  for (const RepeatedLoad& load : launch_.repeated) {
    line("// In every block, not once: line " +
         std::to_string(program_.instructions[load.site].span.line) + " loads " +
         std::to_string(load.bytes) + " bytes");
  }
}

void KernelText::signature() {
  std::vector<bool> written(program_.arrays.size(), false);
  for_each_instruction(program_, launch_, [&](const toy::BoundInstruction& instruction) {
    for (const toy::BoundOperand& operand : instruction.operands) {
      if (toy::is_memory_write(operand.kind)) written[operand.array] = true;
    }
  });
  std::vector<std::string> parameters;
  for (const std::size_t array : launch_.arrays) {
    parameters.push_back(element_of(array, written) + "* " + names_.array(array) + "_data");
  }
  for (const BoxedArray& boxed : launch_.boxed) {
    parameters.push_back("const __grid_constant__ toy::TensorMap " + names_.array(boxed.array) +
                         "_map");
  }
  const std::string at_once =
      launch_.blocks_at_once > 0 ? ", " + std::to_string(launch_.blocks_at_once) : "";
  list("extern \"C\" __global__ void __launch_bounds__(" + std::to_string(launch_.threads) +
           at_once + ") " + name_ + "(",
       parameters, ") {");
  for (const std::size_t array : launch_.arrays) {
    const toy::BoundArray& declared = program_.arrays[array];
    const std::size_t rank = declared.extents.size();
    const auto along = [&](const std::vector<std::int64_t>& list, std::size_t from_last) {
      return from_last < rank ? std::to_string(list[rank - 1 - from_last]) : "1";
    };
    declarations_.push_back("const Array<" + element_of(array, written) + "> " +
                            names_.array(array) + "{of_problem(" + names_.array(array) + "_data, " +
                            std::to_string(declared.size) + "), " + along(declared.extents, 1) +
                            ", " + along(declared.extents, 0) + ", " + along(declared.tile, 1) +
                            ", " + along(declared.tile, 0) + "};");
  }
}

std::string KernelText::element_of(std::size_t array, const std::vector<bool>& written) const {
  return (written[array] ? "" : "const ") + element_text(program_.arrays[array].element_type);
}

}  // namespace flashlab::generate
