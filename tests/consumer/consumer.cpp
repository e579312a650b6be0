// c00 of a 2x2 matrix product, assembled, run and counted, and attention on the CPU, through the
// installed libraries.
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attention_cpu/attention.hpp"
#include "toymachine/bind/bound_program.hpp"
#include "toymachine/count/counters.hpp"
#include "toymachine/execute/dram.hpp"
#include "toymachine/language/assembler.hpp"
#include "toymachine/run/interpreter.hpp"

using namespace flashlab::toy;

constexpr const char* kProgram = R"(
.isa matmul
.registers 3
.input a[2][2]
.input b[2][2]
.output c[2][2]
LOAD a[0][0], R0
LOAD b[0][0], R1
MAC_Z R0, R1, R2
LOAD a[0][1], R0
LOAD b[1][0], R1
MAC R0, R1, R2, R2
STORE R2, c[0][0]
)";

/// The value, or the end of this program with the reasons on stderr.
template <class Value>
Value need(Result<Value> result, const SourceText& source) {
  if (!result) {
    std::cerr << format(result.diagnostics, source);
    std::exit(1);
  }
  return std::move(*result);
}

/// Two queries, three keys; the first query is 0 and so weighs all keys alike.
void attend() {
  const std::vector<float> Q = {0, 0, 1, 2}, K = {1, 0, 0, 1, 1, 1}, V = {1, 2, 3, 4, 5, 9};
  std::vector<float> O(4), lse(2);
  using flashlab::view;  // batch, heads, seqlen, head_dim
  flashlab::cpu::attention_forward(
      "flash2",
      {view(Q.data(), {1, 1, 2, 2}), view(K.data(), {1, 1, 3, 2}), view(V.data(), {1, 1, 3, 2}),
       view(O.data(), {1, 1, 2, 2}), view(lse.data(), {1, 1, 2})});
  std::cout << "o0 = (" << O[0] << ", " << O[1] << ")\n";
}

int main() {
  const auto source = std::make_shared<const SourceText>("c00.toy", kProgram);
  const auto program = std::make_shared<const Program>(need(assemble(source), *source));
  const BoundProgram bound = need(bind(program, {}), *source);

  const std::map<std::string, InputSource> inputs = {{"a", ListInput{{2, 2}, {1, 2, 3, 4}}},
                                                     {"b", ListInput{{2, 2}, {5, 6, 7, 8}}}};
  std::vector<double> dram = need(initial_dram(bound, inputs), *source);
  const Execution execution = need(run(bound, std::span<double>(dram)), *source);
  const Counters counters = count(bound, execution.executions, CostTable());

  const auto c = static_cast<std::size_t>(bound.arrays[2].offset);
  std::cout << "c00 = " << dram[c] << "; loads " << counters.loads.get_str() << ", stores "
            << counters.stores.get_str() << ", cycles " << counters.cycles.get_str() << "\n";
  attend();
}
