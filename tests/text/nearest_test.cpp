// Which words are near enough to be meant.
#include "text/nearest.hpp"

#include <string>

#include "tests/catch_shim.hpp"

namespace flashlab::test {

TEST_CASE("a word is near if a third of its letters are wrong, or one") {
  struct Pair {
    std::string word, candidate;
    bool near;
  };
  const Pair pairs[] = {{"load", "LOAD", true},   // letter case does not count
                        {"lod", "LOAD", true},    // one letter too few
                        {"loadd", "LOAD", true},  // one too many
                        {"laod", "LOAD", true},   // two exchanged
                        {"olad", "LOAD", true},   // at the beginning
                        {"loda", "LOAD", true},   // at the end
                        {"lxyd", "LOAD", false},  // two of four
                        {"a", "b", false},        // nothing in common
                        {"a", "ab", true},
                        {"ab", "ba", true},
                        {"ab", "cd", false},
                        {"abcde", "abcxy", false},   // two of five
                        {"abcdef", "abcdxy", true},  // two of six
                        {"abcdef", "abcxyz", false},
                        {"abcdefghi", "abcdefxyz", true},  // three of nine
                        {"abcdefghi", "abcdewxyz", false},
                        {"", "a", false},
                        {std::string(40, 'a'), std::string(39, 'a') + "b", true},
                        {std::string(41, 'a'), std::string(40, 'a'), false},
                        {std::string(40, 'a'), std::string(41, 'a'), false}};
  for (const Pair& pair : pairs) {
    CAPTURE(pair.word, pair.candidate);
    CHECK(nearest(pair.word, {pair.candidate}).has_value() == pair.near);
  }
}

TEST_CASE("of several near words the nearest wins, and of equals the first") {
  CHECK(nearest("loaf", {"lead", "load"}) == "load");
  CHECK(nearest("loaf", {"load", "leaf"}) == "load");
  CHECK(nearest("loaf", {"leaf", "load"}) == "leaf");
  CHECK(nearest("load", {"lead", "load", "road"}) == "load");
  CHECK_FALSE(nearest("load", {}));
}

}  // namespace flashlab::test
