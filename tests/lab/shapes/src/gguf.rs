//! The header of a GGUF file.

use crate::{
    block::Quantization,
    shape::{Architecture, Shape, Tensor},
    vocabulary::{self, CONTROL, MERGES},
};

/// Tensors begin at multiples of this.
pub(crate) const ALIGNMENT: u64 = 32;
/// Messages between `<|im_start|>` and `<|im_end|>`; llama.cpp knows it as `chatml`.
const TEMPLATE: &str = "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\\n' + \
    message['content'] + '<|im_end|>' + '\\n'}}{% endfor %}\
    {% if add_generation_prompt %}{{'<|im_start|>assistant\\n'}}{% endif %}";

/// All that stands before the tensors, padding included.
pub(crate) fn header(shape: &Shape, quantization: Quantization, tensors: &[Tensor]) -> Vec<u8> {
    let pairs = pairs(shape, quantization);
    let mut out = b"GGUF".to_vec();
    out.extend(3_u32.to_le_bytes());
    out.extend((tensors.len() as u64).to_le_bytes());
    out.extend((pairs.len() as u64).to_le_bytes());
    out.extend(pairs.concat());
    let mut offset = 0;
    for tensor in tensors {
        text(&mut out, &tensor.name);
        let sizes = [tensor.row, tensor.rows];
        let sizes = &sizes[..if tensor.rows == 1 { 1 } else { 2 }];
        out.extend((sizes.len() as u32).to_le_bytes());
        for &size in sizes {
            out.extend(u64::from(size).to_le_bytes());
        }
        out.extend(tensor.block().number().to_le_bytes());
        out.extend(u64::to_le_bytes(offset));
        offset += tensor.bytes().next_multiple_of(ALIGNMENT);
    }
    out.resize(out.len().next_multiple_of(ALIGNMENT as usize), 0);
    out
}

fn pairs(shape: &Shape, quantization: Quantization) -> Vec<Vec<u8>> {
    let kind = shape.architecture.name();
    let own = |name: &str| format!("{kind}.{name}");
    let control = |text: &str| vocabulary::control(shape.vocabulary, text);
    let tokens: Vec<String> = vocabulary::tokens(shape.vocabulary).collect();
    let plain = tokens.len() - CONTROL.len();
    let types = (0..tokens.len()).map(|id| if id < plain { 1_u32 } else { 3 });
    let types: Vec<u8> = types.flat_map(u32::to_le_bytes).collect();
    let mut pairs = vec![
        pair_text("general.architecture", kind),
        pair_text("general.name", &format!("random-{}", shape.name)),
        pair_u32("general.file_type", quantization.file_type()),
        pair_u32("general.quantization_version", 2),
        pair_u32(&own("context_length"), shape.context),
        pair_u32(&own("embedding_length"), shape.width),
        pair_u32(&own("block_count"), shape.layers),
        pair_u32(&own("feed_forward_length"), shape.hidden),
        pair_u32(&own("attention.head_count"), shape.heads),
        pair_u32(&own("attention.head_count_kv"), shape.kv_heads),
        pair_f32(&own("attention.layer_norm_rms_epsilon"), 1e-6),
        pair_f32(&own("rope.freq_base"), 1e6),
        pair_text("tokenizer.ggml.model", "gpt2"),
        pair_text("tokenizer.ggml.pre", "qwen2"),
        pair_texts("tokenizer.ggml.tokens", &tokens),
        pair_texts("tokenizer.ggml.merges", &MERGES.map(str::to_owned)),
        pair_list("tokenizer.ggml.token_type", 5, &types, tokens.len()),
        pair_u32("tokenizer.ggml.bos_token_id", control("<s>")),
        pair_u32("tokenizer.ggml.eos_token_id", control("</s>")),
        pair_u32("tokenizer.ggml.padding_token_id", control("<|pad|>")),
        pair("tokenizer.ggml.add_bos_token", 7, &[0]),
        pair_text("tokenizer.chat_template", TEMPLATE),
    ];
    if shape.architecture == Architecture::Qwen3 {
        pairs.push(pair_u32(&own("attention.key_length"), shape.head_width));
        pairs.push(pair_u32(&own("attention.value_length"), shape.head_width));
    }
    pairs
}

fn text(out: &mut Vec<u8>, text: &str) {
    out.extend((text.len() as u64).to_le_bytes());
    out.extend(text.as_bytes());
}

fn pair(key: &str, kind: u32, value: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    text(&mut out, key);
    out.extend(kind.to_le_bytes());
    out.extend(value);
    out
}

fn pair_u32(key: &str, value: u32) -> Vec<u8> {
    pair(key, 4, &value.to_le_bytes())
}

fn pair_f32(key: &str, value: f32) -> Vec<u8> {
    pair(key, 6, &value.to_le_bytes())
}

fn pair_text(key: &str, value: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    text(&mut bytes, value);
    pair(key, 8, &bytes)
}

fn pair_list(key: &str, kind: u32, bytes: &[u8], count: usize) -> Vec<u8> {
    let mut value = kind.to_le_bytes().to_vec();
    value.extend((count as u64).to_le_bytes());
    value.extend(bytes);
    pair(key, 9, &value)
}

fn pair_texts(key: &str, texts: &[String]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for value in texts {
        text(&mut bytes, value);
    }
    pair_list(key, 8, &bytes, texts.len())
}
