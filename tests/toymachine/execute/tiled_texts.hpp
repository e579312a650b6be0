// Programs on tiles, of any size.
#pragma once

#include <string>

namespace flashlab::test {

inline const std::string kMatmul =
    ".isa attention\n.param m, k, n, B, Bk = B\n"
    ".input a(m, k) tile (B, Bk)\n.input b(k, n) tile (Bk, B)\n.output c(m, n) tile (B, B)\n"
    "for i in 0..tiles(a)\nfor j in 0..tiles(b, 1)\nFILL 0, R2\nfor l in 0..tiles(a, 1)\n"
    "LOAD a[i][l], R0\nLOAD b[l][j], R1\nMAC R0, R1, R2, R2\nend\nSTORE R2, c[i][j]\nend\nend\n";

inline const std::string kRowSoftmax =
    ".isa attention\n.param m = 7, k = 5, n, B, Bk = 2\n.input x(m, n) tile (B, Bk)\n"
    ".output y(m, n) tile (B, Bk)\n.reg X[tiles(x, 1)], M, L, A\n"
    "for i in 0..tiles(x)\nFILL -inf, M\nFILL 0, L\nfor j in 0..tiles(x, 1)\nLOAD x[i][j], X[j]\n"
    "ROWMAX X[j], A\nMAX M, A, M\nend\nfor j in 0..tiles(x, 1)\nSUB X[j], M, X[j]\n"
    "EXP X[j], X[j]\nROWSUM X[j], A\nADD L, A, L\nend\nfor j in 0..tiles(x, 1)\n"
    "DIV X[j], L, X[j]\nSTORE X[j], y[i][j]\nend\nend\n";

/// flash2, keys up to `last_tile` for query tile i.
inline std::string flash2(const std::string& last_tile) {
  const bool causal = last_tile != "tiles(k)";
  return ".isa attention\n.param n, d, nk, B, Bd = d, Bk = B\n.reg Q[tiles(q, 1)], "
         "O[tiles(q, 1)], M, L, S, K, A, X\n.input q(n, d) tile (B, Bd)\n"
         ".input k(nk, d) tile (Bk, Bd)\n.input v(nk, d) tile (Bk, Bd)\n"
         ".output o(n, d) tile (B, Bd)\n.output lse(n, 1) tile (B, 1)\n"
         "for i in 0..tiles(q)\nFILL 1, X\nfor c in 0..tiles(q, 1)\nLOAD q[i][c], Q[c]\n"
         "MUL Q[c], X, Q[c]\nFILL 0, O[c]\nend\nFILL -inf, M\nFILL 0, L\n"
         "for j in 0.." +
         last_tile +
         "\nFILL 0, S\nfor c in 0..tiles(q, 1)\nLOAD k[j][c], K\nMAC Q[c], K^T, S, S\nend\n" +
         (causal ? "MASK S, i*B, j*Bk, S\n" : "") +
         "ROWMAX S, X\nMOV M, A\nMAX M, X, M\nSUB A, M, A\nEXP A, A\nSUB S, M, S\nEXP S, S\n"
         "ROWSUM S, X\nMUL L, A, L\nADD L, X, L\nfor c in 0..tiles(v, 1)\nLOAD v[j][c], K\n"
         "MUL O[c], A, O[c]\nMAC S, K, O[c], O[c]\nend\nend\nfor c in 0..tiles(o, 1)\n"
         "DIV O[c], L, O[c]\nSTORE O[c], o[i][c]\nend\nLOG L, L\nADD M, L, L\nSTORE L, "
         "lse[i][0]\nend\n";
}

inline const std::string kCausal = "ceildiv(min(n, nk, i*B + B), Bk)";

}  // namespace flashlab::test
