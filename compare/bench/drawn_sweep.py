#!/usr/bin/env python3
"""Draws calls of kernels and runs of generated programs from a seed, predicts them, measures them, and judges.

    compare/bench/drawn_sweep.py predict --seed 7 --gpu h100 --calibration rates.json --out predicted
    compare/bench/drawn_sweep.py measure --seed 7 --calibration rates.json --out measured
    compare/bench/drawn_sweep.py judge measured --predicted predicted [--again]

`predict` needs no GPU. Rates are those of `flashlab compare --calibrate --json rates.json`, on the card that measures
and in the same hour; what is drawn does not depend on them. --out is a folder: calls.json, as `flashlab compare --json` writes it, and programs.json. A seed
draws the same calls with both commands. Each prediction is hashed, so that `judge` finds one that was made after the
measurement. What the command refuses (tiles that do not fit, say) is drawn again; the file counts such draws.

Kernels are drawn with equal weight, then their arithmetic, mask, head_dim, lengths from 256 on (uniform on a
logarithmic scale), heads and batch, so that a call takes about 0.05 to 50 ms. Programs: bundled ones for attention and
those of --programs FOLDER, with sizes of tiles from 16 to 128, at levels 0 to 2.
"""
import argparse
import hashlib
import json
import math
import os
import random
import re
import statistics
import subprocess
import sys

# Programs on tiles whose arrays are those of one head, and the parameters that are sizes of their tiles.
BUNDLED = ["flash1", "flash2", "flash2_causal", "three_pass", "fused_softmax", "bwd_onepass", "bwd_twopass"]
LEAST_MS, MOST_MS = 0.03, 60.0  # by the prediction; a call beyond is drawn again
MOST_BYTES = 40e9  # of a call's tensors and workspace
TRIES = 40  # for a call or a program; then it is left out, and said


def command_output(arguments):
    """Runs flashlab. Returns (exit code, standard output, first line of standard error)."""
    try:
        done = subprocess.run(arguments, capture_output=True, text=True)
    except OSError as error:
        raise SystemExit(f"{arguments[0]}: {error.strerror}: expected the command flashlab (--flashlab FILE)") from None
    return done.returncode, done.stdout, (done.stderr.strip().splitlines() or [""])[0]


def logarithmic(draw, low, high):
    return int(round(math.exp(draw.uniform(math.log(low), math.log(high)))))


def listed_kernels(flashlab):
    """(variant, kernel, arithmetics, masks) of all kernels that run on one GPU."""
    code, out, error = command_output([flashlab, "attention", "--list", "--json"])
    if code != 0:
        raise SystemExit(f"{flashlab} attention --list: {error}")
    kernels = []
    for variant in json.loads(out)["variants"]:
        for kernel in variant.get("gpu_kernels", []):
            kernels.append((variant["variant"], kernel["kernel"], kernel["arithmetic"]))
    return sorted(kernels, key=lambda kernel: kernel[:2])


