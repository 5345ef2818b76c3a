"""Trains a small text encoder on pairs of a task and its skill, and exports it for ONNX Runtime.

    python train.py --pairs FOLDER --out FOLDER [--seed N] [--minutes N] [--steps N]

The encoder is a Transformer of two layers with a WordPiece vocabulary of its own; the mean of its last states, scaled to
length 1, is the embedding. Its loss is the cross-entropy of a task's skill among those of its batch, and of a skill's task
(InfoNCE). Each task stands in the skills' own words or in other words, at equal chances, and its sentence is varied: common
words go or come, and its parts change places, since tasks elsewhere have other sentences. Half of each batch shares a few
verbs and the other half a few nouns, so that tools of one word have to be told apart. What it prints of the development
part is the share of tasks whose skill is nearest of all tools there; the held-out part is not read.
"""

import argparse
import hashlib
import json
import math
import pathlib
import random
import time

import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from torch import nn
from torch.nn import functional

WIDTH, LAYERS, HEADS, INNER, TOKENS, VOCABULARY = 128, 2, 4, 256, 32, 4000
BATCH, RATE, TEMPERATURE = 64, 2e-3, 0.07
# Common words that say nothing of the tool. "by", "near" and their kind are not among them: they tell what is beside it.
COMMON = (
    "a an and are asks ask at be before can come could do every for from get go has have he help here i if in is it job just "
    "kindly last later let like looking me morning must my need needs next now of okay on once one our please quickly really "
    "she should so some somebody someone soon that the them then there they thing this time to today tomorrow us want wants "
    "we were while will work would you your again also always crew lunch team people says"
).split()
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.before, self.between = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.joined, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, INNER), nn.Linear(INNER, WIDTH)

    def forward(self, states, hidden):
        rows, length, _ = states.shape
        parts = self.joined(self.before(states)).view(rows, length, 3, HEADS, WIDTH // HEADS)
        query, key, value = parts.permute(2, 0, 3, 1, 4).unbind(0)
        scores = query @ key.transpose(-1, -2) / math.sqrt(WIDTH // HEADS) + hidden
        mixed = (scores.softmax(-1) @ value).transpose(1, 2).reshape(rows, length, WIDTH)
        states = states + self.out(mixed)
        return states + self.down(functional.gelu(self.up(self.between(states))))


class Encoder(nn.Module):
    """The last states of the tokens; ONNX Runtime's side takes their mean."""

    def __init__(self, vocabulary):
        super().__init__()
        self.words, self.places = nn.Embedding(vocabulary, WIDTH), nn.Embedding(TOKENS, WIDTH)
        for table in (self.words, self.places):
            nn.init.normal_(table.weight, std=0.1)
        self.layers, self.last = nn.ModuleList(Layer() for _ in range(LAYERS)), nn.LayerNorm(WIDTH)

    def forward(self, input_ids, attention_mask):
        places = torch.arange(input_ids.shape[1], device=input_ids.device)
        states = self.words(input_ids) + self.places(places)
        hidden = (1.0 - attention_mask[:, None, None, :].to(states.dtype)) * -1e4
        for layer in self.layers:
            states = layer(states, hidden)
        return self.last(states)


def embed(encoder, ids, mask):
    """Vectors of length 1, one for each row."""
    weights = mask[:, :, None].float()
    mean = (encoder(ids, mask) * weights).sum(1) / weights.sum(1)
    return functional.normalize(mean, dim=-1)


def make_tokenizer(texts):
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    letters = [chr(code) for code in range(33, 127)]
    trainer = trainers.WordPieceTrainer(
        vocab_size=VOCABULARY, special_tokens=SPECIAL, initial_alphabet=letters, show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    cls, sep = tokenizer.token_to_id("[CLS]"), tokenizer.token_to_id("[SEP]")
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", sep), ("[CLS]", cls))
    tokenizer.enable_truncation(TOKENS)
    return tokenizer


def padded(rows):
    ids = torch.zeros(len(rows), max(map(len, rows)), dtype=torch.int64)
    mask = torch.zeros_like(ids)
    for row, tokens in enumerate(rows):
        ids[row, : len(tokens)] = torch.tensor(tokens)
        mask[row, : len(tokens)] = 1
    return ids, mask


def read(path):
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def encoded(tokenizer, texts):
    return [encoding.ids for encoding in tokenizer.encode_batch(texts)]


@torch.no_grad()
def nearest(encoder, tokenizer, cases, words):
    """The share of the cases whose skill is nearest, among the first skill of each tool."""
    skills = {}
    for case in cases:
        skills.setdefault(case["tool"], case["skill"])
    tools = list(skills)
    vectors = embed(encoder, *padded(encoded(tokenizer, list(skills.values()))))
    asked = embed(encoder, *padded(encoded(tokenizer, [case[words] for case in cases])))
    found = (asked @ vectors.T).argmax(-1).tolist()
    return sum(tools[at] == case["tool"] for at, case in zip(found, cases)) / len(cases)


def varied(text, draws):
    """The sentence with common words left out and put in, and sometimes its two parts in the other order."""
    words = [word for word in text.split() if word not in COMMON or draws.random() < 0.7]
    if draws.random() < 0.3:
        at = draws.randrange(len(words))
        words = words[at:] + words[:at]
    for _ in range(draws.choice((0, 1, 2, 3, 5))):
        words.insert(draws.randrange(len(words) + 1), draws.choice(COMMON))
    return " ".join(words)


def batch(by_verb, by_noun, draws):
    """Numbers of cases: half of 4 verbs, half of 8 nouns."""
    chosen = []
    for groups, count in ((by_verb, 4), (by_noun, 8)):
        for key in draws.sample(sorted(groups), count):
            chosen += draws.choices(groups[key], k=BATCH // 2 // count)
    return chosen


def train(encoder, tokenizer, cases, development, options):
    skill_ids = encoded(tokenizer, [case["skill"] for case in cases])
    by_verb, by_noun = {}, {}
    for number, case in enumerate(cases):
        verb, noun = case["tool"].split()
        by_verb.setdefault(verb, []).append(number)
        by_noun.setdefault(noun, []).append(number)
    tools = {tool: number for number, tool in enumerate(sorted({case["tool"] for case in cases}))}
    numbers = torch.tensor([tools[case["tool"]] for case in cases])
    optimizer = torch.optim.AdamW(encoder.parameters(), lr=RATE, weight_decay=0.01)
    draws, began = random.Random(options.seed), time.monotonic()
    share, step = 0.0, 0
    while share < 1.0:
        # By steps a run repeats; by minutes it ends in time.
        share = step / options.steps if options.steps else (time.monotonic() - began) / 60 / options.minutes
        for group in optimizer.param_groups:
            group["lr"] = RATE * min(1.0, (step + 1) / 50, max(0.02, (1 - share) / 0.6))
        chosen = batch(by_verb, by_noun, draws)
        texts = [varied(cases[at][draws.choice(("own", "other"))], draws) for at in chosen]
        asked = embed(encoder, *padded(encoded(tokenizer, texts)))
        skills = embed(encoder, *padded([skill_ids[at] for at in chosen]))
        scores = asked @ skills.T / TEMPERATURE
        # Two cases of one tool in a batch are no negatives of each other.
        same = numbers[chosen][:, None] == numbers[chosen][None, :]
        scores = scores.masked_fill(same & ~torch.eye(BATCH, dtype=torch.bool), -1e4)
        right = torch.arange(BATCH)
        loss = functional.cross_entropy(scores, right) + functional.cross_entropy(scores.T, right)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(encoder.parameters(), 1.0)
        optimizer.step()
        step += 1
        if step % 100 == 0 or share >= 1.0:
            encoder.eval()
            shares = [nearest(encoder, tokenizer, development[:300], words) for words in ("own", "other")]
            encoder.train()
            print(f"step {step} loss {loss.item():.3f} development own {shares[0]:.3f} other {shares[1]:.3f}", flush=True)


def export(encoder, tokenizer, development, out):
    out.mkdir(parents=True, exist_ok=True)
    encoder.eval()
    ids, mask = padded(encoded(tokenizer, ["repair the bucket", "mend it"]))
    axes = {name: {0: "batch", 1: "length"} for name in ("input_ids", "attention_mask", "last_hidden_state")}
    torch.onnx.export(
        encoder, (ids, mask), str(out / "model.onnx"), input_names=["input_ids", "attention_mask"],
        output_names=["last_hidden_state"], dynamic_axes=axes, opset_version=17, dynamo=False,
    )
    tokenizer.no_padding()
    tokenizer.save(str(out / "tokenizer.json"))
    special = dict(pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]")
    files = {
        "config.json": {"hidden_size": WIDTH, "num_hidden_layers": LAYERS, "pad_token_id": 0},
        "special_tokens_map.json": special,
        "tokenizer_config.json": {"model_max_length": TOKENS, **special},
    }
    for name, value in files.items():
        (out / name).write_text(json.dumps(value, indent=1) + "\n")
    with open(out / "embedded.jsonl", "w", encoding="utf-8") as lines, torch.no_grad():
        for text in [case[words] for case in development[:10] for words in ("own", "other", "skill")] + ["", "日本語"]:
            vector = embed(encoder, *padded(encoded(tokenizer, [text])))[0].tolist()
            lines.write(json.dumps({"text": text, "vector": [float(f"{x:.8g}") for x in vector]}, ensure_ascii=False) + "\n")
    names = sorted(path.name for path in out.iterdir() if path.name != "SHA256SUMS")
    digests = (f"{hashlib.sha256((out / name).read_bytes()).hexdigest()}  {name}\n" for name in names)
    (out / "SHA256SUMS").write_text("".join(digests))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--steps", type=int, default=0)
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    cases, development = (read(options.pairs / f"{part}.jsonl") for part in ("training", "development"))
    texts = [case[words] for case in cases for words in ("own", "other", "skill")]
    tokenizer = make_tokenizer(COMMON * 100 + texts)
    encoder = Encoder(tokenizer.get_vocab_size())
    print(f"{tokenizer.get_vocab_size()} tokens, {sum(p.numel() for p in encoder.parameters())} weights", flush=True)
    train(encoder, tokenizer, cases, development, options)
    export(encoder, tokenizer, development, options.out)


main()
