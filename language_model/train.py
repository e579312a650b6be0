#!/usr/bin/python3
"""Trains the small language model of `flashlab write`, and stores its weights.

  train.py [--minutes M] [--out weights.txt] [--seed N] [--device cpu|cuda]

The text is flashlab's own: README, chapters, pages, problems and changelog of this checkout, without listings and
tables, in printable ASCII. So its licence is that of the project, and whoever has the checkout has the text.

The model is a transformer on characters. x is a row of kWidth numbers for each character:

  x = norm(embedding[character])
  for each layer:  h = norm(x);  q, k, v = h Wq, h Wk, h Wv, per head of 32 columns; q and k are turned by their place
                   x = x + concat over heads of softmax(q k^T / sqrt(32), causal) v  Wo
                   h = norm(x);  x = x + max(h Wup, 0)^2 Wdown
  logits = norm(x) embedding^T            norm(x) = x / sqrt(mean(x^2) + 1e-5)

Turned by its place (RoPE): of each head, columns c and c + 16 are a point in a plane, which is turned by the angle
place * 10000^(-c / 16). So a score depends on the distance of two characters, and the text may be longer than any in training.

The file: a line of JSON (alphabet, layers, heads, width, inner, context, the mean loss on text that was held out,
command), then in base64 all matrices in the order of `matrices`, transposed, so that a row has the weights of one
result. Of each row a float comes first, the factor, and then its numbers in 8 bits: weight = factor * number.
"""
import argparse
import base64
import glob
import json
import math
import os
import re
import struct
import subprocess
import sys
import textwrap
import time

import torch
from torch.nn import functional

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..")
TO_ASCII = {"−": "-", "–": "-", "′": "'", "·": "*", "×": "x", "√": "sqrt ", "ᵀ": "^T", "²": "^2", "…": "...", "≤": "<=",
            "≥": ">=", "∞": "inf", "→": "->", "∘": "*", "é": "e", "‘": "'", "’": "'", "“": '"', "”": '"'}
CONTEXT, WIDTH, HEADS, LAYERS, INNER = 256, 128, 4, 3, 512


def pages():
    found = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"]
    for pattern in ("docs/*.md", "exercises/*/*.md", "assignments/*/*.md"):
        found += sorted(os.path.relpath(path, ROOT) for path in glob.glob(os.path.join(ROOT, pattern)))
    return found


def plain(text):
    """Prose only, in ASCII: no listings, comments, pictures, tables, nor targets of links."""
    text = re.sub(r"```.*?```|<!--.*?-->|\[?<img[^>]*>(\]\([^)]*\))?|</?details>|<summary>.*?</summary>", "", text,
                  flags=re.S)
    text = re.sub(r"\]\([^)\s]*\)", "]", text)
    lines = [line for line in text.splitlines() if not line.startswith(("|", "    "))]
    # A paragraph is one line.
    blocks = re.split(r"\n\s*\n", "\n".join(lines))
    text = "\n".join(" ".join(block.split()) for block in blocks if block.strip())
    text = re.sub(r"[\[\]`*#>]|_(?=\s)", "", text)
    text = "".join(TO_ASCII.get(letter, letter) for letter in text)
    return "".join(letter for letter in text if letter == "\n" or " " <= letter <= "~")


def rounded(matrix):
    """Returns the factors of a matrix's rows and its numbers in 8 bits."""
    factors = matrix.abs().amax(1).clamp(min=1e-12) / 127
    return factors, (matrix / factors[:, None]).round()


def norm(x):
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5)


def turned(x):
    """x [batch, heads, places, columns], each row turned by its place."""
    half = x.shape[-1] // 2
    angles = torch.arange(x.shape[-2], device=x.device)[:, None] * 10000.0 ** (
        -torch.arange(half, device=x.device) / half)
    one, other = x[..., :half], x[..., half:]
    return torch.cat([one * angles.cos() - other * angles.sin(), one * angles.sin() + other * angles.cos()], -1)


