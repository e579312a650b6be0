#!/usr/bin/env python3
"""Reads every source with a tool, but for those that it read before without a word.

    .ci/read_sources.py TOOL BUILD [--only FILE] [--seconds N] [--jobs N]

  TOOL    clang-tidy, or alone: the compiler of BUILD, which checks each entry and writes nothing
  BUILD   has a compile_commands.json, and the headers that a build generates

A source was read before if it, every header of ours that it includes, its flags, and the tool and its
configuration were the same when the tool said nothing. Such keys are empty files in $FLASHLAB_READ_SOURCES
(default ~/.cache/flashlab/read_sources); without that folder everything is read again. Sources that are
compiled together are read together, if one of them was not read.

  --only FILE   a list of sources, one path a line: no others are read
  --seconds N   begins nothing more after N seconds, and names what is left

Exit code 1: the tool said something.
"""

import argparse
import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
CLANG_TIDY = "clang-tidy-16"
NOT_OURS = re.compile(r"\.c$|/(precompiled|embedded|generated|headers_alone)/|cmake_pch")
INCLUDE = re.compile(rb'^\s*#\s*include\s+["<]([^">]+)[">]', re.M)


@functools.cache
def content(path):
    data = path.read_bytes()
    return hashlib.sha256(data).digest(), tuple(name.decode() for name in INCLUDE.findall(data))


@functools.cache
def included(path, folders):
    """The files that `path` includes itself: those that stand in a folder of ours or of the build."""
    found = []
    for name in content(path)[1]:
        for folder in (path.parent, *folders):
            if (folder / name).is_file():
                found.append((folder / name).resolve())
                break
    return found


def closure(path, folders):
    reached, waiting = {path}, [path]
    while waiting:
        for header in included(waiting.pop(), folders):
            if header not in reached:
                reached.add(header)
                waiting.append(header)
    return sorted(reached)


class Group:
    """What one compilation reads: a source, or a file that includes several."""

    def __init__(self, entry, build, base):
        self.entry, self.path = entry, pathlib.Path(entry["file"])
        self.sources = [self.path]
        if "/Unity/" in entry["file"]:
            self.sources = [self.path.parent / name for name in content(self.path)[1]]
        words = shlex.split(entry["command"])
        folders = []
        for at, word in enumerate(words):
            folder = words[at + 1] if word in ("-I", "-isystem") else word[2:] if word.startswith("-I") else ""
            if folder.startswith((f"{ROOT}/", f"{build}/")) or folder == str(ROOT):
                folders.append(pathlib.Path(folder))
        skipped = (str(self.path), "-o", "-c", entry.get("output", ""))
        flags = " ".join(word.replace(str(ROOT), "") for word in words
                         if word not in skipped and not word.endswith((".o", ".cxx")))
        self.keys = {source: self.key(source, flags, tuple(folders), base) for source in self.sources}

    @staticmethod
    def key(source, flags, folders, base):
        of_all = hashlib.sha256(f"{base}\n{flags}\n".encode())
        for path in closure(source, folders):
            of_all.update(content(path)[0])
        return of_all.hexdigest()

    def name(self):
        names = [str(source.relative_to(ROOT)) for source in self.sources if source.is_relative_to(ROOT)]
        return " ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def output_of(*command, **more):
    return subprocess.run(command, capture_output=True, text=True, errors="replace", **more)


class ClangTidy:
    def __init__(self, build):
        self.build = build
        self.base = output_of(CLANG_TIDY, "--version", check=True).stdout + (ROOT / ".clang-tidy").read_text()

    def read(self, group):
        return output_of(CLANG_TIDY, "--quiet", "-p", str(self.build), str(group.path))


class Alone:
    def __init__(self, build):
        self.build = build
        compiler = re.search(r"^CMAKE_CXX_COMPILER:\w+=(.*)$", (build / "CMakeCache.txt").read_text(), re.M)[1]
        self.base = output_of(compiler, "--version", check=True).stdout

    def read(self, group):
        words = shlex.split(group.entry["command"])
        if words[0].endswith("ccache"):
            del words[0]
        del words[words.index("-o"):words.index("-o") + 2]
        return output_of(*words, "-fsyntax-only", cwd=group.entry["directory"])


TOOLS = {"clang-tidy": ClangTidy, "alone": Alone}


def groups_of(build, base):
    entries = {entry["file"]: entry for entry in json.loads((build / "compile_commands.json").read_text())}
    return [Group(entry, build, base) for file, entry in sorted(entries.items()) if not NOT_OURS.search(file)]


def said_by(run):
    """The exit code and what was said, without the count at the end."""
    said = [line for line in (run.stdout + run.stderr).splitlines()
            if line and not re.fullmatch(r"\d+ (warnings?|errors?)( and \d+ errors?)? generated\.", line)]
    return run.returncode, "\n".join(said)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tool", choices=TOOLS)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--only", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    build = options.build.resolve()
    if not (build / "compile_commands.json").is_file():
        parser.error(f"{options.build}: has no compile_commands.json: expected a folder that cmake configured with "
                     "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON")
    cache = pathlib.Path(os.environ.get("FLASHLAB_READ_SOURCES") or pathlib.Path.home() / ".cache/flashlab/read_sources")
    cache = cache / options.tool
    cache.mkdir(parents=True, exist_ok=True)
    tool = TOOLS[options.tool](build)
    groups = groups_of(build, tool.base)
    sources = sum(len(group.sources) for group in groups)
    if options.only:
        only = {str((ROOT / line).resolve()) for line in options.only.read_text().splitlines()}
        groups = [group for group in groups if any(str(source) in only for source in group.sources)]
    unread = [group for group in groups if not all((cache / key).exists() for key in group.keys.values())]
    print(f"{options.tool} reads {sum(len(group.sources) for group in unread)} of {sources} sources, "
          f"in {len(unread)} compilations", flush=True)
    end = time.monotonic() + options.seconds
    failed, left = 0, []

    def read(group):
        if time.monotonic() > end:
            return group, None, ""
        return group, *said_by(tool.read(group))

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for group, status, said in pool.map(read, unread):
            if status is None:
                left.append(group)
            elif status or said:
                failed += 1
                print(said or f"{options.tool} ended with {status}: {group.name()}", flush=True)
            else:
                for key in group.keys.values():
                    (cache / key).touch()
    for group in left[:3]:
        print(f"no time left, .ci/lint --all reads it: {group.name()}")
    if left[3:]:
        print(f"no time left for {len(left) - 3} more of these compilations: .ci/lint --all reads them")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
