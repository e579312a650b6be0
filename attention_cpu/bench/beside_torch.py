#!/usr/bin/env python3
"""Compares attention on this CPU with PyTorch's scaled_dot_product_attention, in one process, in float.

Both sides use the same inputs, drawn again for every repetition, and the same number of threads. The
time includes the allocation of outputs (torch has no other way). The sides take turns, with a pause in
between: libgomp's idle workers keep spinning for 300 000 pause instructions, 14 ms at 140 cycles each,
and would take the other side's cores. torch's backward is autograd.grad of O; its forward is not timed.
Every result is compared; our outputs are first filled with NaN. A 4096^3 torch.mm in between measures
the machine's rate of matrix products.

Ratios are torch's median time over ours: above 1 we are faster.
"""
import argparse
import json
import os
import statistics
import sys
import time

import torch
from torch.nn.functional import scaled_dot_product_attention

from attention_library import Library
from run_context import run_context

PRODUCT_SIZE = 4096
# Both sides differ from the exact result by some 1e-6.
LARGEST_DIFFERENCE = 2e-5


def timed(work):
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def relative_difference(ours, theirs):
    """Returns NaN if either contains NaN."""
    return float((ours.double() - theirs.double()).norm() / theirs.double().norm())


class Peer:
    """torch's side: forward(), then backward(), for one set of inputs."""

    def __init__(self, case, inputs, dO):
        self._inputs = [tensor.detach().requires_grad_() for tensor in inputs]
        self._is_causal, self._dO = case["is_causal"], dO

    def forward(self):
        self._O = scaled_dot_product_attention(*self._inputs, is_causal=self._is_causal)
        return (self._O.detach(),)

    def backward(self):
        return torch.autograd.grad(self._O, self._inputs, self._dO)

    def kernel(self):
        return self._O.grad_fn.name()


class Ours:
    """attention_cpu's side. `allocate` returns the memory for an output like a tensor."""

    def __init__(self, library, case, inputs, dO, allocate):
        self._library, self._inputs, self._dO, self._allocate = library, inputs, dO, allocate
        self._problems = [library.problem(case[name], *inputs[:2], case["is_causal"],
                                          case["threads"]) for name in ("forward", "backward")]

    def forward(self):
        Q = self._inputs[0]
        self._O, self._lse = self._allocate(Q), self._allocate(Q[..., 0].contiguous())
        self._library.forward(self._problems[0], *self._inputs, self._O, self._lse)
        return (self._O,)

    def backward(self):
        gradients = [self._allocate(tensor) for tensor in self._inputs]
        self._library.backward(self._problems[1], *self._inputs, self._O, self._lse, self._dO,
                               *gradients)
        return gradients

    def workspace_bytes(self):
        return [problem.workspace_bytes for problem in self._problems]


def draw_inputs(case, seed):
    generator = torch.Generator().manual_seed(seed)
    batch, num_heads, seqlen, head_dim = case["shape"]
    return [torch.randn(batch, num_heads, seqlen, head_dim, generator=generator) for _ in range(4)]


def compare(case, direction, results):
    names = {"forward": ["O"], "backward": ["dQ", "dK", "dV"]}[direction]
    differences = {name: relative_difference(ours, theirs) for name, ours, theirs in
                   zip(names, results["ours"], results["torch"])}
    for name, difference in differences.items():
        if not difference < LARGEST_DIFFERENCE:
            sys.exit(f"beside_torch.py: {name} differs by {difference:.2e} of its norm: expected "
                     f"less than {LARGEST_DIFFERENCE}: {case}")
    return differences


def repeat_once(case, options, seed, allocate):
    """Returns seconds {direction: {side: seconds}}, differences {direction: {name: …}}, and sides."""
    *inputs, dO = draw_inputs(case, seed)
    sides = {}
    if "torch" in options.sides:
        sides["torch"] = Peer(case, inputs, dO)
    if "ours" in options.sides:
        sides["ours"] = Ours(options.kernels, case, inputs, dO, allocate)
    order = list(sides.items())[::1 if seed % 2 else -1]
    seconds, differences = {}, {}
    for direction in ("forward", "backward"):
        results, seconds[direction] = {}, {}
        for name, side in order:
            if len(order) > 1:
                time.sleep(options.pause)
            seconds[direction][name], results[name] = timed(getattr(side, direction))
        if len(order) > 1:
            differences[direction] = compare(case, direction, results)
    return seconds, differences, sides


def product_seconds(options):
    a, b = torch.randn(2, PRODUCT_SIZE, PRODUCT_SIZE)
    time.sleep(options.pause)
    return timed(lambda: torch.mm(a, b))[0]


def measure(case, options):
    """Returns one row per direction: raw samples and their summary."""
    repeat_once(case, options, 0, lambda tensor: torch.full_like(tensor, float("nan")))
    start = time.perf_counter()
    samples, products = [], [product_seconds(options)]
    while len(samples) < options.repeat and (
            len(samples) < options.least or time.perf_counter() - start < options.seconds):
        samples.append(repeat_once(case, options, 1 + len(samples), torch.empty_like))
    products.append(product_seconds(options))
    return [row(case, direction, samples, products) for direction in ("forward", "backward")]


