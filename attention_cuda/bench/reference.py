"""Computes the exact results that every timed result is compared with: attention by its definition,
in float without tf32, one block of query rows at a time."""
import torch

SCORES_AT_ONCE = 1 << 28  # elements of S in memory at once: 1 GiB


def _score_blocks(Q, K, mask):
    """Yields (rows, S[rows]) for each block of query rows; hidden keys have -inf."""
    batch, num_heads, seqlen_q, head_dim = Q.shape
    seqlen_k = K.shape[2]
    step = max(1, SCORES_AT_ONCE // (batch * num_heads * seqlen_k))
    keys = torch.arange(seqlen_k, device=Q.device)
    for first in range(0, seqlen_q, step):
        rows = slice(first, min(first + step, seqlen_q))
        S = (Q[:, :, rows] @ K.mT).mul_(head_dim**-0.5)
        if mask == "causal":
            S.masked_fill_(keys[None, :] > keys[rows, None], float("-inf"))
        yield rows, S


def largest_score(Q, K):
    """Returns the largest |S| of the first block of query rows, with or without grouped heads."""
    batch, num_kv_heads, _, head_dim = K.shape
    _, S = next(_score_blocks(Q.float().reshape(batch, num_kv_heads, -1, head_dim), K.float(), "none"))
    return float(S.abs().max())


def exact_forward(Q, K, V, mask):
    """Returns (O, lse) in float. With grouped heads, which need mask "none", the queries of all heads
    that share a kv head are the rows of one head in between."""
    shape, (batch, num_kv_heads) = Q.shape, K.shape[:2]
    Q, K, V = (tensor.float() for tensor in (Q, K, V))
    Q = Q.reshape(batch, num_kv_heads, -1, shape[-1])
    O, lse = torch.empty_like(Q), torch.empty_like(Q[..., 0])
    for rows, S in _score_blocks(Q, K, mask):
        lse[:, :, rows] = torch.logsumexp(S, dim=-1)
        O[:, :, rows] = S.sub_(lse[:, :, rows, None]).exp_() @ V
    return O.reshape(shape), lse.reshape(shape[:-1])


def exact_backward(Q, K, V, O, lse, dO, mask):
    """Returns (dQ, dK, dV) in float, from the exact O and lse, and the norms that rows of dQ and dK would have if the signs of
    their terms were random: large equal parts of K cancel in dQ, roundings of dS do not."""
    Q, K, V, dO = (tensor.float() for tensor in (Q, K, V, dO))
    delta, scale = (O * dO).sum(dim=-1), Q.shape[-1]**-0.5
    dQ, dK, dV = torch.empty_like(Q), torch.zeros_like(K), torch.zeros_like(V)
    Q_squared, K_squared = (tensor.square().sum(-1, keepdim=True) for tensor in (Q, K))
    of_dQ, of_dK = torch.empty_like(Q_squared), torch.zeros_like(K_squared)
    for rows, S in _score_blocks(Q, K, mask):
        P = S.sub_(lse[:, :, rows, None]).exp_()
        dV += P.mT @ dO[:, :, rows]
        dS = (dO[:, :, rows] @ V.mT).sub_(delta[:, :, rows, None]).mul_(P).mul_(scale)
        dQ[:, :, rows] = dS @ K
        dK += dS.mT @ Q[:, :, rows]
        dS.square_()
        of_dQ[:, :, rows] = dS @ K_squared
        of_dK += dS.mT @ Q_squared[:, :, rows]
    return (dQ, dK, dV), {"dQ": of_dQ.sqrt_().squeeze(-1), "dK": of_dK.sqrt_().squeeze(-1)}


# Relative to the norm of the exact result: a few roundings of operands and results.
TOLERANCES = {"bf16": 2e-2, "float": 1e-4, "float tf32": 5e-3}
# They hold for scores up to this in float. A weight has the absolute error of its score, which grows with the score; weights in
# bf16 are rounded by more than that.
SCORES_OF_TOLERANCES = 16
# The error of a single row may be this many times as large, in norms of a row: an error in one of
# many tiles is not visible in the norm of the whole.
ROW_ALLOWANCE = 10


def differences(ours, exact, of_terms=None):
    """Returns the relative errors of the whole and of the worst row. NaN counts as infinite. `of_terms`: norms of rows, which
    count where they are larger than those of `exact`."""
    rows = torch.linalg.vector_norm(ours.float() - exact, dim=-1)
    of_rows = torch.linalg.vector_norm(exact, dim=-1)
    if of_terms is not None:
        of_rows = torch.maximum(of_rows, of_terms)
    root_mean_square = of_rows.square().mean().sqrt()
    worst = (rows / torch.maximum(of_rows, root_mean_square)).max()
    found = [float(rows.norm() / of_rows.norm()), float(worst)]
    return [value if value == value else float("inf") for value in found]


def check(results, exact, arithmetic, of_terms=None, largest=0):
    """Returns (differences by name, an error message or None). `of_terms`: as exact_backward returns them. `largest`: as
    largest_score returns it."""
    allowed, found, wrong = TOLERANCES[arithmetic], {}, []
    if arithmetic.startswith("float"):
        allowed *= max(1, largest / SCORES_OF_TOLERANCES)
    for name, tensor in results.items():
        whole, row = found[name] = differences(tensor, exact[name], (of_terms or {}).get(name))
        if not (whole < allowed and row < ROW_ALLOWANCE * allowed):
            wrong.append(f"{name} differs by {whole:.1e} of its norm, its worst row by {row:.1e}: "
                         f"expected less than {allowed:.0e}, {ROW_ALLOWANCE * allowed:.0e}")
    return found, "; ".join(wrong) or None
