"""Writes a checkpoint as GGUF for llama.cpp, as safetensors for other trainers, and what torch itself says to a
hundred prompts, so that llama.cpp's answers can be held against it without torch.

The output is tied, so there is no output.weight; norms stay F32. So do the matrices: at this size it costs two
megabytes, and scores then do not depend on the shape of the batch (F16 weights moved single log-probabilities by 5e-3).
"""

import argparse
import json
from pathlib import Path

import gguf
import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import save_file

from train import LONG, Config
from weights import configuration, from_named, to_named, tokenizer

MATRICES = ["attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"]
NORMS = ["attn_norm", "ffn_norm"]
HEAD_NORMS = ["attn_q_norm", "attn_k_norm"]
WRITTEN = 48  # tokens of an answer, at most


def write_gguf(out, state, embedding, vocabulary):
    tokens, controls = vocabulary["tokens"], vocabulary["controls"]
    writer = gguf.GGUFWriter(out, "qwen3")
    writer.add_name("apprentice")
    writer.add_description("A tiny model for toolworld, the bundled environment of journeyman")
    writer.add_license("MIT OR Apache-2.0")
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    writer.add_context_length(LONG)
    writer.add_embedding_length(Config.width)
    writer.add_block_count(Config.layers)
    writer.add_feed_forward_length(Config.feed_forward)
    writer.add_head_count(Config.heads)
    writer.add_head_count_kv(Config.heads)
    writer.add_key_length(Config.width // Config.heads)
    writer.add_value_length(Config.width // Config.heads)
    writer.add_layer_norm_rms_eps(Config.epsilon)
    writer.add_rope_freq_base(Config.rope_base)
    writer.add_rope_dimension_count(Config.width // Config.heads)
    writer.add_vocab_size(len(tokens))

    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types(
        [gguf.TokenType.CONTROL] * controls + [gguf.TokenType.NORMAL] * (len(tokens) - controls)
    )
    writer.add_token_merges(vocabulary["merges"])
    writer.add_bos_token_id(tokens.index("<s>"))
    writer.add_eos_token_id(tokens.index("<end>"))
    writer.add_add_bos_token(False)
    writer.add_add_eos_token(False)
    writer.add_add_space_prefix(False)

    writer.add_tensor("token_embd.weight", embedding.numpy())
    for layer in range(Config.layers):
        for ours, theirs in [("matrices", MATRICES), ("norms", NORMS), ("head_norms", HEAD_NORMS)]:
            for index, name in enumerate(theirs):
                tensor = state[f"{ours}.{len(theirs) * layer + index}"]
                writer.add_tensor(f"blk.{layer}.{name}.weight", tensor.numpy())
    writer.add_tensor("output_norm.weight", state[f"norms.{2 * Config.layers}"].numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


@torch.no_grad()
def greedy(model, prompt, stops):
    """The tokens that torch writes, the one that ends them included, and by how much each led the next best (nats)."""
    ids, written, margins = list(prompt), [], []
    while len(written) < WRITTEN and (not written or written[-1] not in stops):
        logits = F.linear(model.hidden(torch.tensor([ids]), None)[0, -1], model.embedding)
        best = logits.topk(2)
        written.append(best.indices[0].item())
        margins.append(round((best.values[0] - best.values[1]).item(), 4))
        ids.append(written[-1])
    return written, margins


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--checkpoint", type=Path, required=True)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    saved = torch.load(options.checkpoint, map_location="cpu")
    state, seen = saved["model"], np.array(saved["seen"])
    vocabulary = json.loads((options.corpus / "vocabulary.json").read_text())
    compact = np.where(seen, np.cumsum(seen) - 1, seen.sum())
    named = to_named(state, compact)

    out = options.out / "apprentice.gguf"
    write_gguf(out, state, named["model.embed_tokens.weight"], vocabulary)
    checkpoint = options.out / "checkpoint"
    checkpoint.mkdir(exist_ok=True)
    save_file(named, checkpoint / "model.safetensors", metadata={"format": "pt"})
    (checkpoint / "config.json").write_text(json.dumps(configuration(vocabulary["tokens"]), indent=2) + "\n")
    (checkpoint / "tokenizer.json").write_text(json.dumps(tokenizer(vocabulary), ensure_ascii=False) + "\n")
    named_class = {"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<s>", "eos_token": "<end>",
                   "clean_up_tokenization_spaces": False}
    (checkpoint / "tokenizer_config.json").write_text(json.dumps(named_class, indent=2) + "\n")

    model = from_named(named)
    stops = [vocabulary["tokens"].index(token) for token in ["<end>", "<obs>"]]
    lines = []
    for line in (options.corpus / "prompts.jsonl").read_text().splitlines():
        record = json.loads(line)
        record["written"], record["margins"] = greedy(model, record["ids"], stops)
        lines.append(json.dumps(record, ensure_ascii=False))
    (options.out / "greedy.jsonl").write_text("\n".join(lines) + "\n")
    print(f"{out}: {out.stat().st_size} bytes, step {saved['state']['step']}, {saved['state']['tokens']} tokens")


if __name__ == "__main__":
    main()
