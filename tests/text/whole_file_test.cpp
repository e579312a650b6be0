// Files that are written: the old text or the new one, and the same file.
#include "text/whole_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/catch_shim.hpp"

namespace flashlab::test {
namespace {

namespace fs = std::filesystem;

class Folder {
 public:
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "flashlab-XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  std::string make(const std::string& name, const std::string& text, mode_t mode = 0644) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
    chmod((path_ / name).c_str(), mode);
    return (path_ / name).string();
  }
  std::size_t count() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(path_), fs::directory_iterator()));
  }

 private:
  fs::path path_;
};

struct stat status_of(const std::string& path) {
  struct stat status {};
  REQUIRE(stat(path.c_str(), &status) == 0);
  return status;
}

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

bool write_text(const std::string& path, const std::string& text) {
  return write_whole_file(path, [&](std::ostream& out) { out << text; });
}

}  // namespace

TEST_CASE("a rewritten file keeps its mode", "[file]") {
  const Folder folder;
  for (const mode_t mode : {0600U, 0640U, 0755U, 04750U}) {
    const std::string path = folder.make("a", "old", mode);
    CHECK(write_text(path, "new text"));
    CHECK(read(path) == "new text");
    CHECK((status_of(path).st_mode & 07777U) == mode);
  }
  CHECK(folder.count() == 1);
}

TEST_CASE("a new file has the mode of new files, and never a larger one", "[file]") {
  const Folder folder;
  const mode_t mask = umask(0077);
  CHECK(write_text(folder / "new", "text"));
  umask(mask);
  CHECK((status_of(folder / "new").st_mode & 07777U) == 0600U);
}

TEST_CASE("links stay links, and their file gets the text", "[file]") {
  const Folder folder;
  const std::string file = folder.make("file", "a long old text", 0640);
  REQUIRE(link(file.c_str(), (folder / "hard").c_str()) == 0);
  REQUIRE(symlink("file", (folder / "soft").c_str()) == 0);
  REQUIRE(symlink("not yet", (folder / "dangling").c_str()) == 0);
  CHECK(write_text(folder / "hard", "short"));
  CHECK(read(file) == "short");
  CHECK(status_of(file).st_nlink == 2);
  CHECK((status_of(file).st_mode & 07777U) == 0640U);
  CHECK(write_text(folder / "soft", "through the link, and longer than before"));
  CHECK(read(folder / "hard") == "through the link, and longer than before");
  CHECK(fs::is_symlink(folder / "soft"));
  CHECK(write_text(folder / "dangling", "text"));
  CHECK(fs::is_symlink(folder / "dangling"));
  CHECK(read(folder / "not yet") == "text");
  CHECK(folder.count() == 5);
}

TEST_CASE("a file with the same content is left alone", "[file]") {
  const Folder folder;
  const std::string path = folder.make("a", "same\n");
  const timespec before[2] = {{1000, 0}, {1000, 0}};
  REQUIRE(utimensat(AT_FDCWD, path.c_str(), before, 0) == 0);
  CHECK_FALSE(write_text(path, "same\n"));
  CHECK(status_of(path).st_mtim.tv_sec == 1000);
  CHECK(write_text(path, "same"));
  CHECK(status_of(path).st_mtim.tv_sec > 1000);
}

TEST_CASE("a write that fails leaves the old text and nothing else", "[file]") {
  const Folder folder;
  const std::string path = folder.make("a", "old", 0600);
  REQUIRE(link(path.c_str(), (folder / "b").c_str()) == 0);
  for (const std::string& one : {path, folder / "new"}) {
    CHECK_THROWS_AS(write_whole_file(one,
                                     [](std::ostream& out) {
                                       out << "half";
                                       throw std::runtime_error("the run failed");
                                     }),
                    std::runtime_error);
  }
  CHECK(read(path) == "old");
  CHECK(folder.count() == 2);
  CHECK_THROWS_AS(write_text(folder / "nowhere/a", "text"), NotWritten);
  CHECK_THROWS_AS(write_text(folder / ".", "text"), NotWritten);
}

TEST_CASE("devices are written directly", "[file]") {
  CHECK(write_text("/dev/null", "text"));
  CHECK_THROWS_AS(write_text("/dev/full", std::string(100'000, 'x')), NotWritten);
}

}  // namespace flashlab::test
