// Which loop of a launch becomes its grid.
#pragma once

#include "generate/plan/plan.hpp"
#include "toymachine/bind/bound_program.hpp"
#include "toymachine/language/source.hpp"

namespace flashlab::generate {

/// Fills the launch's grid, or the reason why it is one block. The grid is the launch's last loop
/// on the outermost level if nothing comes after it, nothing before it stores, and its iterations
/// are independent: none takes over a register that another one writes, and none touches a cell
/// that another one stores. Errors: as for plan().
toy::Result<bool> find_grid(const toy::BoundProgram& program, Launch& launch);

}  // namespace flashlab::generate
