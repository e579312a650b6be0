#!/usr/bin/env python3
"""Measures the error of the gradients if lse and delta are stored in 16 bits, over the length.

The backward pass runs twice on the same bf16 inputs: with lse and delta in float, and with both
rounded to bf16 (round_statistics). Each gradient is compared with attention in double: the norm
of the difference over the norm of the exact gradient.
"""
import argparse
import os
import sys

import torch

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ("../python", "../../attention_cpu/bench"):
    sys.path.insert(0, os.path.join(HERE, folder))

import flashlab_attention as flashlab  # noqa: E402  (found by the paths above)
from sides import add_report_arguments, device_of, write_report  # noqa: E402

HEAD_DIM, NUM_HEADS = 64, 2
GRADIENTS = ("dQ", "dK", "dV")


def exact_gradients(Q, K, V, dO):
    """Returns the gradients in double, computed head by head: [num_heads, seqlen, head_dim] each."""
    results = [[], [], []]
    for h in range(NUM_HEADS):
        q, k, v, do = (t[0, h].double() for t in (Q, K, V, dO))
        P = torch.softmax(q @ k.T / HEAD_DIM**0.5, dim=-1)
        dP = do @ v.T
        dS = P * (dP - (P * dP).sum(-1, keepdim=True)) / HEAD_DIM**0.5
        for result, gradient in zip(results, (dS @ k, dS.T @ q, P.T @ do)):
            result.append(gradient)
    return [torch.stack(result) for result in results]


def errors(seqlen, device, variant, dtype):
    """Returns {"float": {"dQ": …}, "rounded": {…}}."""
    torch.manual_seed(seqlen)
    Q, K, V, dO = (torch.randn(1, NUM_HEADS, seqlen, HEAD_DIM, device=device).to(dtype)
                   for _ in range(4))
    exact = exact_gradients(Q, K, V, dO)
    O, lse = flashlab.attention_forward(Q, K, V)
    result = {}
    for name, rounds in (("float", False), ("rounded", True)):
        found = flashlab.attention_backward(Q, K, V, O, lse, dO, variant=variant,
                                            round_statistics=rounds)
        result[name] = {gradient: float((ours[0].double() - right).norm() / right.norm())
                        for gradient, ours, right in zip(GRADIENTS, found, exact)}
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_report_arguments(parser)
    parser.add_argument("--most", type=int, default=16384, help="the longest sequence")
    parser.add_argument("--variant", default="bwd-twopass")
    options = parser.parse_args()
    device = device_of(options)
    print("bf16, head_dim 64: |gradient - exact| / |exact|, lse and delta in float | in bf16")
    rows, seqlen = [], 128
    while seqlen <= options.most:
        row = {"seqlen": seqlen, **errors(seqlen, device, options.variant, torch.bfloat16)}
        rows.append(row)
        print(f"{seqlen:6}  " + "   ".join(
            f"{g} {row['float'][g]:.1e} | {row['rounded'][g]:.1e}" for g in GRADIENTS), flush=True)
        seqlen *= 2
    write_report(options, __file__,
                 {"variant": options.variant, "dtype": "bf16", "head_dim": HEAD_DIM,
                  "num_heads": NUM_HEADS, "mask": "none", "rows": rows})
    return 0


if __name__ == "__main__":
    sys.exit(main())
