#!/usr/bin/env python3
"""Prints the tables of docs/attention_cuda_results.md from the committed results.

  tables.py NAME      one of: rivals (by beside_rivals.py), run, fa2, forward, float, backward, long, memory, short, few, rounded, rows,
                      kernels, marks, tests, data (by builds_in_turns.py); of several GPUs (docs/several_gpus.md): ranks, links, and of the
                      run "causes" also causes, flags

If a source measured the same, its time is shown beside ours (source_timings.json).
"""
import json
import math
import os
import statistics
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
which_run = []  # the end of the files' names: of a run on another machine
RESULTS = os.path.join(HERE, "../../docs/results")


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def results(name="beside_torch"):
    return load(os.path.join(RESULTS, "_".join(["attention_cuda", name, *which_run]) + ".json"))


def sources():
    return load(os.path.join(HERE, "source_timings.json"))


def print_table(header, rows):
    """Prints columns of minimum width, the first aligned to the left, the others to the right."""
    rows = [[str(cell) for cell in row] for row in (header, *rows)]
    widths = [max(len(row[k]) for row in rows) for k in range(len(header))]
    for row in rows:
        cells = [row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:]))]
        print("  ".join(cells).rstrip())


def rows_of(group, direction):
    return [row for row in results()["rows"]
            if row["group"] == group and row["direction"] == direction]


def ms(row, label):
    return row["entries"].get(label, {}).get("median_ms")


def number(value, digits=3):
    return "-" if value is None else f"{value:.{digits}f}"


def ratio(peer, ours):
    return "-" if peer is None or ours is None else f"{peer / ours:.2f}"


def rate(row, label):
    return number(row["flops"] / ms(row, label) * 1e-9, 0) if ms(row, label) else "-"


def run(found=None):
    found = found or results()
    gpu = found["gpu"]
    print(f"{gpu['name']}, driver {(gpu['nvidia_smi'] or {}).get('driver_version', '?')}, "
          f"CUDA {gpu['cuda']}, cuDNN {gpu['cudnn']}, PyTorch {found['versions']['torch']}")
    print(f"commit {found['commit']}, {found['date']}")
    if "flash-attn-4" in found["versions"]:
        print(f"FA4: flash-attn-4 {found['versions']['flash-attn-4']}")
    rates = found["product_flops_per_s"]
    print("torch.mm 8192^3, TFLOP/s: " +
          ", ".join(f"{name} {value / 1e12:.0f}" for name, value in rates.items()))


def fa2():
    """Prints bf16 beside FA2, cuDNN and, if it was measured, FA4: TFLOP/s, and their times over ours."""
    found = {direction: rows_of("a", direction) for direction in ("forward", "backward")}
    peers = {"FA2": "torch flash", "cuDNN": "torch cudnn", "FA4": "FA4"}
    if not any(ms(row, "FA4") for some in found.values() for row in some):
        del peers["FA4"]
    table = []
    for direction, variants in (("forward", ["flash2"]), ("backward", ["bwd-onepass", "bwd-twopass"])):
        for row in found[direction]:
            timed = [v for v in variants if ms(row, v)]
            if not timed:  # a wrong result has no time
                continue
            best = min(timed, key=lambda v: ms(row, v))
            table.append([direction, row["shape"][3], "causal" if row["mask"] == "causal" else "full",
                          row["shape"][2], rate(row, best),
                          *(rate(row, label) for label in peers.values()),
                          *(ratio(ms(row, label), ms(row, best)) for label in peers.values())])
    print_table(["", "head_dim", "mask", "N", "ours", *peers, *(f"{name} / ours" for name in peers)],
                table)


def forward():
    """Prints the time of the best peer over ours in the forward pass in bf16."""
    cells = {}
    for row in rows_of("a", "forward"):
        best = min(ms(row, label) for label in row["entries"] if label != "flash2" and ms(row, label))
        mask = "causal" if row["mask"] == "causal" else "full"
        cells[row["shape"][3], mask, row["shape"][2]] = best / ms(row, "flash2")
    lengths = sorted({n for _, _, n in cells})
    print_table(["head_dim", "mask", *(f"N {n}" for n in lengths)],
                [[d, mask, *(f"{cells[d, mask, n]:.2f}" for n in lengths)]
                 for d, mask in dict.fromkeys((d, mask) for d, mask, _ in cells)])
    mean = math.exp(sum(math.log(cell) for cell in cells.values()) / len(cells))
    print(f"geometric mean {mean:.3f}, least {min(cells.values()):.2f}")


