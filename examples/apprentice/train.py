"""Trains the bundled model on the text that toolworld wrote: on a GPU where there is one, else in one-thread processes
that share the work.

A run is bounded by tokens or by minutes, whichever comes first; the learning rate and the choice of text follow the
fraction that is done. It continues from OUT/checkpoint.pt when there is one.
"""

import argparse
import json
import math
import os
import time
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist
import torch.nn.functional as F

from muon import Muon

SHORT, LONG = 192, 1024  # tokens in a row: documents apart from one another, and documents in sequence
LEARNT = 1 << 15
# What says which skill is used: one token of an attempt, and the one on which the rest hangs.
CHOICES, CHOICE_WEIGHT = ("<use>", "<use2>", "<skip>"), 3.0
PARTS = {"early": 0.0, "late": 0.25, "last": 0.5}  # from which fraction of the run on


class Config:
    width, layers, heads, feed_forward, rope_base, epsilon = 128, 4, 4, 320, 10000.0, 1e-5


class Text:
    """Rows of token ids with what is learnt and which document each token belongs to."""

    def __init__(self, path, compact, start):
        raw = np.fromfile(path, dtype=np.uint16)
        self.ids = compact[raw & (LEARNT - 1)].astype(np.int64)
        self.learnt = (raw & LEARNT) != 0
        starts = np.flatnonzero((raw & (LEARNT - 1)) == start)
        self.documents = list(zip(starts.tolist(), np.append(starts[1:], len(raw)).tolist()))
        self.long_rows = len(raw) // (LONG + 1)

    def pack(self):
        """Fills rows of SHORT + 1 tokens, each document into the fullest of the open rows that has room for it."""
        rows, opened = [], []
        for begin, end in self.documents:
            size = end - begin
            if size > SHORT + 1:
                continue
            fitting = [row for row in opened if row[0] + size <= SHORT + 1]
            if fitting:
                row = max(fitting, key=lambda row: row[0])
            else:
                if len(opened) >= 24:
                    full = max(opened, key=lambda row: row[0])
                    opened.remove(full)
                    rows.append(full[1])
                row = [0, []]
                opened.append(row)
            row[0] += size
            row[1].append((begin, end))
        self.rows = rows

    def short_batch(self, numbers):
        size = SHORT + 1
        ids = np.zeros((len(numbers), size), np.int64)
        learnt = np.zeros((len(numbers), size), bool)
        document = np.full((len(numbers), size), -1, np.int64)
        for line, number in enumerate(numbers):
            at = 0
            for index, (begin, end) in enumerate(self.rows[number % len(self.rows)]):
                ids[line, at : at + end - begin] = self.ids[begin:end]
                learnt[line, at : at + end - begin] = self.learnt[begin:end]
                document[line, at : at + end - begin] = index
                at += end - begin
        return ids, learnt, document

    def long_batch(self, numbers):
        ids = np.stack([self.ids[n * (LONG + 1) : (n + 1) * (LONG + 1)] for n in numbers])
        learnt = np.stack([self.learnt[n * (LONG + 1) : (n + 1) * (LONG + 1)] for n in numbers])
        return ids, learnt, None


