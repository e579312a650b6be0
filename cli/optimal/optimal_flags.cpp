// The flags of options.hpp and computation.hpp. Apart from their meaning, because they need the command
// line's parser.
#include "cli/optimal/options.hpp"
#include "cli/options/flags.hpp"

namespace flashlab::cli {

void ComputationOptions::add_to(CLI::App& command) {
  add_option(command, "computation", name,
             "what to compute, and its size: " + optimal::computation_names() +
                 "; or a program (a .toy file, or a bundled one's name), for "
                 "what it computes")
      .file(FileRole::kInput)
      .type_name("COMPUTATION");
  add_option(command, "-D,--define", definitions, "value of a parameter of the program")
      .type_name("NAME=VALUE");
  add_option(command, "--score", score, "a function of the scores, for the program")
      .type_name("FUNCTION");
  add_option(command, "--exercise", exercise, "what this exercise asks for, on its machine")
      .type_name("ID");
  add_option(command, "--size", size, "one of the exercise's sizes (the smallest): n=2,d=1")
      .type_name("SIZE");
  exercises.add_to(command);
}

void OptimalOptions::add_to(CLI::App& command) {
  computation.add_to(command);
  add_option(command, "--registers", registers,
             "one number, or a range (2..8 for products, 2..6 for the rest; what a file or an "
             "exercise says)")
      .type_name("K");
  add_option(command, "--operands", operands,
             "any (default), pinned (products take R0 and R1 only), or both side by side")
      .one_of({"any", "pinned", "both"})
      .type_name("RULE");
  add_flag(command, "--spills", spills,
           "partial sums may be stored and loaded again; without it, only results are");
  add_option(command, "--scratch", scratch,
             "cells of DRAM for values in between, 0 to 8, of computations that are no "
             "products; none unless set, and in an exercise as many as there are results, "
             "whose cells may hold other values first")
      .between(0, kMostScratchCells)
      .type_name("N");
  add_option(command, "--cost", costs, "cycles of instructions, 1 each unless set: LOAD=10,STORE=2")
      .type_name("OP=CYCLES,...");
  add_option(command, "--most-seconds", most_seconds, "longest search for each machine")
      .between(0.0, 1e9)
      .capture_default_str()
      .type_name("S");
  add_option(command, "--most-bytes", most_bytes, "memory that the search may take")
      .capture_default_str()
      .type_name("SIZE");
  add_option(command, "--jobs", jobs, "threads that search, one for each core unless set")
      .between(1U, 1024U)
      .type_name("N");
  add_option(command, "--checkpoint", checkpoint,
             "file for a search that ends early: the next call continues it; a search that "
             "finishes removes it")
      .file(FileRole::kOutput)
      .type_name("FILE");
  add_option(command, "--witness", witness, "write the program to a file, or to - alone")
      .file(FileRole::kProgramOutput)
      .type_name("FILE");
  add_option(command, "--svg", svg, "draw cycles over registers into a file")
      .file(FileRole::kOutput)
      .type_name("FILE");
  add_flag(command, "--count", count, "how many different optimal programs there are");
  add_option(command, "--along", along,
             "judge a program step by step: can the optimum still be reached? The machine is "
             "the program's, unless --registers or --operands say otherwise")
      .type_name("PROGRAM");
  add_flag(command, "--times", times, "how long each search took");
  add_flag(command, "--no-plot", no_plot, "the table only");
  add_flag(command, "--json", json, "as JSON");
  terminal.add_to(command);
}

}  // namespace flashlab::cli
