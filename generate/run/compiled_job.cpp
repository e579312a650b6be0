#include "generate/run/compiled_job.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>

#include "generate/run/driver.hpp"
#include "generate/run/working_process.hpp"

namespace flashlab::generate {
namespace {

constexpr std::size_t kMostImageBytes = std::size_t{64}
                                        << 20;  // reserved; only what is used is taken
constexpr double kMostSeconds =
    86400;  // the caller's limit is shorter, and ends these processes, too

/// A source that is being compiled. Its image comes back in shared memory.
class CompilingProcess {
 public:
  CompilingProcess(const std::string& source, const std::string& name, const CompileTarget& target)
      : image_(kMostImageBytes), process_([&] {
          const CompiledSource compiled = compile(source, name, target);
          if (compiled.image.size() > image_.bytes().size()) {
            throw GpuError("the compiled code of " + name + " has " +
                           std::to_string(compiled.image.size()) + " bytes");
          }
          std::memcpy(image_.bytes().data(), compiled.image.data(), compiled.image.size());
          return nlohmann::json{{"bytes", compiled.image.size()},
                                {"architecture", compiled.architecture},
                                {"version", compiled.version},
                                {"seconds", compiled.seconds}};
        }) {}

  CompiledSource result() {
    const nlohmann::json answer = process_.answer_within(kMostSeconds);
    CompiledSource compiled;
    const std::size_t bytes = answer.at("bytes");
    compiled.image.assign(reinterpret_cast<const char*>(image_.bytes().data()), bytes);
    compiled.architecture = answer.at("architecture");
    compiled.version = answer.at("version");
    compiled.seconds = answer.at("seconds");
    return compiled;
  }

 private:
  SharedBytes image_;
  WorkingProcess process_;
};

CompileTarget target_of(const GpuJob& job, int compute_capability) {
  if (job.ptx_capability != 0) return {job.ptx_capability, CodeKind::kPtx};
  return {compute_capability, job.has_warpgroups ? CodeKind::kOfThisAlone : CodeKind::kMachineCode};
}

}  // namespace

CompiledJob compiled_job(const GpuJob& job, int compute_capability) {
  const auto start = std::chrono::steady_clock::now();
  const std::string name = job.name + ".cu";
  const CompileTarget target = target_of(job, compute_capability);
  std::vector<std::unique_ptr<CompilingProcess>> others;
  for (std::size_t i = 1; i < job.sources.size(); ++i) {
    others.push_back(std::make_unique<CompilingProcess>(job.sources[i], name, target));
  }
  CompiledJob result;
  result.sources.push_back(compile(job.sources.at(0), name, target));
  for (const auto& other : others) result.sources.push_back(other->result());
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace flashlab::generate