def ordered():
    """Prints what a fixed order of additions to dQ costs in bf16: rate over that of the default."""
    table = []
    for row in rows_of("a", "backward"):
        if not ms(row, "bwd-onepass ordered"):
            continue
        mask = "causal" if row["mask"] == "causal" else "full"
        theirs = ms(row, "FA4 ordered")
        table.append([row["shape"][3], mask, row["shape"][2], rate(row, "bwd-onepass ordered"),
                      f"{ms(row, 'bwd-onepass') / ms(row, 'bwd-onepass ordered'):.2f}",
                      f"{ms(row, 'FA4') / theirs:.2f}" if theirs else "-"])
    print_table(["head_dim", "mask", "N", "ordered, TFLOP/s", "/ default", "FA4's / default"], table)


def training():
    """Prints forward and backward as training calls them, in bf16: times over ours."""
    label, peers = "flash2+bwd-onepass autograd", {"FA2": "torch flash", "cuDNN": "torch cudnn", "FA4": "FA4"}
    found = rows_of("g", "both")
    print_table(["head_dim", "mask", "N", "ours, ms", *(f"{name} / ours" for name in peers)],
                [[row["shape"][3], "causal" if row["mask"] == "causal" else "full", row["shape"][2],
                  number(ms(row, label)), *(ratio(ms(row, peer), ms(row, label)) for peer in peers.values())]
                 for row in found])
    for name, peer in peers.items():
        shares = [ms(row, peer) / ms(row, label) for row in found if ms(row, peer)]
        if shares:
            print(f"{name} / ours, geometric mean {math.exp(statistics.fmean(map(math.log, shares))):.3f}")


def counters():
    """Prints what the GPU's counters say about the forward pass, ours / FA4's."""
    cells = {}
    for row in results("forward_counters")["rows"]:
        cells.setdefault((row["head_dim"], row["mask"], row["seqlen"]), {})[row["side"]] = row
    names = {"TFLOP/s": ("tflops", 0), "tensor cores busy, %": ("tensor_cores_busy_percent", 0),
             "exp2 busy, %": ("exp2_busy_percent", 0), "SMs with work, %": ("sms_with_work_percent", 0),
             "GHz": ("ghz", 2)}
    print_table(["head_dim", "mask", "N", *names],
                [[*cell, *(" / ".join(f"{sides[side][key]:.{digits}f}" for side in ("flash2", "FA4"))
                           for key, digits in names.values())] for cell, sides in cells.items()])


def float_table(direction, source_times):
    row = rows_of("d", direction)[0]
    table = []
    for label in row["entries"]:
        if ms(row, label) is None:
            continue
        source = source_times.get(label)
        table.append([label, number(ms(row, label)), rate(row, label), number(source, 2)])
    print_table(["", "ms", "TFLOP/s", "FA2 backward post, 3090, ms"], table)


def floats():
    float_table("forward", sources()["fa2_backward_post"]["forward_8192"])


def backward():
    float_table("backward", sources()["fa2_backward_post"]["backward_8192"])


def long():
    table = []
    for row in rows_of("b", "both"):
        seqlen = row["shape"][2]
        ours, fa = ms(row, "flash2+bwd-onepass"), ms(row, "torch flash")
        source = sources()["fa2_backward_post"]["both_bf16"][str(seqlen)]
        table.append([seqlen, number(ours), number(fa), number(ms(row, "torch cudnn")),
                      ratio(fa, ours), number(source["fa2"]), number(source["triton"]),
                      f"{source['fa2'] / source['triton']:.2f}"])
    print_table(["N", "ours, ms", "FA2", "cuDNN", "FA2 / ours", "the post: FA2, ms", "Triton", "FA2 / Triton"], table)


def memory():
    found = results()["memory"]
    labels = list(found[0]["peak_extra_bytes"])
    table = [[row["shape"][1] if len(row["shape"]) == 3 else row["shape"][-2],
              *(number(row["peak_extra_bytes"].get(label, 0) / 2**20, 1) for label in labels)]
             for row in found]
    print_table(["N", *(label + ", MiB" for label in labels)], table)


