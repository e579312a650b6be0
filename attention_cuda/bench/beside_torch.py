#!/usr/bin/env python3
"""Compares attention on this GPU with PyTorch's scaled_dot_product_attention, in one process.

FlashAttention-4 (the package flash-attn-4) takes part if it can be imported, from --fa4 FOLDER or as
installed. Otherwise the first lines and the field left_out of the result say why it did not.

The sides of a case use the same inputs and take turns, several times. The sets of inputs take turns,
too. Before each sample, L2 is flushed and the GPU waits until all work is on its stream
(stopwatch.py). Every result is compared with attention in float before and after the timing; our
outputs are filled with NaN before. A wrong result is an error and gives no time. A time below the
minimum by the GPU's peak rates is also an error. cases.py lists the cases, and the marks to reach.

With few queries (group f), attention mainly reads K and V from DRAM. So these rows have a rate in
bytes/s. It counts the bytes of K and V, each once, even if a kernel reads them several times. Q, O,
lse and partial results are not counted. The rate is compared with that of a plain read of memory in
the same run: the fastest of torch.sum, torch.amax and torch.mv, which read a float matrix of 1 GiB
once. Between two uses of a set of inputs, K and V of 4 times the bytes of L2 are read.

Ratios are the other side's median time over ours: above 1 we are faster.
"""
import argparse
import json
import os
import sys

try:
    import torch
except ImportError:
    print("beside_torch.py: this Python has no torch: expected PyTorch for CUDA", file=sys.stderr)
    sys.exit(2)

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ("../python", "../../attention_cpu/bench"):
    sys.path.insert(0, os.path.join(HERE, folder))

import cases  # noqa: E402  (found by the paths above)
import data_kinds  # noqa: E402
import flash_attention_4  # noqa: E402
import flashlab_attention as flashlab  # noqa: E402
import reference  # noqa: E402
import sides  # noqa: E402
import stopwatch  # noqa: E402
from run_context import output_of, run_context  # noqa: E402

MOST_SAMPLES, FEWEST_SAMPLES, MS_PER_ENTRY = 10, 4, 300


def tolerance_name(entry, dtype):
    return "float tf32" if dtype == "float" and entry.how == "tf32" else dtype


def rate_name(entry, dtype):
    """Returns the fastest rate that an entry may use: torch's kernels may use tensor cores."""
    is_native = entry.side == "ours" and entry.how == "native"
    return "float tf32" if dtype == "float" and not is_native else dtype


class Contestant:
    """One entry of a case, with a side for each set of inputs."""

    def __init__(self, entry, case, sets, exact):
        self.entry, self._exact, self.samples = entry, exact, []
        self._tolerance = tolerance_name(entry, case.dtype)
        self._largest = sets[0].largest_score
        self.sides = [sides.make_side(entry, case, inputs) for inputs in sets]
        self.report = {"side": entry.side}
        if entry.side == "ours" and entry.how != "autograd":  # there torch allocates it
            self.report["workspace_bytes"] = self.sides[0].workspace_bytes

    def check(self):
        """Runs the first set and compares it with the exact results."""
        self.sides[0].poison()
        self.sides[0].first_run()
        exact, of_terms = self._exact
        found, wrong = reference.check(self.sides[0].results(), exact, self._tolerance, of_terms, self._largest)
        self.report["differences"] = found
        if wrong:
            self.report["wrong"] = wrong

    def sample(self, watch, set_number, flush_by_reading):
        self.samples.append(watch.sample_ms(self.sides[set_number], flush_by_reading))

    def wants_more(self):
        spent = sum(self.samples)
        return "wrong" not in self.report and len(self.samples) < MOST_SAMPLES and (
            len(self.samples) < FEWEST_SAMPLES or spent < MS_PER_ENTRY)

    def finish(self, case, rates):
        """Completes the report with samples and their summary, unless a result is wrong."""
        if "wrong" in self.report:
            return
        floor = stopwatch.floor_ms(case, rate_name(self.entry, case.dtype), rates)
        self.report |= {"floor_ms": floor, "samples_ms": self.samples}
        if min(self.samples) < floor:
            self.report["wrong"] = (f"{min(self.samples):.4f} ms: expected at least {floor:.4f}, "
                                    "the GPU's peak rates")
            return
        self.report |= cases.summary(self.samples)
        seconds = 1e-3 * self.report["median_ms"]
        self.report["flops_per_s"] = case.flops() / seconds
        if case.has_few_queries:
            self.report["kv_bytes_per_s"] = case.kv_bytes() / seconds


