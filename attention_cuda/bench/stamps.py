"""The stamps of flash2_steps and bwd_stamps: who did what, from when to when."""
import collections
import json
import os
import statistics
import sys

STAMPS = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                      "../../docs/results/attention_cuda_stamps.json")
LANE_NAMES = ["loading warp", "warpgroup 1", "warpgroup 2", "warpgroup 3"]

Stamp = collections.namedtuple("Stamp", "cycle warpgroup turn tile mark")
Interval = collections.namedtuple("Interval", "state start end")
State = collections.namedtuple("State", "meaning letter colour is_wait")
Run = collections.namedtuple("Run", "head_dim seqlen step block_q block_kv stamps ms ms_with_marks")

# "waits" is what a lane waits for: a wait has the colour of those who end it.
STATES = {
    "loads": State("issues copies", "C", "c2", False),
    "issues": State("issues products", "I", "c5", False),
    "softmax": State("softmax of S", "X", "c6", False),
    "other": State("the rest", "R", "c1", False),
    "stores": State("stores O", "W", "c3", False),
    "next": State("finds its next queries", "Q", "c8", False),
    "empty": State("waits for an empty stage", "e", "c6", True),
    "full": State("waits for copies", "c", "c2", True),
    "turn": State("waits for its turn", "t", "c7", True),
    "S": State("waits for S", "S", "c5", True),
    "O": State("waits for O", "O", "c4", True),
}
OF_LOADER = {"waits for K": "empty", "waits for V": "empty", "waits for Q": "empty",
             "loads K": "loads", "loads V": "loads", "loads Q": "loads"}
OF_WARPGROUP = {"waits for K": "full", "waits for V": "full", "waits for Q": "full",
                "waits for turn": "turn", "issues Q K^T": "issues", "issues P V": "issues",
                "waits for S": "S", "has S": "softmax", "has P": "other", "waits for O": "O",
                "has O": "other", "stores O": "stores", "ends": "next"}

STATES_BACKWARD = {
    "loads": STATES["loads"],
    "issues": STATES["issues"],
    "softmax": State("P of S", "E", "c6", False),
    "gradient": State("dS, stored for dQ", "G", "c1", False),
    "adds": State("adds dQ", "A", "c3", False),
    "other": State("begins the next tile", "N", "c8", False),
    "empty": STATES["empty"],
    "full": STATES["full"],
    "S": State("waits for S or dP", "S", "c5", True),
    "dS": State("waits for dS of the other", "D", "c7", True),
    "O": State("waits for dQ, dV or dK", "O", "c4", True),
}
OF_LOADER_BACKWARD = {"waits for empty Q": "empty", "waits for empty dO": "empty",
                      "loads Q": "loads", "loads dO": "loads"}
OF_WARPGROUP_BACKWARD = {"waits for Q": "full", "issues S": "issues", "waits for dO": "full",
                         "issues dP": "issues", "waits for S": "S", "has S": "softmax",
                         "waits for dP": "S", "has dP": "gradient", "waits for dS": "dS",
                         "issues gradients": "issues", "waits for dQ": "O", "has dQ": "adds",
                         "waits for dV": "O", "waits for dK": "O", "ends": "other"}

# products: what is in flight from one mark to another, with a label and a colour.
Product = collections.namedtuple("Product", "label issued done colour")
Kind = collections.namedtuple("Kind", "kernel states of_loader of_warpgroup products description")
FORWARD = Kind(
    "flash2_wgmma_sm90", STATES, OF_LOADER, OF_WARPGROUP,
    [Product("Q Kᵀ", "issues Q K^T", "has S", "c5"), Product("P V", "issues P V", "has O", "c4")],
    "The loading warp mostly waits for empty stages. Each warpgroup issues products, waits for S, computes "
    "exponentials, and waits for O; the bars below show when its products are in flight.")
BACKWARD = Kind(
    "bwd_onepass_wgmma_sm90", STATES_BACKWARD, OF_LOADER_BACKWARD, OF_WARPGROUP_BACKWARD,
    [Product("S", "issues S", "has S", "c5"), Product("dP", "issues dP", "has dP", "c6"),
     Product("dQdVdK", "issues gradients", "ends", "c4")],
    "The loading warp mostly waits for empty stages. Each warpgroup issues S and dP, computes P and dS, "
    "issues the gradients, and adds dQ; the bars below show when its products are in flight.")


def kind_of(run):
    return BACKWARD if run.step == "bwd-onepass" else FORWARD


def load_runs(path=None):
    """Returns the file's context and its runs. Exits with a message if flash2_steps did not write it."""
    path = path or STAMPS
    try:
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
        runs = [Run(row["shape"][3], row["shape"][2], row["step"], row["block_q"], row["block_kv"],
                    [Stamp(*stamp) for stamp in row["stamps"]], row["median_ms"],
                    row["median_ms_with_marks"]) for row in content["runs"]]
    except OSError as error:
        sys.exit(f"{path}: {error.strerror}")
    except (ValueError, LookupError, TypeError) as error:
        sys.exit(f"{path}: {error}: expected a file that flash2_steps --stamps or bwd_stamps wrote")
    return content, runs


def run_of(runs, head_dim, step):
    for run in runs:
        if (run.head_dim, run.step) == (head_dim, step):
            return run
    sys.exit(f"step {step} of head_dim {head_dim}: expected one of "
             + ", ".join(f"{run.head_dim} {run.step}" for run in runs))


