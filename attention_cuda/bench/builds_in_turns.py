#!/usr/bin/env python3
"""Compares builds of libflashlab_cuda.so in one process: their kernels' times, and how exact O is.

  builds_in_turns.py old=FILE new=FILE [NAME=FILE ...] [--out FILE] [--commits old=X new=Y]

The builds take turns in each round, on the same tensors, and so do kinds of data; each round begins with another build
or kind, and every second one goes backwards. Before each sample L2 is flushed, and the GPU waits until the call is enqueued
(stopwatch.py). The speed of a build is the first one's time over its own, the median over rounds: above 1
it is faster. An error is the norm of the difference to attention in float, over the norm of that.

A copy of the first file as one more build shows what the method cannot tell apart. build_variant.py makes a build with
the kernels of another commit.

Forward and backward calls have 16 384 tokens, heads x head_dim = 2048 (fewer if head_dim does not divide
it), and inputs of each kind of --data (data_kinds.py). In calls of few queries the keys are split among blocks.
"""
import argparse
import os
import statistics
import sys

import torch

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ("../python", "../../attention_cpu/bench"):
    sys.path.insert(0, os.path.join(HERE, folder))

import data_kinds  # noqa: E402  (found by the paths above)
import flashlab_library  # noqa: E402
from reference import exact_forward  # noqa: E402
from sides import add_out_arguments, write_report  # noqa: E402
from stopwatch import GpuStopwatch, ProcessorStopwatch  # noqa: E402

DTYPES = {"bf16": torch.bfloat16, "fp16": torch.float16, "float": torch.float32}
TOKENS, WIDTH = 16384, 2048
# batch, num_heads, num_kv_heads, queries, keys
FEW_QUERIES = ((1, 32, 8, 1, 4096), (16, 32, 8, 1, 4096), (32, 32, 8, 1, 8192), (4, 32, 8, 16, 8192),
               (1, 2, 2, 2048, 2048))
VARIANTS = {"forward": "flash2", "backward": "bwd-onepass", "few queries": "split-kv"}


def pair(text):
    name, _, value = text.partition("=")
    if not name or not value:
        raise argparse.ArgumentTypeError(f"{text}: expected NAME=FILE or NAME=COMMIT")
    return name, value


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("builds", type=pair, nargs="+", metavar="NAME=FILE",
                        help="libflashlab_cuda.so, the first of which others are compared with")
    parser.add_argument("--commits", type=pair, nargs="+", default=[], metavar="NAME=COMMIT")
    parser.add_argument("--passes", nargs="+", choices=VARIANTS, default=list(VARIANTS))
    parser.add_argument("--variant", help=f"of all passes; else {', '.join(VARIANTS.values())}")
    parser.add_argument("--kernel", default="", help="of all passes; else the usual one of this GPU")
    parser.add_argument("--dtypes", nargs="+", choices=DTYPES, default=["bf16"])
    parser.add_argument("--head-dims", type=int, nargs="+", default=[64, 96, 128, 192, 256])
    parser.add_argument("--data", nargs="+", choices=data_kinds.KINDS, default=["normal"])
    parser.add_argument("--lengths", type=int, nargs="+", default=[512, 1024, 4096, 16384])
    parser.add_argument("--deterministic", action="store_true")
    parser.add_argument("--rounds", type=int, default=15)
    add_out_arguments(parser)
    options = parser.parse_args()
    if len(options.builds) < 2:
        parser.error("one build: expected two or more, as NAME=FILE")
    return options