def short():
    for direction, ours in (("forward", ["flash2"]), ("backward", ["bwd-onepass", "bwd-twopass"])):
        table = []
        for row in rows_of("c", direction):
            best = min((v for v in ours if ms(row, v)), key=lambda v: ms(row, v))
            source = sources()["pallas_post"][direction].get(str(row["shape"][2]), [None] * 3)
            unfused = [time for time in (ms(row, "naive"), ms(row, "torch math")) if time]
            table.append([row["shape"][2], number(ms(row, "naive"), 4), number(ms(row, "torch math"), 4),
                          number(ms(row, best), 4), number(ms(row, "torch cudnn"), 4),
                          ratio(min(unfused), ms(row, best)) if unfused else "-",
                          ratio(ms(row, "torch cudnn"), ms(row, best)), *(number(s) for s in source),
                          ratio(source[0], source[1]), ratio(source[2], source[1])])
        print(direction)
        print_table(["T", "naive, ms", "torch math", "ours", "cuDNN", "unfused / ours", "cuDNN / ours",
                     "Pallas post: naive", "flash", "cuDNN", "naive / flash", "cuDNN / flash"], table)


def few():
    """Prints one query beside many keys: TB/s of K and V, each read once, and times over split-kv's."""
    found = rows_of("f", "forward")
    if not found:
        sys.exit("tables.py few: the results have no rows of group f")
    print("plain read, TB/s: " + ", ".join(
        f"{name} {number(rate / 1e12, 2)}"
        for name, rate in results()["plain_read_bytes_per_s"].items()))
    table = []
    for row in found:
        for label, entry in row["entries"].items():
            if not ms(row, label):
                continue
            table.append([label, row["shape"][0], row["shape"][1], row["num_kv_heads"],
                          row["seqlen_k"], number(ms(row, label), 4),
                          number(entry["kv_bytes_per_s"] / 1e12, 2),
                          number(entry["share_of_plain_read"], 2),
                          ratio(ms(row, label), ms(row, "split-kv"))])
    print_table(["", "batch", "heads", "kv heads", "keys", "ms", "TB/s", "of a plain read",
                 "/ split-kv"], table)


def rounded():
    table = []
    for row in results("rounded_statistics")["rows"]:
        table.append([row["seqlen"], *(f"{row[kind][gradient]:.1e}" for gradient in ("dQ", "dK", "dV")
                                       for kind in ("float", "rounded"))])
    print_table(["N", "dQ, float", "16 bits", "dK, float", "16 bits", "dV, float", "16 bits"], table)


def marks():
    table = []
    for mark in results()["marks"]:
        wanted = (f">= {mark['at_least']} of {mark['peer']}" if "at_least" in mark
                  else f"<= {mark['at_most_ms']} ms" if "at_most_ms" in mark else "nothing else")
        if "shape" not in mark:
            continue
        table.append([mark["ours"], mark["direction"], "x".join(map(str, mark["shape"])),
                      mark.get("mask", ""), number(mark["value"], 2), wanted,
                      "met" if mark["met"] else "MISSED"])
    print_table(["", "pass", "shape", "mask", "value", "mark", ""], table)


def tests():
    found = results("on_a_gpu")
    by_outcome = {}
    for test in found["tests"]:
        by_outcome.setdefault(test["outcome"], []).append(test)
    for outcome, some in by_outcome.items():
        print(f"{len(some)} tests {outcome}, {sum(t['checks'] for t in some)} checks")
    for row in found["sanitizers"]:
        print(f"{row['tool']}: {row['outcome']} ({row.get('summary') or row.get('why')})")


def rows():
    found = results("on_a_gpu")["softmax_rows"]
    elements = 1056 * 524288 * 4
    counted = {}
    for line in found["counters"]:
        cells = [cell.strip('"') for cell in line.split('","')]
        kernel = "three-pass" if "three_pass" in line else "online"
        metric = "read" if "read" in cells[-3] else "written"
        counted.setdefault(kernel, {})[metric] = int(cells[-1].replace(",", "").strip('"'))
    print_table(["", "read, GB", "in n", "written, GB", "in n"],
                [[kernel, f"{b['read'] / 1e9:.2f}", f"{b['read'] / elements:.2f}",
                  f"{b['written'] / 1e9:.2f}", f"{b['written'] / elements:.2f}"]
                 for kernel, b in counted.items()])
    print("\n".join(found["printed"][1:]))