def drawn_call(draw, kernels):
    """Flags of `flashlab compare` for one call."""
    variant, kernel, arithmetics = draw.choice(kernels)
    arithmetic = draw.choice(arithmetics)
    n = logarithmic(draw, 256, 16384)
    if draw.random() < 0.7:
        n = max(256, n // 64 * 64)  # most users have such lengths
    heads = draw.choice([1, 2, 4, 8, 12, 16, 24, 32])
    flags = ["-v", variant, "--kernel", kernel, "--dtype", arithmetic["dtype"], "--products", arithmetic["products"],
             "--mask", draw.choice(["none", "causal"]), "--n", n, "-d", draw.choice([32, 64, 64, 80, 96, 128, 128, 192, 256]),
             "-B", logarithmic(draw, 1, 16), "-H", heads]
    if draw.random() < 0.2:
        flags += ["--kv-heads", draw.choice([k for k in (1, 2, 4, 8) if heads % k == 0])]
    if variant == "split-kv" and draw.random() < 0.5:
        flags += ["--seqlen-k", n * draw.choice([2, 4, 8])]
    return [str(flag) for flag in flags]


def drawn_program(draw, programs):
    """Flags of `flashlab gpu` for one run."""
    program = draw.choice(programs)
    level = draw.choice([0, 1, 2])
    sizes = {"n": max(64, logarithmic(draw, 256, 8192) // 64 * 64), "d": draw.choice([32, 64, 64, 128]),
             "B": draw.choice([16, 32, 64, 128]), "Bk": draw.choice([16, 32, 64, 128])}
    dtypes = ["bf16", "fp16"] if level > 0 else ["float", "bf16", "fp16"]
    flags = [program, "-D", ",".join(f"{name}={value}" for name, value in sizes.items()), "--level", level,
             "--dtype", draw.choice(dtypes), "--batch", draw.choice([1, 2, 4]),
             "--heads", draw.choice([4, 8, 16, 32])]
    return [str(flag) for flag in flags]


def is_wanted(milliseconds):
    return LEAST_MS <= milliseconds <= MOST_MS


class Sweep:
    def __init__(self, args):
        self.args = args
        self.refused = {}
        self.rates = ["--calibration", args.calibration] if args.calibration else []
        os.makedirs(args.out, exist_ok=True)

    def path(self, name):
        return os.path.join(self.args.out, name)

    def refuse(self, error):
        kind = re.sub(r"[0-9][0-9.]*", "…", re.sub(r"\S*/|: [A-Z][A-Za-z]*\[?.*", "", error))
        self.refused[kind] = self.refused.get(kind, 0) + 1

    def calls(self):
        """Draws, predicts and, unless --predict-only, measures the calls."""
        draw = random.Random(f"calls {self.args.seed}")
        kernels = listed_kernels(self.args.flashlab)
        predict = ["--predict-only", "--gpu", self.args.gpu]
        scratch, out = self.path("one_call.json"), self.path("calls.json")
        found = 0
        while found < self.args.calls:
            for _ in range(TRIES):
                flags = drawn_call(draw, kernels)
                if os.path.exists(scratch):
                    os.remove(scratch)
                code, _, error = command_output(
                    [self.args.flashlab, "compare", *flags, *predict, "--data-sheet", "--json", scratch])
                if code != 0:
                    self.refuse(error)
                    continue
                with open(scratch) as file:
                    row = json.load(file)["rows"][0]
                if is_wanted(row["predicted"]["units_ms"]) and row["tensor_bytes"] + row["workspace_bytes"] < MOST_BYTES:
                    break
                self.refuse("shorter or longer than wanted, or too large")
            else:
                raise SystemExit(f"no call in {TRIES} draws: {self.refused}")
            how = predict if self.args.job == "predict" else ["--no-counters", "--repeat", "9"]
            code, _, error = command_output([self.args.flashlab, "compare", *flags, *how, *self.rates, "--commit",
                                             self.args.commit, "--json", out, "--resume"])
            if code != 0:
                print(f"{' '.join(flags)}: {error}", file=sys.stderr)
            found += 1
        os.remove(scratch)

    def programs(self):
        draw = random.Random(f"programs {self.args.seed}")
        programs = list(BUNDLED)
        if self.args.programs:
            programs += sorted(os.path.join(self.args.programs, name) for name in os.listdir(self.args.programs)
                               if name.endswith(".toy"))
        rows = []
        while len(rows) < self.args.runs:
            for _ in range(TRIES):
                flags = drawn_program(draw, programs)
                predict = [self.args.flashlab, "gpu", *flags, "--predict-only", "--gpu", self.args.gpu, "--json"]
                code, out, error = command_output(predict)
                if code != 0:
                    self.refuse(error)
                    continue
                row = json.loads(out)
                if is_wanted(row["predicted_ms"]):
                    break
                self.refuse("shorter or longer than wanted")
            else:
                raise SystemExit(f"no program in {TRIES} draws: {self.refused}")
            row["flags"] = [os.path.basename(flags[0]), *flags[1:]]
            row["prediction_sha256"] = hash_of(row)
            if self.args.job == "measure":
                code, out, error = command_output([self.args.flashlab, "gpu", *flags, "--repeat", "9", "--no-counters",
                                                   "--json"])
                if code == 0:
                    run = json.loads(out)
                    row["measured"], row["gpu"] = run["measured"], run["gpu"]
                    row["local_bytes"] = [launch["local_bytes"] for launch in run["launches"]]
                    row["registers"] = [launch["registers"] for launch in run["launches"]]
                    row["launch_ms"] = [launch["measured"]["median_ms"] for launch in run["launches"]]
                else:
                    row["failure"] = error
            rows.append(row)
            self.write_programs(rows)  # a sweep that is ended keeps what it has

    def write_programs(self, rows):
        path = self.path("programs.json")
        with open(path + ".new", "w") as file:
            json.dump({"format": "flashlab-drawn-programs", "version": 1, "seed": self.args.seed, "commit": self.args.commit,
                       "refused": self.refused, "rows": rows}, file, indent=1)
            file.write("\n")
        os.replace(path + ".new", path)


def hash_of(row):
    """Of what was drawn and predicted, and of nothing that is measured."""
    text = json.dumps([row["flags"], row["predicted_ms"], [launch["predicted_ms"] for launch in row["launches"]]])
    return hashlib.sha256(text.encode()).hexdigest()


def load(folder, name):
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        return None
    with open(path) as file:
        return json.load(file)


def judged(ratios):
    """ratios: predicted over measured time. Returns text: how many, mean error, within 15 and 35 %, the farthest."""
    errors = [abs(ratio - 1) for ratio in ratios]
    far = max(ratios, key=lambda ratio: abs(math.log(ratio)))
    return (f"{len(ratios):5d}  {statistics.mean(errors):7.1%}  {sum(e <= 0.15 for e in errors) / len(errors):7.0%}"
            f"  {sum(e <= 0.35 for e in errors) / len(errors):7.0%}  {far:8.2f}")


def print_table(title, groups):
    print(f"\n{title:44s}  count    error  in 15 %  in 35 %  farthest")
    for name, ratios in sorted(groups.items()):
        print(f"  {name:42s}  {judged(ratios)}")
    every = [ratio for ratios in groups.values() for ratio in ratios]
    if every:
        print(f"  {'all':42s}  {judged(every)}")


def check_hashes(rows, predicted, key):
    """How many of the rows have another prediction than `predicted`, which was written before."""
    if predicted is None:
        return
    before = {key(row): row["prediction_sha256"] for row in predicted["rows"]}
    others = sum(before.get(key(row)) != row["prediction_sha256"] for row in rows)
    print(f"predictions that are not those written before: {others} of {len(rows)}")


def print_programs(title, rows, predicted_ms):
    groups = {}
    for row in rows:
        groups.setdefault(f"{row['program']}, level {row['level']}", []).append(
            predicted_ms(row) / row["measured"]["median_ms"])
    print_table(title, groups)


def is_at_hand(args, row):
    """Whether a row's program is bundled, or in --programs: other files are not in the results."""
    name = row["flags"][0]
    return not name.endswith(".toy") or (args.programs and os.path.exists(os.path.join(args.programs, name)))


def predicted_again(args, row):
    """By this build of the command."""
    name = row["flags"][0]
    program = os.path.join(args.programs, name) if name.endswith(".toy") else name
    code, out, error = command_output(
        [args.flashlab, "gpu", program, *row["flags"][1:], "--predict-only", "--gpu", args.gpu or row["predicted_for"], "--json"])
    if code != 0:
        raise SystemExit(f"{args.flashlab} gpu {' '.join(row['flags'])}: {error}")
    return json.loads(out)["predicted_ms"]


CALL_KEYS = ("variant", "kernel", "dtype", "products", "mask", "batch", "num_heads", "num_kv_heads", "seqlen_q", "seqlen_k",
             "head_dim")


def judge(args):
    calls, programs = load(args.folder, "calls.json"), load(args.folder, "programs.json")
    before = args.predicted or ""
    if calls is None and programs is None:
        raise SystemExit(f"{args.folder}: expected a folder with calls.json or programs.json, as `measure` writes them")
    if calls is not None:
        measured = [row for row in calls["rows"] if "measured" in row]
        check_hashes(measured, load(before, "calls.json"), lambda row: tuple(row[k] for k in CALL_KEYS))
        sixteen, others = {}, {}
        for row in measured:
            ratio = row["predicted"]["units_ms"] / row["measured"]["median_ms"]
            group = sixteen if row["dtype"] in ("bf16", "fp16") else others
            group.setdefault(f"{row['kernel']} {row['products'] if group is others else ''}", []).append(ratio)
        print_table("kernels, bf16 and fp16", sixteen)
        print_table("kernels, float", others)
        print(f"not measured: {len(calls['rows']) - len(measured)}")
    if programs is not None:
        rows = [row for row in programs["rows"] if "measured" in row]
        check_hashes(rows, load(before, "programs.json"), lambda row: tuple(row["flags"]))
        print_programs("generated programs", rows, lambda row: row["predicted_ms"])
        if args.again:
            again = [row for row in rows if is_at_hand(args, row)]
            print_programs("predicted again", again, lambda row: predicted_again(args, row))
            print(f"not predicted again, as their files are not in --programs: {len(rows) - len(again)}")
        print(f"not measured: {len(programs['rows']) - len(rows)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    jobs = parser.add_subparsers(dest="job", required=True)
    for name, what in (("predict", "without a GPU"), ("measure", "on a GPU")):
        job = jobs.add_parser(name, help=what)
        job.add_argument("--seed", required=True, help="what is drawn")
        job.add_argument("--flashlab", default="flashlab", help="the command (flashlab)")
        job.add_argument("--gpu", default="h100", help="a data sheet (h100)")
        job.add_argument("--calibration", help="rates measured on the card (those that flashlab knows)")
        job.add_argument("--calls", type=int, default=144, help="calls of kernels (144)")
        job.add_argument("--runs", type=int, default=60, help="runs of programs (60)")
        job.add_argument("--programs", metavar="FOLDER", help="more programs on tiles")
        job.add_argument("--commit", default="unknown", help="to record")
        job.add_argument("--out", required=True, metavar="FOLDER", help="for calls.json and programs.json")
    job = jobs.add_parser("judge", help="what was measured")
    job.add_argument("folder")
    job.add_argument("--predicted", metavar="FOLDER", help="what `predict` wrote before, to compare the hashes")
    job.add_argument("--again", action="store_true", help="also predict the programs with this build of the command")
    job.add_argument("--programs", metavar="FOLDER", help="with --again: where programs that are not bundled are")
    job.add_argument("--flashlab", default="flashlab", help="the command (flashlab)")
    job.add_argument("--gpu", help="with --again: a data sheet (that of the predictions before)")
    args = parser.parse_args()
    if args.job == "judge":
        return judge(args)
    sweep = Sweep(args)
    if args.calls > 0:
        sweep.calls()
    if args.runs > 0:
        sweep.programs()


if __name__ == "__main__":
    main()
