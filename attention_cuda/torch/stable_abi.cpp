#include "attention_cuda/torch/stable_abi.hpp"

#include <iterator>
#include <stdexcept>

#include "system/opened_library.hpp"

namespace flashlab::cuda::torch_abi {
namespace {

using system::OpenedLibrary;

Functions all = {};

// PyTorch 2.11 turns std::invalid_argument into ValueError, and 2.15 makes a RuntimeError of it, as of all exceptions
// that it does not know. Its own one, c10::ValueError, is not in the stable ABI. So it is made by its constructor
// where PyTorch has that, in more memory than it takes (some 140 bytes).

struct SourceLocation {  // c10::SourceLocation
  const char *function, *file;
  std::uint32_t line;
};

constexpr std::size_t kBytesOfError = 1024;

struct ValueErrors {
  void (*construct)(void*, SourceLocation, std::string);
  void* type;  // std::type_info
  void* (*allocate)(std::size_t);
  void (*raise)(void*, void*, void (*)(void*));
};
ValueErrors value_errors = {};

/// The destructor is the first function of the virtual table.
void destroy_error(void* error) { (*static_cast<void (***)(void*)>(error))[0](error); }

void throw_value_error(const char* text) {
  void* const error = value_errors.allocate(kBytesOfError);
  value_errors.construct(error, {"flashlab", "", 0}, text);
  value_errors.raise(error, value_errors.type, destroy_error);
}

bool find_value_errors(const OpenedLibrary& standard) {
  const auto c10 = OpenedLibrary::of_process("libc10.so");
  return c10.find(value_errors.construct,
                  "_ZN3c1010ValueErrorC1ENS_14SourceLocationENSt7__cxx1112basic_stringIcSt11char_"
                  "traitsIcESaIcEEE") &&
         c10.find(value_errors.type, "_ZTIN3c1010ValueErrorE") &&
         standard.find(value_errors.allocate, "__cxa_allocate_exception") &&
         standard.find(value_errors.raise, "__cxa_throw");
}

}  // namespace

const Functions& functions() { return all; }

std::optional<std::string> load() {
  const auto torch = OpenedLibrary::of_process("libtorch_cpu.so");
  if (!torch) return "no libtorch_cpu.so in this process: expected PyTorch 2.10 or later";
  const auto missing = [](const char* name) {
    return std::string("PyTorch has no ") + name + ": expected version 2.10 or later";
  };
#define FLASHLAB_LOOK_UP(member, name) \
  if (!torch.find(all.member, name)) return missing(name)
  FLASHLAB_LOOK_UP(init_impl, "aoti_torch_library_init_impl");
  FLASHLAB_LOOK_UP(implement, "torch_library_impl");
  FLASHLAB_LOOK_UP(list_size, "torch_list_size");
  FLASHLAB_LOOK_UP(list_item, "torch_list_get_item");
  FLASHLAB_LOOK_UP(delete_list, "torch_delete_list");
  FLASHLAB_LOOK_UP(data, "aoti_torch_get_data_ptr");
  FLASHLAB_LOOK_UP(rank, "aoti_torch_get_dim");
  FLASHLAB_LOOK_UP(sizes, "aoti_torch_get_sizes");
  FLASHLAB_LOOK_UP(strides, "aoti_torch_get_strides");
  FLASHLAB_LOOK_UP(dtype, "aoti_torch_get_dtype");
  FLASHLAB_LOOK_UP(device_type, "aoti_torch_get_device_type");
  FLASHLAB_LOOK_UP(device_index, "aoti_torch_get_device_index");
  FLASHLAB_LOOK_UP(empty_strided, "aoti_torch_empty_strided");
  FLASHLAB_LOOK_UP(delete_tensor, "aoti_torch_delete_tensor_object");
  FLASHLAB_LOOK_UP(create_guard, "aoti_torch_create_device_guard");
  FLASHLAB_LOOK_UP(delete_guard, "aoti_torch_delete_device_guard");
  FLASHLAB_LOOK_UP(current_device, "aoti_torch_get_current_device_index");
  FLASHLAB_LOOK_UP(float32, "aoti_torch_dtype_float32");
  FLASHLAB_LOOK_UP(bfloat16, "aoti_torch_dtype_bfloat16");
  FLASHLAB_LOOK_UP(float16, "aoti_torch_dtype_float16");
  FLASHLAB_LOOK_UP(uint8, "aoti_torch_dtype_uint8");
  FLASHLAB_LOOK_UP(int32, "aoti_torch_dtype_int32");
  FLASHLAB_LOOK_UP(int64, "aoti_torch_dtype_int64");
  FLASHLAB_LOOK_UP(cpu, "aoti_torch_device_type_cpu");
  FLASHLAB_LOOK_UP(cuda, "aoti_torch_device_type_cuda");
#undef FLASHLAB_LOOK_UP
  if (const auto of_cuda = OpenedLibrary::of_process("libtorch_cuda.so")) {
    of_cuda.find(all.current_stream, "aoti_torch_get_current_cuda_stream");
  }
  const auto standard = OpenedLibrary::of_process("libstdc++.so.6");
  if (!standard || !standard.find(all.throw_value_error, "_ZSt24__throw_invalid_argumentPKc") ||
      !standard.find(all.throw_runtime_error, "_ZSt21__throw_runtime_errorPKc")) {
    return "no libstdc++.so.6 with its exceptions in this process: expected PyTorch's";
  }
  if (find_value_errors(standard)) all.throw_value_error = throw_value_error;
  return std::nullopt;
}

void check(Error error, const char* what) {
  if (error != 0) throw std::runtime_error(std::string("PyTorch failed: ") + what);
}

std::string dtype_text(const Tensor& tensor) {
  // The values of PyTorch's ScalarType, which never change.
  constexpr const char* kNames[] = {"uint8",     "int8",      "int16",      "int32",
                                    "int64",     "float16",   "float32",    "float64",
                                    "complex32", "complex64", "complex128", "bool"};
  const std::int32_t dtype = tensor.dtype();
  if (dtype == all.bfloat16()) return "torch.bfloat16";
  if (dtype >= 0 && dtype < std::ssize(kNames)) return std::string("torch.") + kNames[dtype];
  return "type " + std::to_string(dtype);
}

std::string device_text(const Tensor& tensor) {
  const std::int32_t type = tensor.device_type();
  if (type == all.cpu()) return "cpu";
  const std::string kind = type == all.cuda() ? "cuda" : "device of kind " + std::to_string(type);
  return kind + ":" + std::to_string(tensor.device_index());
}

std::string shape_text(const Tensor& tensor) {
  std::string text = "[";
  for (std::int64_t axis = 0; axis < tensor.rank(); ++axis) {
    text += (axis > 0 ? ", " : "") + std::to_string(tensor.sizes()[axis]);
  }
  return text + "]";
}

DeviceGuard::DeviceGuard(const Tensor& tensor) {
  if (tensor.device_type() == all.cpu()) return;
  std::int32_t current = 0;
  check(all.current_device(&current), "the current device");
  if (current != tensor.device_index()) {
    check(all.create_guard(tensor.device_index(), &guard_), "a change of the device");
  }
}

DeviceGuard::~DeviceGuard() {
  if (guard_ != nullptr) all.delete_guard(guard_);
}

}  // namespace flashlab::cuda::torch_abi
