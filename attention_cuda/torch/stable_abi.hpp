// PyTorch's stable ABI (torch/csrc/inductor/aoti_torch/c/shim.h, torch/csrc/stable/c/shim.h): C functions
// that a library which was built once may call in each version from 2.10 on. They are looked up in the
// PyTorch that the process has loaded, so that this library needs none to be built or loaded.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "attention_cuda/flashlab.h"

namespace flashlab::cuda::torch_abi {

using Error = std::int32_t;  // 0: success
using StableValue = std::uint64_t;
using TensorHandle = struct AtenTensorOpaque*;
using ListHandle = struct StableListOpaque*;
using LibraryHandle = struct TorchLibraryOpaque*;
using GuardHandle = struct DeviceGuardOpaque*;
/// Takes the arguments from the stack, and puts the results there.
using BoxedFunction = void (*)(StableValue* stack, std::uint64_t num_arguments,
                               std::uint64_t num_results);

struct Functions {
  Error (*init_impl)(const char*, const char*, const char*, std::uint32_t, LibraryHandle*);
  Error (*implement)(LibraryHandle, const char*, BoxedFunction, std::uint64_t);
  Error (*list_size)(ListHandle, std::size_t*);
  Error (*list_item)(ListHandle, std::size_t, StableValue*);
  Error (*delete_list)(ListHandle);
  Error (*data)(TensorHandle, void**);
  Error (*rank)(TensorHandle, std::int64_t*);
  Error (*sizes)(TensorHandle, std::int64_t**);
  Error (*strides)(TensorHandle, std::int64_t**);
  Error (*dtype)(TensorHandle, std::int32_t*);
  Error (*device_type)(TensorHandle, std::int32_t*);
  Error (*device_index)(TensorHandle, std::int32_t*);
  Error (*empty_strided)(std::int64_t, const std::int64_t*, const std::int64_t*, std::int32_t,
                         std::int32_t, std::int32_t, TensorHandle*);
  Error (*delete_tensor)(TensorHandle);
  Error (*create_guard)(std::int32_t, GuardHandle*);
  Error (*delete_guard)(GuardHandle);
  Error (*current_device)(std::int32_t*);
  std::int32_t (*float32)();
  std::int32_t (*bfloat16)();
  std::int32_t (*float16)();
  std::int32_t (*uint8)();
  std::int32_t (*int32)();
  std::int32_t (*int64)();
  std::int32_t (*cpu)();
  std::int32_t (*cuda)();
  Error (*current_stream)(std::int32_t, void**);  // null if PyTorch has no CUDA
  // Throw what becomes ValueError and RuntimeError in Python. An exception that PyTorch catches must be thrown
  // by the C++ library that it uses.
  void (*throw_value_error)(const char*);
  void (*throw_runtime_error)(const char*);
};

/// The functions, once load() has succeeded.
const Functions& functions();

/// Looks the functions up. Returns what is missing, or nothing.
std::optional<std::string> load();

/// Throws std::runtime_error if a function failed. It has printed why.
void check(Error error, const char* what);

/// A tensor of this call: an argument or a result.
class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(TensorHandle handle) : handle_(handle) {}
  Tensor(Tensor&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Tensor& operator=(Tensor&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Tensor() {
    if (handle_ != nullptr) functions().delete_tensor(handle_);
  }

  bool is_given() const { return handle_ != nullptr; }
  StableValue release() { return std::bit_cast<StableValue>(std::exchange(handle_, nullptr)); }
  void* data() const { return get<void*>(functions().data); }
  std::int64_t rank() const { return get<std::int64_t>(functions().rank); }
  const std::int64_t* sizes() const { return get<std::int64_t*>(functions().sizes); }
  const std::int64_t* strides() const { return get<std::int64_t*>(functions().strides); }
  std::int32_t dtype() const { return get<std::int32_t>(functions().dtype); }
  std::int32_t device_type() const { return get<std::int32_t>(functions().device_type); }
  std::int32_t device_index() const { return get<std::int32_t>(functions().device_index); }

 private:
  template <class Value>
  Value get(Error (*function)(TensorHandle, Value*)) const {
    Value value{};
    check(function(handle_, &value), "a tensor's properties");
    return value;
  }
  TensorHandle handle_ = nullptr;
};

/// "torch.float64", "cuda:1", "[2, 3]": as Python prints them.
std::string dtype_text(const Tensor& tensor);
std::string device_text(const Tensor& tensor);
std::string shape_text(const Tensor& tensor);

/// The current device while it exists.
class DeviceGuard {
 public:
  explicit DeviceGuard(const Tensor& tensor);
  ~DeviceGuard();
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

 private:
  GuardHandle guard_ = nullptr;  // null: it was the current one
};

}  // namespace flashlab::cuda::torch_abi
