// How a program runs on a GPU: its launches, what becomes a launch's grid and why, and where its
// registers are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "generate/plan/tile_sizes.hpp"
#include "toymachine/bind/bound_program.hpp"
#include "toymachine/language/source.hpp"

namespace flashlab::generate {

/// Shared memory per block that every GPU from compute capability 7.5 on has.
inline constexpr std::int64_t kSharedBytesEverywhere = std::int64_t{64} << 10;

/// What a block may have on compute capability 9.0.
inline constexpr std::int64_t kMostSharedBytes = std::int64_t{227} << 10;

/// Limits of the GPU for which a program is planned.
struct Target {
  std::int64_t shared_bytes = kSharedBytesEverywhere;  // per block
  /// The type to which tensor cores round the factors of products: bf16 or fp16. Nothing: level 0.
  std::optional<toy::ElementType> factors;
  /// With `factors`, on compute capability 9.0: products by warpgroups (wgmma), tiles by TMA. Level 2.
  bool has_warpgroups = false;
};

/// A fact about the program, and the line that shows it.
struct Reason {
  std::string text;
  toy::SourceSpan span;  // line 0: no line
};

/// A register's place in the block's shared memory.
struct RegisterPlace {
  std::int64_t number = 0;
  std::int64_t offset = 0;  // in elements
  TileSize largest;         // tile that it holds
  std::uint32_t site = 0;   // the instruction that writes that tile
};

/// A load before the grid's loop. Every block executes it, while the machine executes it once.
struct RepeatedLoad {
  std::uint32_t site = 0;
  std::int64_t bytes = 0;  // in one block
};

/// An array whose tiles come by bulk copies of boxes: 64 columns and this many rows of 16-bit numbers, or
/// rows of a single column of floats.
struct BoxedArray {
  std::size_t array = 0;  // into BoundProgram::arrays
  std::int64_t rows = 0;
  bool is_column = false;
};

struct FragmentPlan;  // generate/plan/fragment_plan.hpp

struct Launch {
  std::vector<std::size_t> passes;            // into Program::passes
  std::size_t first_node = 0, last_node = 0;  // into BoundProgram::nodes
  std::vector<Reason> joins;  // for each pass after the first: why not its own launch

  std::optional<std::uint32_t> grid_loop;  // its iterations are the blocks
  std::size_t grid_node = 0;               // the node at which it begins
  std::int64_t blocks = 1;
  std::optional<Reason> one_block;  // why there is no grid
  std::vector<RepeatedLoad> repeated;

  int threads = 32;        // per block
  int blocks_at_once = 0;  // that a multiprocessor must have registers for; 0: the compiler decides
  std::vector<RegisterPlace> registers;
  std::int64_t scratch_offset = 0, scratch_elements = 0;  // for results that overwrite an operand
  std::int64_t shared_elements = 0;
  std::vector<std::size_t> arrays;  // that it uses, into BoundProgram::arrays

  /// At level 1: its tiles are in the threads' registers, and the places above are empty; or why not.
  std::shared_ptr<const FragmentPlan> fragments;
  std::optional<Reason> no_fragments;
  std::int64_t fragment_bytes = 0;  // of shared memory

  /// At level 2: arrays that are copied by boxes, none if the launch is as at level 1; or why it is.
  std::vector<BoxedArray> boxed;
  std::optional<Reason> no_warpgroups;
};

struct Plan {
  toy::ElementType real = toy::ElementType::kFloat;  // of registers: kFloat or kDouble
  std::optional<toy::ElementType> factors;           // as Target::factors
  bool has_warpgroups = false;                       // as Target::has_warpgroups
  std::vector<Launch> launches;

  int level() const { return !factors ? 0 : has_warpgroups ? 2 : 1; }
  std::int64_t shared_bytes(const Launch& launch) const {
    if (launch.fragments) return launch.fragment_bytes;
    return launch.shared_elements * toy::element_bytes(real);
  }
};

/// Calls `call` with each instruction of the nodes [first, last), in the order of the text.
template <class Call>
void for_each_instruction(const toy::BoundProgram& program, std::size_t first, std::size_t last,
                          const Call& call) {
  for (std::size_t at = first; at < last; ++at) {
    const toy::Node& node = program.nodes[at];
    if (node.kind != toy::Node::Kind::kBlock) continue;
    for (std::uint32_t site = node.first; site < node.last; ++site) {
      call(program.instructions[site]);
    }
  }
}
template <class Call>
void for_each_instruction(const toy::BoundProgram& program, const Launch& launch,
                          const Call& call) {
  for_each_instruction(program, launch.first_node, launch.last_node, call);
}

/// Plans the launches. Expects a program that runs: tiles fit together, and indices are in range.
/// Errors: the registers of a launch do not fit into shared memory (the message lists what they
/// hold), an addition in one step to bf16 or fp16, more blocks than a grid may have, tensor cores for
/// elements that are numbers or for registers of doubles; Fault::kLimit
/// if the program is too long to examine.
toy::Result<Plan> plan(const toy::BoundProgram& program, const Target& target);

}  // namespace flashlab::generate