class Model(torch.nn.Module):
    """A Qwen3 (a Llama whose queries and keys are normalised) with tied embeddings; rows are the used tokens, and one
    more that all unused tokens share."""

    def __init__(self, used, unused):
        super().__init__()
        c = Config
        self.embedding = torch.nn.Parameter(torch.randn(used + 1, c.width) * 0.05)
        self.shared_weight = math.log(max(unused, 1))
        self.norms = torch.nn.ParameterList(torch.ones(c.width) for _ in range(2 * c.layers + 1))
        self.head_norms = torch.nn.ParameterList(torch.ones(c.width // c.heads) for _ in range(2 * c.layers))
        self.matrices = torch.nn.ParameterList()
        for _ in range(c.layers):
            for rows, columns in [(c.width, c.width)] * 4 + [(c.feed_forward, c.width)] * 2 + [(c.width, c.feed_forward)]:
                self.matrices.append(torch.nn.Parameter(torch.randn(rows, columns) / math.sqrt(columns)))
        for layer in range(c.layers):
            self.matrices[7 * layer + 3].data.zero_()
            self.matrices[7 * layer + 6].data.zero_()
        half = c.width // c.heads // 2
        frequency = c.rope_base ** (-torch.arange(half) / half)
        angle = torch.arange(LONG)[:, None] * frequency
        self.register_buffer("cos", angle.cos(), persistent=False)
        self.register_buffer("sin", angle.sin(), persistent=False)

    def rotate(self, x):
        """Pairs of the first and the second half of a head, as llama.cpp has them for this architecture."""
        cos, sin = self.cos[: x.shape[2]], self.sin[: x.shape[2]]
        first, second = x.chunk(2, -1)
        return torch.cat([first * cos - second * sin, second * cos + first * sin], -1)

    def hidden(self, ids, mask):
        c = Config
        x = F.embedding(ids, self.embedding)
        batch, length, _ = x.shape
        for layer in range(c.layers):
            q, k, v, o, gate, up, down = list(self.matrices)[7 * layer : 7 * layer + 7]
            h = F.rms_norm(x, (c.width,), self.norms[2 * layer], c.epsilon)
            split = lambda w: F.linear(h, w).view(batch, length, c.heads, -1).transpose(1, 2)
            turned = lambda w, norm: self.rotate(F.rms_norm(split(w), norm.shape, norm, c.epsilon))
            q, k = turned(q, self.head_norms[2 * layer]), turned(k, self.head_norms[2 * layer + 1])
            a = F.scaled_dot_product_attention(q, k, split(v), attn_mask=mask, is_causal=mask is None)
            x = x + F.linear(a.transpose(1, 2).reshape(batch, length, c.width), o)
            h = F.rms_norm(x, (c.width,), self.norms[2 * layer + 1], c.epsilon)
            x = x + F.linear(F.silu(F.linear(h, gate)) * F.linear(h, up), down)
        return F.rms_norm(x, (c.width,), self.norms[-1], c.epsilon)

    def forward(self, ids, mask, places, targets, weights):
        """The summed loss at the learnt places; weight 0 marks padding."""
        h = self.hidden(ids, mask).flatten(0, 1)[places]
        logits = F.linear(h, self.embedding)
        bias = torch.zeros(logits.shape[1], device=logits.device)
        bias[-1] = self.shared_weight
        loss = F.cross_entropy(logits + bias, targets, reduction="none")
        return (loss * weights).sum()


def batch_tensors(ids, learnt, document, choices, device):
    """Inputs, the attention mask, and the learnt places, padded to a fixed number so that shapes stay the same."""
    inputs, targets = torch.from_numpy(ids[:, :-1].copy()), torch.from_numpy(ids[:, 1:].copy()).flatten()
    wanted = learnt[:, 1:]
    mask = None
    if document is not None:
        d = torch.from_numpy(document[:, :-1].copy())
        mask = (d[:, :, None] == d[:, None, :]).tril()[:, None]
        wanted = wanted & (document[:, 1:] == document[:, :-1])
    places = np.flatnonzero(wanted.reshape(-1))
    room = wanted.size * 7 // 16
    if len(places) > room:
        raise SystemExit(f"{len(places)} of a batch's {wanted.size} tokens are learnt and there is room for {room}: raise it")
    weights = np.zeros(room, np.float32)
    weights[: len(places)] = np.where(np.isin(targets.numpy()[places], choices), CHOICE_WEIGHT, 1.0)
    places = torch.from_numpy(np.pad(places, (0, room - len(places))))
    batch = [inputs, mask, places, targets[places], torch.from_numpy(weights)]
    return [None if part is None else part.to(device, non_blocking=True) for part in batch]


def rate_at(done):
    """Warm up, hold, then fall in a straight line to a hundredth."""
    return min(1.0, done / 0.01 + 0.02) * min(1.0, max(0.01, (1 - done) / 0.6))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--tokens", type=float, default=30e6)
    parser.add_argument("--minutes", type=float, default=0, help="0: no limit")
    parser.add_argument("--rows", type=int, default=24, help="short rows in a process's batch")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--no-compile", action="store_true")
    options = parser.parse_args()
    world = int(os.environ.get("WORLD_SIZE", 1))
    rank = int(os.environ.get("RANK", 0))
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.set_num_threads(1)
    torch.set_float32_matmul_precision("high")
    if world > 1:
        dist.init_process_group("gloo")
    torch.manual_seed(options.seed)
    options.out.mkdir(parents=True, exist_ok=True)

    vocabulary = json.loads((options.corpus / "vocabulary.json").read_text())
    size = len(vocabulary["tokens"])
    raw = {name: np.fromfile(options.corpus / f"{name}.bin", dtype=np.uint16) for name in PARTS}
    checkpoint = options.out / "checkpoint.pt"
    saved = torch.load(checkpoint, map_location="cpu") if checkpoint.exists() else None
    if saved is None:
        seen = np.zeros(size, bool)
        seen[: vocabulary["controls"]] = True
        for ids in raw.values():
            seen[ids & (LEARNT - 1)] = True
    else:
        seen = np.array(saved["seen"])
        if len(seen) != size:
            raise SystemExit(f"{checkpoint} is of another vocabulary: remove it, or use the corpus that it was made from")
    used = int(seen.sum())
    compact = np.where(seen, np.cumsum(seen) - 1, used)
    choices = compact[[vocabulary["tokens"].index(token) for token in CHOICES]]
    texts = {name: Text(options.corpus / f"{name}.bin", compact, 0) for name in raw}
    for text in texts.values():
        text.pack()
    model = Model(used, size - used).to(device)
    muon = Muon(model.matrices)
    others = [model.embedding, *model.norms, *model.head_norms]
    adam = torch.optim.AdamW(others, lr=5e-3, betas=(0.9, 0.95), weight_decay=0.0)
    state = {"step": 0, "tokens": 0, "seconds": 0.0}
    if saved is not None:
        model.load_state_dict(saved["model"])
        adam.load_state_dict(saved["adam"])
        muon.buffers = [buffer.to(device) for buffer in saved["muon"]]
        state = saved["state"]
    run = model if options.no_compile else torch.compile(model, dynamic=False)
    if rank == 0:
        count = sum(p.numel() for p in model.parameters())
        print(f"{count} parameters, {used} used tokens, from step {state['step']}", flush=True)

    begun = last = time.time()
    losses = []
    while True:
        done = state["tokens"] / options.tokens
        if options.minutes:
            done = max(done, state["seconds"] / 60 / options.minutes)
        if done >= 1:
            break
        text = texts[max((name for name in PARTS if PARTS[name] <= done), key=PARTS.get)]
        step = state["step"]
        if step % 20 == 19:
            count = max(1, options.rows * SHORT // LONG)
            numbers = np.random.default_rng([options.seed, step]).integers(0, text.long_rows, count * world)
            batch = text.long_batch(numbers[rank::world])
        else:
            start = step * options.rows * world
            batch = text.short_batch(range(start + rank, start + options.rows * world, world))
        inputs, mask, places, targets, weights = batch_tensors(*batch, choices, device)
        loss = run(inputs, mask, places, targets, weights)
        model.zero_grad(set_to_none=True)
        loss.backward()
        parameters = list(model.parameters())
        seconds = (time.time() - last) if rank == 0 else 0.0
        last = time.time()
        sums = torch.tensor([0.0, 0.0, float(batch[0].size), seconds], device=device)
        sums[0], sums[1] = loss.detach(), weights.sum()
        flat = torch.cat([p.grad.flatten() for p in parameters] + [sums])
        if world > 1:
            dist.all_reduce(flat)
        total, learnt, tokens, seconds = flat[-4:].tolist()
        at = 0
        for p in parameters:
            p.grad = flat[at : at + p.numel()].view_as(p) / learnt
            at += p.numel()
        rate = rate_at(done)
        torch.nn.utils.clip_grad_norm_(others, 1.0)
        adam.param_groups[0]["lr"] = 5e-3 * rate
        adam.step()
        muon.step(0.02 * rate)
        state["step"] += 1
        state["tokens"] += int(tokens)
        state["seconds"] += seconds
        losses.append(total / learnt)
        if rank == 0 and state["step"] % 50 == 0:
            speed = state["tokens"] / state["seconds"]
            print(
                f"step {state['step']} done {done:.3f} loss {np.mean(losses[-50:]):.4f} tokens {state['tokens']}"
                f" {speed:.0f}/s elapsed {time.time() - begun:.0f}s", flush=True,
            )
        if rank == 0 and state["step"] % 500 == 0:
            save(checkpoint, model, adam, muon, state, seen)
    if rank == 0 and losses:
        save(checkpoint, model, adam, muon, state, seen)
        print(f"finished: step {state['step']}, {state['tokens']} tokens, loss {np.mean(losses[-50:]):.4f}", flush=True)


def save(path, model, adam, muon, state, seen):
    part = path.with_suffix(".part")
    torch.save(
        {"model": model.state_dict(), "adam": adam.state_dict(), "muon": muon.buffers, "state": state, "seen": seen.tolist()},
        part,
    )
    part.rename(path)


if __name__ == "__main__":
    main()
