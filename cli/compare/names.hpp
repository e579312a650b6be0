// The names of rows in a comparison: the variant or the kernel, N, and all attributes in which rows
// differ.
#pragma once

#include <string>
#include <vector>

#include "cli/terminal/text_table.hpp"
#include "results/comparison.hpp"

namespace flashlab::cli {

/// An attribute of calls. One with a title has its own column.
struct RowAttribute;

class RowNames {
 public:
  /// Determines the attributes in which the rows differ.
  explicit RowNames(const std::vector<compare::Row>& rows);

  /// Returns the first columns of a table, followed by `others`.
  std::vector<Column> columns(const std::vector<Column>& others) const;
  std::vector<std::string> cells(const compare::Row& row,
                                 const std::vector<std::string>& others) const;
  /// Returns the cells of a part of a row, with its own name.
  std::vector<std::string> part(const std::string& name,
                                const std::vector<std::string>& others) const;
  /// Returns "flash2, d 64, N 4096".
  std::string text(const compare::Row& row) const;

 private:
  const std::string& name(const compare::Row& row) const {
    return names_kernels_ ? row.kernel : row.variant;
  }

  std::vector<const RowAttribute*> shown_;
  bool names_kernels_ = false;  // two rows differ in nothing else
};

/// Returns what all rows share: "bf16, batch 4, 8 heads, d 64, full".
std::string shared_by(const std::vector<compare::Row>& rows);

}  // namespace flashlab::cli
