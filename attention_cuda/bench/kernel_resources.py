#!/usr/bin/env python3
"""Lists registers, spills, stack and static shared memory of every kernel, as reported by ptxas.

  kernel_resources.py [--arch 80 --arch 90] [--one-head-dim] [--jobs 2] [--out FILE.json] [--check]

Needs nvcc and no GPU. A compiler warning is an error. Kernels of one generation (*_sm90.cu) are compiled
for that generation alone, and only if --arch names it.
--one-head-dim compiles only for head_dim 64, which is faster.
--check: exit code 1 if a tensor-core kernel spills registers at a head_dim of 128 or less, if a wgmma
kernel spills at any, or if ptxas had to serialise wgmma (its warnings C75xx). The portable flash2 that
takes a state is exempt: it spills up to 28 bytes (head_dim 256) while it loads that, before its loop. The backward wgmma
kernel may spill 48 bytes, and the forward one 8, once for each query tile.
"""
import argparse
import concurrent.futures
import datetime
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FLAGS = ["-std=c++20", "-O3", "-lineinfo", "-Werror=all-warnings", "-Xcompiler=-Wall,-Wextra",
         "-Xptxas=-v", "-I."]
LARGEST_WITHOUT_SPILLS = 128  # head_dim
# Bytes; others: none. All in warps that load or bring statistics, which have 24 registers.
ALLOWED_SPILLS = {"bwd_onepass_fp16x3_sm90": 24, "bwd_onepass_wgmma_sm90": 48, "flash2_wgmma_sm90": 8}
KERNEL = re.compile(r"Compiling entry function '(?P<name>\w+)' for 'sm_(?P<arch>\w+)'")
STACK = re.compile(r"(?P<stack>\d+) bytes stack frame, (?P<stores>\d+) bytes spill stores, "
                   r"(?P<loads>\d+) bytes spill loads")
USED = re.compile(r"Used (?P<registers>\d+) registers(?P<rest>.*)")
ELEMENTS = {"Fp16x3Config": "fp16x3", "BFloat16": "bf16", "Float16": "fp16",
            "TensorCoreFloat<true>": "tf32x3", "TensorCoreFloat<false>": "tf32", "float": "fp32"}


def architecture(text):
    """Parses a compute capability in nvcc's notation."""
    if not re.fullmatch(r"[1-9][0-9]{1,2}[af]?", text):
        raise argparse.ArgumentTypeError(f"{text}: expected a number such as 80, 86 or 90a")
    return text


def sources():
    folder = os.path.join(ROOT, "attention_cuda")
    return sorted(os.path.join("attention_cuda", part, name) for part in ("kernels", "detail")
                  for name in os.listdir(os.path.join(folder, part)) if name.endswith(".cu"))


def demangle(names):
    """Demangles names with c++filt or cu++filt. Returns them unchanged if neither is installed."""
    tool = shutil.which("c++filt") or shutil.which("cu++filt")
    if tool is None or not names:
        return list(names)
    return subprocess.run([tool], input="\n".join(names), capture_output=True, text=True,
                          check=True).stdout.splitlines()


def template_arguments(text):
    """Returns the text between the < > after a kernel's name."""
    depth = 0
    for end, letter in enumerate(text):
        depth += {"<": 1, ">": -1}.get(letter, 0)
        if depth == 0:
            return text[1:end] if end > 0 else ""
    return text


def short_name(mangled, demangled):
    """Returns {"kernel", "element", "head_dim", "template"}; element and head_dim are None if the name
    does not contain them. The first number of a tensor-core kernel is its head_dim."""
    plain = re.sub(r"flashlab::cuda::|flashlab::|\(anonymous namespace\)::", "", demangled)
    match = re.search(r"(\w+)_kernel", plain)
    if match is None:
        return {"kernel": mangled, "element": None, "head_dim": None, "template": ""}
    template = re.sub(r"\((?:int|bool)\)", "", template_arguments(plain[match.end():]))
    element = next((short for long, short in ELEMENTS.items() if re.search(
        r"(?<!\w)" + re.escape(long), template)), None)
    rest = template
    for long in ELEMENTS:
        rest = re.sub(r"(?<!\w)" + re.escape(long), "", rest)
    number = re.search(r"(?<![\w.])(\d+)(?!\w)", rest)
    return {"kernel": match[1], "element": element,
            "head_dim": int(number[1]) if number else None, "template": template}


