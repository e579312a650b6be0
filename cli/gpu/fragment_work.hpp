// What a block of a launch in fragments does inside its multiprocessor, for the prediction of its time.
#pragma once

#include <optional>

#include "attention_cuda/block_work.hpp"
#include "compare/model/tile_time.hpp"
#include "generate/plan/fragment_plan.hpp"
#include "toymachine/bind/bound_program.hpp"

namespace flashlab::cli {

/// One iteration of the launch's loops, as one pair of tiles.
struct FragmentWork {
  cuda::BlockWork block;
  compare::TileTimeRequest request;
};

/// Returns nothing for a launch without products in a loop: rates of DRAM and L2 are all it needs.
std::optional<FragmentWork> fragment_work(const toy::BoundProgram& program,
                                          const generate::FragmentPlan& plan);

}  // namespace flashlab::cli
