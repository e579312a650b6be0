// Which file of a student's folder belongs to which part of an assignment.
#include "exercises/grader/submission/student_files.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include "tests/exercises/class_folder.hpp"

namespace flashlab::test {
namespace {

using namespace exercises;
using Names = std::vector<std::string>;

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
  CHECK(files.others == Names{"08_online_softmax (1).toy", "sub/8.toy"});
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
  CHECK(files.parts[0].rivals == Names{"8_online_softmax.toy", "b/08_online_softmax.toy"});
  CHECK(files.others == Names{"8_online_softmax.toy", "b/08_online_softmax.toy", "notes.pdf"});
}

TEST_CASE("a readme beside a program is no rival", "[files]") {
  const ClassFolderOnDisk folder;
  folder.write("8_online_softmax.toy", "");
  folder.write("08_online_softmax.txt", "");
  const StudentFiles files = found_in(folder);
  CHECK(files.parts[0].taken == "8_online_softmax.toy");
  CHECK(files.others == Names{"08_online_softmax.txt"});
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
  CHECK(files.others == Names{"link"});
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
