// The comparison tables of the course's source, each entry beside the programs' counters. The
// tables are data: source_tables.json.
#pragma once

#include <string>
#include <vector>

#include "toymachine/count/polynomial/polynomial.hpp"

namespace flashlab::cli {

/// A justified difference between the program's count and the source's, and its size.
struct Difference {
  std::string why;
  toy::Polynomial formula;
};

struct SourceCell {
  bool empty = true;        // the source has no entry, and nothing is counted
  bool has_entry = false;   // the source has an entry
  std::string text;         // the entry as written
  toy::Polynomial entry;    // the entry as a formula
  toy::Polynomial counted;  // by the program's counters
  std::vector<Difference> differences;

  /// Returns whether counted = entry + differences.
  bool adds_up() const;
};

struct SourceRow {
  std::string title;
  std::vector<SourceCell> cells;  // one per column
};

struct SourceColumn {
  std::string title;
  std::string program;
  std::string pass;  // empty: the whole program
};

struct SourceTable {
  std::string name, title, source, note;
  std::vector<SourceColumn> columns;
  std::vector<SourceRow> rows;
};

/// Returns the names in the order of the file.
std::vector<std::string> source_table_names();

/// Reads the table and derives its counts from the programs' cost formulas, with the table's
/// element sizes. Throws Failure for an unknown name.
SourceTable source_table(const std::string& name);

}  // namespace flashlab::cli
