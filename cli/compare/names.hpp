// How the rows of a comparison are called: the variant, N, and whatever not all of them share.
#pragma once

#include <string>
#include <vector>

#include "cli/terminal/text_table.hpp"
#include "results/comparison.hpp"

namespace flashlab::cli {

/// Something that tells calls apart; one with a title is a column of its own.
struct RowAttribute;

class RowNames {
 public:
  /// Finds out what the rows differ in.
  explicit RowNames(const std::vector<compare::Row>& rows);

  /// The first columns of a table, and then `others`.
  std::vector<Column> columns(const std::vector<Column>& others) const;
  std::vector<std::string> cells(const compare::Row& row,
                                 const std::vector<std::string>& others) const;
  /// Of a part of a row, under its own name.
  std::vector<std::string> part(const std::string& name,
                                const std::vector<std::string>& others) const;
  /// "flash2, d 64, N 4096".
  std::string text(const compare::Row& row) const;

 private:
  std::vector<const RowAttribute*> shown_;
};

/// What all rows share: "bf16, batch 4, 8 heads, d 64, full".
std::string shared_by(const std::vector<compare::Row>& rows);

}  // namespace flashlab::cli
