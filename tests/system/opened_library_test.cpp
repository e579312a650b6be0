// Libraries that are opened when they are needed.
#include "system/opened_library.hpp"

#include <string>

#include "tests/catch_shim.hpp"

namespace flashlab::test {

using system::OpenedLibrary;

TEST_CASE("the first library that can be opened is used, and its functions are found") {
  const OpenedLibrary library({"libflashlab_is_not_there.so", "libm.so.6", "libc.so.6"});
  if (!library) FLASHLAB_SKIP("this system names its libraries otherwise");
  CHECK(library.path() == "libm.so.6");
  double (*cosine)(double) = nullptr;
  REQUIRE(library.find(cosine, "cos"));
  CHECK(cosine(0) == 1);
  CHECK_FALSE(library.find(cosine, "flashlab_has_no_such_function"));
  CHECK(cosine == nullptr);
}

TEST_CASE("a library that cannot be opened says why, and has no functions") {
  const OpenedLibrary library({"libflashlab_is_not_there.so"});
  CHECK_FALSE(library);
  CHECK_THAT(library.why_not(), contains("libflashlab_is_not_there.so"));
  void (*function)() = nullptr;
  CHECK_FALSE(library.find(function, "main"));
  CHECK_FALSE(OpenedLibrary());
}

TEST_CASE("a library that the process has not opened is not opened to look for it") {
  CHECK_FALSE(OpenedLibrary::of_process("libflashlab_is_not_there.so"));
  CHECK_FALSE(OpenedLibrary::of_process("libcublas.so.12"));
}

}  // namespace flashlab::test
