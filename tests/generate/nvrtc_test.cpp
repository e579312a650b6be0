// The generated sources in CUDA's own compiler, which needs no GPU.
#include "generate/run/nvrtc.hpp"

#include <optional>
#include <set>
#include <string>
#include <utility>

#include "generate/plan/element_types.hpp"
#include "generate/run/compiled_job.hpp"
#include "generate/run/job.hpp"
#include "tests/catch_shim.hpp"
#include "tests/generate/cases/cases.hpp"
#include "tests/toymachine/bundled_program.hpp"

namespace flashlab::test {
namespace {

constexpr int kOldest = 75, kHopper = 90;

/// The compiled source; nothing if there is no NVRTC here.
std::optional<generate::CompiledSource> compiled_here(const std::string& source,
                                                      const std::string& name, int capability) {
  try {
    return generate::compile(source, name, {capability});
  } catch (const generate::GpuUnavailable&) {
    return std::nullopt;
  }
}

bool is_nvrtc_here() { return compiled_here("", "empty.cu", kHopper).has_value(); }

}  // namespace

TEST_CASE("NVRTC compiles generated kernels for the oldest GPUs and for Hopper", "[nvrtc]") {
  if (!is_nvrtc_here()) FLASHLAB_SKIP("there is no NVRTC here");
  std::set<std::string> left = {"flash2", "narrow_types"};
  for (const GenerateCase& one : generate_cases()) {
    if (left.erase(one.program) == 0) continue;  // one size of each
    const auto plan = generate::plan(*one.bound, {});
    REQUIRE(plan);
    const generate::GpuJob job = generate::job_of(*one.bound, *plan, one.program);
    for (const int capability : {kOldest, kHopper}) {
      const generate::CompiledJob compiled = generate::compiled_job(job, capability);
      const std::string& first = compiled.sources.front().architecture;
      INFO(job.name << " " << first);
      CHECK(first == "sm_" + std::to_string(capability));
      for (const generate::JobLaunch& launch : job.launches) {
        const std::string& image = compiled.sources.at(launch.source).image;
        CHECK(image.find(launch.kernel) != std::string::npos);
      }
      CHECK(compiled.sources.front().image.find("measure_draw_bf16") != std::string::npos);
    }
  }
  CHECK(left.empty());
}

TEST_CASE("NVRTC compiles products on tensor cores, also of those that multiply only fp16",
          "[nvrtc]") {
  if (!is_nvrtc_here()) FLASHLAB_SKIP("there is no NVRTC here");
  using toy::ElementType;
  for (const auto& [capability, factors] :
       {std::pair(kOldest, ElementType::kFp16), std::pair(kHopper, ElementType::kBf16)}) {
    generate::Target target;
    target.factors = factors;
    const toy::BoundProgram program = bundled("flash2");
    const auto plan = generate::plan(program, target);
    REQUIRE(plan);
    const generate::GpuJob job = generate::job_of(program, *plan, "flash2");
    CHECK(generate::compile(job.sources.front(), "flash2.cu", {capability}).architecture ==
          "sm_" + std::to_string(capability));
  }
}

TEST_CASE("NVRTC compiles products of warpgroups for compute capability 9.0 and no other",
          "[nvrtc]") {
  if (!is_nvrtc_here()) FLASHLAB_SKIP("there is no NVRTC here");
  toy::BoundProgram program =
      bundled("flash2", params({{"n", 512}, {"d", 128}, {"B", 128}, {"Bk", 128}}));
  generate::set_element_type(program, toy::ElementType::kBf16);
  const auto plan =
      generate::plan(program, {generate::kMostSharedBytes, toy::ElementType::kBf16, true});
  REQUIRE(plan);
  const generate::GpuJob job = generate::job_of(program, *plan, "flash2");
  CHECK(generate::compiled_job(job, kHopper).sources.front().architecture == "sm_90a");
  CHECK_THROWS_AS(generate::compiled_job(job, 89), generate::CompileError);
}

TEST_CASE("the launches of a program are compiled in processes, and an error in any is told",
          "[nvrtc]") {
  if (!is_nvrtc_here()) FLASHLAB_SKIP("there is no NVRTC here");
  toy::BoundProgram program = bundled("bwd_onepass");
  generate::set_element_type(program, toy::ElementType::kBf16);
  generate::Target target;
  target.factors = toy::ElementType::kBf16;
  const auto plan = generate::plan(program, target);
  REQUIRE(plan);
  generate::GpuJob job = generate::job_of(program, *plan, "bwd_onepass");
  REQUIRE(job.sources.size() == 3);
  const generate::CompiledJob compiled = generate::compiled_job(job, kHopper);
  REQUIRE(compiled.sources.size() == 3);
  for (const generate::JobLaunch& launch : job.launches) {
    const generate::CompiledSource& source = compiled.sources[launch.source];
    INFO(launch.kernel);
    CHECK(source.image.find(launch.kernel) != std::string::npos);
    CHECK(source.architecture == "sm_90");
  }
  job.sources[2] += "\nint f() { return nothing; }\n";
  CHECK_THROWS_WITH(generate::compiled_job(job, kHopper), contains("nothing"));
}

TEST_CASE("NVRTC's messages name the source and the line", "[nvrtc]") {
  if (!is_nvrtc_here()) FLASHLAB_SKIP("there is no NVRTC here");
  CHECK_THROWS_WITH(generate::compile("\nint f() { return nothing; }\n", "p.cu", {kHopper}),
                    contains("p.cu(2)") && contains("nothing"));
}

TEST_CASE("a GPU that is newer than NVRTC gets PTX, and one that is too old is refused",
          "[nvrtc]") {
  if (!is_nvrtc_here()) FLASHLAB_SKIP("there is no NVRTC here");
  const auto compiled = generate::compile("extern \"C\" __global__ void f() {}", "f.cu", {999});
  CHECK_THAT(compiled.architecture, contains("compute_"));
  CHECK_THAT(compiled.image, contains(".entry f"));
  CHECK_THROWS_AS(generate::compile("", "f.cu", {10}), generate::GpuUnavailable);
}

TEST_CASE("a job may ask for PTX of an older GPU than the one that runs it", "[nvrtc]") {
  if (!is_nvrtc_here()) FLASHLAB_SKIP("there is no NVRTC here");
  const toy::BoundProgram program = bundled("flash2");
  const auto plan = generate::plan(program, {});
  REQUIRE(plan);
  generate::GpuJob job = generate::job_of(program, *plan, "flash2");
  job.ptx_capability = kOldest;
  const generate::CompiledSource compiled = generate::compiled_job(job, kHopper).sources.front();
  CHECK(compiled.architecture == "compute_75");
  CHECK_THAT(compiled.image, contains(".target sm_75"));
}

}  // namespace flashlab::test