def kernels():
    print("\n".join(line for line in results("on_a_gpu")["by_kernel"] if line.strip()))


def data():
    """Prints, for kinds of data and lengths, the time of the last build on normal data over that on this
    kind, and the time of the first build over that of the last; means of both masks."""
    found = results("data_in_turns")
    first, *_, last = found["rows"][0]["samples_ms"]
    lengths, kinds, head_dims = (list(dict.fromkeys(row[name] for row in found["rows"]))
                                 for name in ("seqlen_q", "data", "head_dim"))
    print(f"{found['gpu']}, {found['date']}; {first}: {found['builds'].get(first, '?')}, "
          f"{last}: {found['builds'].get(last, '?')}")
    table = []
    for head_dim in head_dims:
        for kind in kinds:
            cells = [[row for row in found["rows"] if (row["head_dim"], row["data"], row["seqlen_q"]) == (head_dim, kind, length)]
                     for length in lengths]
            table.append([f"{head_dim:3} {kind}",
                          *(f"{statistics.geometric_mean(row[field][last] for row in cell):.2f}"
                            for field in ("of_first_kind", "speed") for cell in cells)])
    titles = [f"{what} {length}" for what in (f"of {kinds[0]}", f"{first} /") for length in lengths]
    print_table(["", *titles], table)


def cells_of_rivals(rows, columns_are):
    """Returns (header, lines) of the fastest rival's time over ours; `columns_are`: the name of what differs from column to column."""
    columns = list(dict.fromkeys(row[columns_are] for row in rows))
    lines = {}
    for row in rows:
        key = (row["pass"], row["head_dim"], "causal" if row["mask"] == "causal" else "full")
        lines.setdefault(key, {})[row[columns_are]] = row
    texts = [[*key, *(cell_of_rivals(found.get(column)) for column in columns)]
             for key, found in sorted(lines.items(), key=lambda line: line[0][0] != "forward")]
    return ["", "head_dim", "mask", *(f"N {name}" if columns_are == "seqlen" else name for name in columns)], texts


def cell_of_rivals(row):
    """The value of a cell, and in brackets the rivals that were the fastest in its processes."""
    if row is None or "value" not in row:
        return "-"
    return f"{row['value']:.2f} ({'/'.join(dict.fromkeys(one['best_rival'] for one in row['processes']))})"


def rivals():
    """Prints the fastest rival's time over ours: by length on normal data, and by kind of data."""
    found = results("beside_rivals")
    print(f"{found['gpu']}, driver {found['driver']}, CUDA {found['cuda']}, cuDNN {found['cudnn']}, PyTorch {found['torch']}, "
          f"commit {found['commit']}, {found['date']}")
    normal = [row for row in found["rows"] if row["data"] == "normal"]
    print_table(*cells_of_rivals(normal, "seqlen"))
    of_kinds = [row for row in found["rows"] if row["data"] != "normal"]
    for length in dict.fromkeys(row["seqlen"] for row in of_kinds):
        print(f"\nN {length}")
        print_table(*cells_of_rivals([row for row in of_kinds if row["seqlen"] == length], "data"))
    print()
    for name in dict.fromkeys(row["pass"] for row in normal):
        for what, some in (("N 1024 and more", [row for row in normal if row["seqlen"] >= 1024]),
                           ("shorter", [row for row in normal if row["seqlen"] < 1024])):
            values = [row["value"] for row in some if row["pass"] == name and "value" in row]
            if values:
                print(f"{name}, normal data, {what}: mean {statistics.geometric_mean(values):.3f}, least {min(values):.3f}")
    differences = [row["spread"] for row in found["rows"] if "spread" in row]
    print(f"two processes differ by {statistics.median(differences):.3f}, at most {max(differences):.3f}")


def links():
    """Bytes per second that each GPU sends and receives at once, by the size of a message."""
    found = results("ranks")["links"]
    sizes = sorted({row["megabytes"] for row in found})
    rate_of = {(row["link"], row["megabytes"]): row["gb_per_s_each_way"] for row in found}
    names = list(dict.fromkeys(row["link"] for row in found))
    print_table(["GB/s each way", *(f"{size} MiB" for size in sizes)],
                [[name, *(f"{rate_of[name, size]:.0f}" for size in sizes)] for name in names])


