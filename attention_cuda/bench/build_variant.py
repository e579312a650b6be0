#!/usr/bin/env python3
"""Builds libflashlab_cuda.so with the kernels of another folder, for builds_in_turns.py.

  git archive COMMIT attention_cuda/kernels attention_cuda/device attention_cuda/ptx | tar -x -C FOLDER
  build_variant.py FOLDER --build build-gpu --out old.so

The build must exist: its compile commands (-DCMAKE_EXPORT_COMPILE_COMMANDS=ON) compile each kernel that differs, with
FOLDER's headers before the project's, and its link command links these objects in the place of the build's own. So host
code stays the build's, and a kernel whose launch has changed does not compile. Nothing in the build is written.
"""
import argparse
import concurrent.futures
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)


class Failure(Exception):
    """A message for the user."""


def reached(source, root, overlay):
    """Returns {path in the project: text} of a source and what it includes, from the overlay where that has it."""
    found, waiting = {}, [source]
    while waiting:
        path = waiting.pop()
        for folder in (overlay, root):
            if path in found or not folder or not os.path.exists(os.path.join(folder, path)):
                continue
            with open(os.path.join(folder, path), encoding="utf-8") as file:
                found[path] = file.read()
            waiting += INCLUDE.findall(found[path])
    return found


def changed_kernels(root, overlay):
    """Returns the overlay's kernels that are not compiled from the project's own text, by path in the project."""
    folder = os.path.join("attention_cuda", "kernels")
    if not os.path.isdir(os.path.join(overlay, folder)):
        raise Failure(f"{overlay}: no {folder}: expected the kernels of a commit (git archive)")
    names = [name for name in sorted(os.listdir(os.path.join(overlay, folder))) if name.endswith(".cu")]
    sources = [os.path.join(folder, name) for name in names]
    return [source for source in sources if reached(source, root, overlay) != reached(source, root, None)]


def commands_of(build, sources, root):
    """Returns {source: (folder, words of its command)} for the objects of the library."""
    path = os.path.join(build, "compile_commands.json")
    if not os.path.exists(path):
        raise Failure(f"{path} is missing: expected a build with -DCMAKE_EXPORT_COMPILE_COMMANDS=ON")
    with open(path, encoding="utf-8") as file:
        rows = json.load(file)
    found = {}
    for row in rows:
        source = os.path.relpath(row["file"], root)
        if source in sources and f"{os.sep}bench{os.sep}" not in row["command"].split(" -o ")[-1]:
            found[source] = (row["directory"], shlex.split(row["command"]))
    missing = sorted(set(sources) - set(found))
    if missing:
        raise Failure(f"{', '.join(missing)}: not in this build: expected kernels that both have")
    return found


def output_of(words):
    return words[words.index("-o") + 1]


def compiled(source, folder, words, overlay, out):
    """Compiles a kernel of the overlay. Returns its object."""
    own = os.path.join(overlay, source)
    swapped = [own if word.endswith(source) else out if word == output_of(words) else word for word in words]
    run = subprocess.run([swapped[0], f"-I{overlay}", *swapped[1:]], cwd=folder, capture_output=True, text=True,
                         check=False)
    if run.returncode != 0:
        raise Failure(f"{own} does not compile:\n{run.stderr[-2000:]}")
    return out


def link_command(folder):
    """Returns the words of the command that links the library, and the archive of its kernels."""
    path = os.path.join(folder, "CMakeFiles", "flashlab_cuda.dir", "link.txt")
    if not os.path.exists(path):
        raise Failure(f"{path} is missing: expected a build by make")
    with open(path, encoding="utf-8") as file:
        words = shlex.split(file.read())
    archive = next(word for word in words if os.path.basename(word) == "libflashlab_attention_cuda.a")
    if not os.path.exists(os.path.join(folder, archive)):
        raise Failure(f"{os.path.join(folder, archive)} is missing: expected the target flashlab_cuda to be built")
    return words, archive


def link(folder, objects, out, scratch):
    """Links the library as the build does, with `objects` {name of the build's object: file} in their place."""
    words, archive = link_command(folder)
    words[words.index("-o") + 1] = out
    copy = os.path.join(scratch, "libflashlab_attention_cuda.a")
    subprocess.run(["cp", os.path.join(folder, archive), copy], check=True)
    members = subprocess.run(["ar", "t", copy], capture_output=True, text=True, check=True).stdout.split()
    absent = sorted(set(objects) - set(members))
    if absent:
        raise Failure(f"{archive}: no {', '.join(absent)}: expected the objects of the kernels")
    subprocess.run(["ar", "r", copy, *objects.values()], capture_output=True, check=True)
    run = subprocess.run([copy if word == archive else word for word in words], cwd=folder, capture_output=True,
                         text=True, check=False)
    if run.returncode != 0:
        raise Failure(f"{out} cannot be linked:\n{run.stderr[-2000:]}")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", metavar="FOLDER", help="with attention_cuda/kernels, and the headers that they need")
    parser.add_argument("--build", required=True, help="where libflashlab_cuda.so was built")
    parser.add_argument("--out", required=True, metavar="FILE", help="the library to write")
    parser.add_argument("--kernels", nargs="+", metavar="STEM", help="of those that differ; else all of them")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    return parser.parse_args()


def build_variant(options, root=ROOT):
    overlay, build, out = (os.path.abspath(path) for path in (options.folder, options.build, options.out))
    sources = changed_kernels(root, overlay)
    if not sources:
        raise Failure(f"{options.folder}: no kernel differs from {root}: expected one that does")
    if options.kernels:
        stems = {os.path.splitext(os.path.basename(source))[0]: source for source in sources}
        for stem in options.kernels:
            if stem not in stems:
                raise Failure(f"--kernels {stem}: expected some of those that differ: {', '.join(stems)}")
        sources = [stems[stem] for stem in options.kernels]
    commands = commands_of(build, sources, root)
    linked_in = os.path.join(build, "attention_cuda")
    link_command(linked_in)  # before minutes of compiling
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        jobs = {}
        for source, (folder, words) in commands.items():
            name = os.path.basename(output_of(words))
            jobs[name] = pool.submit(compiled, source, folder, words, overlay, os.path.join(scratch, name))
        link(linked_in, {name: job.result() for name, job in jobs.items()}, out, scratch)
    print(f"{options.out}: {', '.join(os.path.basename(source) for source in sources)} of {options.folder}")


def main():
    try:
        build_variant(parse_arguments())
    except Failure as failure:
        print(f"build_variant.py: {failure}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