def row(case, direction, samples, products):
    batch, num_heads, seqlen, head_dim = case["shape"]
    pairs = batch * num_heads * seqlen * ((seqlen + 1) / 2 if case["is_causal"] else seqlen)
    flops = {"forward": 4, "backward": 10}[direction] * pairs * head_dim
    product_rate = 2 * PRODUCT_SIZE**3 / statistics.median(products)
    result = {"shape": case["shape"], "is_causal": case["is_causal"], "threads": case["threads"],
              "direction": direction, "variant": case[direction], "flops": flops,
              "product_seconds": products, "product_flops_per_s": product_rate}
    sides = samples[-1][2]
    for name in sides:
        times = [seconds[direction][name] for seconds, _, _ in samples]
        rate = flops / statistics.median(times)
        result[name] = {"seconds": times, "median_seconds": statistics.median(times),
                        "flops_per_s": rate, "share_of_product": rate / product_rate}
    if "ours" in sides:
        result["ours"]["workspace_bytes"] = (
            sides["ours"].workspace_bytes()[direction == "backward"])
    if "torch" in sides:
        result["torch"]["kernel"] = sides["torch"].kernel()
    if len(sides) > 1:
        result["ratio"] = result["torch"]["median_seconds"] / result["ours"]["median_seconds"]
        result["largest_difference"] = {name: max(found[direction][name] for _, found, _ in samples)
                                        for name in samples[0][1][direction]}
    return result


def print_row(r):
    def side(name):
        if name not in r:
            return f"{'-':>9} {'-':>5}"
        return f"{1e3 * r[name]['median_seconds']:9.2f} {100 * r[name]['share_of_product']:4.0f}%"
    shape = ",".join(map(str, r["shape"]))
    ratio = f"{r['ratio']:6.2f}" if "ratio" in r else f"{'-':>6}"
    print(f"{r['threads']:7} {shape:>12} {'causal' if r['is_causal'] else 'full':>6} "
          f"{r['direction']:>8} {side('torch')} {side('ours')} {ratio} "
          f"{r['product_flops_per_s'] / 1e9:7.0f}", flush=True)


def parse_shape(text):
    sizes = [int(size) for size in text.split(",")]
    if len(sizes) != 4 or min(sizes) < 1:
        raise argparse.ArgumentTypeError(f"'{text}': expected batch,heads,seqlen,head_dim")
    return sizes


def default_module():
    here = os.path.dirname(os.path.abspath(__file__))
    return os.path.join(here, "../../build/attention_cpu/bench/libflashlab_attention_module.so")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--module", default=default_module(), help="the built flashlab_attention_module")
    add("--threads", default=f"1,2,{len(os.sched_getaffinity(0))}", help="such as 1,2,16")
    add("--shapes", type=parse_shape, nargs="+", metavar="B,H,N,d",
        default=[[1, 8, 2048, 64], [1, 8, 2048, 128], [4, 1, 8192, 64]])
    add("--masks", nargs="+", choices=["full", "causal"], default=["full", "causal"])
    add("--forward", default="flash2", help="variant (flash2)")
    add("--backward", default="bwd-onepass", help="variant (bwd-onepass)")
    add("--instruction-set", default="best", choices=["best", "baseline", "avx2", "avx512"])
    add("--repeat", type=int, default=20, help="most repetitions (20)")
    add("--least", type=int, default=5, help="fewest repetitions (5)")
    add("--seconds", type=float, default=3, help="for the repetitions between those (3)")
    add("--pause", type=float, default=0.03, help="seconds between the sides (0.03)")
    add("--sides", nargs="+", choices=["torch", "ours"], default=["torch", "ours"],
        help="one alone runs without pauses: to see whether taking turns distorts")
    add("--commit", help="commit of the library, if this is not a git checkout")
    add("--json", metavar="FILE", help="raw samples, machine, versions")
    options = parser.parse_args()
    options.threads = sorted({int(threads) for threads in options.threads.split(",")})
    cpus = len(os.sched_getaffinity(0))
    if options.threads[0] < 1 or options.threads[-1] > cpus:
        parser.error(f"--threads {options.threads}: expected 1 to {cpus}, the CPUs of this process")
    if options.least < 1 or options.repeat < options.least:
        parser.error("--repeat must be at least --least, and that at least 1")
    if not os.path.exists(options.module):
        parser.error(f"there is no {options.module}: build flashlab_attention_module, or --module")
    return options


def main():
    options = parse_arguments()
    options.kernels = Library(options.module, options.instruction_set)
    context = run_context(options.module, options.commit)
    print(f"{context['machine']['model']}, {context['machine']['cpus']} CPUs; torch "
          f"{torch.__version__} ({context['versions']['torch_cpu_capability']}); ours "
          f"{options.kernels.instruction_set}\n")
    print(f"{'threads':>7} {'shape':>12} {'mask':>6} {'pass':>8} {'torch ms':>9} {'share':>5} "
          f"{'ours ms':>9} {'share':>5} {'ratio':>6} {'GFLOP/s':>7}")
    rows = []
    for threads in options.threads:
        torch.set_num_threads(threads)
        for shape in options.shapes:
            for mask in options.masks:
                case = {"shape": shape, "is_causal": mask == "causal", "threads": threads,
                        "forward": options.forward, "backward": options.backward}
                for result in measure(case, options):
                    rows.append(result)
                    print_row(result)
    print("\nshare: of torch.mm 4096^3 (last column); ratio: torch's time over ours")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"format_version": 1, **context,
                       "instruction_set": options.kernels.instruction_set, "rows": rows}, file,
                      indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
