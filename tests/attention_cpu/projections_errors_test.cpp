// What is wrong with a projection's arguments is said in words.
#include <functional>
#include <string>
#include <vector>

#include "attention_cpu/projections.hpp"
#include "tests/attention_cpu/projected_layer.hpp"
#include "tests/catch_shim.hpp"

using namespace flashlab;
using namespace flashlab::test;

namespace {

/// The error of a backward call after one change to good arguments.
std::string error_after(const std::function<void(ProjectionBackwardTensors&)>& change) {
  Layer<float> layer({2, 4, 2, 6, 3, 5});
  ProjectionBackwardTensors tensors = layer.backward();
  change(tensors);
  try {
    cpu::project_backward_streamed(tensors);
  } catch (const ProblemError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("wrong shapes of the projections' tensors are named with what was expected") {
  using Tensors = ProjectionBackwardTensors;
  CHECK(error_after([](Tensors&) {}) == "no error");
  CHECK(error_after([](Tensors& t) {
          t.X.shape = {2, 6};
        }) == "X: shape [2, 6]: expected 3 axes, [batch, seqlen, d_model]");
  CHECK(error_after([](Tensors& t) { t.X.shape[1] = 7; }) ==
        "X: shape [2, 7, 5]: expected [2, 6, 5], [batch, seqlen, d_model]");
  CHECK(error_after([](Tensors& t) { t.X.shape[2] = 0; }) == "X: d_model 0: expected at least 1");
  CHECK(error_after([](Tensors& t) { t.W_Q.shape[1] = 6; }) ==
        "W_Q: shape [5, 6]: expected [5, 12], [d_model, num_heads head_dim]");
  CHECK(error_after([](Tensors& t) { t.W_V.shape[0] = 4; }) ==
        "W_V: shape [4, 6]: expected [5, 6], [d_model, num_kv_heads head_dim]");
  CHECK(error_after([](Tensors& t) { t.dW_K.shape.pop_back(); }) ==
        "dW_K: shape [5]: expected 2 axes, [d_model, num_kv_heads head_dim]");
  CHECK(error_after([](Tensors& t) { t.K.shape[2] = 5; }) ==
        "K: seqlen 5: expected Q's 6: both are made from X");
}

TEST_CASE("wrong types and memory of the projections' tensors are named") {
  using Tensors = ProjectionBackwardTensors;
  CHECK(error_after([](Tensors& t) { t.dX.data = nullptr; }) ==
        "dX: null: expected memory for its elements");
  CHECK(error_after([](Tensors& t) { t.W_K.dtype = DataType::kFloat64; }) ==
        "W_K: double: expected float, as Q");
  CHECK(error_after([](Tensors& t) { t.dX.data = t.X.data; }) ==
        "dX: memory that X lies in too: expected an output that shares memory with no other "
        "tensor");
  CHECK(error_after([](Tensors& t) { t.dW_V.data = t.dW_K.data; }) ==
        "dW_V: memory that dW_K lies in too: expected an output that shares memory with no other "
        "tensor");
  CHECK(error_after([](Tensors& t) {
          for (TensorView* tensor : {&t.Q, &t.K, &t.V, &t.O, &t.dO, &t.X, &t.W_Q}) {
            tensor->dtype = DataType::kBFloat16;
          }
        }) == "Q: bf16: expected float or double");
}

TEST_CASE("a forward projection writes to no input") {
  Layer<float> layer({2, 4, 2, 6, 3, 5});
  ProjectionTensors tensors = layer.projection();
  tensors.V.data = tensors.W_V.data;
  CHECK_THROWS_AS(cpu::project(tensors), ProblemError);
}

TEST_CASE("two steps want a backward variant") {
  Layer<float> layer({1, 1, 1, 6, 3, 5});
  CHECK_THROWS_AS(cpu::project_backward("online", layer.backward()), ProblemError);
}
