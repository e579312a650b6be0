// `sweep --fit`: a parameter as large as the registers' capacity allows.
#include <nlohmann/json.hpp>

#include "tests/catch_shim.hpp"
#include "tests/cli/command.hpp"

using namespace flashlab;

TEST_CASE("the fitted parameter is the largest that the capacity allows") {
  const auto swept = test::json_of(
      test::flashlab("sweep spectrum -D n=64,d=8,B=4,s=0..8+4 --fit Bk --sram 4KiB --json"));
  REQUIRE(swept["points"].size() == 3);
  for (const auto& point : swept["points"]) {
    const long s = point["params"]["s"], Bk = point["params"]["Bk"];
    const std::string fixed =
        "run spectrum --no-outputs -D n=64,d=8,B=4,s=" + std::to_string(s) + ",Bk=";
    CHECK(test::flashlab(fixed + std::to_string(Bk) + " --sram 4KiB").code == 0);
    CHECK(test::flashlab(fixed + std::to_string(Bk + 1) + " --sram 4KiB").code == 1);
  }
}

TEST_CASE("fitting needs a capacity and a free parameter") {
  const std::string sweep = "sweep spectrum -D n=8..16*2 ";
  CHECK(test::flashlab(sweep + "--fit Bk").code == 2);
  CHECK(test::flashlab(sweep + "--fit n --sram 4KiB").code == 2);
  CHECK(test::flashlab(sweep + "--fit nothing --sram 4KiB").code == 2);
  CHECK(test::flashlab("sweep spectrum -D n=8..16*2,Bk=2 --fit Bk --sram 4KiB").code == 2);
}

TEST_CASE("an array's traffic can be plotted") {
  const auto swept =
      test::flashlab("sweep spectrum -D n=4,d=2,B=1,s=0..4 --y o.stores --no-plot --ascii");
  CHECK(swept.code == 0);
  CHECK(swept.out.find("o.stores") != std::string::npos);
  CHECK(test::flashlab("sweep spectrum -D s=0..4 --y zz.stores").code == 2);
}

TEST_CASE("a capacity of kB is one of thousands of bytes, of KiB one of 1024") {
  const auto points = [](const std::string& capacity) {
    return test::json_of(test::flashlab("sweep spectrum -D n=64,d=2,B=4,s=0..1 --fit Bk --sram " +
                                        capacity + " --json"))["points"];
  };
  CHECK(points("1kB") == points("1000"));
  CHECK(points("1KB") == points("1000B"));
  CHECK(points("1KiB") == points("1024"));
  CHECK(points("1kB") != points("1KiB"));
}
