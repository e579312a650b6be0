#!/usr/bin/env python3
"""Draws a terminal's screen, as `tmux capture-pane -p -e` writes it, as an SVG picture.

usage: screen_svg.py TITLE < screen.ansi > screen.svg
"""
import html
import re
import sys
import unicodedata

CELL, LINE, SIZE, EDGE = 8, 18, 13.3, 10  # pixels; SIZE gives letters of CELL pixels
BASE = ["#1e1e1e", "#f14c4c", "#23d18b", "#e5c07b", "#3b8eea", "#d670d6", "#29b8db", "#cccccc",
        "#767676", "#ff6b6b", "#4be3a4", "#f5f543", "#6cb2ff", "#e39be3", "#5ad4f0", "#ffffff"]
PAPER, INK = "#1e1e1e", "#d4d4d4"
NO_BREAK = "\u00a0"  # a renderer of SVG folds other blanks


def color(code):
    """The color of one of xterm's 256 numbers."""
    if code < 16:
        return BASE[code]
    if code >= 232:
        return "#" + 3 * f"{8 + 10 * (code - 232):02x}"
    levels = [0, 95, 135, 175, 215, 255]
    code -= 16
    return "#" + "".join(f"{levels[code // power % 6]:02x}" for power in (36, 6, 1))


class Pen:
    def __init__(self):
        self.ink, self.paper, self.reverse, self.bold = None, None, False, False

    def apply(self, codes):
        codes = [int(one or 0) for one in codes.replace(":", ";").split(";")]
        while codes:
            code = codes.pop(0)
            if code == 0:
                self.__init__()
            elif code in (1, 22):
                self.bold = code == 1
            elif code in (7, 27):
                self.reverse = code == 7
            elif code in (38, 48):
                kind = codes.pop(0)
                if kind == 5:
                    value = color(codes.pop(0))
                else:
                    value = "#" + "".join(f"{codes.pop(0):02x}" for _ in range(3))
                if code == 38:
                    self.ink = value
                else:
                    self.paper = value
            elif code == 39:
                self.ink = None
            elif code == 49:
                self.paper = None
            elif 30 <= code < 38 or 90 <= code < 98:
                self.ink = BASE[code % 10 + (8 if code >= 90 else 0)]
            elif 40 <= code < 48 or 100 <= code < 108:
                self.paper = BASE[code % 10 + (8 if code >= 100 else 0)]

    def style(self):
        ink, paper = self.ink or INK, self.paper or PAPER
        return (paper, ink, self.bold) if self.reverse else (ink, paper, self.bold)


def width(text):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
               for c in text)


def draw(title, lines):
    pen, body, columns = Pen(), [], 0
    for row, line in enumerate(lines):
        column, y = 0, EDGE + row * LINE
        for part in re.split(r"(\x1b\[[0-9;:]*[A-Za-z])", line):
            if part.startswith("\x1b["):
                if part.endswith("m"):
                    pen.apply(part[2:-1])
                continue
            part = re.sub(r"\x1b.|[\x00-\x1f]", "", part)
            if not part:
                continue
            ink, paper, bold = pen.style()
            x, size = EDGE + column * CELL, width(part)
            if paper != PAPER:
                body.append(f'<rect x="{x}" y="{y}" width="{size * CELL}" height="{LINE}" fill="{paper}"/>')
            if part.strip():
                weight = ' font-weight="bold"' if bold else ""
                body.append(f'<text x="{x}" y="{y + 13}" textLength="{size * CELL}" fill="{ink}"{weight}>'
                            f"{html.escape(part, quote=False).replace(' ', NO_BREAK)}</text>")
            column += size
        columns = max(columns, column)
    across, down = 2 * EDGE + columns * CELL, 2 * EDGE + len(lines) * LINE
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {across} {down}" width="{across}" '
        f'role="img" font-family="monospace" font-size="{SIZE}">',
        f"<title>{html.escape(title)}</title>",
        f'<rect width="{across}" height="{down}" fill="{PAPER}"/>', *body, "</svg>", ""])


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    lines = sys.stdin.read().rstrip("\n").split("\n")
    sys.stdout.write(draw(sys.argv[1], lines))


main()
