#!/usr/bin/env python3
"""Prints a picture of chapter 9a or 10 as SVG: kernel_pictures.py NAME

  gpu      a GPU and one of its multiprocessors, by its data sheet (gpu/sheets/gpus.json)
  grid     which block of tile_product computes which tile of C
  block    which thread of a block has which number of the tile
  shared   what one thread reads in shared memory
  turns    the warps of a block in the order in which they ran
  lanes    a row of sums over the lanes of a warp
  banks    eight rows over the banks of shared memory
  places   who fills and who reads the four places of K/V tiles
  tile     the way of one K tile

All but the first are drawn from records of runs in the emulation: docs/results/tile_product_record.json and
docs/results/attention_record.json.
"""
import argparse
import json
import os
import sys
from xml.sax.saxutils import escape

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
WIDTH = 480
MORE_STYLE = """
.picture .small { font-size: 13px; }
.picture .tiny { font-size: 12px; }
.picture .box { fill: var(--paper); stroke: var(--ink); stroke-width: 1.2; }
.picture .light { fill: var(--band); stroke: var(--ink); stroke-width: 1.2; }
.picture .cell { fill: var(--paper); stroke: var(--line); }
.picture .shade { fill: var(--band); stroke: var(--line); }
.picture .mark { fill: var(--c1); stroke: var(--ink); stroke-width: 1.2; }
.picture text.onmark { fill: var(--paper); font-weight: 650; }
.picture .stripe { fill: url(#stripes); stroke: var(--ink); stroke-width: 1.2; }
.picture pattern path { stroke-width: 1.2; fill: none; stroke: var(--ink); }
.picture .arrow { stroke: var(--ink); stroke-width: 1.5; fill: none; }
"""
STRIPES = ('<defs><pattern id="stripes" width="7" height="7" patternUnits="userSpaceOnUse">'
           '<path d="M-1 8 8 -1M-1 1 1 -1M6 8 8 6"/></pattern></defs>')


class Canvas:
    """A picture in the making: shapes with classes of text/picture/picture.css and of MORE_STYLE."""

    def __init__(self, title, subtitle):
        self.title, self.parts = title, []
        self.text(0, 20, title, "strong")
        self.lines(0, 40, subtitle)

    def text(self, x, y, words, classes="small"):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" class="{classes}">{escape(str(words))}</text>')

    def lines(self, x, y, lines, classes="small soft"):
        for i, line in enumerate(lines):
            self.text(x, y + 17 * i, line, classes)

    def rect(self, x, y, width, height, classes):
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" '
                          f'class="{classes}"/>')

    def box(self, x, y, width, height, classes, words, text_classes="small middle"):
        self.rect(x, y, width, height, classes)
        self.text(x + width / 2, y + height / 2 + 4.5, words, text_classes)

    def line(self, x1, y1, x2, y2, classes="ink"):
        self.parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{classes}"/>')

    def arrow(self, x, y1, y2):
        """Points down from y1 to y2."""
        self.line(x, y1, x, y2, "arrow")
        self.parts.append(f'<path class="arrow" d="M{x - 5:.1f} {y2 - 7:.1f} {x:.1f} {y2:.1f} {x + 5:.1f} {y2 - 7:.1f}"/>')

    def svg(self, height, description):
        with open(os.path.join(ROOT, "text/picture/picture.css"), encoding="utf-8") as file:
            style = file.read().strip() + MORE_STYLE
        return "\n".join([
            f'<svg xmlns="http://www.w3.org/2000/svg" class="picture" role="img" viewBox="-6 0 {WIDTH + 12} {height}">',
            f"<title>{escape(self.title)}</title>", f"<desc>{escape(description)}</desc>",
            f"<style>\n{style}</style>", f'<rect class="paper" x="-6" width="{WIDTH + 12}" height="{height}"/>',
            STRIPES, *self.parts, "</svg>"])


