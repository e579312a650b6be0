#include "exercises/bench/hostile_maker.hpp"

namespace flashlab::bench {
namespace {

std::string number(std::size_t value) { return std::to_string(value); }

std::string repeated(const std::string& text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

}  // namespace

std::string HostileMaker::head(const std::string& more) {
  return "; hostile " + number(num_made_++) + "\n.isa softmax\n.registers 4\n.param n = 4\n" +
         more + ".input x[n]\n.output out[n]\n";
}

std::string HostileMaker::crash(const std::string& how) {
  return head() + "; # test: " + how + "\nLOAD x[0], R0\n";
}

std::string HostileMaker::next() {
  const std::string body = "LOAD x[0], R0\n";
  switch (below(12)) {
    case 0: {  // loop bounds that take minutes to count: quotients of quotients
      std::string text = head();
      const std::size_t depth = 10 + below(7);
      for (std::size_t i = 0; i < depth; ++i) {
        text += "for i" + number(i) + " in 0.." +
                (i == 0 ? "n*" + number(1000 + below(1'000'000))
                        : "floordiv(i" + number(i - 1) + ", " + number(2 + below(5)) + ") + 1") +
                "\n";
      }
      return text + body + repeated("end\n", depth);
    }
    case 1: {  // nested min and max
      std::string text = head();
      const std::size_t depth = 5 + below(6);
      for (std::size_t i = 0; i < depth; ++i) {
        const std::string outer = "i" + number(i - 1);
        text += "for i" + number(i) + " in 0.." +
                (i == 0 ? "n"
                        : "min(max(" + outer + "*3 - n, floordiv(" + outer + " + " + number(i) +
                              ", 7)), ceildiv(n*" + outer + ", " + number(2 + below(9)) + "))") +
                "\n";
      }
      return text + body + repeated("end\n", depth);
    }
    case 2:  // too many steps
      return head() + "for i in 0.." + number(1'000'000 + below(1'000'000'000)) + "\n" + body +
             "end\n";
    case 3:  // many iterations without a step
      return head() + "for i in 0.." + number(1'000'000'000 + below(1'000'000)) +
             "\nfor j in 0..0\n" + body + "end\nend\n";
    case 4:  // too much memory
      return head(".temp zz[" + number(1'000'000 + below(1'000'000'000)) + "]\n") + body;
    case 5:  // too many registers
      return head(".reg Q[" + number(below(9)) + "-" + number(below(400)) + "], M\n") + body;
    case 6:  // a long line with a long name
      return head() + "LOAD " + std::string(1000 + below(30'000), 'x') + "[0], R0\n";
    case 7:  // an index that overflows
      return head() + "for i in 0..n\n  LOAD x[i*" + number(4'611'686'018'427'387'903) + " + " +
             number(below(1000)) + "], R0\nend\n";
    case 8: {  // formulas that double in size with each step
      std::string text = head() + "LOAD x[0], R0\nLOAD x[0], R1\n";
      for (std::size_t i = 0; i < 40 + below(200); ++i) text += "ADD R0, R1, R1\nMUL R1, R0, R0\n";
      return text + "STORE R0, out[0]\n";
    }
    case 9: {  // random bytes
      std::string text = head();
      for (std::size_t i = 0; i < 200 + below(5000); ++i) text += static_cast<char>(below(256));
      return text;
    }
    case 10:  // escape codes of terminals and HTML
      return head() + "\x1b[2J\x1b]0;owned\x07 <script>alert(" + number(below(100)) +
             ")</script> \xE2\x80\xAE =1+1\n";
    default:  // deep nesting
      return head() + repeated("for i in 0..1\n", 20 + below(5000)) + body;
  }
}

}  // namespace flashlab::bench
