"""The weights as other trainers read them: the names and the layout of transformers' Qwen3ForCausalLM."""

import torch

from train import LONG, Config, Model

MATRICES = ["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj",
            "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj"]
NORMS = ["input_layernorm", "post_attention_layernorm"]
HEAD_NORMS = ["self_attn.q_norm", "self_attn.k_norm"]


def names():
    """Pairs of the name in transformers and in `train.py`, the embedding apart."""
    yield "model.norm.weight", f"norms.{2 * Config.layers}"
    for layer in range(Config.layers):
        for ours, theirs in [("matrices", MATRICES), ("norms", NORMS), ("head_norms", HEAD_NORMS)]:
            for index, name in enumerate(theirs):
                yield f"model.layers.{layer}.{name}.weight", f"{ours}.{len(theirs) * layer + index}"


def to_named(state, compact):
    """Named tensors; `compact` gives the row of each token of the full vocabulary."""
    tensors = {"model.embed_tokens.weight": state["embedding"][torch.as_tensor(compact)].contiguous()}
    return tensors | {theirs: state[ours] for theirs, ours in names()}


def from_named(tensors):
    """A model with a row for every token."""
    embedding = tensors["model.embed_tokens.weight"]
    model = Model(len(embedding) - 1, 0)
    state = {ours: tensors[theirs] for theirs, ours in names()}
    model.load_state_dict(state | {"embedding": embedding})
    return model


def configuration(tokens):
    """What goes beside the tensors as config.json."""
    c = Config
    return {
        "architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "torch_dtype": "float32",
        "hidden_size": c.width, "intermediate_size": c.feed_forward, "num_hidden_layers": c.layers,
        "num_attention_heads": c.heads, "num_key_value_heads": c.heads, "head_dim": c.width // c.heads,
        "rms_norm_eps": c.epsilon, "rope_theta": c.rope_base, "max_position_embeddings": LONG, "hidden_act": "silu",
        "attention_bias": False, "tie_word_embeddings": True, "vocab_size": len(tokens),
        "bos_token_id": tokens.index("<s>"), "eos_token_id": tokens.index("<end>"),
    }


def tokenizer(vocabulary):
    """What goes beside them as tokenizer.json."""
    tokens, controls = vocabulary["tokens"], vocabulary["controls"]
    special = [
        {"id": number, "content": token, "single_word": False, "lstrip": False, "rstrip": False,
         "normalized": False, "special": True}
        for number, token in enumerate(tokens[:controls])
    ]
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    return {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": special, "normalizer": None,
        "pre_tokenizer": byte_level, "post_processor": None, "decoder": byte_level,
        "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                  "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
                  "vocab": {token: number for number, token in enumerate(tokens)},
                  "merges": [merge.split(" ") for merge in vocabulary["merges"]]},
    }
