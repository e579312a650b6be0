// Which loops are not closed, as the indentation of the lines tells: the nest itself tells only how many are open at
// the end of the text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "toymachine/language/source.hpp"

namespace flashlab::toy::detail {

struct UnclosedLoop {
  SourceSpan loop;
  std::uint32_t before = 0;  // the first line that stands outside of the loop; 0: none
};

class IndentedNest {
 public:
  void open(const SourceSpan& word);
  void close(const SourceSpan& word);
  void other(const SourceSpan& word);

  /// Returns nothing if the text is not indented as a nest in which this number of loops is open.
  std::vector<UnclosedLoop> unclosed(std::size_t open_loops) const;

 private:
  /// Takes the loops for left at this line that begin further right than `column`.
  void leave(std::uint32_t column, std::uint32_t line);

  std::vector<SourceSpan> open_;
  std::vector<UnclosedLoop> left_;  // without an `end`
};

}  // namespace flashlab::toy::detail
