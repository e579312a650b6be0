#!/usr/bin/env python3
"""Writes a program into a notebook's %%writefile cell, as a student does: notebook_with.py NOTEBOOK PROGRAM OUT"""
import json
import pathlib
import sys


def main():
    """Does it."""
    notebook, program, out = map(pathlib.Path, sys.argv[1:4])
    whole = json.loads(notebook.read_text(encoding="utf-8"))
    for cell in whole["cells"]:
        first = "".join(cell["source"]).partition("\n")[0]
        if first.startswith("%%writefile "):
            cell["source"] = first + "\n" + program.read_text(encoding="utf-8")
    out.write_text(json.dumps(whole), encoding="utf-8")


if __name__ == "__main__":
    main()
