#!/usr/bin/env python3
"""Writes attention.json: small attention problems, forward and backward, as PyTorch computes them in
double. O is torch.nn.functional.scaled_dot_product_attention, the gradients are autograd's through
it, lse is torch.logsumexp of the masked scores. Arrays are flat, row-major, with all digits.

  python make_golden.py > attention.json
"""

import json
import platform
import sys

import torch
import torch.nn.functional as F

# name, batch, heads, kv heads, seqlen_q, seqlen_k, head_dim, mask, scale (None: 1/sqrt(head_dim))
CASES = [
    ("full", 2, 2, 2, 5, 5, 4, "none", None),
    ("longer keys", 1, 2, 2, 3, 7, 4, "none", None),
    ("longer queries", 1, 1, 1, 6, 2, 3, "none", None),
    ("causal", 2, 2, 2, 5, 5, 4, "causal", None),
    ("causal, longer keys", 1, 2, 2, 3, 6, 4, "causal", None),
    ("causal, longer queries", 1, 2, 2, 6, 3, 4, "causal", None),
    ("bottom right, longer keys", 1, 2, 2, 3, 6, 4, "causal-bottom-right", None),
    ("bottom right, same lengths", 1, 1, 1, 4, 4, 5, "causal-bottom-right", None),
    ("grouped heads", 1, 6, 2, 4, 5, 4, "none", None),
    ("one kv head, causal", 1, 4, 1, 5, 5, 3, "causal", None),
    ("scale", 1, 2, 2, 4, 5, 4, "none", 0.25),
    ("negative scale, causal", 1, 2, 1, 5, 4, 4, "causal", -1.5),
    ("one query", 2, 2, 1, 1, 9, 8, "none", None),
]


def mask_of(kind, seqlen_q, seqlen_k):
    """True where the query sees the key."""
    full = torch.ones(seqlen_q, seqlen_k, dtype=torch.bool)
    if kind == "none":
        return full
    return full.tril(0 if kind == "causal" else seqlen_k - seqlen_q)


def attend(Q, K, V, kind, scale):
    groups = Q.shape[1] // K.shape[1]
    mask = mask_of(kind, Q.shape[2], K.shape[2])
    O = F.scaled_dot_product_attention(
        Q, K, V, attn_mask=None if kind == "none" else mask, scale=scale, enable_gqa=groups > 1)
    factor = Q.shape[3] ** -0.5 if scale is None else scale
    S = factor * Q @ K.repeat_interleave(groups, dim=1).transpose(2, 3)
    return O, torch.logsumexp(S.masked_fill(~mask, float("-inf")), dim=-1)


def case(name, batch, heads, kv_heads, seqlen_q, seqlen_k, head_dim, kind, scale):
    def random(heads, rows):
        return torch.randn(batch, heads, rows, head_dim, dtype=torch.float64, requires_grad=True)

    Q, K, V = random(heads, seqlen_q), random(kv_heads, seqlen_k), random(kv_heads, seqlen_k)
    dO = random(heads, seqlen_q).detach()
    O, lse = attend(Q, K, V, kind, scale)
    dQ, dK, dV = torch.autograd.grad(O, (Q, K, V), dO)
    tensors = {"Q": Q, "K": K, "V": V, "dO": dO, "O": O, "lse": lse, "dQ": dQ, "dK": dK, "dV": dV}
    return {
        "name": name, "batch": batch, "num_heads": heads, "num_kv_heads": kv_heads,
        "seqlen_q": seqlen_q, "seqlen_k": seqlen_k, "head_dim": head_dim, "mask": kind,
        "softmax_scale": scale,
        **{key: tensor.detach().flatten().tolist() for key, tensor in tensors.items()},
    }


def main():
    torch.manual_seed(5)
    cases = [case(*arguments) for arguments in CASES]
    header = {
        "made_by": "python make_golden.py > attention.json",
        "versions": {"torch": torch.__version__, "python": platform.python_version()},
    }
    lines = [json.dumps(c).replace(', "', ',\n  "') for c in cases]
    sys.stdout.write('{"header": %s,\n"cases": [\n%s\n]}\n' % (json.dumps(header), ",\n".join(lines)))


if __name__ == "__main__":
    main()
