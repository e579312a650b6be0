#!/usr/bin/env python3
"""Generated kernels beside the kernels by hand with the same instructions: mma.sync at level 1, wgmma
and TMA at level 2.

  beside_kernels.py table [FILE]  prints the table of a file, or of docs/results/generated_kernels.json
  beside_kernels.py measure [--level 2] [--program NAME]… FILE
                                  measures on this machine's GPU with the `flashlab` of the PATH,
                                  writes FILE, and prints its table

16 384 tokens, 2048 columns of all heads, bf16. Each row is one program with tiles given here.
"""
import argparse
import datetime
import json
import pathlib
import statistics
import subprocess

RESULTS = pathlib.Path(__file__).resolve().parents[2] / "docs/results/generated_kernels.json"
TOKENS, COLUMNS = 16384, 2048
TILES = {  # by level, then by program and head dimension: B, Bk
    1: {("flash2", 64): [(128, 64)], ("flash2", 128): [(256, 64)],
        ("flash2_causal", 64): [(128, 64)], ("flash2_causal", 128): [(128, 64)],
        ("bwd_onepass", 64): [(64, 128)], ("bwd_onepass", 128): [(64, 64)],
        ("bwd_twopass", 64): [(128, 64)], ("bwd_twopass", 128): [(64, 64)]},
    2: {("flash2", 64): [(128, 128), (192, 128)], ("flash2", 128): [(128, 128), (192, 64)],
        ("flash2_causal", 64): [(128, 128), (192, 128)],
        ("flash2_causal", 128): [(128, 128), (128, 64)],
        ("bwd_onepass", 64): [(128, 128), (64, 64)], ("bwd_onepass", 128): [(64, 64)],
        ("bwd_twopass", 64): [(128, 128), (64, 128)],
        ("bwd_twopass", 128): [(64, 128), (64, 64)]},
}
KERNELS = {1: {"flash2": "flash2_mma_sm80", "bwd_onepass": "bwd_onepass_mma_sm80",
               "bwd_twopass": "bwd_twopass_mma_sm80"},
           2: {"flash2": "flash2_wgmma_sm90", "bwd_onepass": "bwd_onepass_wgmma_sm90",
               "bwd_twopass": "bwd_twopass_wgmma_sm90"}}


def generated_command(level, program, n, head_dim, tiles):
    return ["flashlab", "gpu", program, "-D", f"n={n},d={head_dim},B={tiles[0]},Bk={tiles[1]}",
            "--batch", str(TOKENS // n), "--heads", str(COLUMNS // head_dim), "--dtype", "bf16",
            "--sram", "h100", "--level", str(level), "--no-counters", "--json"]


def kernel_command(level, program, n, head_dim):
    name = program.removesuffix("_causal")
    return ["flashlab", "attention", "--device", "cuda", "-v", name.replace("_", "-"), "--kernel",
            KERNELS[level][name], "-B", str(TOKENS // n), "-H", str(COLUMNS // head_dim), "-N", str(n),
            "-d", str(head_dim), "--mask", "causal" if program.endswith("_causal") else "none",
            "--dtype", "bf16", "--bench", "--json", "--repeat", "5"]


def output_of(command):
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def row_of(program, n, head_dim, tiles, generated, kernel):
    return {"program": program, "n": n, "head_dim": head_dim, "B": tiles[0], "Bk": tiles[1],
            "call_ms": generated["call_ms"], "predicted_ms": generated["predicted_ms"],
            "registers": [launch["registers"] for launch in generated["launches"]],
            "local_bytes": [launch["local_bytes"] for launch in generated["launches"]],
            "compile_seconds": generated["gpu"]["compile_seconds"],
            "kernel": kernel["kernel"], "kernel_ms": [1e3 * s for s in kernel["seconds"]],
            "flops": kernel["flops"]}


def measure(level, programs):
    rows, gpu = [], ""
    for (program, head_dim), choices in TILES[level].items():
        if programs and program not in programs:
            continue
        for n in (4096, 16384):
            kernel = output_of(kernel_command(level, program, n, head_dim))
            for tiles in choices:
                generated = output_of(generated_command(level, program, n, head_dim, tiles))
                gpu = generated["gpu"]["name"]
                rows.append(row_of(program, n, head_dim, tiles, generated,
                                   kernel["measurement"]["variants"][0]))
    version = subprocess.run(["flashlab", "--version"], check=True, capture_output=True, text=True)
    return {"format": "flashlab-generated-kernels", "version": 1, "gpu": gpu,
            "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
            "commit": version.stdout.splitlines()[0].split()[-1].strip("()"), "tokens": TOKENS, "columns": COLUMNS,
            "dtype": "bf16", "level": level, "rows": rows}


def table(results):
    lines = [f"{results['gpu']}, {results['dtype']}, {results['tokens']} tokens, heads x head_dim = "
             f"{results['columns']}, commit {results['commit']}, {results['date']}", "",
             "program        head_dim      N    B   Bk     ms  TFLOP/s  by hand  by hand / ms  "
             "predicted / ms"]
    for row in results["rows"]:
        ms, by_hand = statistics.median(row["call_ms"]), statistics.median(row["kernel_ms"])
        lines.append(f"{row['program']:13} {row['head_dim']:9} {row['n']:6} {row['B']:4} "
                     f"{row['Bk']:4} {ms:6.2f} {row['flops'] / ms / 1e9:8.0f} {by_hand:8.2f} "
                     f"{by_hand / ms:13.2f} {row['predicted_ms'] / ms:15.2f}")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    printed = commands.add_parser("table", help="print a table that is committed")
    printed.add_argument("file", type=pathlib.Path, nargs="?", default=RESULTS)
    measured = commands.add_parser("measure", help="measure on this machine's GPU")
    measured.add_argument("--level", type=int, choices=sorted(TILES), default=1)
    measured.add_argument("--program", action="append", help="only this one; may be repeated")
    measured.add_argument("file", type=pathlib.Path)
    arguments = parser.parse_args()
    file = arguments.file
    if arguments.command == "measure":
        file.write_text(json.dumps(measure(arguments.level, arguments.program), indent=1) + "\n")
    print(table(json.loads(file.read_text())))


if __name__ == "__main__":
    main()
