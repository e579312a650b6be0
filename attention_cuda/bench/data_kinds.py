"""Kinds of data on which attention is measured: Q, K and V whose scores have a certain form.

  normal    standard normal numbers, so that scores have a standard deviation of 1
  std N     the same, but scores have a standard deviation of N. peaked is std 2, sharp is std 16
  rising    scores rise by 8.5 in 128 keys, in half of the heads towards the last key and in the others
            towards the first: every tile of keys has a new maximum, whichever way a kernel goes
  sink      every query prefers key 0
  trained   as trained models have them: heavy tails, a few channels with a large mean, rotary positions; the scores of a
            head have a standard deviation of 3
  V of mean 3  normal, and 3 is added to V
"""
import math

import torch

KINDS = ("normal", "std 2", "std 4", "sharp", "rising", "sink", "trained", "V of mean 3")
STANDARD_DEVIATIONS = {"normal": 1, "peaked": 2, "std 2": 2, "std 4": 4, "sharp": 16}


def with_rotary_positions(tensor, base=1e4):
    """Turns the pair of columns i and i + head_dim / 2 by position / base^(2 i / head_dim)."""
    seqlen, head_dim = tensor.shape[-2:]
    half = head_dim // 2
    speeds = base ** (-torch.arange(half, device=tensor.device) / half)
    angles = torch.arange(seqlen, device=tensor.device)[:, None] * speeds
    cosine, sine = angles.cos(), angles.sin()
    first, second = tensor[..., :half], tensor[..., half:2 * half]
    return torch.cat([first * cosine - second * sine, first * sine + second * cosine,
                      tensor[..., 2 * half:]], -1)


def heavy_tailed(tensor, groups):
    """Student's distribution with 5 degrees of freedom, of standard deviation 1, and a large mean in 3 of 64
    columns. `groups`: heads of the tensor that share these means."""
    degrees = 5
    chi_squared = sum(torch.randn_like(tensor).square() for _ in range(degrees))
    tensor = tensor * (chi_squared / degrees).rsqrt() * math.sqrt((degrees - 2) / degrees)
    heads, head_dim = tensor.shape[1], tensor.shape[-1]
    means = 4 * torch.randn(heads // groups, 1, head_dim, device=tensor.device)
    means *= torch.rand(heads // groups, 1, head_dim, device=tensor.device) < 3 / 64
    return tensor + means.repeat_interleave(groups, 0)


def shaped(kind, Q, K, V):
    """Returns Q, K and V [batch, heads, seqlen, head_dim] of a kind from standard normal ones in float."""
    head_dim, seqlen_k = Q.shape[-1], K.shape[-2]
    if kind in STANDARD_DEVIATIONS:
        factor = math.sqrt(STANDARD_DEVIATIONS[kind])
        return Q * factor, K * factor, V
    if kind == "V of mean 3":
        return Q, K, V + 3
    Q, K = Q.clone(), K.clone()
    if kind == "sink":
        Q[..., 0] = 4
        K[:, :, 0] = 0
        K[:, :, 0, 0] = 24
    elif kind == "rising":
        Q, K = Q / 2, K / 2
        Q[..., 0] = 1
        sign = 1 - 2 * (torch.arange(K.shape[1], device=K.device) % 2)
        ramp = torch.linspace(0, 8.5 * seqlen_k / 128, seqlen_k, device=K.device) * head_dim**0.5
        K[..., 0] = ramp * sign[:, None]
    elif kind == "trained":
        Q, K = (with_rotary_positions(heavy_tailed(tensor, groups)) for tensor, groups in
                ((Q, Q.shape[1] // K.shape[1]), (K, 1)))
        scores = Q[:1, ::Q.shape[1] // K.shape[1], -256:] @ K[:1].mT / head_dim**0.5
        factor = (3 / scores.std((0, 2, 3))).sqrt()[:, None, None]
        Q, K = Q * factor.repeat_interleave(Q.shape[1] // K.shape[1], 0), K * factor
    else:
        raise ValueError(f"data: {kind}: expected one of: {', '.join([*KINDS, 'peaked'])}")
    return Q, K, V
