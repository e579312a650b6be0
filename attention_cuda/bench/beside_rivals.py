#!/usr/bin/env python3
"""Compares our bf16 kernels with the strongest others, without the host: FlashAttention-2, 3 and 4, and cuDNN.

  beside_rivals.py [--fa3 FILE] [--fa4 FOLDER] [--cudnn FOLDER] [--out FILE]

Every side of a cell is a CUDA graph of up to 20 calls, on inputs that change from call to call, so that more than L2 is read
between two uses of a set. FlashAttention-3, which comes through JAX here, has no graph: it runs as XLA programs of as many
calls, enqueued in a row until there are 200 calls or --row-ms is over, and its time is the processor's for all of them.
Starting and waiting took 0.15 to 0.3 ms of it on an H100. L2 is flushed before a sample.

A cell is measured in two processes. In each, the sides take turns for nine rounds, every second one backwards. The value of a
cell in a process is the time of the fastest rival over ours, both medians over rounds: above 1 we are faster. The value of the
cell is the mean of the two; their difference shows what the method cannot tell apart.

16 384 tokens in all (or one sequence, if it is longer), heads x head_dim = 2048, or a little less. Data of kinds other than
normal are measured at the lengths of --lengths-of-kinds. The first heads of every result are compared with attention in float; a
wrong result is an error and gives no time. A side that cannot take part is named in one line, and under left_out in the results.
"""
import argparse
import contextlib
import hashlib
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
import types

try:
    import torch
except ImportError:
    print("beside_rivals.py: this Python has no torch: expected PyTorch for CUDA", file=sys.stderr)
    sys.exit(2)

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ("../python", "../../attention_cpu/bench"):
    sys.path.insert(0, os.path.join(HERE, folder))

import data_kinds  # noqa: E402  (found by the paths above)
import flash_attention_3  # noqa: E402
import flash_attention_4  # noqa: E402
import flashlab_attention as flashlab  # noqa: E402
import reference  # noqa: E402
import sides  # noqa: E402
from cases import Case, Entry, summary  # noqa: E402
from stopwatch import GpuStopwatch, ProcessorStopwatch, product_rates  # noqa: E402

TOKENS, WIDTH = 16384, 2048
OURS = {"forward": Entry("ours", "flash2", "native"), "backward": Entry("ours", "bwd-onepass", "native")}
RIVALS = {"FA2": Entry("torch", "flash"), "cuDNN": Entry("torch", "cudnn"), "FA3": Entry("FA3", "FA3"), "FA4": Entry("FA4", "FA4")}
MOST_CALLS, FEWEST_CALLS, CALLS_IN_A_ROW = 20, 2, 200
CHECKED_HEADS = 2


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--fa3", metavar="FILE", help="libdew_flash_attn3.so, which JAX calls")
    add("--fa4", metavar="FOLDER", help="site folder with flash-attn-4, if this Python does not have it")
    add("--cudnn", metavar="FOLDER", help="the libraries of another cuDNN than PyTorch's")
    add("--sides", nargs="+", choices=RIVALS, default=list(RIVALS))
    add("--passes", nargs="+", choices=OURS, default=list(OURS))
    add("--head-dims", type=int, nargs="+", default=[64, 128, 256])
    add("--lengths", type=int, nargs="+", default=[2**k for k in range(9, 16)])
    add("--data", nargs="+", choices=data_kinds.KINDS, default=[kind for kind in data_kinds.KINDS if "mean" not in kind])
    add("--lengths-of-kinds", type=int, nargs="+", default=[4096, 16384], help="for data other than normal, forward only")
    add("--rounds", type=int, default=9)
    add("--processes", type=int, default=2)
    add("--graph-ms", type=float, default=10, help="a graph has as many calls as take this long, from 2 to 20")
    add("--row-ms", type=float, default=40, help="FlashAttention-3's calls in a row end after this long")
    add("--process", type=int, help=argparse.SUPPRESS)  # set by this script: the number of this process
    sides.add_report_arguments(parser)
    options = parser.parse_args()
    for flag, path, expected in (("--fa3", options.fa3, os.path.isfile), ("--fa4", options.fa4, os.path.isdir),
                                 ("--cudnn", options.cudnn, os.path.isdir)):
        if path and not expected(path):
            parser.error(f"{flag} {path}: expected a {'file' if expected is os.path.isfile else 'folder'}")
    sizes = [(flag, value) for flag, values in (("--head-dims", options.head_dims), ("--lengths", options.lengths),
                                                ("--lengths-of-kinds", options.lengths_of_kinds)) for value in values]
    for flag, value in (("--rounds", options.rounds), ("--processes", options.processes), *sizes):
        if value < 1:
            parser.error(f"{flag} {value}: expected 1 or more")
    return options