class Model(torch.nn.Module):
    def __init__(self, letters):
        super().__init__()
        def matrix(rows, columns, scale=1.0):
            return torch.nn.Parameter(torch.randn(rows, columns) * scale / math.sqrt(rows))
        self.embedding = torch.nn.Parameter(torch.randn(letters, WIDTH) * 0.02)
        self.layers = torch.nn.ModuleList()
        for _ in range(LAYERS):
            layer = torch.nn.Module()
            layer.qkv = matrix(WIDTH, 3 * WIDTH)
            layer.out = matrix(WIDTH, WIDTH, 0.4)
            layer.up = matrix(WIDTH, INNER)
            layer.down = matrix(INNER, WIDTH, 0.4)
            self.layers.append(layer)

    def matrices(self):
        """As the file has them: a row for each result."""
        return [self.embedding] + [m.T for layer in self.layers
                                   for m in (layer.qkv, layer.out, layer.up, layer.down)]

    def round_weights(self):
        for matrix in self.matrices():  # views of the parameters
            factors, numbers = rounded(matrix.data)
            matrix.data.copy_(numbers * factors[:, None])

    def forward(self, letters, drop=0.0):
        batch, places = letters.shape
        x = norm(self.embedding[letters])
        hidden = torch.full((places, places), float("-inf"), device=x.device).triu(1)
        for layer in self.layers:
            qkv = norm(x) @ layer.qkv
            q, k, v = (part.view(batch, places, HEADS, -1).transpose(1, 2) for part in qkv.chunk(3, -1))
            scores = turned(q) @ turned(k).transpose(-1, -2) / math.sqrt(WIDTH // HEADS) + hidden
            o = (scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, places, WIDTH)
            x = x + functional.dropout(o @ layer.out, drop, self.training)
            x = x + functional.dropout(torch.relu(norm(x) @ layer.up).square() @ layer.down, drop, self.training)
        return norm(x) @ self.embedding.T


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--out", default=os.path.join(HERE, "weights.txt"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    flags = parser.parse_args()
    torch.manual_seed(flags.seed)
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"], capture_output=True, text=True,
                            check=True).stdout.strip()
    text = "\n".join(plain(open(os.path.join(ROOT, page), encoding="utf-8").read()) for page in pages())
    alphabet = "".join(sorted(set(text)))
    data = torch.tensor([alphabet.index(letter) for letter in text])
    held_out, data = data[-len(data) // 20:], data[:-len(data) // 20]
    model = Model(len(alphabet)).to(flags.device)
    print(f"{len(text)} characters, {len(alphabet)} different ones, "
          f"{sum(m.numel() for m in model.matrices())} weights", flush=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0, betas=(0.9, 0.98), weight_decay=0.1)
    begin, step = time.monotonic(), 0

    def loss_of(source, batch, drop=0.0):
        at = torch.randint(0, len(source) - CONTEXT - 1, (batch,))
        rows = torch.stack([source[i:i + CONTEXT + 1] for i in at]).to(flags.device)
        logits = model(rows[:, :-1], drop)
        return functional.cross_entropy(logits.reshape(-1, len(alphabet)), rows[:, 1:].reshape(-1))

    while (done := (time.monotonic() - begin) / (60 * flags.minutes)) < 1:
        rate = 4e-3 * min(1, (step + 1) / 100) * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * done)))
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.zero_grad()
        loss = loss_of(data, flags.batch, 0.05)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % 100 == 0:
            model.eval()
            with torch.no_grad():
                other = loss_of(held_out, 16)
            model.train()
            print(f"{time.monotonic() - begin:6.0f} s, step {step}: {loss:.3f}, held out {other:.3f}", flush=True)
        step += 1
    model.eval()
    model.round_weights()
    with torch.no_grad():
        other = sum(loss_of(held_out, 16).item() for _ in range(8)) / 8
    head = {"alphabet": alphabet, "layers": LAYERS, "heads": HEADS, "width": WIDTH, "inner": INNER, "context": CONTEXT,
            "held_out_loss": round(other, 3), "steps": step, "seed": flags.seed,
            "commit": commit, "command": " ".join(["train.py", *sys.argv[1:]])}
    write(flags.out, head, model.matrices())
    print(f"{flags.out}: {other:.3f} nats a character on text that was held out")


def write(path, head, matrices):
    data = b""
    for matrix in matrices:
        factors, numbers = rounded(matrix.detach().cpu().float())
        for factor, row in zip(factors.tolist(), numbers.to(torch.int8)):
            data += struct.pack("<f", factor) + bytes(number & 255 for number in row.tolist())
    with open(path, "w", encoding="ascii") as file:
        file.write(json.dumps(head) + "\n")
        file.write("\n".join(textwrap.wrap(base64.b64encode(data).decode(), 120)) + "\n")


if __name__ == "__main__":
    main()
