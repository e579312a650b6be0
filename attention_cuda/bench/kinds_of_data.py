#!/usr/bin/env python3
"""Measures the errors of O, dQ, dK and dV against double on several kinds of data, ours beside PyTorch's.

The error is the norm of the difference over the norm of the exact result. The ratio is ours over the
smallest one of the others.
"""
import argparse
import json
import os
import statistics
import sys

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ("../python", "../../attention_cpu/bench"):
    sys.path.insert(0, os.path.join(HERE, folder))

import flashlab_attention as flashlab  # noqa: E402  (found by the paths above)
from sides import where_and_how  # noqa: E402

NAMES = ("O", "dQ", "dK", "dV")
BACKENDS = {"FA2": SDPBackend.FLASH_ATTENTION, "cuDNN": SDPBackend.CUDNN_ATTENTION}
NUM_HEADS, SEQLEN = 2, 2048
KINDS = ("normal", "peaked", "sharp", "sink", "V of mean 3")


def draw(kind, head_dim, dtype, device):
    """Returns Q, K, V, dO. normal: scores have a standard deviation of 1; peaked 2; sharp 16. sink: all
    queries prefer key 0."""
    Q, K, V, dO = (torch.randn(1, NUM_HEADS, SEQLEN, head_dim, device=device) for _ in range(4))
    factor = {"peaked": 2**0.5, "sharp": 4}.get(kind, 1)
    Q, K = Q * factor, K * factor
    if kind == "sink":
        Q[..., 0] = 4.0
        K[:, :, 0] = 0
        K[:, :, 0, 0] = 24.0
    if kind == "V of mean 3":
        V = V + 3
    return [tensor.to(dtype) for tensor in (Q, K, V, dO)]


def exact(Q, K, V, dO, is_causal):
    inputs = [tensor.double().requires_grad_() for tensor in (Q, K, V)]
    scores = inputs[0] @ inputs[1].mT * Q.shape[-1]**-0.5
    if is_causal:
        hidden = torch.ones(scores.shape[-2:], device=Q.device, dtype=torch.bool).triu(1)
        scores = scores.masked_fill(hidden, float("-inf"))
    O = scores.softmax(-1) @ inputs[2]
    return O.detach(), *torch.autograd.grad(O, inputs, dO.double())


def results(attention, Q, K, V, dO):
    inputs = [tensor.detach().clone().requires_grad_() for tensor in (Q, K, V)]
    O = attention(*inputs)
    return O.detach(), *torch.autograd.grad(O, inputs, dO)


def errors(kind, head_dim, dtype, is_causal, device):
    """Returns {"ours": [O, dQ, dK, dV], …}."""
    inputs = draw(kind, head_dim, dtype, device)
    right = exact(*inputs, is_causal)
    sides = {"ours": lambda *tensors: flashlab.attention(
        *tensors, mask="causal" if is_causal else "none")}
    for name in BACKENDS:
        sides[name] = lambda *tensors: F.scaled_dot_product_attention(*tensors, is_causal=is_causal)
    found = {}
    for name, attention in sides.items():
        try:
            with sdpa_kernel(BACKENDS.get(name, SDPBackend.MATH)):
                found[name] = results(attention, *inputs)
        except RuntimeError as error:  # a backend that does not take this
            print(f"{name}: {str(error).splitlines()[0]}", file=sys.stderr)
    return {name: [float((ours.double() - theirs).norm() / theirs.norm())
                   for ours, theirs in zip(some, right)] for name, some in found.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library", dest="shared_object", metavar="FILE",
                        help="libflashlab_cuda.so")
    parser.add_argument("--commit")
    parser.add_argument("--out", metavar="FILE")
    options = parser.parse_args()
    if options.shared_object:
        os.environ["FLASHLAB_CUDA_LIBRARY"] = options.shared_object
    device = flashlab.loaded_library().device_type
    torch.manual_seed(7)
    rows = []
    for dtype in (torch.bfloat16, torch.float16):
        for head_dim in (64, 128, 256):
            for kind in KINDS:
                for is_causal in (False, True):
                    found = errors(kind, head_dim, dtype, is_causal, device)
                    others = [some for name, some in found.items() if name != "ours"]
                    ratios = ([found["ours"][k] / min(some[k] for some in others) for k in range(4)]
                              if others else None)
                    rows.append({"dtype": str(dtype).removeprefix("torch."), "head_dim": head_dim,
                                 "kind": kind, "mask": "causal" if is_causal else "none",
                                 "errors": found, "ratios": ratios})
    print(f"{'ours / best of the others':28}" + "".join(f"{name:>14}" for name in NAMES))
    for head_dim in (64, 128, 256):
        for kind in KINDS:
            ratios = [row["ratios"] for row in rows
                      if (row["kind"], row["head_dim"]) == (kind, head_dim) and row["ratios"]]
            if ratios:
                print(f"{head_dim:4} {kind:23}" + "".join(
                    f"{statistics.mean(of):8.3f} {max(of):5.2f}" for of in zip(*ratios)), flush=True)
    if options.out:
        report = {"what": "|result - exact| / |exact|, in the order O, dQ, dK, dV",
                  "num_heads": NUM_HEADS, "seqlen": SEQLEN, "rows": rows,
                  **where_and_how(__file__, options.commit)}
        with open(options.out, "w", encoding="utf-8") as file:
            json.dump(report, file, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
