// What two libraries compare before a structure crosses between them, and what that notices.
#include "system/fields.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include "tests/catch_shim.hpp"

namespace flashlab::test {

struct Sampled {
  double median = 0, least = 0;
  int count = 0;
};
struct Exchanged {
  double least = 0, median = 0;
  int count = 0;
};
struct Retyped {
  double median = 0;
  std::int64_t least = 0;
  int count = 0;
};
struct Around {
  std::string name;
  std::vector<Sampled> all;
};
struct AroundExchanged {
  std::string name;
  std::vector<Exchanged> all;
};

}  // namespace flashlab::test

FLASHLAB_FIELDS(flashlab::test::Sampled, median, least, count);
FLASHLAB_FIELDS(flashlab::test::Exchanged, median, least, count);
FLASHLAB_FIELDS(flashlab::test::Retyped, median, least, count);
FLASHLAB_FIELDS(flashlab::test::Around, name, all);
FLASHLAB_FIELDS(flashlab::test::AroundExchanged, name, all);

namespace flashlab::test {

using system::fingerprint;

TEST_CASE("two exchanged fields of one type change what both sides of the door compare") {
  static_assert(sizeof(Sampled) == sizeof(Exchanged));
  CHECK(fingerprint<Sampled>() != fingerprint<Exchanged>());
  CHECK(fingerprint<Sampled>() != fingerprint<Retyped>());
  CHECK(fingerprint<Sampled>() == fingerprint<Sampled>());
  CHECK(fingerprint<Sampled, Retyped>() != fingerprint<Retyped, Sampled>());
}

TEST_CASE("exchanged fields are noticed inside the elements of a list") {
  static_assert(sizeof(Around) == sizeof(AroundExchanged));
  CHECK(fingerprint<Around>() != fingerprint<AroundExchanged>());
}

}  // namespace flashlab::test