def cells(options, is_emulated):
    """Returns dictionaries: the pass, its mask, and the sizes."""
    tokens, width = (80, 64) if is_emulated else (TOKENS, WIDTH)
    lengths = [40] if is_emulated else options.lengths
    for name in options.passes:
        for head_dim in options.head_dims:
            if name == "few queries":
                for batch, heads, kv_heads, queries, keys in FEW_QUERIES[:1 if is_emulated else None]:
                    yield {"pass": name, "mask": "none", "batch": batch, "num_heads": heads,
                           "num_kv_heads": kv_heads, "seqlen_q": queries,
                           "seqlen_k": 40 if is_emulated else keys, "head_dim": head_dim}
                continue
            for seqlen in lengths:
                for mask in ("none", "causal"):
                    heads = max(width // head_dim, 1)
                    yield {"pass": name, "mask": mask, "batch": tokens // seqlen, "num_heads": heads,
                           "num_kv_heads": heads, "seqlen_q": seqlen, "seqlen_k": seqlen,
                           "head_dim": head_dim}


def draw(cell, kind, dtype, device):
    """Returns Q, K, V, dO."""
    of_queries = (cell["batch"], cell["num_heads"], cell["seqlen_q"], cell["head_dim"])
    of_keys = (cell["batch"], cell["num_kv_heads"], cell["seqlen_k"], cell["head_dim"])
    Q, K, V, dO = (torch.randn(shape, device=device)
                   for shape in (of_queries, of_keys, of_keys, of_queries))
    return [tensor.to(dtype) for tensor in (*data_kinds.shaped(kind, Q, K, V), dO)]


def tensors_of(inputs):
    """Returns inputs and outputs by name. The builds share them: addresses matter in short calls."""
    Q, K, V, dO = inputs
    tensors = {"Q": Q, "K": K, "V": V, "dO": dO, "O": torch.empty_like(Q),
               "lse": torch.empty(Q.shape[:3], device=Q.device)}
    return tensors | {f"d{of}": torch.empty_like(tensors[of]) for of in "QKV"}


def calls_of(cell, tensors, builds, options):
    """Returns {name of the build: call}."""
    variant = options.variant or VARIANTS[cell["pass"]]
    how = {"variant": variant, "mask": cell["mask"], "kernel": options.kernel}
    if cell["pass"] != "backward":
        return {name: flashlab_library.Call("forward", tensors, library=library, **how)
                for name, library in builds.items()}
    flashlab_library.Call("forward", tensors, variant="flash2", mask=cell["mask"],
                          library=next(iter(builds.values())))()
    return {name: flashlab_library.Call("backward", tensors, library=library,
                                        deterministic=options.deterministic, **how)
            for name, library in builds.items()}


def turns(names, number):
    """Returns the order of a round."""
    first = number // 2 % len(names)
    order = [*names[first:], *names[:first]]
    return order if number % 2 == 0 else order[::-1]


def error_of(O, inputs, mask):
    """Of the first heads of the first batch entry."""
    kv_heads = min(2, inputs[1].shape[1])
    heads = kv_heads * (O.shape[1] // inputs[1].shape[1])
    exact, _ = exact_forward(inputs[0][:1, :heads], inputs[1][:1, :kv_heads],
                             inputs[2][:1, :kv_heads], mask)
    return float((O[:1, :heads].double() - exact.double()).norm() / exact.double().norm())


class OneKind:
    """Inputs of a kind, the builds' calls on them, and what they took."""

    def __init__(self, cell, kind, dtype, builds, options, device):
        self._cell, self._inputs = cell, draw(cell, kind, DTYPES[dtype], device)
        self._tensors = tensors_of(self._inputs)
        self._calls = calls_of(cell, self._tensors, builds, options)
        self.samples = {name: [] for name in builds}
        self.row = {**cell, "dtype": dtype, "data": kind}
        for call in self._calls.values():
            call()  # loads its kernels
        if cell["pass"] != "backward" and cell["seqlen_k"] <= 4096:
            self.row["error_of_O"] = {name: self._error(call) for name, call in self._calls.items()}

    def _error(self, call):
        self._tensors["O"].fill_(float("nan"))
        call()
        return error_of(self._tensors["O"], self._inputs, self._cell["mask"])

    def sample(self, watch, name):
        self.samples[name].append(watch.sample_ms(self._calls[name], flush_by_reading=self._cell["seqlen_q"] == 1))


def ratio(ones, others):
    """Returns the median over rounds of `ones` over `others`."""
    return statistics.median(one / other for one, other in zip(ones, others))


def measure(cell, dtype, builds, options, watch, device):
    """Returns a row for each kind of data. Builds and kinds take turns in each round."""
    kinds = [OneKind(cell, kind, dtype, builds, options, device) for kind in options.data]
    pairs = [(kind, name) for name in builds for kind in kinds]
    for number in range(options.rounds):
        for kind, name in turns(pairs, number):
            kind.sample(watch, name)
    first = next(iter(builds))
    return [kind.row | {"samples_ms": kind.samples,
                        "speed": {name: ratio(kind.samples[first], taken) for name, taken in kind.samples.items()},
                        "of_first_kind": {name: ratio(kinds[0].samples[name], taken)
                                          for name, taken in kind.samples.items()}}
            for kind in kinds]


def print_row(row):
    errors = row.get("error_of_O", {})
    print(f"{row['pass']:11} {row['data']:8} {row['dtype']:5} d {row['head_dim']:3} {row['mask']:6} {row['seqlen_q']:5} x "
          f"{row['seqlen_k']:5} b {row['batch']:2}  " + "  ".join(
              f"{name} {statistics.median(row['samples_ms'][name]):.4f} ms {speed:.3f}"
              + (f" {errors[name]:.2e}" if errors else "") for name, speed in row["speed"].items()),
          flush=True)


def print_summary(rows, builds, first_kind):
    """Prints geometric means and the least speed, by pass, data, type and head_dim."""
    what = ("pass", "data", "dtype", "head_dim")
    keys = dict.fromkeys(tuple(row[name] for name in what) for row in rows)
    for key in keys:
        some = [row for row in rows if tuple(row[name] for name in what) == key]
        beside = [(name, "speed", builds[0]) for name in builds[1:]]
        if key[1] != first_kind:
            beside += [(name, "of_first_kind", f"{first_kind} data") for name in builds]
        for name, field, other in beside:
            speeds = [row[field][name] for row in some]
            print(f"{key[0]}, {key[1]} data, {key[2]}, head_dim {key[3]}: {name} over {other}: "
                  f"{statistics.geometric_mean(speeds):.3f}, least {min(speeds):.3f}")


def main():
    options = parse_arguments()
    try:
        builds = {name: flashlab_library.Library(path) for name, path in options.builds}
    except RuntimeError as error:  # no such library
        print(f"builds_in_turns.py: {error}", file=sys.stderr)
        return 2
    is_emulated = all(library.is_emulated for library in builds.values())
    device = "cpu" if is_emulated else "cuda"
    watch = ProcessorStopwatch() if is_emulated else GpuStopwatch()
    torch.manual_seed(11)
    rows = []
    for dtype in options.dtypes:
        for cell in cells(options, is_emulated):
            rows += measure(cell, dtype, builds, options, watch, device)
            for row in rows[-len(options.data):]:
                print_row(row)
    print_summary(rows, list(builds), options.data[0])
    write_report(options, __file__, {
        "what": "builds and kinds of data in turns in one process; speed: time of the first build over a build's own; "
                "of_first_kind: time of a build on the first kind over that on this one",
        "builds": dict(options.commits), "late_samples": watch.late_samples, "rows": rows})
    return 0


if __name__ == "__main__":
    sys.exit(main())
