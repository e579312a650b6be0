#!/usr/bin/env python3
"""Measures the errors of O, dQ, dK and dV against double on several kinds of data, ours beside PyTorch's
and, with --fa3 FILE or --fa4 FOLDER, beside FlashAttention-3 and 4.

"ours" is what a call takes without being asked: with so few heads split-kv, whose O and lse the backward
pass has then. "flash2" is what calls with more heads take. The error is the norm of the difference over the norm of the exact result. The ratio is ours over the
smallest one of the others: FlashAttention-2, cuDNN, and those that were named.
"""
import argparse
import os
import statistics
import sys

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ("../python", "../../attention_cpu/bench"):
    sys.path.insert(0, os.path.join(HERE, folder))

import data_kinds  # noqa: E402  (found by the paths above)
import flash_attention_3  # noqa: E402
import flash_attention_4  # noqa: E402
import flashlab_attention as flashlab  # noqa: E402
from sides import add_report_arguments, device_of, write_report  # noqa: E402

NAMES = ("O", "dQ", "dK", "dV")
OURS = {"ours": "auto", "flash2": "flash2"}  # forward_variant
BACKENDS = {"FA2": SDPBackend.FLASH_ATTENTION, "cuDNN": SDPBackend.CUDNN_ATTENTION}
NUM_HEADS, SEQLEN = 2, 2048
KINDS = ("normal", "peaked", "sharp", "sink", "V of mean 3")


def draw(kind, head_dim, dtype, device):
    """Returns Q, K, V, dO."""
    Q, K, V, dO = (torch.randn(1, NUM_HEADS, SEQLEN, head_dim, device=device) for _ in range(4))
    return [tensor.to(dtype) for tensor in (*data_kinds.shaped(kind, Q, K, V), dO)]


def exact(Q, K, V, dO, is_causal):
    inputs = [tensor.double().requires_grad_() for tensor in (Q, K, V)]
    scores = inputs[0] @ inputs[1].mT * Q.shape[-1]**-0.5
    if is_causal:
        hidden = torch.ones(scores.shape[-2:], device=Q.device, dtype=torch.bool).triu(1)
        scores = scores.masked_fill(hidden, float("-inf"))
    O = scores.softmax(-1) @ inputs[2]
    return O.detach(), *torch.autograd.grad(O, inputs, dO.double())


def through_autograd(attention):
    """Returns a function of Q, K, V and dO that gives O and the gradients."""
    def results(Q, K, V, dO):
        inputs = [tensor.detach().clone().requires_grad_() for tensor in (Q, K, V)]
        O = attention(*inputs)
        return O.detach(), *torch.autograd.grad(O, inputs, dO)
    return results


def of_backend(backend, is_causal):
    def attention(*tensors):
        return F.scaled_dot_product_attention(*tensors, is_causal=is_causal)

    def results(*tensors):
        with sdpa_kernel(backend):
            return through_autograd(attention)(*tensors)
    return results


def sides(is_causal, packages):
    """Returns {name: a function of Q, K, V and dO that gives O, dQ, dK and dV}. packages: those of
    FlashAttention by name; their tensors are [batch, seqlen, num_heads, head_dim]."""
    def of_package(package):
        def results(*tensors):
            transposed = [tensor.transpose(1, 2).contiguous() for tensor in tensors]
            return [tensor.transpose(1, 2) for tensor in package.both_passes(*transposed, is_causal)]
        return results

    def of_variant(variant):
        return through_autograd(lambda *tensors: flashlab.attention(
            *tensors, forward_variant=variant, mask="causal" if is_causal else "none"))

    return {**{name: of_variant(variant) for name, variant in OURS.items()},
            **{name: of_backend(backend, is_causal) for name, backend in BACKENDS.items()},
            **{name: of_package(package) for name, package in packages.items()}}


def errors(kind, head_dim, dtype, is_causal, device, packages):
    """Returns {"ours": [O, dQ, dK, dV], …}."""
    inputs = draw(kind, head_dim, dtype, device)
    right = exact(*inputs, is_causal)
    found = {}
    for name, results in sides(is_causal, packages).items():
        try:
            found[name] = [float((some.double() - theirs).norm() / theirs.norm())
                           for some, theirs in zip(results(*inputs), right)]
        except Exception as error:  # a side that does not take this; compilers have types of their own
            if name in OURS:
                raise
            print(f"{name}: {flash_attention_4.first_line(error)}", file=sys.stderr)
    return found


def print_ratios(title, head_dims, rows, of):
    """Prints the mean and the largest ratio of each kind and head_dim."""
    print(f"{title:28}" + "".join(f"{name:>14}" for name in NAMES))
    for head_dim in head_dims:
        for kind in KINDS:
            ratios = [row[of] for row in rows if (row["kind"], row["head_dim"]) == (kind, head_dim)]
            if ratios:
                print(f"{head_dim:4} {kind:23}" + "".join(
                    f"{statistics.mean(some):8.3f} {max(some):5.2f}" for some in zip(*ratios)),
                    flush=True)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_report_arguments(parser)
    parser.add_argument("--fa3", metavar="FILE", help="libdew_flash_attn3.so, which JAX calls")
    parser.add_argument("--fa4", metavar="FOLDER", help="site folder with flash-attn-4")
    parser.add_argument("--head-dims", type=int, nargs="+", default=[64, 128, 256])
    return parser.parse_args()


def main():
    options = parse_arguments()
    device = device_of(options)
    packages = {}
    if options.fa3:
        packages["FA3"] = flash_attention_3.Package(options.fa3)
    if options.fa4:
        packages["FA4"] = flash_attention_4.Package(options.fa4)
    torch.manual_seed(7)
    rows = []
    for dtype in (torch.bfloat16, torch.float16):
        for head_dim in options.head_dims:
            for kind in KINDS:
                for is_causal in (False, True):
                    found = errors(kind, head_dim, dtype, is_causal, device, packages)
                    others = [some for name, some in found.items() if name not in OURS]
                    ratios = {f"ratios{of}": [found[name][k] / min(some[k] for some in others)
                                              for k in range(4)] if others else None
                              for name, of in zip(OURS, ("", "_of_flash2"))}
                    rows.append({"dtype": str(dtype).removeprefix("torch."), "head_dim": head_dim,
                                 "kind": kind, "mask": "causal" if is_causal else "none",
                                 "errors": found, **ratios})
    for name, of in zip(OURS, ("ratios", "ratios_of_flash2")):
        print_ratios(f"{name} / best of the others", options.head_dims,
                     [row for row in rows if row[of]], of)
    write_report(options, __file__,
                 {"what": "|result - exact| / |exact|, in the order O, dQ, dK, dV",
                  "num_heads": NUM_HEADS, "seqlen": SEQLEN,
                  "versions": {**(flash_attention_4.versions() if options.fa4 else {}),
                               **(flash_attention_3.versions() if options.fa3 else {})}, "rows": rows})
    return 0


if __name__ == "__main__":
    sys.exit(main())