def read_json(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return json.load(file)


def product_record():
    return read_json("docs/results/tile_product_record.json")


def attention_record():
    return read_json("docs/results/attention_record.json")


def gpu_picture():
    sheets = read_json("gpu/sheets/gpus.json")
    gpu = next(one for one in sheets["gpus"] if one["key"] == "h200")
    schedulers = sheets["architectures"][gpu["compute_capability"]]["schedulers"]
    count, shared = gpu["num_sms"], gpu["shared_memory_per_sm_kib"]
    memory = f"DRAM (global memory): {gpu['memory_bytes'] / 1e9:.0f} GB, {gpu['rates']['bytes_per_s'] / 1e12:.1f} TB/s"
    l2 = f"L2: a cache of {gpu['l2_kib'] // 1024} MiB"
    canvas = Canvas(f"A GPU: {gpu['name']}", [f"{count} multiprocessors share one memory.",
                                              "Each has a small one for itself."])
    canvas.box(0, 72, WIDTH, 34, "light", memory)
    canvas.box(0, 116, WIDTH, 28, "box", l2)
    columns = 22
    size = WIDTH / columns
    for i in range(count):
        classes = "mark" if i == 0 else "cell"
        canvas.rect(size * (i % columns), 156 + size * (i // columns), size - 3, size - 3, classes)
    below = 156 + size * -(-count // columns)
    canvas.line(0, below - size * (-(-count // columns) - 1), 0, below + 26, "ink dash")
    canvas.line(size - 3, below - size * (-(-count // columns) - 1), WIDTH, below + 26, "ink dash")
    top = below + 26
    canvas.rect(0, top, WIDTH, 176, "box")
    canvas.text(12, top + 22, "One multiprocessor (SM)", "small strong")
    canvas.box(12, top + 34, WIDTH - 24, 30, "light", f"shared memory: {shared} KiB, for the threads of a block")
    width = (WIDTH - 24 - 8 * (schedulers - 1)) / schedulers
    for i in range(schedulers):
        x = 12 + i * (width + 8)
        canvas.rect(x, top + 74, width, 62, "cell")
        canvas.text(x + width / 2, top + 94, "registers", "small middle")
        for lane in range(32):
            canvas.rect(x + 5 + (width - 10) / 16 * (lane % 16), top + 104 + 13 * (lane // 16), (width - 10) / 16 - 1.5, 11, "mark")
    canvas.text(12, top + 160, f"{schedulers} warps at a time, 32 lanes each: one instruction for all 32.", "small")
    return canvas.svg(round(top + 186), (
        f"{gpu['name']}: {memory}. {l2}. {count} multiprocessors, each with {shared} KiB of shared memory, "
        f"registers, and {schedulers} warps of 32 lanes at a time."))


def grid_picture():
    record = product_record()
    tile, scale = record["tile"], 4
    rows, columns, terms = record["n"] // tile, record["m"] // tile, record["k"] // tile
    side = tile * scale
    left, top = terms * side + 40, 74 + terms * side + 40
    canvas = Canvas("The grid: one block for each tile of C", [
        f"The numbers are those of the blocks. Block {record['block']} reads the striped",
        "tiles of A and B and writes the filled tile of C."])
    names = {"A": (0, top, rows, terms), "B": (left, 74 + 20, terms, columns), "C": (left, top, rows, columns)}
    for name, (x, y, tile_rows, tile_columns) in names.items():
        canvas.text(x + 2, y - 6, f"{name}   {tile_rows * tile} x {tile_columns * tile}", "small strong")
        for i in range(tile_rows):
            for j in range(tile_columns):
                if name == "C":
                    block = record["blocks"][i][j]
                    is_marked = block == record["block"]
                    canvas.box(x + side * j, y + side * i, side, side, "mark" if is_marked else "box", block,
                               "middle onmark" if is_marked else "middle")
                else:
                    is_read = [i, j] in record["block_reads"][name]
                    canvas.rect(x + side * j, y + side * i, side, side, "stripe" if is_read else "box")
    reads = {name: ", ".join(f"({i}, {j})" for i, j in record["block_reads"][name]) for name in "AB"}
    return canvas.svg(top + rows * side + 12, (
        f"C has {rows} x {columns} tiles of {tile} x {tile} numbers, and each is computed by a block of its own, "
        f"counted row by row from 0. Block {record['block']} reads tiles {reads['A']} of A and {reads['B']} of B."))


def block_picture():
    record = product_record()
    tile, threads = record["tile"], record["threads"]
    canvas = Canvas("A block: one thread for each number of the tile", [
        "The numbers are those of the threads. A warp is 32 threads with",
        "consecutive numbers: two rows of the tile."])
    left, top = 62, 68
    side = (WIDTH - left) / tile
    for y in range(tile):
        for x in range(tile):
            thread = threads[y][x]
            is_marked = thread == record["reader"]
            classes = "mark" if is_marked else "shade" if thread // 32 % 2 else "cell"
            canvas.box(left + side * x, top + side * y, side, side, classes, thread,
                       "tiny middle" + (" onmark" if is_marked else ""))
    warps = sorted({thread // 32 for row in threads for thread in row})
    for warp in warps:
        rows = [y for y in range(tile) if threads[y][0] // 32 == warp]
        canvas.text(left - 8, top + side * (rows[0] + len(rows) / 2) + 4.5, f"warp {warp}", "small end")
    return canvas.svg(top + tile * side + 8, (
        f"{tile} x {tile} numbers of a tile, and thread y * {tile} + x has the number in row y, column x. "
        f"Each of the {len(warps)} warps has two rows. Thread {record['reader']} is marked."))


def shared_picture():
    record = product_record()
    tile, side = record["tile"], 13.5
    canvas = Canvas("Shared memory: what one thread reads", [
        f"Thread {record['reader']} multiplies a row of sA with a column of sB.",
        f"Each number of both is read by {record['times_read']} threads, and was loaded once."])
    tops, places = 92, {"A": 0, "B": WIDTH - tile * side}
    for name, left in places.items():
        canvas.text(left, tops - 8, f"s{name}", "small strong")
        for y in range(tile):
            for x in range(tile):
                is_read = [y, x] in record["reads"][name]
                canvas.rect(left + side * x, tops + side * y, side, side, "mark" if is_read else "cell")
    rows = sorted({y for y, _ in record["reads"]["A"]})
    columns = sorted({x for _, x in record["reads"]["B"]})
    canvas.text(0, tops + tile * side + 20, f"row {rows[0]}")
    canvas.text(WIDTH, tops + tile * side + 20, f"column {columns[0]}", "small end")
    return canvas.svg(round(tops + tile * side + 32), (
        f"Thread {record['reader']} reads row {rows[0]} of sA and column {columns[0]} of sB, {tile} numbers each. "
        f"Each number of sA and sB is read {record['times_read']} times."))


def turns_picture():
    record = product_record()
    stretches = record["turns"]
    names = ["load"] + ["multiply", "load"] * ((len(stretches) - 3) // 2) + ["multiply", "store"]
    warps = sorted(set(stretches[0]))
    canvas = Canvas("Who waits: the warps of a block", [
        "A row for each warp. Boxes stand in the order of the emulation.",
        "Vertical lines: barriers, which nobody passes before all have come."])
    left, top, lane = 62, 84, 20
    width = (WIDTH - left) / sum(len(stretch) for stretch in stretches)
    for warp in warps:
        canvas.text(left - 8, top + lane * warp + 14, f"warp {warp}", "small end")
        canvas.line(left, top + lane * warp + 10, WIDTH, top + lane * warp + 10, "grid")
    start = 0
    for name, stretch in zip(names, stretches):
        for i, warp in enumerate(stretch):
            canvas.rect(left + width * (start + i), top + lane * warp + 3, width, 14,
                        {"load": "stripe", "multiply": "mark", "store": "light"}[name])
        canvas.text(left + width * (start + len(stretch) / 2), top - 8, name, "small middle soft")
        start += len(stretch)
        if name != "store":
            canvas.line(left + width * start, top - 4, left + width * start, top + lane * len(warps) + 4, "roof")
    return canvas.svg(top + lane * len(warps) + 14, (
        f"{len(warps)} warps over time, in {len(stretches)} stretches: {', '.join(names)}. "
        "Between two barriers each warp has its turn, and then waits for the others."))


def lanes_picture():
    sums = attention_record()["sums"]
    canvas = Canvas("A row over four lanes", [
        "Which of a warp's 32 lanes has which sum of a 16 x 8 tile, after",
        f"mma.sync. Row 0 lies in lanes {', '.join(str(l) for l in sorted(set(sums[0])))}."])
    left, top, side, height = 62, 74, 50, 22
    for row, lanes in enumerate(sums):
        canvas.text(left - 8, top + height * row + 16, f"row {row}", "small end")
        for column, lane in enumerate(lanes):
            is_marked = row == 0
            canvas.box(left + side * column, top + height * row, side, height,
                       "mark" if is_marked else "shade" if lane % 2 else "cell", lane,
                       "small middle" + (" onmark" if is_marked else ""))
    return canvas.svg(top + height * len(sums) + 8, (
        "Rows of a 16 x 8 tile of sums, by lane: " +
        "; ".join(f"row {row}: {' '.join(str(lane) for lane in sums[row])}" for row in (0, 1, 7, 8)) + "."))


def banks_picture():
    record = attention_record()["eight_rows"]
    chunks = len(record["chunk_at"][0])
    canvas = Canvas("Eight rows over 32 banks", [
        "A row is 8 chunks of 16 bytes. Each column of the picture is four",
        "banks. ldmatrix wants chunk 0 of all eight rows."])
    side, top = 26, 116
    variants = [("each chunk at its own number", [list(range(chunks))] * len(record["chunk_at"]), record["passes_in_order"]),
                ("chunk c of row r at c xor r", record["chunk_at"], record["passes"])]
    for i, (name, rows, passes) in enumerate(variants):
        left = i * (WIDTH - chunks * side)
        canvas.text(left, top - 26, name)
        for place in range(chunks):
            canvas.text(left + side * (place + 0.5), top - 6, 4 * place, "tiny middle soft")
        for y, row in enumerate(rows):
            for x, chunk in enumerate(row):
                canvas.box(left + side * x, top + side * y, side, side, "mark" if chunk == 0 else "cell", chunk,
                           "small middle" + (" onmark" if chunk == 0 else ""))
        canvas.text(left, top + side * len(rows) + 20, f"{passes} cycles" if passes > 1 else "1 cycle",
                    "small strong")
    return canvas.svg(top + side * len(record["chunk_at"]) + 32, (
        f"Left, chunk 0 of eight rows is always in banks 0 to 3: {record['passes_in_order']} cycles. Right, chunk c of "
        f"row r is at place c xor r, and the eight chunks 0 are in eight different places: {record['passes']} cycle."))


def stretches_of(record):
    """What each thread does between two barriers: lists of [what, tile, place, accesses]."""
    stretches = [[]]
    for step in record["each_thread"]:
        if step[0] == "barrier":
            stretches.append([])
        else:
            stretches[-1].append(step)
    return stretches[:-1] if not stretches[-1] else stretches


def places_picture():
    record = attention_record()["flash2_mma_sm80"]
    stretches = stretches_of(record)
    places = sorted({step[2] for stretch in stretches for step in stretch})
    canvas = Canvas("Who loads when: four places in shared memory", [
        "A column for each round of the loop, and one before it. Striped: all",
        "128 threads copy the tile there. Filled: all warps read it.",
        "Thick lines: barriers."])
    left, top, lane = 62, 112, 40
    width = (WIDTH - left) / len(stretches)
    holds, words = {}, []
    for i, stretch in enumerate(stretches):
        x = left + width * i
        canvas.text(x + width / 2, top - 10, "before" if i == 0 else f"round {i - 1}", "small middle soft")
        for what, tile, place, _ in stretch:
            y = top + lane * places.index(place)
            if what == "copy":
                holds[place] = tile
                canvas.rect(x + 3, y + 4, width - 6, lane - 8, "stripe")
                canvas.rect(x + width / 2 - 15, y + lane / 2 - 10, 30, 20, "paper")
                canvas.text(x + width / 2, y + lane / 2 + 4.5, tile, "small middle")
            else:
                canvas.box(x + 3, y + 4, width - 6, lane - 8, "mark", holds[place], "small middle onmark")
        parts = [f"{'copies ' + tile if what == 'copy' else 'reads ' + holds_at(stretches, i, place)}"
                 for what, tile, place, _ in stretch]
        words.append(("before the loop: " if i == 0 else f"round {i - 1}: ") + ", ".join(parts))
        if i > 0:
            canvas.line(x, top - 4, x, top + lane * len(places) + 4, "roof")
    for place in places:
        first = next(step[1] for stretch in stretches for step in stretch if step[2] == place and step[0] == "copy")
        number = 1 + sum(1 for other in places[:places.index(place)] if holds_first(stretches, other)[0] == first[0])
        canvas.text(left - 8, top + lane * places.index(place) + lane / 2 + 5, f"s{first[0]}[{number - 1}]", "small end")
    return canvas.svg(top + lane * len(places) + 14, "; ".join(words) + ".")


def holds_first(stretches, place):
    return next(step[1] for stretch in stretches for step in stretch if step[2] == place and step[0] == "copy")


def holds_at(stretches, index, place):
    """The tile that was copied to the place last, before this stretch."""
    return [step[1] for stretch in stretches[:index] for step in stretch if step[2] == place and step[0] == "copy"][-1]


def tile_picture():
    record = attention_record()["flash2_mma_sm80"]
    stretches, tile = stretches_of(record), "K1"
    copied_in, copy = next((i, step) for i, stretch in enumerate(stretches) for step in stretch if step[1] == tile)
    read_in, read = next((i, step) for i, stretch in enumerate(stretches) for step in stretch
                         if step[0] == "read" and step[2] == copy[2] and i > copied_in)
    next_in, next_tile = next((i, step[1]) for i, stretch in enumerate(stretches) for step in stretch
                              if step[0] == "copy" and step[2] == copy[2] and i > read_in)
    threads = record["threads"]
    copied, was_read = copy[3] * threads * 16, read[3] * threads * 16
    canvas = Canvas(f"The way of one tile: {tile}", [
        f"{record['tile_bytes'] // (2 * record['head_dim'])} keys of {record['head_dim']} numbers in 16 bits: "
        f"{record['tile_bytes'] // 1024} KiB."])
    rows = [("light", "global memory (DRAM, through L2)", f"{tile} lies there row by row"),
            (None, f"{threads} threads, {copy[3]} cp.async of 16 bytes each: {copied // 1024} KiB", f"requested in round {copied_in - 1}, waited for at its end"),
            ("light", "shared memory, sK[1]: the second place for K", f"chunks permuted; {next_tile} replaces it in round {next_in - 1}"),
            (None, f"{threads // 32} warps, {read[3]} ldmatrix each: {was_read // 1024} KiB", f"in round {read_in - 1}: each warp reads all of it"),
            ("light", "registers of 32 lanes (a fragment)", "four 8 x 8 pieces with each ldmatrix"),
            (None, "mma.sync: S = Q K^T", ""),
            ("light", "registers: 16 x 8 sums of S", "a row over four lanes")]
    y = 58
    for kind, words, more in rows:
        if kind:
            canvas.rect(0, y, WIDTH, 48, kind)
            canvas.text(12, y + 20, words, "small strong")
            canvas.text(12, y + 38, more, "small")
            y += 48
        else:
            height = 46 if more else 30
            canvas.arrow(24, y + 3, y + height - 3)
            canvas.text(40, y + 20, words)
            canvas.text(40, y + 37, more, "small soft")
            y += height
    return canvas.svg(y + 8, "; ".join(words + (", " + more if more else "") for _, words, more in rows) + ".")


PICTURES = {"gpu": gpu_picture, "grid": grid_picture, "block": block_picture, "shared": shared_picture,
            "turns": turns_picture, "lanes": lanes_picture, "banks": banks_picture, "places": places_picture,
            "tile": tile_picture}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", choices=sorted(PICTURES))
    print(PICTURES[parser.parse_args().name]())


if __name__ == "__main__":
    sys.exit(main())
