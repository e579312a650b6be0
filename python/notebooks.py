#!/usr/bin/env python3
"""Makes notebooks of the first three chapters: python/notebooks.py FOLDER

A chapter stays the only place for its text. Its blocks become cells:
  <!-- $ flashlab … -->       a cell that runs the command, with the output that the chapter prints; after
                              a trace, a second cell shows the player
  <!-- file: docs/examples/x.toy -->   a cell that writes x.toy, to change and to run again; so does the
                              first command that names such a file
  <!-- picture: … -->         an attachment of the text; other blocks are text
"""
import ast
import base64
import json
import pathlib
import re
import shlex
import sys

DOCS = pathlib.Path(__file__).resolve().parent.parent / "docs"
CHAPTERS = ("01_the_machine", "02_the_language", "03_matmul")
EXAMPLES = "docs/examples/"  # a notebook has its files beside it

SET_UP = """\
import os, pathlib
import flashlab  # pip install ./flashlab_attention-*.whl

# The cells below call the command as a terminal does.
os.environ["PATH"] = f"{pathlib.Path(flashlab.command()).parent}:{os.environ['PATH']}"
os.environ.update(COLUMNS="80", NO_COLOR="1")"""

MARKER = re.compile(r"<!-- (?:(\$|file:) |picture: (\S+) \$ )(.*?)( \(exit \d+\))? -->\n")
LINK = re.compile(r"\[([^\]]*)\]\(([^)#]+\.md)?(#[^)]*)?\)")


class Notebook:
    """Cells of the format 4.5, in the order of the page."""

    def __init__(self):
        self.cells = []

    def _add(self, kind, text, **others):
        self.cells.append({"cell_type": kind, "id": f"cell-{len(self.cells)}", "metadata": {},
                           "source": text.splitlines(keepends=True), **others})

    def text(self, text, attachments=None):
        """Adds text, unless there is none."""
        if text.strip():
            self._add("markdown", _links(text.strip()), **({"attachments": attachments} if attachments else {}))

    def code(self, text, output=None):
        """Adds code, with what it prints if that is known."""
        shown = [] if output is None else [{"name": "stdout", "output_type": "stream",
                                            "text": output.splitlines(keepends=True)}]
        self._add("code", text, execution_count=None, outputs=shown)

    def json(self):
        """Returns the notebook's file."""
        kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
        return json.dumps({"cells": self.cells, "metadata": {"kernelspec": kernel}, "nbformat": 4,
                           "nbformat_minor": 5}, ensure_ascii=False, indent=1) + "\n"


def _links(text):
    """Keeps links to chapters that are notebooks; of other pages of the course, only the words."""
    def link(match):
        words, page, anchor = match.groups()
        if page is None:
            return match[0]
        stem = page[:-len(".md")]
        return f"[{words}]({stem}.ipynb{anchor or ''})" if stem in CHAPTERS else words
    return LINK.sub(link, text).replace(EXAMPLES, "")


def _content(text, start):
    """Returns what a block holds, and where it ends."""
    if text.startswith("```", start):
        first = text.index("\n", start) + 1
        last = text.index("\n```", first) + 1
        return text[first:last], text.index("\n", last) + 1
    last = text.index("<!-- end -->\n", start)
    return text[start:last], last + len("<!-- end -->\n")


def player(command):
    """Returns the Python that shows a trace's player: the arguments of `flashlab trace`, translated."""
    words = iter(shlex.split(command)[2:])
    program, settings, inputs = next(words), [], []
    for word in words:
        if word in ("--symbols", "--values"):
            continue
        if word not in ("-D", "--input", "--from", "--to"):
            raise ValueError(f"notebooks.py: {command}: {word}: expected -D, --input, --from or --to")
        value = next(words)
        if word in ("--from", "--to"):
            settings.append(f"{'first' if word == '--from' else 'last'}={int(value)}")
            continue
        name, value = value.split("=", 1)
        value = ast.literal_eval(value)
        (inputs if word == "--input" else settings).append(
            f"{name!r}: {value!r}" if word == "--input" else f"{name}={value!r}")
    if inputs:
        settings.append("inputs={" + ", ".join(inputs) + "}")
    return f"flashlab.program({program!r}).trace({', '.join(settings)})".replace("'", '"')


def notebook_of(page):
    """Returns the notebook of a chapter's text."""
    notebook = Notebook()
    notebook.code(SET_UP)
    end, written = 0, set()
    pending = ""

    def write(name):
        if name not in written:
            written.add(name)
            content = (DOCS / "examples" / name).read_text(encoding="utf-8")
            notebook.code(f"%%writefile {name}\n{content}".rstrip("\n"))

    while True:
        match = MARKER.search(page, end)
        pending += page[end:match.start() if match else len(page)]
        if match is None:
            notebook.text(pending)
            return notebook
        kind, picture, what, fails = match.groups()
        content, end = _content(page, match.end())
        if picture:
            name = pathlib.Path(picture).name
            described = re.search(r'alt="([^"]*)"', content)[1]
            data = base64.b64encode((DOCS / picture).read_bytes()).decode()
            notebook.text(f"{pending}\n![{described}](attachment:{name})", {name: {"image/svg+xml": data}})
        elif kind == "$" and page[match.end():].startswith("```"):
            notebook.text(pending)
            for name in re.findall(EXAMPLES + r"(\S+)", what):
                write(name)
            what = what.replace(EXAMPLES, "")
            magic = "%%sh --no-raise-error" if fails else "%%sh"
            notebook.code(f"{magic}\n{what}" + (" 2>&1" if fails else ""), content.replace(EXAMPLES, ""))
            if what.startswith("flashlab trace ") and not fails:
                notebook.code(player(what))
        elif kind == "file:" and what.startswith(EXAMPLES):
            notebook.text(pending)
            write(pathlib.Path(what).name)
        else:
            pending += page[match.end():end].replace("<!-- end -->\n", "")
            continue
        pending = ""


def main():
    """Writes the notebooks."""
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for chapter in CHAPTERS:
        page = (DOCS / f"{chapter}.md").read_text(encoding="utf-8")
        (folder / f"{chapter}.ipynb").write_text(notebook_of(page).json(), encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__.splitlines()[0])
    main()
