#include "results/machine_model.hpp"

#include <ctime>
#include <stdexcept>

namespace flashlab::compare {
namespace {

/// Returns nothing if the data sheet has no value.
std::optional<Rate> sheet(double per_s) {
  return per_s > 0 ? std::optional(Rate{per_s, false}) : std::nullopt;
}

void put(std::optional<Rate>& rate, const std::optional<double>& measured_per_s) {
  if (measured_per_s) rate = Rate{*measured_per_s, true};
}

MachineModel from_sheet(const gpu::GpuSpec& gpu) {
  const double clocks_per_s = static_cast<double>(gpu.num_sms) * gpu.boost_clock_hz;
  MachineModel model;
  model.gpu = gpu;
  model.dram_copy = model.dram_read = sheet(gpu.dram_bytes_per_s);
  model.shared = sheet(gpu.shared_bytes_per_clock_per_sm * clocks_per_s);
  model.elementwise = sheet(gpu.additions_per_clock_per_sm * clocks_per_s);
  model.exps = sheet(gpu.exps_per_clock_per_sm * clocks_per_s);
  for (const auto& [type, per_s] : gpu.flops_per_s) model.products[type] = {per_s, false};
  return model;
}

}  // namespace

Rate MachineModel::product_rate(std::string_view dtype, std::string_view product_kind,
                                std::string_view instruction) const {
  const bool is_split = product_kind.ends_with("x3");  // one product as three products
  std::string type(dtype);
  if (product_kind.starts_with("tf32")) type += " tf32";
  if (product_kind == "fp16x3") type = dtype == "float" ? "fp16" : type + " fp16x3";
  const auto of_whole_products = [&](Rate rate) {
    return Rate{is_split ? rate.per_s / 3 : rate.per_s, rate.is_measured};
  };
  if (!instruction.empty()) {
    const auto measured = products.find(type + " " + std::string(instruction));
    if (measured != products.end()) return of_whole_products(measured->second);
    const auto sheet_rate = gpu.flops_per_s.find(type);
    if (sheet_rate != gpu.flops_per_s.end()) return of_whole_products({sheet_rate->second, false});
  }
  const auto found = products.find(type);
  if (found == products.end()) {
    throw std::invalid_argument(gpu.name + " has no rate of " + type + " products");
  }
  return of_whole_products(found->second);
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc)};
}

MachineModel machine_model(const gpu::GpuSpec& gpu, const std::optional<Calibration>& calibration) {
  MachineModel model = from_sheet(gpu);
  if (!calibration) return model;
  put(model.dram_copy, calibration->dram_copy_bytes_per_s);
  put(model.dram_read, calibration->dram_read_bytes_per_s);
  put(model.sm, calibration->sm_bytes_per_s);
  put(model.shared, calibration->shared_bytes_per_s);
  put(model.additions, calibration->additions_bytes_per_s);
  put(model.bulk_additions, calibration->bulk_additions_bytes_per_s);
  put(model.elementwise, calibration->elementwise_per_s);
  put(model.exps, calibration->exps_per_s);
  put(model.divisions, calibration->divisions_per_s);
  for (const auto& [type, per_s] : calibration->flops_per_s) model.products[type] = {per_s, true};
  model.launch_s = calibration->launch_s;
  if (calibration->l2_bytes) model.gpu.l2_bytes = calibration->l2_bytes;
  return model;
}

}  // namespace flashlab::compare
