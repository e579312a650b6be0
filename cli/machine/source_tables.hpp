// The comparison tables of the course's source, each entry beside what the programs' counters say.
// The tables are data: source_tables.json.
#pragma once

#include <string>
#include <vector>

#include "toymachine/count/polynomial/polynomial.hpp"

namespace flashlab::cli {

/// A way in which the program honestly counts otherwise than the source, and by how much.
struct Difference {
  std::string why;
  toy::Polynomial formula;
};

struct SourceCell {
  bool empty = true;        // the source says nothing here, and nothing is counted
  bool has_entry = false;   // the source has an entry
  std::string text;         // what it says, as it is written
  toy::Polynomial entry;    // what it says
  toy::Polynomial counted;  // what the program's counters say
  std::vector<Difference> differences;

  /// counted = entry + differences.
  bool adds_up() const;
};

struct SourceRow {
  std::string title;
  std::vector<SourceCell> cells;  // one a column
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

/// In the order of the file.
std::vector<std::string> source_table_names();

/// Reads the table and derives its counts from the programs' cost formulas, for elements as the
/// table gives them. Throws Failure for an unknown name.
SourceTable source_table(const std::string& name);

}  // namespace flashlab::cli
