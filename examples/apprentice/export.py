"""Writes a checkpoint: as GGUF for llama.cpp, in F16 or Q8_0, with its chat template; as safetensors,
config.json and tokenizer.json for other trainers; and what torch itself writes to a hundred prompts, so that llama.cpp's
answers can be held against it without torch."""

import argparse
import json
from pathlib import Path

import gguf
import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from tokenizers import Tokenizer

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
    for short, _, ours in named(c):
        add(short, state[ours])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def configuration(c, vocabulary):
    return {
        "architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "torch_dtype": "float32",
        "hidden_size": c.width, "intermediate_size": c.feed_forward, "num_hidden_layers": c.layers,
        "num_attention_heads": c.heads, "num_key_value_heads": c.heads, "head_dim": c.width // c.heads,
        "rms_norm_eps": c.epsilon, "rope_theta": c.rope_base, "max_position_embeddings": c.context, "hidden_act": "silu",
        "attention_bias": False, "tie_word_embeddings": True, "vocab_size": c.vocabulary,
        "eos_token_id": vocabulary["tokens"].index(END), "pad_token_id": vocabulary["tokens"].index(PAD),
    }


def tokenizer(vocabulary):
    """What goes beside the weights as tokenizer.json."""
    tokens, controls, frames = vocabulary["tokens"], vocabulary["controls"], vocabulary["frames"]
    added = [
        {"id": number, "content": token, "single_word": False, "lstrip": False, "rstrip": False,
         "normalized": False, "special": number < controls}
        for number, token in enumerate(tokens[: controls + frames])
    ]
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    return {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": added, "normalizer": None,
        "pre_tokenizer": byte_level, "post_processor": None, "decoder": byte_level,
        "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                  "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
                  "vocab": {token: number for number, token in enumerate(tokens)},
                  "merges": [merge.split(" ") for merge in vocabulary["merges"]]},
    }


def check_tokenizer(path, records):
    """How many pieces of the prompts have the ids that the corpus gave them, and the first that has not."""
    reader, equal, first = Tokenizer.from_file(str(path)), 0, None
    count = 0
    for record in records:
        ids = []
        for piece in record["pieces"]:
            # In data no control token is read.
            reader.encode_special_tokens = not piece["control"]
            found = reader.encode(piece["text"], add_special_tokens=False).ids
            same = record["ids"][len(ids) : len(ids) + len(found)] == found
            count, equal = count + 1, equal + same
            first = first or (None if same else piece["text"])
            ids += found
    print(f"tokenizer.json: {equal} of {count} texts have the trainer's ids" + (f"; not {first!r}" if first else ""))


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
    parser.add_argument("--folder", type=Path, help="for safetensors, config.json, tokenizer.json and greedy.jsonl")
    o = parser.parse_args()
    saved = torch.load(o.checkpoint, map_location="cpu", weights_only=False)
    c, state = Config(**saved["config"]), saved["model"]
    vocabulary = json.loads((o.corpus / "vocabulary.json").read_text())
    write_gguf(o.out, c, state, vocabulary, o.template.read_text(), o.type)
    print(f"{o.out}: {o.out.stat().st_size} bytes, step {saved['state']['step']}, {saved['state']['tokens']} tokens")
    if o.folder is None:
        return
    o.folder.mkdir(parents=True, exist_ok=True)
    tensors = {f"{long}.weight": state[ours].contiguous() for _, long, ours in named(c)}
    save_file(tensors | {"model.embed_tokens.weight": state["embedding"]}, o.folder / "model.safetensors", metadata={"format": "pt"})
    (o.folder / "config.json").write_text(json.dumps(configuration(c, vocabulary), indent=2) + "\n")
    (o.folder / "tokenizer.json").write_text(json.dumps(tokenizer(vocabulary), ensure_ascii=False) + "\n")
    (o.folder / "vocabulary.json").write_text(json.dumps(vocabulary, ensure_ascii=False) + "\n")
    records = [json.loads(line) for line in (o.corpus / "prompts.jsonl").read_text().splitlines()]
    check_tokenizer(o.folder / "tokenizer.json", records)
    kind = {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": END, "pad_token": PAD, "clean_up_tokenization_spaces": False,
            "chat_template": o.template.read_text()}
    (o.folder / "tokenizer_config.json").write_text(json.dumps(kind, indent=2) + "\n")
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
