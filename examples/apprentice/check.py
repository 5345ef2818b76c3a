"""Writes again with torch what llama.cpp wrote, and says how often they agree.

First `apprentice --records FILE`, then this. Where the two part, the two leading tokens must be nearly tied.
"""

import argparse
import json
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

from train import Model

TIE = 0.02  # nats; llama.cpp keeps keys and values in F16


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--checkpoint", type=Path, required=True)
    parser.add_argument("--records", type=Path, required=True)
    options = parser.parse_args()
    saved = torch.load(options.checkpoint)
    seen = np.array(saved["seen"])
    used = int(seen.sum())
    compact = np.where(seen, np.cumsum(seen) - 1, used)
    full = np.flatnonzero(seen).tolist()
    model = Model(used, len(seen) - used)
    model.load_state_dict(saved["model"])
    equal = ties = different = 0
    for line in options.records.read_text().splitlines():
        record = json.loads(line)
        ids = torch.from_numpy(compact[record["prompt"] + record["written"]]).long()[None]
        with torch.no_grad():
            logits = F.linear(model.hidden(ids, None), model.embedding)[0, len(record["prompt"]) - 1 : -1, :used]
        margins = [row.max().item() - row[full.index(w)].item() for row, w in zip(logits, record["written"])]
        worst = max(margins, default=0)
        equal += worst == 0
        ties += 0 < worst < TIE
        different += worst >= TIE
    print(f"{equal} equal, {ties} part where two tokens are nearly tied, {different} different")
    raise SystemExit(1 if different else 0)


if __name__ == "__main__":
    main()