def intervals(run, lane):
    """Returns what a lane did from each of its stamps to the next one."""
    own = [stamp for stamp in run.stamps if stamp.warpgroup == lane]
    kind = kind_of(run)
    states = kind.of_loader if lane == 0 else kind.of_warpgroup
    next_tile = "next" if kind is FORWARD else "other"
    return [Interval(next_tile if lane == 0 and b.turn > a.turn else states[a.mark], a.cycle, b.cycle)
            for a, b in zip(own, own[1:])]


def products_in_flight(run, lane):
    """Returns (product, start, end): from the issue of a warpgroup's products until it knows that they
    are complete. The tensor cores work on them in a part of this time."""
    found, issued = [], {}
    for stamp in run.stamps:
        if stamp.warpgroup != lane:
            continue
        for product in kind_of(run).products:
            if stamp.mark == product.issued:
                issued[product] = stamp.cycle
            elif stamp.mark == product.done and product in issued:
                found.append((product, issued.pop(product), stamp.cycle))
    return found


SHOWN_TURN = 1  # the first query tile of block 0 is the last one of a head, and may be a short one


def steady_steps(run):
    """Returns the cycles at which warpgroup 1 has S of the block's second query tile, tile by tile,
    without the first two tiles, when the pipeline fills."""
    turn = SHOWN_TURN if kind_of(run) is FORWARD else 0  # the first K/V tile has all query tiles
    has_s = [stamp for stamp in run.stamps
             if stamp.warpgroup == 1 and stamp.mark == "has S" and stamp.turn == turn]
    return [stamp.cycle for stamp in has_s][2:]


def between_query_tiles(run):
    """Returns what warpgroup 1 does from its last S of a query tile to the first one of the next:
    (last softmax and P V, storing O, finding the next query tile, its first S), in cycles."""
    def cycle(mark, turn, first=True):
        found = [stamp.cycle for stamp in run.stamps
                 if (stamp.warpgroup, stamp.turn, stamp.mark) == (1, turn, mark)]
        return found[0 if first else -1]
    points = [cycle("has S", 0, False), cycle("stores O", 0), cycle("ends", 0),
              cycle("waits for Q", 1), cycle("has S", 1)]
    return [b - a for a, b in zip(points, points[1:])]


def step_cycles(run):
    """Returns the cycles from one tile to the next."""
    steps = steady_steps(run)
    return [b - a for a, b in zip(steps, steps[1:])]


def chain_cycles(run, lane):
    """Returns the medians of what a warpgroup does from S of a tile to S of the next one: its softmax, what comes
    before it issues the next product, and what follows until it has S."""
    start, *_, end = steady_steps(run)
    own = [stamp for stamp in run.stamps if stamp.warpgroup == lane and start <= stamp.cycle <= end]
    has_s = [k for k, stamp in enumerate(own) if stamp.mark == "has S"]
    parts = []
    for first, last in zip(has_s, has_s[1:]):
        has_p = next(stamp.cycle for stamp in own[first:last] if stamp.mark == "has P")
        issues = next(stamp.cycle for stamp in own[first:last] if stamp.mark.startswith("issues"))
        parts.append((has_p - own[first].cycle, issues - has_p, own[last].cycle - issues))
    return [statistics.median(part) for part in zip(*parts)]


def shares(run, lane):
    """Returns each state's share of a lane's time while warpgroup 1 goes from tile to tile."""
    start, *_, end = steady_steps(run)
    sums = collections.Counter()
    for part in intervals(run, lane):
        sums[part.state] += max(0, min(part.end, end) - max(part.start, start))
    return {state: cycles / (end - start) for state, cycles in sums.items()}


def gaps_in_flight(run, first, last):
    """Returns the intervals between first and last in which no warpgroup has a product in flight."""
    lanes = sorted({stamp.warpgroup for stamp in run.stamps if stamp.warpgroup > 0})
    found, idle_from = [], first
    for start, end in sorted((start, end) for lane in lanes for _, start, end in products_in_flight(run, lane)):
        if end <= idle_from:
            continue
        if min(start, last) > idle_from:
            found.append((idle_from, min(start, last)))
        idle_from = end
        if idle_from >= last:
            return found
    return found + [(idle_from, last)]


def sketch(run, cycles_a_letter, letters):
    """Returns a row of letters for each warpgroup, from a tile on: a letter is what takes most of its cycles."""
    start = steady_steps(run)[0]
    edges = [start + cycles_a_letter * k for k in range(letters + 1)]
    states = kind_of(run).states
    rows = {}
    for lane in sorted({stamp.warpgroup for stamp in run.stamps if stamp.warpgroup > 0}):
        row = ""
        for first, last in zip(edges, edges[1:]):
            sums = collections.Counter()
            for part in intervals(run, lane):
                sums[part.state] += max(0, min(part.end, last) - max(part.start, first))
            state = states[sums.most_common(1)[0][0]]
            row += "." if state.is_wait else state.letter
        rows[LANE_NAMES[lane]] = row
    idle = gaps_in_flight(run, edges[0], edges[-1])
    share_idle = [sum(max(0, min(b, last) - max(a, first)) for a, b in idle) / cycles_a_letter
                  for first, last in zip(edges, edges[1:])]
    rows["in flight"] = "".join(" " if share > 0.5 else "#" for share in share_idle)
    return rows
