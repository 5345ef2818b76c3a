"""Trains the bundled model on the text that toolworld's `general` wrote.

The size is given by options. A run has one schedule, by tokens or by seconds (`--seconds`, for a machine that is lent for a known
time): the learning rate and the choice of text follow the fraction that is done, and a run that was stopped goes on from
OUT/checkpoint.pt where it was. `--from` begins a run with the weights of an earlier one. OUT/weights.pt has what
`export.py` needs, without the optimizers' state.

On a GPU the arithmetic is bfloat16 and all text lies in its memory. On CPUs one-thread processes share the work, each document has a row of its own (`--alone`), so that attention is plainly
causal, and a step is several passes over few rows (`--pass`), whose intermediate values stay in a core's cache: on Zen 5, rows of
192, 39 thousand tokens a second in passes of 3,072 tokens, 27 thousand in one pass of 12,288.
"""

import argparse
import json
import math
import os
import time
from collections import deque
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist
import torch.nn.functional as F

from weights import start_from
from muon import Muon

LEARNT = 1 << 15
CHOICE = 3  # weight of a document's first learnt token, and of the words that say which skill is followed
ANSWER = 12  # weight of a yes or no that is all that a document teaches
FEW = 4  # the greatest number of learnt tokens of such a document
PACKED = "512,2048,4096"
ALONE = "96,128,160,192,224,256,320,384,512,1024,4096"
PARTS = {"early": 0.0, "late": 0.3}  # from which fraction of the run on
GOES_ON = {"late": 0.0}  # the same where an earlier run's weights are trained on


@dataclass
class Config:
    """The shape of the model: a Qwen3 with tied embeddings."""

    width: int = 128
    layers: int = 4
    heads: int = 4
    feed_forward: int = 320
    context: int = 4096
    vocabulary: int = 0
    rope_base: float = 10000.0
    epsilon: float = 1e-5


