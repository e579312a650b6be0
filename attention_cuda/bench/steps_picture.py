#!/usr/bin/env python3
"""Draws what each warpgroup of a block of flash2_wgmma_sm90 or bwd_onepass_wgmma_sm90 did, as lanes over time.

  steps_picture.py --out FILE.svg [--stamps FILE.json] [--head-dim 128] [--step "three stages"]
                   [--from 41000] [--to 57000]

Reads the stamps of flash2_steps (docs/results/attention_cuda_stamps.json) or of bwd_stamps (step bwd-onepass)
and draws the cycles --from to --to of one run. Light, dark and print colours are those of the other pictures.
"""
import argparse
import os
import sys
from xml.sax.saxutils import escape

from stamps import LANE_NAMES, intervals, kind_of, load_runs, products_in_flight, run_of

HERE = os.path.dirname(os.path.abspath(__file__))
STYLE = os.path.join(HERE, "../../text/picture/picture.css")
WIDTH, LEFT, RIGHT = 960, 128, 28  # units of the picture
LANE, GAP, TOP = 34, 12, 78
MORE_STYLE = """
.picture .small { font-size: 13px; }
.picture .wait { stroke-width: 1; }
.picture rect.filled { stroke: var(--paper); stroke-width: 0.8; }
.picture .onwork { fill: var(--paper); }
.picture pattern path { stroke-width: 1.4; fill: none; }
"""


class Canvas:
    def __init__(self, first, last):
        self.first, self.last, self.parts = first, last, []

    def x(self, cycle):
        share = (min(max(cycle, self.first), self.last) - self.first) / (self.last - self.first)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def text(self, x, y, words, classes="small"):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" class="{classes}">{escape(words)}</text>')

    def bar(self, y, height, start, end, classes, fill="", letter=""):
        """Draws a part of a lane if it is inside the picture; the letter only if it fits."""
        if end <= self.first or start >= self.last:
            return
        x, width = self.x(start), max(self.x(end) - self.x(start), 0.4)
        style = f' style="fill: {fill}"' if fill else ""
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height}" '
                          f'class="{classes}"{style}/>')
        if letter and width > 9 * len(letter) + 2:
            self.letter(x + width / 2, y + height / 2, classes, letter)

    def letter(self, x, y, classes, letter):
        """Draws the letter around a point: without colours it tells one kind of work from another."""
        if "filled" not in classes:  # the hatching would cross the letter
            self.parts.append(f'<rect x="{x - 6:.1f}" y="{y - 8:.1f}" width="12" height="16" class="paper"/>')
        self.text(x, y + 5, letter, "small middle strong" + (" onwork" if "filled" in classes else ""))


def tick_step(length):
    """Returns a round number of cycles, so that there are 5 to 12 ticks."""
    for step in (100, 200, 500, 1000, 2000, 5000, 10000):
        if length / step <= 12:
            return step
    return 20000


def draw_lanes(canvas, run):
    """Draws the loading warp, each warpgroup, and the products of each. Returns the lower end."""
    y = TOP
    lanes = sorted({stamp.warpgroup for stamp in run.stamps})
    for lane in lanes:
        canvas.text(LEFT - 8, y + LANE / 2 + 5, LANE_NAMES[lane], "small end")
        for part in intervals(run, lane):
            state = kind_of(run).states[part.state]
            if state.is_wait:
                canvas.bar(y, LANE, part.start, part.end, f"wait {state.colour}",
                           f"url(#hatch-{state.colour})", state.letter)
            else:
                canvas.bar(y, LANE, part.start, part.end, f"filled {state.colour}", "", state.letter)
        y += LANE + GAP
    for lane in lanes[1:]:
        canvas.text(LEFT - 8, y + 18, f"products of {lane}", "small end")
        rows = kind_of(run).products
        for product, start, end in products_in_flight(run, lane):
            canvas.bar(y + 14 * rows.index(product), 13, start, end, "filled " + product.colour, "",
                       product.label)
        y += 14 * len(rows) + 6
    return y + 4


def legend(canvas, y, states):
    x = LEFT
    for state in states.values():
        width = 34 + 7.4 * len(state.meaning)
        if x + width > WIDTH - RIGHT:
            x, y = LEFT, y + 24
        fill = f' style="fill: url(#hatch-{state.colour})"' if state.is_wait else ""
        kind = "wait" if state.is_wait else "filled"
        canvas.parts.append(f'<rect x="{x}" y="{y}" width="22" height="16" '
                            f'class="{kind} {state.colour}"{fill}/>')
        canvas.letter(x + 11, y + 8, kind, state.letter)
        canvas.text(x + 28, y + 13, state.meaning)
        x += width
    return y + 30


def patterns(states):
    colours = sorted({state.colour for state in states.values() if state.is_wait})
    return "<defs>" + "".join(
        f'<pattern id="hatch-{c}" width="7" height="7" patternUnits="userSpaceOnUse">'
        f'<path class="{c}" d="M-1 8 8 -1M-1 1 1 -1M6 8 8 6"/></pattern>' for c in colours) + "</defs>"


def picture(run, context, first, last):
    """Returns the SVG file's text."""
    canvas = Canvas(first, last)
    kind = kind_of(run)
    step = "" if run.step == "bwd-onepass" else f", step “{run.step}”"
    title = f"{kind.kernel}, head_dim {run.head_dim}{step}: who works and who waits"
    canvas.text(LEFT, 28, title, "strong")
    canvas.text(LEFT, 48, f"block 0 on {context['gpu']}, cycles {first} to {last} of its "
                f"multiprocessor's clock; {run.block_q} queries, {run.seqlen} keys in tiles of {run.block_kv}",
                "small soft")
    below = draw_lanes(canvas, run)
    ticks = []
    for cycle in range(first, last + 1, tick_step(last - first)):
        x = canvas.x(cycle)
        ticks.append(f'<line x1="{x:.1f}" y1="{TOP - 6}" x2="{x:.1f}" y2="{below}" class="grid"/>')
        canvas.text(x, TOP - 10, str(cycle), "small soft middle")
    height = legend(canvas, below + 14, kind.states)
    with open(STYLE, encoding="utf-8") as file:
        style = file.read().strip() + MORE_STYLE
    description = f"Lanes over time. {kind.description}"
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" class="picture" role="img" '
        f'viewBox="0 0 {WIDTH} {height}">', f"<title>{escape(title)}</title>",
        f"<desc>{escape(description)}</desc>", f"<style>\n{style}</style>",
        f'<rect class="paper" width="{WIDTH}" height="{height}"/>', patterns(kind.states), *ticks,
        *canvas.parts, "</svg>", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", required=True)
    parser.add_argument("--stamps")
    parser.add_argument("--head-dim", type=int, default=128)
    parser.add_argument("--step", default="three stages")
    parser.add_argument("--from", dest="first", type=int, default=41000)
    parser.add_argument("--to", dest="last", type=int, default=57000)
    options = parser.parse_args()
    if options.first >= options.last:
        sys.exit(f"steps_picture.py: --to {options.last}: expected more than --from {options.first}")
    context, runs = load_runs(options.stamps)
    run = run_of(runs, options.head_dim, options.step)
    try:
        with open(options.out, "w", encoding="utf-8") as file:
            file.write(picture(run, context, options.first, options.last))
    except OSError as error:
        sys.exit(f"steps_picture.py: --out {options.out}: {error.strerror}")


if __name__ == "__main__":
    main()
