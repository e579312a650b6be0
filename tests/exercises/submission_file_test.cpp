// Submissions as they lie on the disk, and which file of a student's folder belongs to which part.
#include "exercises/grader/submission/submission_file.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "exercises/grader/submission/student_files.hpp"
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

Exercise named(const std::string& id, Kind kind = Kind::kProgram) {
  Exercise exercise;
  exercise.id = id;
  exercise.kind = kind;
  return exercise;
}

const Exercise kSoftmax = named("08_online_softmax"), kVariance = named("12_online_variance"),
               kTricks = named("11_other_running_tricks", Kind::kQuestions);

StudentFiles found_in(const ClassFolderOnDisk& folder) {
  return find_student_files(folder.path(), {&kSoftmax, &kTricks, &kVariance});
}

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
  for (const char* same : {"x/./a.toy", "x/../x/a.toy", "x//a.toy"}) {
    CHECK_THROWS_WITH(list_paths({first, second, folder.path(same)}),
                      contains("given twice: it is '" + first + "'"));
  }
  CHECK_THROWS_WITH(list_paths({folder.path("x"), folder.path("x/")}), contains("given twice"));
  CHECK_THROWS_WITH(list_paths({folder.path("gone.toy")}), contains("No such file"));
}

TEST_CASE("a name is near if it differs in case, ending, signs between words or a copy's number",
          "[files]") {
  for (const char* name :
       {"08_online_softmax.toy", "08_Online_Softmax.TOY", "8_online_softmax.toy",
        "08_online_softmax (1).toy", "08_online_softmax(12).toy", "08-online-softmax.toy",
        "08 online softmax.txt", "08_online_softmax.toy.txt", "online_softmax.toy", "8.toy",
        "08_online_softmax - Copy.toy", "08_online_softmax - Kopie (2).toy",
        "08_online_softmax copy 2.toy", "08_online_softmax-1.toy"}) {
    CAPTURE(name);
    CHECK(may_be_work_file(kSoftmax, name));
    CHECK_FALSE(may_be_work_file(kVariance, name));
  }
  for (const char* name :
       {"softmax.toy", "08_online_softmax", "08_online_softmax.pdf", "18.toy", "", ".toy",
        "80_online_softmax.toy", "08_online_softmaxx.toy", "(1).toy", "my 08_online_softmax.toy"}) {
    CAPTURE(name);
    CHECK_FALSE(may_be_work_file(kSoftmax, name));
  }
  CHECK_FALSE(may_be_work_file(kSoftmax, "8" + std::string(100'000, ' ') + "(1).toy"));
}

TEST_CASE("the work file itself is taken, whatever lies beside it", "[files]") {
  const ClassFolderOnDisk folder;
  for (const char* name : {"08_online_softmax.toy", "08_online_softmax (1).toy", "sub/8.toy"}) {
    folder.write(name, "");
  }
  const StudentFiles files = found_in(folder);
  CHECK(files.parts[0].taken == "08_online_softmax.toy");
  CHECK(files.parts[0].is_exact);
  CHECK(files.others == std::vector<std::string>{"08_online_softmax (1).toy", "sub/8.toy"});
}

TEST_CASE("a near name is taken if no other file can be meant", "[files]") {
  const ClassFolderOnDisk folder;
  folder.write("sub/deeper/08_Online_Softmax.TOY", "");
  folder.write("12_online_variance.txt", "");
  folder.write("11_other_running_tricks (2).txt", "");
  const StudentFiles files = found_in(folder);
  CHECK(files.parts[0].taken == "sub/deeper/08_Online_Softmax.TOY");
  CHECK(files.parts[1].taken == "11_other_running_tricks (2).txt");
  CHECK(files.parts[2].taken == "12_online_variance.txt");
  for (const PartFiles& part : files.parts) CHECK_FALSE(part.is_exact);
  CHECK(files.others.empty());
}

TEST_CASE("of two near names none is taken, and both are told", "[files]") {
  const ClassFolderOnDisk folder;
  folder.write("8_online_softmax.toy", "");
  folder.write("b/08_online_softmax.toy", "");
  folder.write("notes.pdf", "");
  const StudentFiles files = found_in(folder);
  CHECK(files.parts[0].taken.empty());
  CHECK(files.parts[0].rivals ==
        std::vector<std::string>{"8_online_softmax.toy", "b/08_online_softmax.toy"});
  CHECK(files.others ==
        std::vector<std::string>{"8_online_softmax.toy", "b/08_online_softmax.toy", "notes.pdf"});
}

TEST_CASE("a readme beside a program is no rival", "[files]") {
  const ClassFolderOnDisk folder;
  folder.write("8_online_softmax.toy", "");
  folder.write("08_online_softmax.txt", "");
  const StudentFiles files = found_in(folder);
  CHECK(files.parts[0].taken == "8_online_softmax.toy");
  CHECK(files.others == std::vector<std::string>{"08_online_softmax.txt"});
}

TEST_CASE("hidden files, links to folders and deep folders are not looked into", "[files]") {
  const ClassFolderOnDisk folder, elsewhere;
  elsewhere.write("08_online_softmax.toy", "");
  folder.write("__MACOSX/._08_online_softmax.toy", "");
  folder.write(".DS_Store", "");
  folder.write("1/2/3/4/5/08_online_softmax.toy", "");
  REQUIRE(symlink(elsewhere.path().c_str(), folder.path("link").c_str()) == 0);
  const StudentFiles files = found_in(folder);
  CHECK(files.parts[0].taken.empty());
  CHECK(files.hidden == 2);
  CHECK(files.others == std::vector<std::string>{"link"});
  CHECK_THAT(files.problem, contains("'1/2/3/4/5' is too deep"));
}

TEST_CASE("a folder that cannot be listed is told", "[files]") {
  if (geteuid() == 0) FLASHLAB_SKIP("root can list every folder");
  const ClassFolderOnDisk folder;
  folder.write("sub/08_online_softmax.toy", "");
  chmod(folder.path("sub").c_str(), 0);
  const StudentFiles files = found_in(folder);
  chmod(folder.path("sub").c_str(), 0755);
  CHECK_THAT(files.problem, contains("'sub' cannot be listed"));
}

}  // namespace flashlab::test
