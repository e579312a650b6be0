// What determines the inputs of a grading: a seed that is given, made from a secret, kept with the
// class, or drawn.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cli/grading/grade_options.hpp"
#include "cli/terminal/terminal.hpp"

namespace flashlab::cli {

struct GradingSeed {
  std::uint64_t value = 0;
  std::string names_key;  // of pseudonyms; says nothing about the seed
  /// For reports that only the teacher reads; empty: they do not name it, because it is made from a
  /// secret, or is that of `flashlab exercises check`.
  std::string shown;
  std::string sentence;            // for the teacher's terminal; may be empty
  std::vector<std::string> notes;  // for the teacher
};

/// Chooses a seed with which `is_fair` holds, and sets it in the options. A class (--all, or several
/// files) without --seed and --secret has the seed that is kept with it, or else one from the operating
/// system. A single submission has the seed of `flashlab exercises check`; `is_fair` is not asked about
/// that. A drawn seed that is not fair is drawn again. Only a fair one is kept with the class; of several
/// gradings that begin at once, all take the one that was kept first. Throws Failure: no fair seed, a
/// secret that is missing or short, a damaged file, --resume with another seed than the class was graded
/// with.
GradingSeed choose_fair_seed(GradeOptions& options,
                             const std::function<bool(const GradeOptions&)>& is_fair);

/// Prints the sentence for the teacher, if there is one.
void print_seed(const GradingSeed& seed, const Terminal& terminal);

}  // namespace flashlab::cli
