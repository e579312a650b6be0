#!/usr/bin/env python3
"""Makes playground.html of its parts: playground/assemble.py BUILD OUTPUT

BUILD holds flashlab_wasm.js and flashlab_wasm.wasm; node asks them for what the page shows first. Everything is inside the page, because a page from a
disk may load nothing: the WebAssembly and the course's text as gzip in characters of 7 bits, which the page unpacks.
"""
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "playground/page"
MOST_BYTES = 3_000_000
FIGURE = ROOT / "toymachine/history/page"  # the figure that moves, as in other pages
SCRIPTS = ["storage.js", "markdown.js", "engine.js", "editor.js", "app.js", "course.js"]


def packed(data):
    """libdeflate's gzip is 5 % smaller than zlib's, which is a twentieth of the page."""
    done = subprocess.run(["libdeflate-gzip", "-12", "-n", "-c"], input=data, stdout=subprocess.PIPE, check=True)
    return in_characters(done.stdout)


def in_characters(data):
    """7 bits in each character, which takes 12 % less than base64. HTML keeps all of ASCII in a script but NUL, carriage
    returns and <, whose places are taken by letters of two bytes. `unpacked` in engine.js is the inverse."""
    characters = [chr(value + 0xC0 if value in (0, 0x0D, 0x3C) else value) for value in range(128)]
    whole = data + bytes(-len(data) % 7)
    text = []
    for at in range(0, len(whole), 7):
        bits = int.from_bytes(whole[at:at + 7], "big")
        text += [characters[bits >> shift & 127] for shift in range(49, -1, -7)]
    return f"{len(data)}:" + "".join(text)


def embedded(name, text, kind="text/plain"):
    if re.search(r"</script", text, re.IGNORECASE):
        sys.exit(f"assemble.py: {name} contains </script, which would end it early")
    return f'<script id="{name}" type="{kind}">{text}</script>\n'


def course():
    docs = ROOT / "docs"
    chapters = {path.name: path.read_text(encoding="utf-8") for path in sorted(docs.glob("*.md"))
                if not re.search(r"_(log|results)\.md$", path.name)}
    used = {path for text in chapters.values() for path in re.findall(r'[("]((?:results/)?pictures/\w+\.svg)', text)}
    pictures = {path: (docs / path).read_text(encoding="utf-8") for path in sorted(used)}
    figure = (FIGURE / "figure.js").read_text(encoding="utf-8")
    return json.dumps({"chapters": chapters, "pictures": pictures, "figure": figure}, ensure_ascii=False).encode()


def first_answers(build):
    """In JSON without <, which could end the element that holds it."""
    done = subprocess.run(["node", ROOT / "playground/first_answers.js", build], stdout=subprocess.PIPE, check=True)
    return done.stdout.decode().replace("<", "\\u003c")


def main():
    build, output = map(pathlib.Path, sys.argv[1:3])
    worker = (build / "flashlab_wasm.js").read_text(encoding="utf-8") + "\n" + (PAGE / "worker.js").read_text(encoding="utf-8")
    style = (ROOT / "text/page.css").read_text(encoding="utf-8") + "".join(path.read_text(encoding="utf-8") for path in (FIGURE / "figure.css", PAGE / "style.css"))
    script = "\n".join((PAGE / name).read_text(encoding="utf-8").replace('"use strict";\n', "", 1) for name in SCRIPTS)
    page = (PAGE / "index.html").read_text(encoding="utf-8")
    data = embedded("wasm", packed((build / "flashlab_wasm.wasm").read_bytes())) + embedded("course", packed(course())) + embedded("worker", worker) + embedded("first", first_answers(build), "application/json")
    for mark, text in (("/* flashlab: style */", style), ("<!-- flashlab: data -->", data),
                       ("/* flashlab: script */", '"use strict";\n' + script)):
        if mark not in page:
            sys.exit(f"assemble.py: index.html has no {mark}")
        page = page.replace(mark, text, 1)
    size = len(page.encode())
    if size > MOST_BYTES:
        sys.exit(f"assemble.py: the page would have {size} bytes, expected at most {MOST_BYTES}")
    output.write_text(page, encoding="utf-8")
    print(f"{output}: {size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