def ranks():
    """T1 / (R T_R) of every variant and transport, and the fastest one's milliseconds."""
    found = results("ranks")
    print(f"{found['gpus']} x {found['gpu']}, {found['links_between']}, driver {found['driver']}, "
          f"{found['date']}, commit {found['commit']}")
    columns = list(dict.fromkeys((row["variant"], row["transport"]) for row in found["rows"]))
    cells = {}
    for row in found["rows"]:
        cells.setdefault((row["pass"], row["mask"], row["length"]), []).append(row)
    lines = []
    for (direction, mask, length), rows_here in sorted(cells.items(), key=lambda cell: (
            cell[0][0] != "forward", cell[0][1] != "full", cell[0][2])):
        by_column = {(row["variant"], row["transport"]): row for row in rows_here}
        best = min(rows_here, key=lambda row: row["ms"])
        lines.append([f"{direction} {mask}", f"{length // 1024}k", f"{best['one_gpu_ms']:.1f}",
                      f"{best['ms']:.1f}",
                      *(number(by_column.get(column, {}).get("efficiency"), 2)
                        for column in columns)])
    print_table(["pass", "tokens", "T1 ms", "best T_R ms",
                 *(f"{variant}, {transport}" for variant, transport in columns)], lines)


def causes():
    """What the slowest rank takes: a fourth of the whole problem, as all GPUs compute it at the same time, and
    its part, with messages and without. Clocks of the first are those of each GPU, of the others means."""
    found = results("ranks")

    def mean_mhz(row, part):
        sampled = [mhz for mhz in row[part + "_mhz"] if mhz]
        return f"{statistics.fmean(sampled):.0f}" if sampled else "-"

    lines = []
    for row in found["causes"]:
        whole, sent, silent = (max(row[part + "_ms"]) for part in
                               ("whole_problem", "with_messages", "without_messages"))
        lines.append([f"{row['pass']} {row['mask']}", f"{row['length'] // 1024}k", row["variant"],
                      f"{whole / row['gpus']:.1f}", f"{silent:.1f}", f"{sent:.1f}",
                      f"{whole / row['gpus'] / sent:.2f}",
                      " ".join(str(mhz or "-") for mhz in row["whole_problem_mhz"]),
                      mean_mhz(row, "without_messages"), mean_mhz(row, "with_messages")])
    print_table(["pass", "tokens", "variant", "whole / R ms", "silent ms", "with messages ms", "share",
                 "MHz, whole", "silent", "with messages"], lines)


def flags():
    """Calls with a flag beside those without one."""
    found = results("ranks")["flags"]
    calls = {}
    for row in found:
        key = (row["variant"], row["mask"], row["length"])
        calls.setdefault(key, {}).setdefault(row["flag"], []).extend(row["ms"])
    lines = []
    for (variant, mask, length), by_flag in calls.items():
        usual = statistics.median(by_flag[""])
        for flag in [flag for flag in by_flag if flag]:
            ms_with = statistics.median(by_flag[flag])
            lines.append([f"{variant} {mask}", f"{length // 1024}k", flag, f"{usual:.2f}",
                          f"{ms_with:.2f}", f"{ms_with / usual:.3f}"])
    print_table(["call", "tokens", "flag", "usual ms", "with it ms", "ratio"], lines)


TABLES = {"data": data, "rivals": rivals, "ranks": ranks, "links": links, "causes": causes, "flags": flags, "rows": rows, "kernels": kernels, "run": run, "fa2": fa2, "forward": forward, "ordered": ordered, "training": training, "counters": counters, "float": floats, "backward": backward, "long": long,
          "memory": memory, "short": short, "few": few, "rounded": rounded, "marks": marks, "tests": tests}

if __name__ == "__main__":
    if len(sys.argv) not in (2, 3) or sys.argv[1] not in TABLES:
        sys.exit(f"tables.py: expected one of {', '.join(TABLES)}, and perhaps of which run (h100, four, causes, checked)")
    which_run = sys.argv[2:]
    try:
        TABLES[sys.argv[1]]()
    except FileNotFoundError as error:
        sys.exit(f"tables.py: no {os.path.normpath(error.filename)}: expected h100, four, causes or checked after the table")
    except KeyError as error:
        sys.exit(f"tables.py: the results of this run have no {error}: expected 'causes' after {sys.argv[1]}"
                 if sys.argv[1] in ("causes", "flags") else f"tables.py: no {error} in the results of this run")