def contestants_of(case, sets, exact):
    """Returns the entries that support the case, checked, and reports of the others."""
    ready, refused = [], {}
    for entry in case.entries:
        contestant = None
        try:
            contestant = Contestant(entry, case, sets, exact)
            contestant.check()
            ready.append(contestant)
        except sides.Refused as reason:
            refused[entry.label] = {"side": entry.side, "refused": str(reason)}
        except RuntimeError as error:
            refused[entry.label] = {"side": entry.side, "wrong": str(error)}
    return ready, refused


def measure(case, watch, rates, device, kind):
    """Returns one row: a report for each entry."""
    num_sets = cases.num_input_sets(case, watch.l2_bytes)
    sets = [sides.Inputs(case, seed, device, kind) for seed in range(num_sets)]
    exact = sets[0].exact(case)
    ready, reports = contestants_of(case, sets, exact)
    for contestant in ready:  # the first run on the other sets is not timed either
        for side in contestant.sides[1:]:
            side.first_run()
    turn = num_samples = 0
    while any(contestant.wants_more() for contestant in ready):
        for contestant in ready[::1 if turn % 2 else -1]:
            if contestant.wants_more():
                contestant.sample(watch, num_samples % num_sets, case.has_few_queries)
                num_samples += 1
        turn += 1
    for contestant in ready:
        if "wrong" not in contestant.report:
            contestant.check()
        contestant.finish(case, rates)
        reports[contestant.entry.label] = contestant.report
    row = {"group": case.group, "dtype": case.dtype, "mask": case.mask,
           "shape": list(case.q_shape), "direction": case.direction, "flops": case.flops(),
           "entries": {entry.label: reports[entry.label] for entry in case.entries}}
    if case.has_few_queries:
        row |= {"num_kv_heads": case.num_kv_heads, "seqlen_k": case.seqlen,
                "kv_bytes": case.kv_bytes(), "input_sets": num_sets}
    return row | {"ratios": cases.ratios(row)}


def add_shares(row, case, product_rates, read_rate):
    """Adds each entry's share of a rate that was measured in this run: that of a plain read of memory
    with few queries, or else that of a large product."""
    for entry in case.entries:
        report = row["entries"][entry.label]
        if "kv_bytes_per_s" in report:
            report["share_of_plain_read"] = report["kv_bytes_per_s"] / read_rate
        elif "flops_per_s" in report:
            is_float = case.dtype == "float"
            name = "tf32" if is_float and entry.how not in ("", "native") else case.dtype
            report["share_of_product"] = report["flops_per_s"] / product_rates[name]


def rate_text(entry):
    """Returns an entry's rate, and its share of the measured one."""
    if "kv_bytes_per_s" in entry:
        text, share = f"{entry['kv_bytes_per_s'] / 1e12:7.2f} TB/s", entry.get("share_of_plain_read")
    else:
        text, share = f"{entry['flops_per_s'] / 1e12:7.1f} TFLOP/s", entry.get("share_of_product")
    return f"{text} " + (f"{100 * share:3.0f}%" if share else "    ")


def print_row(row):
    shape = ",".join(map(str, row["shape"]))
    keys = (f" ({row['num_kv_heads']} kv heads, {row['seqlen_k']} keys)" if "seqlen_k" in row else "")
    print(f"\n{row['group']}  {row['dtype']} {shape}{keys} mask {row['mask']} {row['direction']}")
    for label, entry in row["entries"].items():
        if "median_ms" not in entry:
            kind = "WRONG" if "wrong" in entry else "-"
            print(f"   {label:22} {kind} {entry.get('wrong') or entry['refused']}")
            continue
        beside = "  ".join(f"{ratio:5.2f} of {peer}" for peer, ratio in
                           row["ratios"].get(label, {}).items())
        print(f"   {label:22} {entry['median_ms']:9.4f} ms ±{100 * entry['spread']:4.1f}% "
              f"{rate_text(entry)}  {beside}")
    sys.stdout.flush()