class Text:
    """Documents of token ids in rows of several lengths: packed, or each alone."""

    def __init__(self, path, separator, lengths, alone, tokens):
        raw = np.fromfile(path, dtype=np.uint16)
        ids = raw & (LEARNT - 1)
        self.ids, self.learnt = ids, weighed(ids, (raw & LEARNT) != 0, separator, tokens)
        starts = np.flatnonzero(ids == separator)
        documents = list(zip((starts + 1).tolist(), np.append(starts[1:], len(raw)).tolist()))
        self.sizes = np.array([end - begin for begin, end in documents])
        self.rows = {}
        least = 0
        for length in lengths:
            fitting = [(b, e) for b, e in documents if least < e - b <= length + 1]
            self.rows[length] = [[document] for document in fitting] if alone else pack(fitting, length + 1)
            least = length + 1
        self.too_long = int((self.sizes > lengths[-1] + 1).sum())

    def batch(self, length, numbers):
        """Rows with their documents apart: ids, what is learnt, and which document each token belongs to."""
        size = length + 1
        ids = np.zeros((len(numbers), size), np.int16)
        learnt = np.zeros((len(numbers), size), np.uint8)
        document = np.full((len(numbers), size), -1, np.int16)
        rows = self.rows[length]
        for line, number in enumerate(numbers):
            at = 0
            for index, (begin, end) in enumerate(rows[number % len(rows)]):
                ids[line, at : at + end - begin] = self.ids[begin:end]
                learnt[line, at : at + end - begin] = self.learnt[begin:end]
                document[line, at : at + end - begin] = index
                at += end - begin
        return tuple(torch.from_numpy(part) for part in (ids, learnt, document))

    def joined(self, length, numbers):
        """Rows in which documents follow one another and see those before, so that all distances of the context occur."""
        size = length + 1
        count = max(1, len(self.ids) // size - 1)
        cut = lambda flat: np.stack([flat[n % count * size : (n % count + 1) * size] for n in numbers])
        ids = torch.from_numpy(cut(self.ids).astype(np.int16))
        return ids, torch.from_numpy(cut(self.learnt)), torch.zeros_like(ids)


class Resident(Text):
    """The same with all rows in the device's memory, so that a step waits for nothing that the host prepares."""

    def __init__(self, device, *about):
        super().__init__(*about)
        self.rows_there = {
            length: tuple(part.to(device) for part in Text.batch(self, length, range(len(rows)))) for length, rows in self.rows.items()
        }
        self.text_there = tuple(torch.from_numpy(part).to(device) for part in (self.ids.astype(np.int16), self.learnt))

    def batch(self, length, numbers):
        ids, learnt, document = self.rows_there[length]
        at = torch.tensor([number % len(ids) for number in numbers]).to(ids.device, non_blocking=True)
        return ids[at], learnt[at], document[at]

    def joined(self, length, numbers):
        size = length + 1
        ids, learnt = self.text_there
        count = max(1, len(ids) // size - 1)
        first = torch.tensor([int(number) % count * size for number in numbers])
        at = (first[:, None] + torch.arange(size)).to(ids.device, non_blocking=True)
        return ids[at], learnt[at], torch.zeros_like(ids[at])


def weighed(ids, learnt, separator, tokens):
    """The weight of each place, 0 where nothing is learnt. The first learnt token of a document is often a decision (does this skill
    fit? is there nothing to write?), which would be lost among the many tokens that are copied; as often it only opens an answer.
    It weighs the same in long and in short answers: else the model would say too often what is short. A yes or no weighs more, as a
    hundred tokens were read for it alone."""
    each = learnt.astype(np.uint8)
    places = np.flatnonzero(learnt)
    document = np.searchsorted(np.flatnonzero(ids == separator), places)
    _, first, counts = np.unique(document, return_index=True, return_counts=True)
    known = {token: number for number, token in enumerate(tokens)}
    answers = np.isin(ids[places[first]], [known.get("yes", -1), known.get("no", -1)]) & (counts <= FEW)
    each[places[first]] = np.where(answers, ANSWER, CHOICE)
    ends = np.array(["\u010a" in token for token in tokens])
    at = np.flatnonzero((ids == known.get("Skill", -1)) & learnt)
    for _ in range(16):
        at = at[at + 1 < len(each)] + 1
        at = at[(each[at] > 0) & ~ends[ids[at]]]
        each[at] = CHOICE
    return each


def pack(documents, room):
    """Puts each document into the fullest of the open rows that has room for it."""
    rows, opened = [], []
    for begin, end in documents:
        size = end - begin
        fitting = [row for row in opened if row[0] + size <= room]
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
    return rows + [row[1] for row in opened]


class Model(torch.nn.Module):
    """A Qwen3 (a Llama whose queries and keys are normalised) with tied embeddings."""

    def __init__(self, c):
        super().__init__()
        self.config = c
        self.embedding = torch.nn.Parameter(torch.randn(c.vocabulary, c.width) * 0.05)
        self.norms = torch.nn.ParameterList(torch.ones(c.width) for _ in range(2 * c.layers + 1))
        self.head_norms = torch.nn.ParameterList(torch.ones(c.width // c.heads) for _ in range(2 * c.layers))
        self.matrices = torch.nn.ParameterList()
        shapes = [(c.width, c.width)] * 4 + [(c.feed_forward, c.width)] * 2 + [(c.width, c.feed_forward)]
        for _ in range(c.layers):
            for rows, columns in shapes:
                self.matrices.append(torch.nn.Parameter(torch.randn(rows, columns) / math.sqrt(columns)))
        for layer in range(c.layers):
            self.matrices[7 * layer + 3].data.zero_()
            self.matrices[7 * layer + 6].data.zero_()
        half = c.width // c.heads // 2
        angle = torch.arange(c.context)[:, None] * c.rope_base ** (-torch.arange(half) / half)
        self.register_buffer("cos", angle.cos(), persistent=False)
        self.register_buffer("sin", angle.sin(), persistent=False)

    def rotate(self, x):
        """Pairs of the first and the second half of a head, as llama.cpp has them for this architecture."""
        cos, sin = self.cos[: x.shape[2]].to(x.dtype), self.sin[: x.shape[2]].to(x.dtype)
        first, second = x.chunk(2, -1)
        return torch.cat([first * cos - second * sin, second * cos + first * sin], -1)

    def hidden(self, ids, attend):
        c = self.config
        x = F.embedding(ids, self.embedding)
        batch, length, _ = x.shape
        for layer in range(c.layers):
            q, k, v, o, gate, up, down = list(self.matrices)[7 * layer : 7 * layer + 7]
            h = F.rms_norm(x, (c.width,), self.norms[2 * layer], c.epsilon)
            split = lambda w: F.linear(h, w).view(batch, length, c.heads, -1).transpose(1, 2)
            turned = lambda w, norm: self.rotate(F.rms_norm(split(w), norm.shape, norm.to(x.dtype), c.epsilon))
            v = split(v)
            q, k = turned(q, self.head_norms[2 * layer]), turned(k, self.head_norms[2 * layer + 1])
            a = attend(q.to(v.dtype), k.to(v.dtype), v)
            x = x + F.linear(a.transpose(1, 2).reshape(batch, length, c.width), o)
            h = F.rms_norm(x, (c.width,), self.norms[2 * layer + 1], c.epsilon)
            x = x + F.linear(F.silu(F.linear(h, gate)) * F.linear(h, up), down)
        return F.rms_norm(x, (c.width,), self.norms[-1], c.epsilon)

    def forward(self, ids, mask, places, targets, weights, attend):
        """The summed loss at the learnt places; weight 0 marks padding. `attend` is attention under such a mask."""
        h = self.hidden(ids, lambda q, k, v: attend(q, k, v, mask)).flatten(0, 1)[places]
        logits = F.linear(h, self.embedding.to(h.dtype)).float()
        return (F.cross_entropy(logits, targets, reduction="none") * weights).sum()


def start_words_alike(embedding, tokens):
    """A word begins near the same word with a space before it: names stand in tasks with one and in calls without."""
    numbers = {token: number for number, token in enumerate(tokens)}
    space = torch.randn(embedding.shape[1]) * 0.02
    with torch.no_grad():
        for token, number in numbers.items():
            bare = numbers.get(token[1:]) if token.startswith("\u0120") and len(token) > 2 else None
            if bare is not None:
                embedding[number] = embedding[bare] * 0.95 + embedding[number] * 0.3 + space


def causal(document):
    """No mask is needed where a row is one document: what is behind its end is not learnt."""
    return None


def plain(document):
    return (document[:, :, None] == document[:, None, :]).tril()[:, None]


def masked(q, k, v, mask):
    """Attention under a mask; without one, causal. Short causal rows are written out: on CPUs torch's own attention takes twice
    as long forwards and backwards (rows of 192, heads of 32)."""
    length, size = q.shape[2:]
    if mask is not None or q.device.type != "cpu" or length > 512:
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=mask is None)
    heads = lambda x: x.reshape(-1, length, size)
    scores = torch.bmm(heads(q), heads(k).transpose(1, 2)).float() * size**-0.5
    at = torch.arange(length)
    seen = torch.softmax(scores.masked_fill(at[None, :] > at[:, None], -1e9), -1).to(v.dtype)
    return torch.bmm(seen, heads(v)).view(q.shape)


def tensors(ids, learnt, document, device, make_mask, room):
    """Inputs, the attention mask, and the learnt places, padded to a fixed number so that shapes stay the same. `room` is
    the share of the places for which there is room."""
    ids, learnt, document = (part.to(device, non_blocking=True) for part in (ids, learnt, document))
    mask = make_mask(document[:, :-1].int())
    wanted = (learnt[:, 1:] * (document[:, 1:] == document[:, :-1])).flatten()
    places = torch.argsort((wanted == 0).to(torch.uint8), stable=True)[: int(wanted.numel() * room)]
    ids = ids.long()
    return ids[:, :-1].contiguous(), mask, places, ids[:, 1:].flatten()[places], wanted[places].float()


def rate_at(done):
    """Warm up, hold, then fall in a straight line to a hundredth."""
    return min(1.0, done / 0.01 + 0.02) * min(1.0, max(0.01, (1 - done) / 0.6))


def fast_bfloat16(device):
    flags = Path("/proc/cpuinfo")
    return device.type == "cuda" or (flags.exists() and "avx512_bf16" in flags.read_text())


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--tokens", type=float, default=60e6, help="the length of the schedule")
    parser.add_argument("--from", dest="start", type=Path, help="a GGUF of the same widths, and of as many layers or fewer, whose weights a new run begins with, with text of another seed")
    parser.add_argument("--seconds", type=float, default=0, help="the length of the schedule where that ends sooner: seconds of steps, compiling included, loading and saving not; 0: by tokens alone")
    parser.add_argument("--stop-after", type=float, default=0, help="seconds after which to save and stop; 0: never")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--feed-forward", type=int, default=320)
    parser.add_argument("--context", type=int, default=4096)
    parser.add_argument(
        "--rows", default="", help="lengths of rows; a document goes into the shortest that holds it (without: by --alone)"
    )
    parser.add_argument("--alone", action=argparse.BooleanOptionalAction, help="one document a row (without: on CPUs)")
    parser.add_argument("--bfloat16", action=argparse.BooleanOptionalAction, help="(without: where it is fast)")
    parser.add_argument("--room", type=float, default=0.32, help="share of the places of a pass that can be learnt; what is beyond is dropped")
    parser.add_argument("--batch", type=int, default=12288, help="tokens of a step, in all processes together")
    parser.add_argument("--pass", dest="each", type=int, help="tokens of one pass of a process (without: 2,048 on CPUs, else a whole step)")
    parser.add_argument("--joined", type=float, default=0.03, help="share of steps with documents in sequence")
    parser.add_argument("--joined-row", type=int, default=2048)
    parser.add_argument("--matrix-rate", type=float, default=0.02)
    parser.add_argument("--rate", type=float, default=0, help="of all else; 0: 5e-3 at width 128, less where wider")
    parser.add_argument("--save-every", type=float, default=180, help="seconds")
    parser.add_argument("--print-every", type=int, default=50, help="steps")
    parser.add_argument("--no-compile", action="store_true")
    return parser.parse_args()


def choose(text, lengths, joined, joined_row, draw):
    """The kind of rows of a step: each length by its share of the tokens."""
    if draw.random() < joined:
        return joined_row, True
    weights = np.array([len(text.rows[length]) * length for length in lengths], float)
    return lengths[draw.choice(len(lengths), p=weights / weights.sum())], False


def main():
    o = options()
    world, rank = int(os.environ.get("WORLD_SIZE", 1)), int(os.environ.get("RANK", 0))
    device = torch.device("cuda", rank) if torch.cuda.is_available() else torch.device("cpu")
    torch.set_num_threads(1)
    torch.set_float32_matmul_precision("high")
    if world > 1:
        dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
    torch.manual_seed(o.seed)
    o.out.mkdir(parents=True, exist_ok=True)
    vocabulary = json.loads((o.corpus / "vocabulary.json").read_text())
    alone = device.type == "cpu" if o.alone is None else o.alone
    bfloat16 = fast_bfloat16(device) if o.bfloat16 is None else o.bfloat16
    lengths = [int(length) for length in (o.rows or (ALONE if alone else PACKED)).split(",")]
    separator = vocabulary["controls"] - 1
    parts = GOES_ON if o.start else PARTS
    kind = Text if device.type == "cpu" else partial(Resident, device)
    texts = {name: kind(o.corpus / f"{name}.bin", separator, lengths, alone, vocabulary["tokens"]) for name in parts}
    c = Config(o.width, o.layers, o.heads, o.feed_forward, o.context, len(vocabulary["tokens"]))
    checkpoint = o.out / "checkpoint.pt"
    saved = torch.load(checkpoint, map_location="cpu", weights_only=False) if checkpoint.exists() else None
    if saved is not None and saved["config"] != asdict(c):
        raise SystemExit(f"{checkpoint} has another shape or vocabulary: {saved['config']}; remove it or give its options")
    model = Model(c)
    start_words_alike(model.embedding, vocabulary["tokens"])
    if o.start and saved is None:
        new = start_from(o.start, c, model.state_dict(), vocabulary["tokens"])
        print(f"weights of {o.start}; {new} tokens are new", flush=True)
    model.to(device)
    muon = Muon(model.matrices)
    others = [model.embedding, *model.norms, *model.head_norms]
    rate = o.rate or 5e-3 * math.sqrt(128 / o.width)
    adam = torch.optim.AdamW(others, lr=rate, betas=(0.9, 0.95), weight_decay=0.0, fused=device.type == "cuda")
    state = {"step": 0, "tokens": 0, "seconds": 0.0, "schedule": [o.tokens, o.seconds]}
    cursors = {}
    if saved is not None:
        model.load_state_dict(saved["model"])
        adam.load_state_dict(saved["adam"])
        muon.buffers = [buffer.to(device) for buffer in saved["muon"]]
        state, cursors = saved["state"], saved["cursors"]
        if state["schedule"] != [o.tokens, o.seconds]:
            raise SystemExit(
                f"the run has a schedule of {state['schedule']} and not of {[o.tokens, o.seconds]} (tokens, seconds); give that, since"
                " no schedule is restarted"
            )
    make_mask, attend = (causal, masked) if alone else (plain, masked)
    torch._dynamo.config.recompile_limit = 64  # one program for each length of rows
    run = model if o.no_compile else torch.compile(model, dynamic=False)
    each = o.each or (2048 if device.type == "cpu" else o.batch)
    if rank == 0:
        count = sum(p.numel() for p in model.parameters())
        sizes = np.concatenate([text.sizes for text in texts.values()])
        print(
            f"{count} parameters, {c.vocabulary} tokens in the vocabulary; tokens a document: median {np.median(sizes):.0f}, 95th"
            f" hundredth {np.percentile(sizes, 95):.0f}, longest {sizes.max()}; {sum(t.too_long for t in texts.values())} too long;"
            f" from step {state['step']}; documents {'alone' if alone else 'packed'} in rows of {lengths}, bfloat16 {bfloat16}",
            flush=True,
        )
    begun = last = saved_at = time.time()
    losses = deque(maxlen=50)
    while (done := max(state["tokens"] / o.tokens, state["seconds"] / (o.seconds or math.inf))) < 1:
        name = max((name for name in parts if parts[name] <= done), key=parts.get)
        draw = np.random.default_rng([o.seed, state["step"]])
        length, is_joined = choose(texts[name], lengths, o.joined, o.joined_row, draw)
        rows = max(1, round(min(each, o.batch / world) / length))
        passes = max(1, round(o.batch / length / world / rows))
        model.zero_grad(set_to_none=True)
        total = learnt = tokens = 0.0
        for _ in range(passes):
            if is_joined:
                batch = texts[name].joined(length, draw.integers(0, 1 << 30, rows * world)[rank::world])
            else:
                start = cursors.get((name, length), 0)
                cursors[(name, length)] = start + rows * world
                batch = texts[name].batch(length, range(start + rank, start + rows * world, world))
            inputs, mask, places, targets, weights = tensors(*batch, device, make_mask, o.room)
            with torch.autocast(device.type, dtype=torch.bfloat16, enabled=bfloat16):
                loss = run(inputs, mask, places, targets, weights, attend)
            loss.backward()
            total, learnt, tokens = total + loss.detach(), learnt + weights.sum(), tokens + batch[0].numel()
        parameters = list(model.parameters())
        seconds = (time.time() - last) if rank == 0 else 0.0
        last = time.time()
        stop = float(bool(rank == 0 and o.stop_after and last - begun > o.stop_after))
        flat = torch.cat([p.grad.flatten().float() for p in parameters] + [total.view(1), learnt.view(1)])
        if world > 1:
            dist.all_reduce(flat)
            shared = torch.tensor([tokens, seconds, stop], dtype=torch.float64, device=device)
            dist.all_reduce(shared)
            tokens, seconds, stop = shared.tolist()
        total, learnt = flat[-2].clone(), flat[-1].clamp(min=1.0)
        flat /= learnt
        at = 0
        for p in parameters:
            p.grad = flat[at : at + p.numel()].view_as(p)
            at += p.numel()
        torch.nn.utils.clip_grad_norm_(others, 1.0)
        adam.param_groups[0]["lr"] = rate * rate_at(done)
        adam.step()
        muon.step(o.matrix_rate * rate_at(done))
        state["step"] += 1
        state["tokens"] += int(tokens)
        state["seconds"] += seconds
        losses.append(total / learnt)
        if rank == 0 and state["step"] % o.print_every == 0:
            print(
                f"step {state['step']} done {done:.3f} loss {mean(losses):.4f} tokens {state['tokens']}"
                f" {state['tokens'] / state['seconds']:.0f}/s elapsed {time.time() - begun:.0f}s", flush=True,
            )
        if rank == 0 and time.time() - saved_at > o.save_every:
            save(checkpoint, c, model, adam, muon, state, cursors)
            saved_at = time.time()
        if stop:
            break
    if rank == 0 and losses:
        save(checkpoint, c, model, adam, muon, state, cursors)
        print(f"at step {state['step']}: {state['tokens']} tokens, loss {mean(losses):.4f}", flush=True)


def mean(losses):
    return torch.stack(list(losses)).mean().item()


def save(path, config, model, adam, muon, state, cursors):
    weights = {"config": asdict(config), "model": model.state_dict(), "state": state}
    whole = weights | {"adam": adam.state_dict(), "muon": muon.buffers, "cursors": cursors}
    for made, name in [(weights, path.with_name("weights.pt")), (whole, path)]:
        part = name.with_suffix(".part")
        torch.save(made, part)
        part.rename(name)


if __name__ == "__main__":
    main()
