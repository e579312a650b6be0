#!/usr/bin/env python3
"""Writes a soft cap into a copy of the sources, and tests that every forward variant has it.

  soft_cap_probe.py DIR [CMAKE-ARGUMENT ...]

The score function (attention/score.hpp) is one place for all variants, on CPUs and on GPUs, whose kernels run in the
emulation. This edits that file and the oracle of the tests, and nothing else. DIR holds the copy and its build.
"""
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CAP = "1.5"
EDITS = {
    "attention/score.hpp": [
        ("#include <cstdint>", "#include <cmath>\n#include <cstdint>"),
        ("kIsIdentity = true;", "kIsIdentity = false;"),
        ("    return s;\n", f"    return Real({CAP}) * std::tanh(s / Real({CAP}));\n")],
    "tests/attention_cpu/textbook.hpp": [
        ("    S[j] = static_cast<Real>(problem.softmax_scale) * product;\n",
         f"    S[j] = Real({CAP}) * std::tanh(static_cast<Real>(problem.softmax_scale) * product / Real({CAP}));\n")]}
TESTS = {
    "flashlab_attention_tests": ["every forward variant agrees with the oracle*"],
    "flashlab_cuda_emulated_tests": ["every forward kernel*", "each tile shape is right at six ragged lengths: forward*",
                                     "each length from 1 to 300 is right under every mask: forward*", "parts of the keys*"]}


def copy_sources(to):
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
                            stdout=subprocess.PIPE, check=True).stdout
    os.makedirs(to, exist_ok=True)
    packed = subprocess.run(["tar", "--null", "--files-from=-", "--ignore-failed-read", "-c"], cwd=ROOT, input=listed,
                            stdout=subprocess.PIPE, check=True).stdout
    subprocess.run(["tar", "-x", "-C", to], input=packed, check=True)


def edit(folder):
    for path, pairs in EDITS.items():
        with open(os.path.join(folder, path), encoding="utf-8") as file:
            text = file.read()
        for old, new in pairs:
            if text.count(old) != 1:
                sys.exit(f"soft_cap_probe.py: {path}: {text.count(old)} times {old!r}: expected once")
            text = text.replace(old, new)
        with open(os.path.join(folder, path), "w", encoding="utf-8") as file:
            file.write(text)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    source = os.path.abspath(os.path.join(sys.argv[1], "source"))
    build = os.path.abspath(os.path.join(sys.argv[1], "build"))
    copy_sources(source)
    edit(source)
    subprocess.run(["cmake", "-S", source, "-B", build, "-DFLASHLAB_CUDA=OFF", *sys.argv[2:]], check=True)
    subprocess.run(["cmake", "--build", build, "--target", *TESTS, "--parallel", str(os.cpu_count())], check=True)
    for program, names in TESTS.items():
        found = [os.path.join(folder, program) for folder, _, files in os.walk(build) if program in files]
        for name in names:
            # In the build's folder, as ctest does; no test of the name is a failure.
            subprocess.run([*found[:1], name, "--warn", "NoTests"], cwd=build, check=True)


if __name__ == "__main__":
    main()
