#include "tests/cli/command.hpp"

namespace flashlab::test {

TEST_CASE("format rewrites files that are not formatted, and names them", "[format]") {
  const Workplace place;
  place.write("good.toy", "MOV R0, R0\n");
  place.write("bad.toy", "MOV  R0,R0");
  const Outcome check = place.shell("flashlab format --check good.toy bad.toy");
  CHECK(check.code == 1);
  CHECK(check.out == "bad.toy is not formatted\n");
  CHECK(place.read("bad.toy") == "MOV  R0,R0");
  const Outcome written = place.shell("flashlab format good.toy bad.toy");
  CHECK(written.code == 0);
  CHECK(written.out == "Formatted bad.toy\n");
  CHECK(place.read("bad.toy") == "MOV R0, R0\n");
  CHECK(place.shell("flashlab format --check good.toy bad.toy").code == 0);
}

TEST_CASE("format prints standard input, and refuses what it cannot read", "[format]") {
  const Workplace place;
  const Outcome printed = place.shell("printf 'for i in 0..2\\nMOV R0,R0' | flashlab format -");
  CHECK(printed.out == "for i in 0..2\n  MOV R0, R0\n");
  const Outcome missing = place.shell("flashlab format nothing.toy");
  CHECK(missing.code == 2);
  CHECK_THAT(missing.err, contains("nothing.toy"));
  CHECK(place.shell("flashlab format").code == 2);
  CHECK(place.shell("head -c 2000000 /dev/zero | tr '\\0' x > big; flashlab format big").code == 3);
}

TEST_CASE("format leaves a file alone that is no text", "[format]") {
  const Workplace place;
  const std::string bytes = "MOV  R0,R0\n\xff\xfe  MOV";
  place.write("binary.toy", bytes);
  const Outcome outcome = place.shell("flashlab format binary.toy");
  CHECK(outcome.code == 2);
  CHECK_THAT(outcome.err, contains("binary.toy") && contains("line 2") && contains("UTF-8"));
  CHECK(place.read("binary.toy") == bytes);
}

}  // namespace flashlab::test
