#!/usr/bin/env python3
"""Makes a class for an assignment: a folder for each student, some of whose files have other names.

  exercises/bench/assignment_class.py ASSIGNMENT OUT [--students 300] [--misnamed 36] [--seed 1]

Programs are the solutions, starters and wrong submissions of the parts, with a comment of each student's
own. Prints what was misnamed, a line for each file.
"""
import argparse
import pathlib
import random

import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]


def other_names(name):
    """Names that people and browsers give to such a file."""
    stem, ending = name.rsplit(".", 1)
    others = [f"{stem} (1).{ending}", f"{stem.lstrip('0')}.{ending}", f"{stem.title()}.{ending.upper()}",
              f"homework/{name}", f"{stem} - Copy.{ending}", f"{stem.replace('_', '-')}.{ending}",
              f"{name}.txt", f"my {name}"]
    return [other for other in others if other != name]


def texts_of(folder):
    """What is handed in, the likely ones several times; None is nothing."""
    ending = "toy" if (folder / "solution.toy").exists() else "txt"
    solution = folder / "solution.toy"
    right = [solution.read_text(encoding="utf-8")] if solution.exists() else []
    wrong = [path.read_text(encoding="utf-8") for path in sorted((folder / "wrong").glob(f"*.{ending}"))]
    return 6 * right + wrong + [None]


def main():
    """Does it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("assignment", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--students", type=int, default=300)
    parser.add_argument("--misnamed", type=int, default=36)
    parser.add_argument("--seed", type=int, default=1)
    flags = parser.parse_args()
    draw = random.Random(flags.seed)
    parts = tomllib.loads((flags.assignment / "assignment.toml").read_text(encoding="utf-8"))["part"]
    folders = []
    for part in parts:
        own = flags.assignment / "exercises" / part["exercise"]
        folders.append(own if own.is_dir() else ROOT / "exercises" / part["exercise"])
    files = []
    for student in range(flags.students):
        for folder in folders:
            text = draw.choice(texts_of(folder))
            if text is None:
                continue
            is_program = (folder / "solution.toy").exists()
            sign, ending = (";", "toy") if is_program else ("#", "txt")
            files.append((f"student{student:03}", f"{folder.name}.{ending}", text + f"\n{sign} student {student}\n"))
    misnamed = set(draw.sample(range(len(files)), flags.misnamed))
    for number, (student, name, text) in enumerate(files):
        given = draw.choice(other_names(name)) if number in misnamed else name
        path = flags.out / student / given
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        if given != name:
            print(f"{student}: {given}")


if __name__ == "__main__":
    main()
