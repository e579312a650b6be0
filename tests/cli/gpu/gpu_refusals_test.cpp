// `flashlab gpu` on programs that are too large, too long, or too quick to be true.
#include <string>

#include "tests/cli/command.hpp"
#include "tests/cli/gpu/fake_gpu.hpp"

namespace flashlab::test {
namespace {

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

constexpr const char* kStart = ".isa softmax\n.param n = 1000\n.input x[4]\n.output y[4]\n";
constexpr const char* kBody = "LOAD x[0], R0\nADD R0, R0, R1\nSTORE R1, y[0]\n";

}  // namespace

TEST_CASE("gpu answers a text of ten thousand lines and does not run it") {
  const FakeGpu fake;
  fake.place().write("long.toy", kStart + repeated(kBody, 3334));
  const Outcome run = fake.gpu("long.toy", "crashes");
  CHECK(run.code == 3);
  CHECK_THAT(run.err, contains("10002 instructions") && contains("at most 2000"));
  CHECK(run.out == "");
  CHECK(fake.gpu("long.toy --plan", "crashes").code == 0);
  CHECK(fake.gpu("long.toy --predict-only", "crashes").code == 0);
}

TEST_CASE("gpu answers three billion steps and does not run them") {
  const FakeGpu fake;
  const std::string loops = "for i in 0..n\nfor j in 0..n\nfor k in 0..n\n";
  fake.place().write("steps.toy", kStart + loops + kBody + "end\nend\nend\n");
  const Outcome run = fake.gpu("steps.toy", "crashes");
  CHECK(run.code == 3);
  CHECK_THAT(run.err, contains("takes 3000000000 steps") && contains("at most 100000000"));
  CHECK(fake.gpu("steps.toy --plan", "crashes").code == 0);
}

TEST_CASE("gpu says which tiles hold how much when they fit neither at level 1 nor at level 0") {
  const Outcome shared =
      flashlab("gpu flash2 -D n=4096,d=512,B=128,Bk=64 --dtype bf16 --level 1 --plan");
  CHECK(shared.code == 1);
  CHECK_THAT(shared.err, contains("202752 bytes of shared memory: Q[0] 128 x 512 = 135168, "
                                  "K 64 x 512 = 67584"));
  CHECK_THAT(shared.err,
             contains("as at level 0") && contains("O[0] 128 x 512 = 262656 (line 53)"));
  const Outcome registers =
      flashlab("gpu flash2 -D n=4096,d=256,B=256,Bk=256 --dtype bf16 --level 1 --sram h100 --plan");
  CHECK(registers.code == 1);
  CHECK_THAT(registers.err, contains("528 registers of each thread, which has 255: ") &&
                                contains("O[0] 256 x 256 = 256"));
}

TEST_CASE("gpu refuses a time that the GPU cannot reach") {
  const FakeGpu fake;
  const Outcome quick = fake.gpu("flash2 -D n=12,B=2 --repeat 1", "quick");
  CHECK(quick.code == 1);
  CHECK_THAT(quick.err,
             contains("H200 cannot do it in less than") && contains("the measurement is wrong"));
  CHECK(quick.out == "");
}

TEST_CASE("gpu writes its report as a page with tables, bars and the source") {
  const FakeGpu fake;
  fake.place().write("odd.toy",
                     ".isa softmax\n.input x[4]\n.output y[4]\n.pass <b>&\nfor i in 0..4\n"
                     "LOAD x[i], R0\nSTORE R0, y[i]\nend\n");
  const Outcome run = fake.gpu("odd.toy --repeat 1 --html page.html");
  CHECK(run.code == 0);
  CHECK_THAT(run.out, contains("launch 1"));
  const std::string page = fake.place().read("page.html");
  CHECK_THAT(page, contains("odd on a GPU") && contains("Results beside the machine") &&
                       contains("odd_1(") && contains(".pass &lt;b&gt;&amp;") &&
                       contains("emulated"));
  CHECK(page.find("<b>&") == std::string::npos);
  CHECK(page.find("src=") == std::string::npos);
  const Outcome predicted =
      fake.gpu("bwd_onepass -D n=64,d=16,B=16 --predict-only --html -", "absent");
  CHECK(predicted.code == 0);
  CHECK_THAT(predicted.out, contains("<table class=\"bars\"") && contains("launch 3, predicted") &&
                                contains("nothing measured"));
  CHECK(predicted.out.ends_with("</html>\n"));
  CHECK(flashlab("gpu flash2 --plan --html page.html").code == 2);
}

}  // namespace flashlab::test