def cells(options, is_emulated):
    """Yields (kind of data, case)."""
    tokens, width = (80, 64) if is_emulated else (TOKENS, WIDTH)
    for kind in options.data:
        lengths = options.lengths if kind == "normal" else options.lengths_of_kinds
        for head_dim in options.head_dims:
            for seqlen in [40] if is_emulated else lengths:
                for mask in ("none", "causal"):
                    for direction in options.passes if kind == "normal" else ["forward"]:
                        yield kind, Case("", "bf16", max(1, tokens // seqlen), max(1, width // head_dim), seqlen, head_dim,
                                         mask, direction, ())


def draw_sets(case, kind, device, l2_bytes):
    """Returns sets of inputs, each with our O and lse, of which the calls between two uses read more than twice L2."""
    wanted, bytes_of_set = 2 * l2_bytes, case.bytes_read()
    sets = []
    for _ in range(1 if bytes_of_set >= wanted else 1 + math.ceil(wanted / bytes_of_set)):
        Q, K, V, dO = (torch.randn(case.q_shape, device=device) for _ in range(4))
        Q, K, V = data_kinds.shaped(kind, Q, K, V)
        found = types.SimpleNamespace(**{name: tensor.to(torch.bfloat16)
                                         for name, tensor in zip(("Q", "K", "V", "dO"), (Q, K, V, dO))})
        found.O, found.lse = torch.empty_like(found.Q), torch.empty(case.q_shape[:3], device=device)
        flashlab.Call("forward", vars(found), variant="flash2", mask=case.mask)()
        sets.append(found)
    return sets


def exact_of_first_heads(case, inputs):
    """Returns the exact results of the first heads by name, and what reference.check needs beside them."""
    Q, K, V, dO = (getattr(inputs, name)[:1, :CHECKED_HEADS] for name in ("Q", "K", "V", "dO"))
    O, lse = reference.exact_forward(Q, K, V, case.mask)
    if case.direction == "forward":
        return {"O": O}, {}
    gradients, of_terms = reference.exact_backward(Q, K, V, O, lse, dO, case.mask)
    return dict(zip(sides.RESULTS["backward"], gradients)), of_terms


class InGraph:
    """A side as a CUDA graph of calls; in the emulation, these calls in a row."""

    def __init__(self, entry, case, sets, watch, graph_ms):
        self._watch, self._graph = watch, None
        is_gpu = isinstance(watch, GpuStopwatch)
        stream = torch.cuda.Stream() if is_gpu else None
        if is_gpu:
            stream.wait_stream(torch.cuda.current_stream())
        # A backward pass runs on the stream of its forward pass.
        with torch.cuda.stream(stream) if is_gpu else contextlib.nullcontext():
            self._sides = [sides.make_side(entry, case, inputs) for inputs in sets]
            for side in self._sides:
                side.poison()
                side.first_run()
            self.num_calls = calls_of(watch.sample_ms(self._sides[0]), graph_ms, len(sets))
            if is_gpu:
                torch.cuda.synchronize()
                self._graph = torch.cuda.CUDAGraph()
                # JAX's threads may free memory meanwhile, which would end a capture of the default mode.
                with torch.cuda.graph(self._graph, stream=stream, capture_error_mode="thread_local"):
                    self._run()
        self._sides[0].poison()
        self._replay()

    def _run(self):
        for number in range(self.num_calls):
            self._sides[number % len(self._sides)]()

    def _replay(self):
        (self._graph.replay if self._graph else self._run)()

    def results(self):
        """Returns the results of the first set, as the last sample left them."""
        return self._sides[0].results()

    def sample_ms(self):
        return self._watch.sample_ms(self._replay) / self.num_calls


class InARow:
    """FlashAttention-3 as an XLA program of calls. Times are those of the processor, to the end of the last call."""

    def __init__(self, package, case, sets, watch, options):
        self._case = case
        tensors = [tuple(getattr(some, name).transpose(1, 2).contiguous() for name in ("Q", "K", "V", "dO")) for some in sets]
        arguments = (case.direction, tensors, case.mask == "causal")
        one = package.calls_in_a_row(*arguments, 1)
        self._results = one(1)
        some = 10
        one_ms = timed_ms(lambda: one(some)) / some
        self._in_program = calls_of(one_ms, options.graph_ms, len(sets))
        wanted = min(CALLS_IN_A_ROW, math.ceil(options.row_ms / one_ms))
        self._num_programs = max(1, math.ceil(wanted / self._in_program))
        self.num_calls = self._num_programs * self._in_program
        self._program = package.calls_in_a_row(*arguments, self._in_program)
        self._program(1)  # compiles it
        self._flushed = torch.zeros(GpuStopwatch.FLUSH_BYTES // 4, device="cuda")

    def results(self):
        return {name: tensor.transpose(1, 2) for name, tensor in
                zip(sides.RESULTS[self._case.direction], self._results)}

    def sample_ms(self):
        self._flushed.zero_()
        torch.cuda.synchronize()
        return timed_ms(lambda: self._program(self._num_programs)) / self.num_calls


def calls_of(one_ms, wanted_ms, num_sets):
    """Returns how many calls a graph has: a multiple of the number of sets, so that each set is used alike."""
    calls = min(MOST_CALLS, max(FEWEST_CALLS, math.ceil(wanted_ms / max(one_ms, 1e-3))))
    return math.ceil(calls / num_sets) * num_sets


def timed_ms(work):
    start = time.perf_counter()
    work()
    return 1e3 * (time.perf_counter() - start)


def make_sides(case, sets, packages, watch, options):
    """Returns ({name: side}, {name: why it is not among them}) of ours and the rivals."""
    ready, refused = {}, {}
    exact, of_terms = exact_of_first_heads(case, sets[0])
    largest = reference.largest_score(sets[0].Q[:1, :CHECKED_HEADS], sets[0].K[:1, :CHECKED_HEADS])
    for name in ("ours", *packages):
        try:
            if name == "FA3":
                side = InARow(packages[name], case, sets, watch, options)
            else:
                side = InGraph(OURS[case.direction] if name == "ours" else RIVALS[name], case, sets, watch, options.graph_ms)
        except (sides.Refused, RuntimeError) as error:
            refused[name] = {"refused" if isinstance(error, sides.Refused) else "wrong": flash_attention_4.first_line(error)}
            continue
        found, wrong = reference.check({of: tensor[:1, :CHECKED_HEADS] for of, tensor in side.results().items()}, exact, "bf16",
                                       of_terms, largest)
        if wrong:
            refused[name] = {"wrong": wrong}
        else:
            ready[name] = side, found
    return ready, refused


def measure(kind, case, packages, watch, device, options):
    """Returns one row: every side's samples and errors, and the time of the fastest rival over ours."""
    sets = draw_sets(case, kind, device, watch.l2_bytes)
    ready, reports = make_sides(case, sets, packages, watch, options)
    samples = {name: [] for name in ready}
    for number in range(options.rounds):
        for name in list(ready)[::1 if number % 2 == 0 else -1]:
            samples[name].append(ready[name][0].sample_ms())
    for name, (side, found) in ready.items():
        median_and_spread = summary(samples[name])
        reports[name] = {"num_calls": side.num_calls, "differences": found, "samples_ms": samples[name], **median_and_spread,
                         "flops_per_s": case.flops() / (1e-3 * median_and_spread["median_ms"])}
    row = {"data": kind, "pass": case.direction, "head_dim": case.head_dim, "mask": case.mask, "seqlen": case.seqlen,
           "batch": case.batch, "num_heads": case.num_heads, "input_sets": len(sets), "sides": reports}
    rivals = [name for name in ready if name != "ours"]
    if "ours" in ready and rivals:
        best = min(rivals, key=lambda name: reports[name]["median_ms"])
        row |= {"best_rival": best, "value": reports[best]["median_ms"] / reports["ours"]["median_ms"]}
    return row


def title(row):
    return (f"{row['pass']:8} {row['data']:8} d {row['head_dim']:3} {row['mask']:6} N {row['seqlen']:5} b {row['batch']:2}")


def print_row(row):
    texts = []
    for name, side in row["sides"].items():
        rate = f"{side['flops_per_s'] / 1e12:4.0f}" if "flops_per_s" in side else "wrong" if "wrong" in side else "-"
        texts.append(f"{name} {rate}")
    print(title(row), *texts, f"  {row['value']:.3f} ({row['best_rival']})" if "value" in row else "", flush=True)


def packages_of(options, is_emulated):
    """Returns ({name of a rival: package, or None where PyTorch has it}, {name: why it is left out})."""
    found, left_out = {}, {}
    for name in options.sides:
        if name in ("FA2", "cuDNN"):
            found[name] = None
            if is_emulated and name == "cuDNN":
                del found[name]
                left_out[name] = "the emulation has no GPU"
        elif is_emulated:
            left_out[name] = "the emulation has no GPU"
        elif name == "FA3":
            if not options.fa3:
                left_out[name] = "--fa3 is not given: expected libdew_flash_attn3.so"
                continue
            try:
                found[name] = flash_attention_3.Package(options.fa3)
            except (ImportError, OSError, AttributeError) as error:
                left_out[name] = flash_attention_4.first_line(error)
        else:
            try:
                flash_attention_4.load(options.fa4)
                found[name] = None
            except flash_attention_4.Missing as error:
                left_out[name] = str(error)
    return found, left_out


def versions_of_fa3(path):
    """Returns what is known of the library of FlashAttention-3, which does not tell its version."""
    with open(path, "rb") as file:
        return {**flash_attention_3.versions(), "FA3's sha256": hashlib.sha256(file.read()).hexdigest()}


def measure_all(options):
    """Measures all cells in this process, and writes its part of the results after each, as a rival may end the process."""
    device = sides.device_of(options)
    is_emulated = device == "cpu"
    packages, left_out = packages_of(options, is_emulated)
    for name, why in left_out.items():
        print(f"{name} is left out: {why}", flush=True)
    watch = ProcessorStopwatch() if is_emulated else GpuStopwatch()
    torch.manual_seed(options.process)
    rates = {} if is_emulated else product_rates()
    versions = {**(flash_attention_4.versions() if "FA4" in packages else {}),
                **(versions_of_fa3(options.fa3) if "FA3" in packages else {})}
    part = {"left_out": left_out, "versions": versions, "product_flops_per_s": rates, "seed": options.process,
            "rows": [], **sides.where_and_how(__file__, options.commit)}
    for kind, case in cells(options, is_emulated):
        part["rows"].append(measure(kind, case, packages, watch, device, options))
        part["late_samples"] = watch.late_samples
        print_row(part["rows"][-1])
        with open(options.out, "w", encoding="utf-8") as file:
            json.dump(part, file)
        if not is_emulated:
            torch.cuda.empty_cache()  # of the graphs that are gone


def environment_of(options):
    """Returns the environment of a process that loads the cuDNN of --cudnn, and FlashAttention-4's compiled kernels of the
    process before."""
    environment = dict(os.environ, FLASH_ATTENTION_CUTE_DSL_CACHE_ENABLED="1", PYTHONWARNINGS="ignore::UserWarning")
    if options.cudnn:
        folder = os.path.abspath(options.cudnn)
        environment["LD_LIBRARY_PATH"] = os.pathsep.join([folder, *filter(None, [environment.get("LD_LIBRARY_PATH")])])
        environment["LD_PRELOAD"] = os.path.join(folder, "libcudnn.so.9")
    return environment


def joined(parts):
    """Returns the rows of all processes, cell by cell: the value of a cell is the mean of theirs."""
    rows = []
    for same in zip(*(part["rows"] for part in parts)):
        row = {name: value for name, value in same[0].items() if name not in ("sides", "value", "best_rival")}
        row["processes"] = [{name: one[name] for name in ("sides", "best_rival", "value") if name in one} for one in same]
        values = [one["value"] for one in same if "value" in one]
        if len(values) == len(same):
            row |= {"value": statistics.mean(values), "spread": max(values) - min(values)}
        rows.append(row)
    return rows


def print_summary(rows):
    """Prints the geometric mean and the least value of each pass, kind of data and head_dim."""
    what = ("pass", "data", "head_dim")
    for key in dict.fromkeys(tuple(row[name] for name in what) for row in rows):
        some = [row for row in rows if tuple(row[name] for name in what) == key and "value" in row]
        if some:
            least = min(some, key=lambda row: row["value"])
            print(f"{key[0]}, {key[1]} data, head_dim {key[2]}: fastest rival's time over ours {statistics.geometric_mean(row['value'] for row in some):.3f}, "
                  f"least {least['value']:.3f} (N {least['seqlen']}, mask {least['mask']}), processes differ by at most {max(row['spread'] for row in some):.3f}")


def main():
    options = parse_arguments()
    if options.process is not None:
        measure_all(options)
        return 0
    try:
        sides.device_of(options)
    except RuntimeError as error:  # no such library
        print(f"beside_rivals.py: {error}", file=sys.stderr)
        return 2
    parts, has_failed = [], False
    with tempfile.TemporaryDirectory() as folder:
        for number in range(options.processes):
            path = os.path.join(folder, f"{number}.json")
            run = subprocess.run([sys.executable, os.path.abspath(__file__), *sys.argv[1:], "--process", str(number), "--out", path],
                                 env=environment_of(options), check=False)
            if run.returncode:
                print(f"beside_rivals.py: process {number} ended with {run.returncode}: the cells after that are missing", file=sys.stderr)
                has_failed = True
            if not os.path.exists(path):
                return 2
            with open(path, encoding="utf-8") as file:
                parts.append(json.load(file))
    rows = joined(parts)
    print_summary(rows)
    if options.out:
        common = {name: parts[0][name] for name in ("commit", "gpu", "driver", "torch", "cuda", "cudnn", "date", "left_out",
                                                    "versions")}
        common["command"] = " ".join([f"attention_cuda/bench/{os.path.basename(__file__)}", *sys.argv[1:]])
        of_processes = [{name: part[name] for name in ("product_flops_per_s", "late_samples", "seed")} for part in parts]
        with open(options.out, "w", encoding="utf-8") as file:
            json.dump({**common, "what": "value: the fastest rival's time over ours, medians over rounds, mean of the processes",
                       "processes": of_processes, "rows": rows}, file, indent=1)
            file.write("\n")
    return 1 if has_failed or any("wrong" in side for row in rows for one in row["processes"] for side in one["sides"].values()) else 0


if __name__ == "__main__":
    sys.exit(main())