def kernels_in(log, source):
    """Returns one dictionary for each kernel and architecture in ptxas's output."""
    found, names = [], []
    for block in re.split(r"(?=Compiling entry function)", log)[1:]:
        kernel, stack, used = (pattern.search(block) for pattern in (KERNEL, STACK, USED))
        shared = re.search(r"(\d+) bytes smem", used["rest"])
        names.append(kernel["name"])
        found.append({"source": source, "arch": kernel["arch"],
                      "registers": int(used["registers"]),
                      "spill_store_bytes": int(stack["stores"]),
                      "spill_load_bytes": int(stack["loads"]),
                      "stack_bytes": int(stack["stack"]),
                      "static_shared_bytes": int(shared[1]) if shared else 0})
    for row, mangled, demangled in zip(found, names, demangle(names)):
        row.update(short_name(mangled, demangled))
    return found


def architectures(source, wanted):
    """The architectures to compile a source for: x_sm90.cu has instructions that only sm_90a has."""
    generation = re.search(r"_sm(90)\.cu$", source)
    if generation is None:
        return wanted
    return [arch.rstrip("a") + "a" for arch in wanted if arch.rstrip("a") == generation[1]]


def compile_one(nvcc, source, options):
    """Returns (rows, seconds, error); error is nvcc's output if it failed."""
    targets = [f"-gencode=arch=compute_{arch},code=sm_{arch}"
               for arch in architectures(source, options.arch)]
    if not targets:
        return [], 0, ""
    defines = ["-DFLASHLAB_CUDA_ONE_HEAD_DIM"] if options.one_head_dim else []
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([nvcc, *FLAGS, *defines, *targets, "-c", source, "-o",
                               os.path.join(folder, "kernel.o")],
                              cwd=ROOT, capture_output=True, text=True, check=False)
    seconds = time.monotonic() - start
    log = done.stdout + done.stderr
    is_serialised = options.check and re.search(r"\bC75\d\d\b", log)
    return ([], seconds, log) if done.returncode != 0 or is_serialised else (kernels_in(log, source), seconds, "")


def print_table(rows):
    columns = ("kernel", "element", "head_dim", "arch", "registers", "spill_store_bytes",
               "spill_load_bytes", "stack_bytes", "static_shared_bytes")
    heads = ("kernel", "type", "head_dim", "sm", "registers", "spill st", "spill ld", "stack",
             "shared")
    lines = [heads] + [tuple("-" if row[column] is None else str(row[column])
                             for column in columns) for row in rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(heads))]
    for line in lines:
        print("  ".join(cell.ljust(width) if i < 2 else cell.rjust(width)
                        for i, (cell, width) in enumerate(zip(line, widths))))


def spilling(rows):
    """Returns the tensor-core kernels that --check rejects."""
    return [row for row in rows if "mma" in row["source"] and
            row["spill_store_bytes"] > ALLOWED_SPILLS.get(row["kernel"], 0) and
            not takes_state(row) and
            ("wgmma" in row["source"] or row["head_dim"] is None or
             row["head_dim"] <= LARGEST_WITHOUT_SPILLS)]


def takes_state(row):
    """Whether this is the portable flash2 that begins or ends with a state: its last argument."""
    return row["kernel"] == "flash2_mma_sm80" and row["template"].endswith("true")


def result_of(nvcc, rows, seconds):
    version = subprocess.run([nvcc, "--version"], capture_output=True, text=True,
                             check=True).stdout
    return {"command": " ".join(["attention_cuda/bench/kernel_resources.py", *sys.argv[1:]]),
            "date": datetime.date.today().isoformat(),
            "nvcc": re.search(r"V([\d.]+)", version)[1],
            "flags": FLAGS, "seconds": {source: round(s, 1) for source, s in seconds.items()},
            "kernels": rows}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--arch", type=architecture, action="append", help="80, 86, 89, 90, …; 90 where none is given")
    parser.add_argument("--one-head-dim", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    options.arch = options.arch or ["90"]
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        parser.exit(2, "kernel_resources.py: no nvcc on the PATH\n")

    rows, seconds, failed = [], {}, False
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        waiting = {pool.submit(compile_one, nvcc, source, options): source for source in sources()}
        for done in concurrent.futures.as_completed(waiting):
            source = waiting[done]
            found, seconds[source], error = done.result()
            print(f"{seconds[source]:6.1f} s  {source}", flush=True)
            rows += found
            if error:
                failed = True
                print(error, file=sys.stderr)
    rows.sort(key=lambda row: (row["source"], row["arch"], row["kernel"], row["element"] or "",
                               row["head_dim"] or 0))
    print()
    print_table(rows)
    if options.out:
        with open(options.out, "w", encoding="utf-8") as file:
            json.dump(result_of(nvcc, rows, dict(sorted(seconds.items()))), file, indent=1)
            file.write("\n")
    if options.check:
        for row in spilling(rows):
            failed = True
            print(f"{row['kernel']} in {row['element']}, head_dim {row['head_dim']}, sm_"
                  f"{row['arch']}: {row['spill_store_bytes']} bytes of registers spilled",
                  file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
