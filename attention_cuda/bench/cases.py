"""The cases of beside_torch.py, and the marks to reach: data that needs no torch.

Groups   a  bf16, 16 384 tokens in all, num_heads x head_dim = 2048
         b  bf16, batch 4, one head, head_dim 64, long sequences (those of the FA2 backward post)
         c  bf16, batch 4, 8 heads, head_dim 64, short and medium sequences (row 31)
         d  float, batch 4, one head, N 8192, head_dim 64: every variant (rows 27 and 28)
         e  float, batch 4, one head, head_dim 64: peak memory over N (row 30)
         f  bf16, one query, 8 kv heads, head_dim 128, many keys: as when a model generates text
         g  bf16, the sizes of a, forward and backward through torch.autograd: as in training
"""
import math
import statistics
import typing


class Entry(typing.NamedTuple):
    """One side of a comparison: a variant of ours (`how`: how products are computed, or "ordered" if dQ
    is added in a fixed order, or "autograd"), a backend of PyTorch's scaled_dot_product_attention
    (`how`: "tf32" if its products may use tf32), or FlashAttention-4, which is left out if it is not
    installed (`how`: "splits" if it chooses the number of splits of K and V, instead of one; or
    "ordered")."""
    side: str  # "ours", "torch" or "FA4"
    name: str
    how: str = ""

    @property
    def label(self):
        prefix = "torch " if self.side == "torch" else ""
        return prefix + self.name + (f" {self.how}" if self.how not in ("", "native") else "")


class Case(typing.NamedTuple):
    group: str
    dtype: str  # "bf16" or "float"
    batch: int
    num_heads: int
    seqlen: int  # keys
    head_dim: int
    mask: str  # "none" or "causal"
    direction: str  # one of DIRECTIONS
    entries: tuple
    num_kv_heads: int = 0  # 0: num_heads
    seqlen_q: int = 0  # 0: seqlen

    @property
    def has_few_queries(self):
        return 0 < self.seqlen_q < self.seqlen

    @property
    def q_shape(self):
        return (self.batch, self.num_heads, self.seqlen_q or self.seqlen, self.head_dim)

    @property
    def kv_shape(self):
        return (self.batch, self.num_kv_heads or self.num_heads, self.seqlen, self.head_dim)

    def flops(self):
        """Two products forward, five backward, of the visible pairs; 2 FLOPs per multiply-add."""
        pairs = (self.seqlen * (self.seqlen + 1) // 2 if self.mask == "causal" else
                 self.q_shape[2] * self.seqlen)
        products = {"forward": 2, "backward": 5, "both": 7}[self.direction]
        return 2 * products * self.batch * self.num_heads * pairs * self.head_dim

    def bytes_read(self):
        """Bytes read from DRAM if L2 is empty: each input once. Those besides K and V are as Q."""
        as_q = {"forward": 1, "backward": 3, "both": 2}[self.direction]
        return as_q * math.prod(self.q_shape) * self._element_bytes() + self.kv_bytes()

    def kv_bytes(self):
        """Bytes of K and V together."""
        return 2 * math.prod(self.kv_shape) * self._element_bytes()

    def _element_bytes(self):
        return {"bf16": 2, "float": 4}[self.dtype]


class MemoryCase(typing.NamedTuple):
    batch: int
    seqlen: int
    head_dim: int
    entries: tuple


def ours(*names, how="native"):
    return tuple(Entry("ours", name, how) for name in names)


def torch_backends(*names):
    return tuple(Entry("torch", name) for name in names)


def without(side, cases):
    """Returns the cases without the entries of a side."""
    return [case._replace(entries=tuple(entry for entry in case.entries if entry.side != side))
            for case in cases]


DIRECTIONS = ("forward", "backward", "both")
BACKWARD = ("bwd-onepass", "bwd-twopass")
BOTH = "flash2+bwd-onepass"
FLOAT_FORWARD = (ours("naive", "fused-softmax", "three-pass", "online", "flash1", "split-kv",
                      "flash2") + ours("naive", "fused-softmax", "flash2", how="tf32") +
                 ours("flash2", how="tf32x3") + ours("flash2", how="fp16x3"))