def measure_memory(case):
    """Returns the peak extra bytes of the forward pass, by entry, and the bytes of O and lse."""
    outputs = 4 * case.batch * case.seqlen * (case.head_dim + 1)
    row = {"shape": [case.batch, 1, case.seqlen, case.head_dim], "O_and_lse_bytes": outputs,
           "peak_extra_bytes": {}}
    for entry in case.entries:
        try:
            row["peak_extra_bytes"][entry.label] = sides.peak_extra_bytes(entry, case)
        except (RuntimeError, ValueError) as error:
            row["peak_extra_bytes"][entry.label] = str(error).splitlines()[0]
    return row


def print_memory(row):
    sizes = "  ".join(f"{label} {value / 2**20:.1f}" if isinstance(value, int) else
                      f"{label}: {value}" for label, value in row["peak_extra_bytes"].items())
    print(f"e  {','.join(map(str, row['shape'])):14} O and lse {row['O_and_lse_bytes'] / 2**20:.1f}"
          f"  {sizes}   MiB", flush=True)


def print_summary(marks, passes):
    if passes:
        print("\nbwd-twopass's time over bwd-onepass's")
    for found in passes:
        print(f"   {found['dtype']:5} {found['how']:6} {str(found['shape']):22} "
              f"{found['mask']:6} {found['ratio']:.2f}")
    if marks:
        print("\nmarks")
    for mark in marks:
        limit = (f">= {mark['at_least']} of {mark['peer']}" if "peer" in mark else
                 f"<= {mark['at_most_ms']} ms" if "at_most_ms" in mark else
                 f"<= {mark['at_most_bytes']} bytes")
        value = f"{mark['value']:.2f}" if isinstance(mark["value"], float) else mark["value"]
        print(f"   {'met   ' if mark['met'] else 'MISSED'} {mark['group']} {mark['direction']:8} "
              f"{str(mark['shape']):22} {mark['mask']:6} {mark['ours']:20} {value} {limit}")


def gpu_context():
    """Returns the GPU's name, driver and current clocks, and software versions."""
    fields = ("name,driver_version,clocks.sm,clocks.mem,clocks.max.sm,clocks.max.mem,power.limit,"
              "temperature.gpu")
    said = output_of("nvidia-smi", f"--query-gpu={fields}", "--format=csv,noheader")
    device = torch.cuda.get_device_properties(0)
    return {"name": device.name, "compute_capability": f"{device.major}.{device.minor}",
            "multiprocessors": device.multi_processor_count, "memory_bytes": device.total_memory,
            "nvidia_smi": dict(zip(fields.split(","), (said or "").splitlines()[0].split(", ")))
            if said else None,
            "cuda": torch.version.cuda, "cudnn": torch.backends.cudnn.version()}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--library", dest="shared_object", metavar="FILE",
        help="libflashlab_cuda.so (FLASHLAB_CUDA_LIBRARY, or the one in build/)")
    add("--rows", default="a,b,c,d,e,f,g", help="which groups of cases.py (a,b,c,d,e,f,g)")
    add("--directions", default=",".join(cases.DIRECTIONS), help="which of these cases")
    add("--data", choices=data_kinds.KINDS, default="normal", help="the kind of Q, K and V (data_kinds.py)")
    add("--quick", action="store_true", help="fewer lengths")
    add("--fa4", metavar="FOLDER", help="site folder with flash-attn-4 and what it needs, if this "
        "Python does not have them")
    add("--commit", help="commit of the library, if this is not a git checkout")
    add("--out", "--json", metavar="FILE", dest="out", help="raw samples, machine, versions")
    options = parser.parse_args()
    options.groups = options.rows.split(",")
    if not set(options.groups) <= set("abcdefg"):
        parser.error(f"--rows {options.rows}: expected some of a,b,c,d,e,f,g")
    options.directions = options.directions.split(",")
    if not set(options.directions) <= set(cases.DIRECTIONS):
        parser.error(f"--directions {','.join(options.directions)}: expected some of "
                     f"{','.join(cases.DIRECTIONS)}")
    if options.fa4 and not os.path.isdir(options.fa4):
        parser.error(f"--fa4 {options.fa4}: expected a folder with the package flash-attn-4")
    if options.shared_object:
        os.environ["FLASHLAB_CUDA_LIBRARY"] = options.shared_object
    return options


