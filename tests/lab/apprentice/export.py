"""Writes a checkpoint as GGUF for llama.cpp, in F16 or Q8_0, with its chat template; and its vocabulary with what torch itself
writes to a hundred prompts, so that llama.cpp's ids and answers can be held against them without torch."""

import argparse
import json
from pathlib import Path

import gguf
import numpy as np
import torch
import torch.nn.functional as F

from train import Config, Model
from weights import named

END, PAD = "<|im_end|>", "<|endoftext|>"
WRITTEN = 64  # tokens of an answer, at most


def write_gguf(out, c, state, vocabulary, template, kind):
    tokens, controls, frames = vocabulary["tokens"], vocabulary["controls"], vocabulary["frames"]
    writer = gguf.GGUFWriter(out, "qwen3")
    writer.add_name("apprentice")
    writer.add_description("A tiny model that calls tools and plays journeyman's roles in toolworld, the bundled environment")
    writer.add_license("MIT OR Apache-2.0")
    types = {"f32": gguf.LlamaFileType.ALL_F32, "f16": gguf.LlamaFileType.MOSTLY_F16, "q8_0": gguf.LlamaFileType.MOSTLY_Q8_0}
    writer.add_file_type(types[kind])
    writer.add_context_length(c.context)
    writer.add_embedding_length(c.width)
    writer.add_block_count(c.layers)
    writer.add_feed_forward_length(c.feed_forward)
    writer.add_head_count(c.heads)
    writer.add_head_count_kv(c.heads)
    writer.add_key_length(c.width // c.heads)
    writer.add_value_length(c.width // c.heads)
    writer.add_layer_norm_rms_eps(c.epsilon)
    writer.add_rope_freq_base(c.rope_base)
    writer.add_rope_dimension_count(c.width // c.heads)
    writer.add_vocab_size(len(tokens))

    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    kinds = [gguf.TokenType.CONTROL] * controls + [gguf.TokenType.USER_DEFINED] * frames
    writer.add_token_types(kinds + [gguf.TokenType.NORMAL] * (len(tokens) - len(kinds)))
    writer.add_token_merges(vocabulary["merges"])
    writer.add_eos_token_id(tokens.index(END))
    writer.add_eot_token_id(tokens.index(END))
    writer.add_pad_token_id(tokens.index(PAD))
    writer.add_add_bos_token(False)
    writer.add_add_eos_token(False)
    writer.add_add_space_prefix(False)
    writer.add_chat_template(template)

    def add(name, tensor):
        array = tensor.float().numpy()
        if array.ndim == 1 or kind == "f32":
            writer.add_tensor(f"{name}.weight", array)
        elif kind == "f16":
            writer.add_tensor(f"{name}.weight", array.astype(np.float16))
        else:
            packed = gguf.quants.quantize(array, gguf.GGMLQuantizationType.Q8_0)
            writer.add_tensor(f"{name}.weight", packed, raw_dtype=gguf.GGMLQuantizationType.Q8_0)

    add("token_embd", state["embedding"])
    for short, ours in named(c):
        add(short, state[ours])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


@torch.no_grad()
def greedy(model, prompt, stop):
    """The tokens that torch writes, the one that ends them included, and by how much each led the next best (nats)."""
    ids, written, margins = list(prompt), [], []
    attend = lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True)
    while len(written) < WRITTEN and (not written or written[-1] != stop):
        best = F.linear(model.hidden(torch.tensor([ids]), attend)[0, -1], model.embedding).topk(2)
        written.append(best.indices[0].item())
        margins.append(round((best.values[0] - best.values[1]).item(), 4))
        ids.append(written[-1])
    return written, margins


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--checkpoint", type=Path, required=True)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--template", type=Path, required=True, help="the chat template's Jinja text")
    parser.add_argument("--out", type=Path, required=True, help="the GGUF file")
    parser.add_argument("--type", choices=["f32", "f16", "q8_0"], default="f16")
    parser.add_argument("--folder", type=Path, help="for vocabulary.json and greedy.jsonl")
    o = parser.parse_args()
    saved = torch.load(o.checkpoint, map_location="cpu", weights_only=False)
    c, state = Config(**saved["config"]), saved["model"]
    vocabulary = json.loads((o.corpus / "vocabulary.json").read_text())
    write_gguf(o.out, c, state, vocabulary, o.template.read_text(), o.type)
    print(f"{o.out}: {o.out.stat().st_size} bytes, step {saved['state']['step']}, {saved['state']['tokens']} tokens")
    if o.folder is None:
        return
    o.folder.mkdir(parents=True, exist_ok=True)
    (o.folder / "vocabulary.json").write_text(json.dumps(vocabulary, ensure_ascii=False) + "\n")
    records = [json.loads(line) for line in (o.corpus / "prompts.jsonl").read_text().splitlines()]
    model = Model(c)
    model.load_state_dict(state)
    stop = vocabulary["tokens"].index(END)
    lines = []
    for record in records:
        record["written"], record["margins"] = greedy(model, record["ids"], stop)
        lines.append(json.dumps(record, ensure_ascii=False))
    (o.folder / "greedy.jsonl").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
