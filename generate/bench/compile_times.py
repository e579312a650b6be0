#!/usr/bin/env python3
"""How long NVRTC takes for the generated source of each program, one at a time, without its cache.

  compile_times.py table           prints the summary of docs/results/generated_compile_times.json
  compile_times.py measure [FILE]  compiles with this machine's NVRTC, writes FILE; needs no GPU

A source has all launches of its program, which `flashlab gpu` compiles at the same time: there the longest
one counts. The smallest of three processor times. `flashlab` is the one of the PATH, NVRTC that of
FLASHLAB_NVRTC, or libnvrtc.so.13 as the loader finds it.
"""
import ctypes
import os
import pathlib
import re
import statistics
import subprocess
import textwrap
import time

import measured_file

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMITTED = measured_file.RESULTS / "generated_compile_times.json"
ARCHITECTURES = {0: "sm_90", 1: "sm_90", 2: "sm_90a"}
SETTINGS = {0: "n=4096,d=64,B=16", 1: "n=4096,d=64,B=64,Bk=64,Bd=64", 2: "n=4096,d=64,B=64,Bk=64,Bd=64"}
MARKS = {0: 0.5, 1: 1.5, 2: 3.0}


def source_of(program, level):
    """The generated source, or None if this level does not suit the program."""
    text = (ROOT / f"toymachine/programs/{program}.toy").read_text()
    found = re.search(r"^\.param +(.*)$", text, re.M)
    names = re.findall(r"(\w+) =", found.group(1)) if found and " tile " in text else []
    chosen = [one for one in SETTINGS[level].split(",") if one.split("=")[0] in names]
    flags = (["-D", ",".join(chosen)] if chosen else []) + ["--level", str(level)]
    flags += ["--dtype", "bf16"] if level else []
    flags += ["--sram", "h100"] if level == 1 else []
    done = subprocess.run(["flashlab", "gpu", program, *flags, "--emit"], capture_output=True)
    return done.stdout if done.returncode == 0 else None


class Nvrtc:
    def __init__(self):
        self.nvrtc = ctypes.CDLL(os.environ.get("FLASHLAB_NVRTC", "libnvrtc.so.13"))
        major, minor = ctypes.c_int(), ctypes.c_int()
        self.nvrtc.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
        self.version = f"{major.value}.{minor.value}"

    def seconds(self, source, architecture):
        """Of processor time; None if the source does not compile."""
        options = [f"--gpu-architecture={architecture}", "--std=c++17", "--fmad=false", "--no-cache"]
        texts = (ctypes.c_char_p * len(options))(*[option.encode() for option in options])
        program, start = ctypes.c_void_p(), time.process_time()
        self.nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, b"program.cu", 0, None, None)
        code = self.nvrtc.nvrtcCompileProgram(program, len(options), texts)
        seconds = time.process_time() - start
        self.nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
        return seconds if code == 0 else None


def processor():
    found = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    return found.group(1) if found else ""


def measure():
    nvrtc, rows = Nvrtc(), []
    nvrtc.seconds(b"__global__ void nothing() {}", "sm_90")  # the library's own beginning
    for path in sorted((ROOT / "toymachine/programs").glob("*.toy")):
        for level, architecture in ARCHITECTURES.items():
            source = source_of(path.stem, level)
            if source is None:
                continue
            runs = [nvrtc.seconds(source, architecture) for _ in range(3)]
            if None not in runs:
                rows.append({"program": path.stem, "level": level, "seconds": round(min(runs), 3)})
    return {"format": "flashlab-generated-compile-times", "version": 1, "nvrtc": nvrtc.version,
            "processor": processor(), **measured_file.made_now(), "rows": rows}


def table(results):
    lines = [f"NVRTC {results['nvrtc']}, {results['processor']}, commit {results['commit']}, "
             f"{results['date']}", "",
             "level  programs  median s  longest s  mark s  above it"]
    named = []
    for level, mark in MARKS.items():
        rows = [row for row in results["rows"] if row["level"] == level]
        above = [f"{row['program']} {row['seconds']:.2f}" for row in rows if row["seconds"] > mark]
        if rows:
            seconds = [row["seconds"] for row in rows]
            lines.append(f"{level:5} {len(rows):9} {statistics.median(seconds):9.2f} {max(seconds):10.2f} "
                         f"{mark:7.1f}  {len(above):8}")
        if above:
            named += textwrap.wrap(f"level {level}, s: {', '.join(above)}", 90, subsequent_indent="  ")
    lines += ["", *named] if named else []
    return "\n".join(lines)


if __name__ == "__main__":
    measured_file.main(__doc__, COMMITTED, measure, table)