def left_out(options, library):
    """Returns {side: the reason in one line} for the sides that do not take part."""
    if library.is_emulated:
        return {"FA4": "the emulation has no GPU"}
    try:
        flash_attention_4.load(options.fa4)
    except flash_attention_4.Missing as reason:
        return {"FA4": str(reason)}
    return {}


def run(options, library, absent):
    """Runs all measurements and prints each result at once."""
    chosen = [case for case in cases.all_cases(options.groups, options.quick)
              if case.direction in options.directions]
    for side in absent:
        chosen = cases.without(side, chosen)
    result = {"left_out": absent, "data": options.data, "rows": [], "memory": []}
    rates = read_rate = None
    if library.is_emulated:
        watch, chosen = stopwatch.ProcessorStopwatch(), cases.tiny(chosen)
    else:
        rates = stopwatch.gpu_rates(torch.cuda.get_device_name())
        result["product_flops_per_s"] = stopwatch.product_rates()
        watch = stopwatch.GpuStopwatch()
        print("" if rates else "no rates of this GPU in gpu/sheets/gpus.json: no floor for times")
        print("torch.mm 8192^3, TFLOP/s:", "  ".join(
            f"{name} {rate / 1e12:.0f}" for name, rate in result["product_flops_per_s"].items()))
        if any(case.has_few_queries for case in chosen):
            found = result["plain_read_bytes_per_s"] = stopwatch.plain_read_rates()
            read_rate = max(found.values())
            print("plain read of 1 GiB, TB/s:", "  ".join(
                f"{name} {rate / 1e12:.2f}" for name, rate in found.items()))
    for case in chosen:
        row = measure(case, watch, rates, library.device_type, options.data)
        if not library.is_emulated:
            add_shares(row, case, result["product_flops_per_s"], read_rate)
        result["rows"].append(row)
        print_row(row)
    if "e" in options.groups and not library.is_emulated:
        print("\npeak extra memory of a forward pass in float")
        for case in cases.memory_cases(options.quick):
            result["memory"].append(measure_memory(case))
            print_memory(result["memory"][-1])
    result["late_samples"] = watch.late_samples
    result["marks"] = cases.judge_all(result["rows"]) + cases.judge_memory(result["memory"])
    result["onepass_against_twopass"] = cases.onepass_against_twopass(result["rows"])
    print("\n±: half the quartiles' distance; then the share of torch.mm's rate, or of a plain read's "
          "(TB/s: of K and V, each once); of a peer: its time over ours")
    print_summary(result["marks"], result["onepass_against_twopass"])
    return result


def main():
    options = parse_arguments()
    try:
        library = flashlab.loaded_library()
    except RuntimeError as error:
        print(f"beside_torch.py: {error}", file=sys.stderr)
        return 2
    torch.set_float32_matmul_precision("highest")
    context = run_context(library.path, options.commit)
    if not library.is_emulated:
        context["gpu"] = gpu_context()
        gpu = context["gpu"]
        print(f"{gpu['name']}, torch {torch.__version__}, CUDA {gpu['cuda']}, "
              f"cuDNN {gpu['cudnn']}; flashlab {library.version()}")
    absent = left_out(options, library)
    if absent:
        print(f"FA4 is left out: {absent['FA4']}")
    else:
        context["versions"] |= flash_attention_4.versions()
        print("FA4:", ", ".join(f"{package} {context['versions'][package]}"
                                for package in flash_attention_4.PACKAGES))
    result = run(options, library, absent)
    if not library.is_emulated:
        context["gpu_after"] = gpu_context()
    if options.out:
        with open(options.out, "w", encoding="utf-8") as file:
            json.dump({"format_version": 1, **context, **result}, file, indent=1)
            file.write("\n")
    return 1 if any("wrong" in entry for row in result["rows"]
                    for entry in row["entries"].values()) else 0


if __name__ == "__main__":
    sys.exit(main())
