"""Writes a checkpoint as GGUF for llama.cpp.

RoPE pairs are interleaved in training, so q and k need no permutation; the output is tied, so there is no
output.weight; norms stay F32. So do the matrices: at this size it costs two megabytes,
and scores then do not depend on the shape of the batch (F16 weights moved single log-probabilities by 5e-3).
"""

import argparse
import json
from pathlib import Path

import gguf
import numpy as np
import torch

from train import LONG, Config

NAMES = ["attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--checkpoint", type=Path, required=True)
    parser.add_argument("--vocabulary", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    saved = torch.load(options.checkpoint)
    weights, seen = saved["model"], np.array(saved["seen"])
    vocabulary = json.loads(options.vocabulary.read_text())
    tokens, controls = vocabulary["tokens"], vocabulary["controls"]

    writer = gguf.GGUFWriter(options.out, "llama")
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

    compact = np.where(seen, np.cumsum(seen) - 1, seen.sum())
    embedding = weights["embedding"].numpy()[compact]
    writer.add_tensor("token_embd.weight", embedding.astype(np.float32))
    for layer in range(Config.layers):
        for index, name in enumerate(NAMES):
            matrix = weights[f"matrices.{7 * layer + index}"].numpy()
            writer.add_tensor(f"blk.{layer}.{name}.weight", matrix.astype(np.float32))
        for index, name in enumerate(["attn_norm", "ffn_norm"]):
            writer.add_tensor(f"blk.{layer}.{name}.weight", weights[f"norms.{2 * layer + index}"].numpy())
    writer.add_tensor("output_norm.weight", weights[f"norms.{2 * Config.layers}"].numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    print(f"{options.out}: {options.out.stat().st_size} bytes, step {saved['state']['step']}")


if __name__ == "__main__":
    main()