FLOAT_BACKWARD = (ours("bwd-naive", *BACKWARD, "bwd-twopass-loads-o") +
                  ours(*BACKWARD, how="tf32") + ours(*BACKWARD, how="tf32x3") +
                  ours("bwd-onepass", how="fp16x3"))
FA4 = (Entry("FA4", "FA4"),)
ORDERED = ours("bwd-onepass", how="ordered") + (Entry("FA4", "FA4", "ordered"),)
FLOAT_PEERS = torch_backends("efficient", "math") + (Entry("torch", "math", "tf32"),)


def cases_a(seqlens):
    peers = torch_backends("flash", "cudnn") + FA4
    for head_dim in (64, 128, 256):
        for mask in ("none", "causal"):
            for seqlen in seqlens:
                sizes = ("a", "bf16", 16384 // seqlen, 2048 // head_dim, seqlen, head_dim, mask)
                yield Case(*sizes, "forward", ours("flash2") + peers)
                yield Case(*sizes, "backward", ours(*BACKWARD) + ORDERED + peers)


def cases_b(seqlens):
    peers = torch_backends("flash", "cudnn") + FA4
    for seqlen in seqlens:
        sizes = ("b", "bf16", 4, 1, seqlen, 64, "none")
        yield Case(*sizes, "forward", ours("flash2") + peers)
        yield Case(*sizes, "backward", ours(*BACKWARD) + peers)
        yield Case(*sizes, "both", ours(BOTH) + peers)


def cases_c(seqlens):
    peers = torch_backends("cudnn", "flash", "math") + FA4
    for seqlen in seqlens:
        sizes = ("c", "bf16", 4, 8, seqlen, 64, "none")
        yield Case(*sizes, "forward", ours("flash2", "naive") + peers)
        yield Case(*sizes, "backward", ours(*BACKWARD, "bwd-naive") + peers)


def cases_d():
    sizes = ("d", "float", 4, 1, 8192, 64, "none")
    yield Case(*sizes, "forward", FLOAT_FORWARD + FLOAT_PEERS)
    yield Case(*sizes, "backward", FLOAT_BACKWARD + FLOAT_PEERS)


def cases_f(sizes):
    entries = (ours("split-kv", "flash2") + FA4 + (Entry("FA4", "FA4", "splits"),) +
               torch_backends("cudnn", "flash"))
    for batch, num_heads, seqlen in sizes:
        yield Case("f", "bf16", batch, num_heads, seqlen, 128, "none", "forward", entries,
                   num_kv_heads=8, seqlen_q=1)


def cases_g(seqlens):
    entries = ours(BOTH, how="autograd") + torch_backends("flash", "cudnn") + FA4
    for case in cases_a(seqlens):
        if case.direction == "forward":
            yield case._replace(group="g", direction="both", entries=entries)


def all_cases(groups, quick=False):
    """Returns the cases of these groups, in order; with `quick` only some of them."""
    found = {"a": lambda: cases_a([4096] if quick else [1024, 4096, 16384]),
             "b": lambda: cases_b([8192] if quick else [8192, 16384, 32768, 65536]),
             "c": lambda: cases_c([128, 1024] if quick else [2**k for k in range(7, 13)]),
             "d": cases_d,
             "f": lambda: cases_f([(32, 32, 8192)] if quick else
                                  [(32, 32, 8192), (1, 64, 65536)]),
             "g": lambda: cases_g([4096] if quick else [1024, 4096, 16384])}
    return [case for group in groups if group in found for case in found[group]()]


def tiny(cases):
    """Returns one case of each kind, small enough for the emulation."""
    return list(dict.fromkeys(case._replace(batch=1, num_heads=2, seqlen=40, head_dim=32,
                                            num_kv_heads=min(case.num_kv_heads, 1))
                              for case in cases))


FEWEST_INPUT_SETS, L2S_BETWEEN = 2, 4


def num_input_sets(case, l2_bytes):
    """Returns the number of sets of inputs that take turns. With few queries, K and V of several times
    the bytes of L2 are read between two uses of a set."""
    others = math.ceil(L2S_BETWEEN * l2_bytes / case.kv_bytes()) if case.has_few_queries else 0
    return max(FEWEST_INPUT_SETS, 1 + others)


def memory_cases(quick=False):
    entries = ours("naive", "fused-softmax", "flash2") + torch_backends("math", "efficient")
    return [MemoryCase(4, seqlen, 64, entries)
            for seqlen in ([1024, 4096] if quick else [1024, 2048, 4096, 8192, 16384])]


class Mark(typing.NamedTuple):
    """A goal for the fastest of `ours`, relative to a peer (at_least: the peer's time over ours) or in ms."""
    group: str
    direction: str
    ours: tuple
    peer: str = ""
    at_least: float = 0
    at_most_ms: float = 0


MARKS = (
    Mark("a", "forward", ("flash2",), "torch flash", at_least=1.0),
    Mark("a", "backward", BACKWARD, "torch flash", at_least=0.9),
    Mark("b", "both", (BOTH,), "torch flash", at_least=1.0),
    Mark("d", "forward", ("flash2",), "torch efficient", at_least=1.0),
    Mark("d", "forward", ("flash2 tf32x3",), "torch efficient", at_least=1.2),
    Mark("d", "forward", ("flash2 fp16x3",), "torch efficient", at_least=2.5),
    Mark("d", "backward", ("bwd-onepass tf32x3",), "torch efficient", at_least=1.2),
    Mark("d", "backward", ("bwd-onepass fp16x3",), "torch efficient", at_least=1.6),
    Mark("d", "forward", ("flash2 tf32",), at_most_ms=1.0),
)


def summary(samples_ms):
    """Returns the median and the spread: half the distance of the quartiles, over the median."""
    median = statistics.median(samples_ms)
    quartiles = statistics.quantiles(samples_ms, n=4) if len(samples_ms) > 1 else [median] * 3
    return {"median_ms": median, "spread": (quartiles[2] - quartiles[0]) / 2 / median}


def medians(row):
    """Returns {label: ms} for the entries with times."""
    return {label: entry["median_ms"] for label, entry in row["entries"].items()
            if "median_ms" in entry}


def ratios(row):
    """Returns {ours: {peer: its time over ours}}: above 1 ours is faster."""
    times = medians(row)
    ours = [label for label in times if row["entries"][label]["side"] == "ours"]
    return {label: {peer: times[peer] / times[label] for peer in times if peer not in ours}
            for label in ours}


def judge(mark, row):
    """Returns whether a row reaches a mark. A row without times to compare does not."""
    times = medians(row)
    ms, label = min(((times[label], label) for label in mark.ours if label in times),
                    default=(None, " or ".join(mark.ours)))
    result = {"group": mark.group, "direction": mark.direction, "shape": row["shape"],
              "mask": row["mask"], "ours": label, "value": None, "met": False}
    if mark.at_most_ms:
        result["at_most_ms"] = mark.at_most_ms
        if ms:
            result |= {"value": ms, "met": ms <= mark.at_most_ms}
        return result
    result |= {"peer": mark.peer, "at_least": mark.at_least}
    if ms and mark.peer in times:
        ratio = times[mark.peer] / ms
        result |= {"value": ratio, "met": ratio >= mark.at_least}
    return result


def judge_all(rows):
    return [judge(mark, row) for row in rows for mark in MARKS
            if (row["group"], row["direction"]) == (mark.group, mark.direction)]


ALLOCATION_BYTES = 512  # torch's allocator rounds a tensor up to a multiple


def judge_memory(rows):
    """Checks that flash2's forward pass allocates only O and lse."""
    found = []
    for row in rows:
        peak = row["peak_extra_bytes"].get("flash2")
        allowed = row["O_and_lse_bytes"] + 2 * ALLOCATION_BYTES
        found.append({"group": "e", "direction": "forward", "shape": row["shape"], "mask": "none",
                      "ours": "flash2", "at_most_bytes": allowed, "value": peak,
                      "met": isinstance(peak, int) and peak <= allowed})
    return found


def onepass_against_twopass(rows):
    """Returns bwd-twopass's time over bwd-onepass's, if both were timed: above 1 one pass is faster."""
    found = []
    for row in rows:
        times = medians(row)
        for how in ("", " tf32", " tf32x3"):
            one, two = (times.get(name + how) for name in BACKWARD)
            if one and two:
                found.append({"group": row["group"], "dtype": row["dtype"], "shape": row["shape"],
                              "mask": row["mask"], "how": how.strip() or "native",
                              "ratio": two / one})
    return found
