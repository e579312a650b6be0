// One submission as it lies on the disk.
#include "exercises/grader/submission/submission_file.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "tests/exercises/class_folder.hpp"

namespace flashlab::test {
namespace {

using namespace exercises;

SubmissionText read_from(const ClassFolderOnDisk& folder, const std::string& name) {
  static const auto kExercise = dot_product();
  return read_submission_file(folder.path(name), *kExercise);
}

std::vector<std::string> names_of(const std::vector<Submission>& students) {
  std::vector<std::string> names;
  for (const Submission& student : students) names.push_back(student.name);
  return names;
}

using FileNames = std::vector<std::string>;

}  // namespace

TEST_CASE("a regular file is read byte for byte") {
  const ClassFolderOnDisk folder;
  folder.write("anna.toy", "; é\r\nno newline");
  const SubmissionText text = read_from(folder, "anna.toy");
  CHECK(text.readable);
  CHECK(text.text == "; é\r\nno newline");
}

TEST_CASE("links, pipes, sockets, devices and missing files are unreadable and say so") {
  const ClassFolderOnDisk folder;
  folder.write("anna.toy", dot_solution());
  std::filesystem::create_symlink("anna.toy", folder.path("link.toy"));
  std::filesystem::create_symlink("/dev/zero", folder.path("zero.toy"));
  REQUIRE(mkfifo(folder.path("pipe.toy").c_str(), 0600) == 0);
  const int socket_file = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, folder.path("socket.toy").c_str(), sizeof address.sun_path - 1);
  REQUIRE(bind(socket_file, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  close(socket_file);
  for (const auto& [name, word] :
       std::map<std::string, std::string>{{"link.toy", "symbolic link"},
                                          {"zero.toy", "symbolic link"},
                                          {"pipe.toy", "pipe"},
                                          {"socket.toy", "socket"},
                                          {"gone.toy", "No such file"}}) {
    CAPTURE(name);
    const SubmissionText text = read_from(folder, name);
    CHECK_FALSE(text.readable);
    CHECK(text.outcome == Outcome::kUnreadable);
    CHECK_THAT(text.problem, contains(word));
  }
  CHECK_THAT(read_submission_file("/dev/null", *dot_product()).problem, contains("device"));
}

TEST_CASE("a file beyond the limit is not read") {
  const ClassFolderOnDisk folder;
  const auto small = dot_product({{"exercise.toml", template_exercise().files.at("exercise.toml") +
                                                        "\n[limits]\nsource_bytes = 100\n"}});
  folder.write("fits.toy", std::string(100, ';'));
  folder.write("long.toy", std::string(101, ';'));
  CHECK(read_submission_file(folder.path("fits.toy"), *small).readable);
  const SubmissionText text = read_submission_file(folder.path("long.toy"), *small);
  CHECK(text.outcome == Outcome::kLimit);
  CHECK_THAT(text.problem, contains("100 bytes"));
}

TEST_CASE("NUL bytes are refused before anything is assembled") {
  const ClassFolderOnDisk folder;
  folder.write("nul.toy", std::string("; a\0b", 5));
  const SubmissionText text = read_from(folder, "nul.toy");
  CHECK_FALSE(text.readable);
  CHECK(text.outcome == Outcome::kRejected);
}

TEST_CASE("a folder's submission is the work file, otherwise the only program") {
  const ClassFolderOnDisk folder;
  folder.write("one/any_name.toy", "; only");
  folder.write("two/a.toy", "; a");
  folder.write("two/01_dot.toy", "; chosen");
  folder.write("both/a.toy", "; a");
  folder.write("both/b.txt", "; b");
  folder.write("none/readme.md", "");
  CHECK(read_from(folder, "one").text == "; only");
  CHECK(read_from(folder, "two").text == "; chosen");
  folder.write("three/a.toy", "; a");
  folder.write("three/b.TOY", "; b");
  CHECK(read_from(folder, "both").text == "; a");
  CHECK_THAT(read_from(folder, "both").notes.at(0), contains("'b.txt'"));
  CHECK_THAT(read_from(folder, "three").problem,
             contains("2 possible files") && contains("01_dot.toy"));
  CHECK_THAT(read_from(folder, "none").problem, contains("no .toy or .txt"));
}

TEST_CASE("a student's hidden files and inner folders are skipped with a note") {
  const ClassFolderOnDisk folder;
  folder.write("anna/.secret.toy", "");
  folder.write("anna/old/a.toy", "");
  folder.write("anna/work.toy", "; work");
  const SubmissionText text = read_from(folder, "anna");
  CHECK(text.text == "; work");
  REQUIRE(text.notes.size() == 2);
  CHECK_THAT(text.notes[0], contains(".secret.toy") && contains("hidden"));
  CHECK_THAT(text.notes[1], contains("'old'"));
}

TEST_CASE("neither a linked folder nor a link inside a folder is followed") {
  const ClassFolderOnDisk folder;
  folder.write("anna/a.toy", "; a");
  std::filesystem::create_directory_symlink("anna", folder.path("bert"));
  std::filesystem::create_directory(folder.path("cleo"));
  std::filesystem::create_symlink("../anna/a.toy", folder.path("cleo/a.toy"));
  CHECK_THAT(read_from(folder, "bert").problem, contains("symbolic link"));
  CHECK_THAT(read_from(folder, "cleo").problem, contains("symbolic link"));
}

TEST_CASE("a file that grows while it is read is found out") {
  const ClassFolderOnDisk folder;
  folder.write("anna.toy", std::string(30'000, ';'));
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    while (!stop) {
      std::ofstream file(folder.path("anna.toy"), std::ios::binary | std::ios::trunc);
      for (int i = 0; i < 30 && !stop; ++i) file << std::string(1000, ';') << std::flush;
    }
  });
  bool found = false;
  for (int i = 0; i < 100'000 && !found; ++i) {
    const SubmissionText text = read_from(folder, "anna.toy");
    found = text.problem.find("changed while it was read") != std::string::npos;
  }
  stop = true;
  writer.join();
  CHECK(found);
}

TEST_CASE("a class is listed bytewise by file name, the rest with the reason why it is skipped") {
  const ClassFolderOnDisk folder;
  for (const char* name : {"b.toy", "a.txt", "B.toy", "c.TOY", ".hidden.toy", "notes.md"}) {
    folder.write(name, "");
  }
  folder.write("d/x.toy", "");
  const ClassFolder listed = list_class(folder.path());
  CHECK(names_of(listed.students) == FileNames{"B", "a", "b", "c", "d"});
  REQUIRE(listed.skipped.size() == 2);
  CHECK(listed.skipped[0].name == ".hidden.toy");
  CHECK(listed.skipped[0].why == "it is hidden");
  CHECK(listed.skipped[1].name == "notes.md");
  CHECK(listed.skipped[1].why == "it is not a .toy or .txt file");
}

TEST_CASE("students whose names would be alike keep their files' names") {
  const ClassFolderOnDisk folder;
  for (const char* name : {"a.toy", "a.txt", "b.toy", "b.toy.toy", "c\\x1b.toy", "c\x1b.toy"}) {
    folder.write(name, "");
  }
  folder.write("a/x.toy", "");
  const ClassFolder listed = list_class(folder.path());
  CHECK(names_of(listed.students) ==
        FileNames{"a/", "a.toy", "a.txt", "b", "b.toy.toy", "c\\x1b", "c\\\\x1b"});
}

TEST_CASE("files that are named one by one are checked before anything is graded") {
  const ClassFolderOnDisk folder;
  folder.write("x/a.toy", "");
  folder.write("y/a.toy", "");
  const std::string first = folder.path("x/a.toy"), second = folder.path("y/a.toy");
  CHECK(names_of(list_paths({first, second})) == FileNames{first, second});
  CHECK(names_of(list_paths({first})) == FileNames{"a"});
  CHECK_THROWS_WITH(list_paths({first, first}), contains("given twice"));
  CHECK_THROWS_WITH(list_paths({folder.path("gone.toy")}), contains("No such file"));
}

}  // namespace flashlab::test
