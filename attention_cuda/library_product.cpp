// Products by cuBLAS. Its matrices are column-major, so it computes C^T = B^T A^T. The first
// product opens the library, so that everything else works without it.
#include "attention_cuda/detail/library_product.hpp"

#include <cublas_v2.h>

#include <map>
#include <mutex>
#include <source_location>
#include <string>

#include "attention_cuda/device/launch.cuh"
#include "system/opened_library.hpp"

namespace flashlab::cuda {
namespace {

/// The cuBLAS functions that are used.
struct Cublas {
  decltype(&cublasCreate_v2) create;
  decltype(&cublasSetStream_v2) set_stream;
  decltype(&cublasSetWorkspace_v2) set_workspace;
  decltype(&cublasGemmStridedBatchedEx_64) gemm_strided_batched;
  decltype(&cublasGetStatusString) status_string;
};

/// Searches the dynamic linker's folders, then CUDA Toolkits.
system::OpenedLibrary open_cublas() {
  const std::string name = "libcublas.so." + std::to_string(CUBLAS_VER_MAJOR);
  const system::OpenedLibrary library(
      {name, FLASHLAB_CUDA_LIBRARY_FOLDER "/" + name, "/usr/local/cuda/lib64/" + name});
  if (library) return library;
  throw CudaError("dlopen", name + " was not found; it comes with the CUDA Toolkit");
}

Cublas load_cublas() {
  const system::OpenedLibrary library = open_cublas();
  const auto function = [&](auto& pointer, const char* name) {
    if (!library.find(pointer, name)) {
      throw CudaError("dlsym", std::string("cuBLAS has no ") + name);
    }
  };
  Cublas result = {};
  function(result.create, "cublasCreate_v2");
  function(result.set_stream, "cublasSetStream_v2");
  function(result.set_workspace, "cublasSetWorkspace_v2");
  function(result.gemm_strided_batched, "cublasGemmStridedBatchedEx_64");
  function(result.status_string, "cublasGetStatusString");
  return result;
}

const Cublas& cublas() {
  static const Cublas library = load_cublas();
  return library;
}

void check_cublas(cublasStatus_t status, std::string_view call,
                  std::source_location where = std::source_location::current()) {
  if (status != CUBLAS_STATUS_SUCCESS) throw CudaError(call, cublas().status_string(status), where);
}

/// One handle per device, created at first use and kept. It cannot be destroyed safely at the end
/// of the process, because CUDA may have ended before.
struct Handles {
  std::mutex mutex;  // locked while a handle is set up and used
  std::map<int, cublasHandle_t> by_device;
};

Handles& handles() {
  static auto* const handles = new Handles;
  return *handles;
}

cublasHandle_t handle_of_current_device(Handles& handles) {
  int device = 0;
  check_cuda(cudaGetDevice(&device), "cudaGetDevice");
  const auto found = handles.by_device.find(device);
  if (found != handles.by_device.end()) return found->second;
  cublasHandle_t handle = nullptr;
  check_cublas(cublas().create(&handle), "cublasCreate");
  handles.by_device.emplace(device, handle);
  return handle;
}

cudaDataType_t library_type(DataType dtype) {
  switch (dtype) {
    case DataType::kBFloat16:
      return CUDA_R_16BF;
    case DataType::kFloat16:
      return CUDA_R_16F;
    case DataType::kFloat32:
    case DataType::kFloat64:  // rejected before a kernel is chosen
      break;
  }
  return CUDA_R_32F;
}

}  // namespace

void library_product(const Call& call, std::string_view name, const Arithmetic& arithmetic,
                     const ProductShape& shape, const ProductOperand& A, const ProductOperand& B,
                     const ProductResult& C, std::byte* scratch) {
  if (shape.rows == 0 || shape.columns == 0 || shape.batch == 0) return;
  Handles& shared = handles();
  const std::lock_guard lock(shared.mutex);
  cublasHandle_t const handle = handle_of_current_device(shared);
  check_cublas(cublas().set_stream(handle, call.options.stream), "cublasSetStream");
  check_cublas(cublas().set_workspace(handle, scratch, kLibraryScratchBytes), "cublasSetWorkspace");
  const cudaDataType_t type = library_type(arithmetic.dtype);
  const auto operation = [](const ProductOperand& operand) {
    return operand.is_transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  };
  const Step step(call, name);
  check_cublas(
      cublas().gemm_strided_batched(
          handle, operation(B), operation(A), shape.columns, shape.rows, shape.depth, &shape.alpha,
          B.data, type, B.row_stride, B.batch_stride, A.data, type, A.row_stride, A.batch_stride,
          &shape.beta, C.data, library_type(C.dtype), C.row_stride, C.batch_stride, shape.batch,
          arithmetic.products == Products::kTensorFloat32 ? CUBLAS_COMPUTE_32F_FAST_TF32
                                                          : CUBLAS_COMPUTE_32F,
          CUBLAS_GEMM_DEFAULT),
      "cublasGemmStridedBatchedEx(" + std::string(name) + ")");
}

}  // namespace flashlab::cuda
