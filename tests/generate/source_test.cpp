// The text of generated sources.
#include <cstdlib>
#include <fstream>
#include <string>

#include "generate/plan/element_types.hpp"
#include "generate/source/cuda_source.hpp"
#include "tests/catch_shim.hpp"
#include "tests/toymachine/assembled.hpp"
#include "tests/toymachine/bundled_program.hpp"

namespace flashlab::generate {
namespace {

using test::bound;
using test::bundled;
using test::contains;
using test::params;

std::string kernels_of(const toy::BoundProgram& program) {
  const auto planned = plan(program, {});
  INFO(toy::format(planned.diagnostics, *program.program->source));
  REQUIRE(planned);
  return cuda_kernels(program, *planned, "p");
}
bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("each instruction becomes one call below the line that it came from", "[source]") {
  const std::string text = kernels_of(bundled("flash2"));
  CHECK_THAT(text, contains("      // 37: MAC Q[c], K^T, S, S\n"
                            "      set(S, product(Q[c], transposed(K)) + S);\n"));
  CHECK_THAT(text, contains("  // 24: for i in 0..tiles(q)\n"
                            "  const Index i = static_cast<Index>(blockIdx.x);\n"));
  CHECK_THAT(text, contains("  // 64: STORE L, lse[i][0]\n  store(lse.tile(i, 0), L);\n"));
}

TEST_CASE("every instruction of every program has its line in the source", "[source]") {
  for (const auto& entry :
       test::fs::directory_iterator(test::kSourceRoot / "toymachine/programs")) {
    if (test::has_machines(entry.path())) continue;
    const toy::BoundProgram program = bundled(entry.path().stem().string());
    const std::string text = kernels_of(program);
    for (const toy::BoundInstruction& instruction : program.instructions) {
      INFO(entry.path() << ":" << instruction.span.line);
      CHECK(has(text, "// " + std::to_string(instruction.span.line) + ": "));
    }
  }
}

TEST_CASE("tiles that cannot be fragments are multiplied from shared memory at level 1",
          "[source]") {
  // Row maxima of a loaded tile: no fragment.
  toy::BoundProgram program = bound(
      ".isa attention\n.input a(8, 8) tile (8, 8)\n.output c(8, 8) tile (8, 8)\n"
      ".output m(8, 1) tile (8, 1)\n"
      "LOAD a[0][0], R0\nROWMAX R0, R1\nSTORE R1, m[0][0]\nMAC_Z R0, R0^T, R2\n"
      "STORE R2, c[0][0]\n");
  set_element_type(program, toy::ElementType::kFp16);
  Target target;
  target.factors = toy::ElementType::kFp16;
  const auto planned = plan(program, target);
  REQUIRE(planned);
  const std::string text = cuda_source(program, *planned, "p");
  CHECK_THAT(text, contains("set(R2, tensor_product<Fp16>(R0, transposed(R0)));"));
  CHECK_THAT(text, contains("mma.sync.aligned.m16n8k16"));
  CHECK_FALSE(has(cuda_source(program, *plan(program, {}), "p"), "mma.sync"));
  REQUIRE(planned->launches[0].no_fragments);
  CHECK(planned->launches[0].no_fragments->span.line == 6);
}

TEST_CASE("a loop that selects registers is unrolled unless it would be too long", "[source]") {
  const auto pragmas = [](int n, int m) {
    const std::string text = kernels_of(
        bound(".isa attention\n.param n = " + std::to_string(n) + ", m = " + std::to_string(m) +
              "\n.input x(n, m)\n.output y(n, m)\n.reg A[n]\nfor i in 0..n\nfor j in 0..m\n"
              "LOAD x[i][j], A[i]\nSTORE A[i], y[i][j]\nend\nend\nfor i in 0..n\nFILL 0, A[i]\n"
              "STORE A[i], y[i][0]\nend\n"));
    return std::pair(has(text, "#pragma unroll\n"), has(text, "#pragma unroll 1\n"));
  };
  CHECK(pragmas(2, 4) == std::pair(true, false));  // 16 statements
  CHECK(pragmas(2, 5) == std::pair(true, true));   // 20 of the first loop, 4 of the second
  CHECK(pragmas(40, 1) == std::pair(false, true));
}

TEST_CASE("a result that a product still reads goes by way of scratch", "[source]") {
  const std::string text =
      kernels_of(bound(".isa attention\n.input x(4, 4) tile (2, 2)\n.output y(4, 4) tile (2, 2)\n"
                       "for i in 0..2\nLOAD x[i][i], R0\nMAC_Z R0, R0^T, R0\nADD R0, R0, R0\n"
                       "STORE R0, y[i][i]\nend\n"));
  CHECK_THAT(text, contains("set_by_way_of(scratch, R0, product(R0, transposed(R0)));"));
  CHECK_THAT(text, contains("set(R0, R0 + R0);"));
}

TEST_CASE("every operation is a function of the device code, or a sign of it", "[source]") {
  const std::string code = device_functions(1);
  for (const toy::OperationSpec& spec : toy::kOperations) {
    INFO(spec.function);
    const std::string name(spec.function);
    const bool sign = toy::is_sign(spec.operation);
    CHECK(has(code, sign ? " operator" + name + "(" : " " + name + "(const A& a"));
    if (spec.shape == toy::ShapeRule::kColumn) CHECK(has(code, " set_" + name + "("));
  }
}

TEST_CASE("an instruction by name is a call of its operation, and its name is taken", "[source]") {
  const std::string text =
      kernels_of(bound(".isa attention, MIN, TANH\n.input x[4]\n.output o[4]\n.reg minimum, T\n"
                       "for i in 0..4\nLOAD x[i], minimum\nTANH minimum, T\n"
                       "MIN T, minimum, T\nSTORE T, o[i]\nend\n"));
  CHECK_THAT(text, contains("set(T, hyperbolic_tangent(minimum_));"));
  CHECK_THAT(text, contains("set(T, minimum(T, minimum_));"));
}

TEST_CASE("names that mean something in CUDA C++ get an underscore", "[source]") {
  const std::string text =
      kernels_of(bound(".isa attention\n.input int[4]\n.output set[4]\n.reg double, Tile, memory\n"
                       "for threadIdx in 0..4\nLOAD int[threadIdx], double\nMOV double, Tile\n"
                       "ADD Tile, double, memory\nSTORE memory, set[threadIdx]\nend\n"));
  CHECK_THAT(text, contains("set(double_, int_.tile(0, threadIdx_));"));
  CHECK_THAT(text, contains("set(Tile_, double_);"));
  CHECK_THAT(text, contains("store(set_.tile(0, threadIdx_), memory_);"));
}

TEST_CASE("a line of the program cannot end its comment", "[source]") {
  const std::string text = kernels_of(bound(
      ".isa attention\n.input x[4]\n.output y[4]\nLOAD x[0], R0 ; \\\nSTORE R0, y[0] ; a\x01\\\n"
      ".pass Two \\\nLOAD x[1], R0\n"));
  CHECK_FALSE(has(text, "\\"));
  CHECK_FALSE(has(text, "\x01"));
  CHECK_THAT(text, contains("// Two /\n"));
}

TEST_CASE("the name of a kernel is an identifier, whatever the program's file is called",
          "[source]") {
  CHECK(kernel_name("flash2", 0) == "flash2_1");
  CHECK(kernel_name("28_flash2", 1) == "toy_28_flash2_2");
  CHECK(kernel_name("a b\";}--c.toy", 0) == "a_b_c_toy_1");
  CHECK(kernel_name("", 0) == "toy_1");
}

TEST_CASE("generated sources compile for compute capability 7.5, without fused sums", "[source]") {
  if (std::system("nvcc --version > /dev/null 2>&1") != 0) FLASHLAB_SKIP("nvcc is not on the PATH");
  const toy::BoundProgram program = bundled("stream_dx_resident");
  const auto planned = plan(program, {});
  REQUIRE(planned);
  const test::fs::path folder = test::fs::temp_directory_path() / "flashlab_generated_source";
  test::fs::create_directories(folder);
  const std::string source = (folder / "p.cu").string(), ptx = (folder / "p.ptx").string();
  std::ofstream(source) << cuda_source(program, *planned, "p");
  const std::string command =
      "nvcc -std=c++17 -arch=compute_75 -Werror all-warnings -ptx -o " + ptx + " " + source;
  REQUIRE(std::system(command.c_str()) == 0);
  const std::string code = test::read_source(ptx);
  CHECK(has(code, ".entry p_1"));
  CHECK(has(code, "mul.rn.f32"));
  CHECK_FALSE(has(code, "fma.rn.f32"));
  test::fs::remove_all(folder);
}

}  // namespace
}  // namespace flashlab::generate
