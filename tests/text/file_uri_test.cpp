#include "text/file_uri.hpp"

#include <string>

#include "tests/catch_shim.hpp"

namespace flashlab::test {

TEST_CASE("a path and its URI lead to each other", "[text]") {
  CHECK(file_uri("/home/a b.toy") == "file:///home/a%20b.toy");
  CHECK(file_uri("/é#?%.toy") == "file:///%C3%A9%23%3F%25.toy");
  for (const std::string path : {"/", "/a", "/home/a b.toy", "/é#?%.toy", "/100%", "/%2", "/%zz"}) {
    CAPTURE(path);
    CHECK(path_of_uri(file_uri(path)) == path);
  }
}

TEST_CASE("what is no URI of a file here stays as it is", "[text]") {
  CHECK(path_of_uri("file:///a%20b") == "/a b");
  CHECK(path_of_uri("file:///a%2") == "/a%2");
  CHECK(path_of_uri("file:///%zz") == "/%zz");
  CHECK(path_of_uri("file://localhost/a") == "/a");
  for (const std::string other : {"", "softmax_online", "/a%20b", "a/b", "untitled:Untitled-1",
                                  "file://elsewhere/a", "file:/a", "file://"}) {
    CAPTURE(other);
    CHECK(path_of_uri(other) == other);
  }
}

}  // namespace flashlab::test
