"""The names of the weights, and weights of an earlier run to start from."""

import numpy as np
import torch

MATRICES = ["attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"]
NORMS = ["attn_norm", "ffn_norm"]
HEAD_NORMS = ["attn_q_norm", "attn_k_norm"]
GROUPS = [("matrices", MATRICES), ("norms", NORMS), ("head_norms", HEAD_NORMS)]


def named(c):
    """Pairs of the name in GGUF and in `train.py`, the embedding apart."""
    yield "output_norm", f"norms.{2 * c.layers}"
    for layer in range(c.layers):
        for ours, names in GROUPS:
            for index, short in enumerate(names):
                yield f"blk.{layer}.{short}", f"{ours}.{len(names) * layer + index}"


@torch.no_grad()
def start_from(path, c, state, tokens):
    """Copies the weights of a GGUF of the same widths into `state`. A token has its row by its text, so the vocabulary may be
    another one; returns how many tokens have none there. Layers that the file lacks stay as they are made: they add nothing at
    first, so that a deeper model begins as the shallower one."""
    import gguf  # here, since a machine that only trains from the start need not have it

    reader = gguf.GGUFReader(path)
    found = {tensor.name: torch.from_numpy(tensor.data.astype(np.float32)) for tensor in reader.tensors}
    there = 1 + max(int(name.split(".")[1]) for name in found if name.startswith("blk."))
    for short, ours in named(c):
        if short.startswith("blk.") and int(short.split(".")[1]) >= there:
            continue
        state[ours].copy_(found[f"{short}.weight"])
    rows = {token: row for row, token in enumerate(reader.fields["tokenizer.ggml.tokens"].contents())}
    known = [(number, rows[token]) for number, token in enumerate(tokens) if token in rows]
    numbers, there = (torch.tensor(column) for column in zip(*known))
    state["embedding"][numbers] = found["token_embd.weight"][there]
    return len(tokens) - len(known)
