// Which data sheet a device has: one table of names (gpu/sheets/device_names.json), which
// device_names_test.py asks the Python reader.
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>

#include "attention_cuda/roofline.hpp"
#include "gpu/sheets/device_name.hpp"
#include "gpu/sheets/gpu_specs.hpp"
#include "tests/catch_shim.hpp"
#include "tests/source_files.hpp"

namespace flashlab::test {
namespace {

std::optional<double> bytes_per_s(const std::string& device) {
  const auto rates = cuda::peak_rates(device, {DataType::kFloat32, cuda::Products::kNative});
  return rates ? std::optional(rates->bytes_per_s) : std::nullopt;
}

}  // namespace

TEST_CASE("each device of the table has its data sheet, or none") {
  const auto table =
      nlohmann::json::parse(read_source(kSourceRoot / "gpu/sheets/device_names.json"));
  REQUIRE(table.at("devices").size() > 20);
  for (const auto& row : table.at("devices")) {
    const std::string device = row.at("device");
    INFO(device);
    const auto found = gpu::find_gpu(device);
    REQUIRE(found.has_value() == row.at("key").is_string());
    if (found) CHECK(found->key == row.at("key").get<std::string>());
    // The kernels' host library has the same rule, and rates that CMake wrote from the same file.
    CHECK(bytes_per_s(device) == (found ? std::optional(found->dram_bytes_per_s) : std::nullopt));
  }
}

TEST_CASE("each data sheet is found by its key, its name, and a device of its name") {
  for (const gpu::GpuSpec& spec : gpu::gpu_specs()) {
    INFO(spec.name);
    CHECK(gpu::find_gpu(spec.key).value().key == spec.key);
    CHECK(gpu::find_gpu(spec.name).value().key == spec.key);
    CHECK(gpu::find_gpu("NVIDIA " + spec.name + " 1 GB").value().key == spec.key);
    CHECK(bytes_per_s("NVIDIA " + spec.name) == spec.dram_bytes_per_s);
    for (const std::string& word : spec.other_models) {
      INFO(word);
      CHECK_FALSE(gpu::find_gpu("NVIDIA " + spec.name + " " + word));
    }
  }
  CHECK(gpu::find_gpu("RTX-4000 ada").value().key == "rtx4000ada");
}

TEST_CASE("the rates of the kernels' host library are those of the sheets, for each type") {
  using cuda::Products;
  for (const gpu::GpuSpec& spec : gpu::gpu_specs()) {
    INFO(spec.name);
    const auto flops = [&](DataType dtype, Products products) {
      return cuda::peak_rates(spec.name, {dtype, products}).value().flops_per_s;
    };
    CHECK(flops(DataType::kBFloat16, Products::kNative) == spec.flops_per_s.at("bf16"));
    CHECK(flops(DataType::kFloat16, Products::kNative) == spec.flops_per_s.at("fp16"));
    CHECK(flops(DataType::kFloat32, Products::kNative) == spec.flops_per_s.at("float"));
    CHECK(flops(DataType::kFloat32, Products::kTensorFloat32) == spec.flops_per_s.at("float tf32"));
    CHECK(flops(DataType::kFloat32, Products::kFloat16x3) == spec.flops_per_s.at("fp16"));
  }
}

TEST_CASE("words of a name are runs of letters and digits in lower case") {
  using Names = std::set<std::string>;
  CHECK(gpu::words_of_name("NVIDIA A100-SXM4-80GB") == Names{"nvidia", "a100", "sxm4", "80gb"});
  CHECK(gpu::words_of_name(" _RTX_ 3090 ") == Names{"rtx", "3090"});
  CHECK(gpu::words_of_name("") == Names{});
  CHECK_FALSE(gpu::has_name_of_sheet("any", "", ""));
}

}  // namespace flashlab::test
