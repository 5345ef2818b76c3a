//! A model that writes a given text: llama.cpp computes it as any other, but only a token's position counts.
//!
//! GPT-2's architecture adds a learned vector for each position to that of the token. Here tokens have none and the layer adds
//! nothing, so that the output at a position is the token whose vector was put there.

use futures::executor::block_on;
use journeyman::{
    Result,
    contract::{GenerateRequest, Generation, LanguageModel},
};
use journeyman_llama_cpp::{LlamaConfig, Template};

use super::{
    CONTROL, TestFile,
    gguf::{Noise, gguf, pair, pair_text, pair_u32},
    load, tokenizer, vocabulary,
};

const WIDTH: usize = 64;
pub(crate) const CONTEXT: usize = 8192;

/// What a model with this chat template answers, where it writes `text` and ends.
pub(crate) fn answer(
    template: &str,
    change: impl Fn(&mut LlamaConfig),
    request: &GenerateRequest,
    text: &str,
) -> Result<Generation> {
    let scripted = |text: &str, at: usize| {
        let file = TestFile::new("scripted.gguf", &bytes(template, text, at));
        load(&file, |config| {
            config.template = Template::Auto;
            change(config);
        })
    };
    // The prompt does not depend on what the model writes.
    let prompt = block_on(scripted("", 0).count_prompt(request))?;
    assert!(!prompt.estimated);
    // The output at the prompt's last position is the first token.
    block_on(scripted(text, prompt.tokens - 1).generate(request))
}

/// The tokens of a text, control tokens where it spells them, and the end.
fn script(text: &str) -> Vec<usize> {
    let first = vocabulary().len() - CONTROL.len();
    let mut ids = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&byte, behind)) = rest.split_first() {
        let control = (CONTROL.iter()).position(|name| rest.starts_with(name.as_bytes()));
        (rest, _) = match control {
            Some(index) => (&rest[CONTROL[index].len()..], ids.push(first + index)),
            None => (behind, ids.push(usize::from(byte))),
        };
    }
    ids.push(first + 1);
    ids
}

/// A file whose model writes `text` from position `at` on, and the end everywhere else.
pub(crate) fn bytes(template: &str, text: &str, at: usize) -> Vec<u8> {
    let vocabulary = vocabulary();
    let mut noise = Noise(7);
    let vectors: Vec<Vec<f32>> = (0..vocabulary.len())
        .map(|_| (0..WIDTH).map(|_| noise.normal()).collect())
        .collect();
    let end = vocabulary.len() - CONTROL.len() + 1;
    let mut written = vec![end; CONTEXT];
    for (place, id) in (at..CONTEXT).zip(script(text)) {
        written[place] = id;
    }
    let mut pairs = vec![
        pair_text("general.architecture", "gpt2"),
        pair_text("general.name", "scripted"),
        pair_u32("gpt2.context_length", CONTEXT as u32),
        pair_u32("gpt2.embedding_length", WIDTH as u32),
        pair_u32("gpt2.block_count", 1),
        pair_u32("gpt2.feed_forward_length", WIDTH as u32),
        pair_u32("gpt2.attention.head_count", 4),
        pair(
            "gpt2.attention.layer_norm_epsilon",
            6,
            &1e-5_f32.to_le_bytes(),
        ),
    ];
    pairs.extend(tokenizer("gpt-2", false, Some(template)));
    let mut tensors = Vec::new();
    let mut data = Vec::new();
    let mut add = |name: &str, shape: &[usize], numbers: Option<Vec<f32>>| {
        let count = shape.iter().product();
        let fill = match name.ends_with("norm.weight") {
            true => 1.0,
            false => 0.0,
        };
        tensors.push((name.to_owned(), shape.to_vec()));
        data.extend(numbers.unwrap_or_else(|| vec![fill; count]));
    };
    let size = vocabulary.len();
    let places = written.iter().flat_map(|&id| vectors[id].clone());
    add("token_embd.weight", &[WIDTH, size], None);
    add(
        "position_embd.weight",
        &[WIDTH, CONTEXT],
        Some(places.collect()),
    );
    add("output.weight", &[WIDTH, size], Some(vectors.concat()));
    for (name, outputs, inputs) in [
        ("output_norm", WIDTH, None),
        ("blk.0.attn_norm", WIDTH, None),
        ("blk.0.attn_qkv", 3 * WIDTH, Some(WIDTH)),
        ("blk.0.attn_output", WIDTH, Some(WIDTH)),
        ("blk.0.ffn_norm", WIDTH, None),
        ("blk.0.ffn_up", WIDTH, Some(WIDTH)),
        ("blk.0.ffn_down", WIDTH, Some(WIDTH)),
    ] {
        let shape: Vec<usize> = inputs.into_iter().chain([outputs]).collect();
        add(&format!("{name}.weight"), &shape, None);
        add(&format!("{name}.bias"), &[outputs], None);
    }
    gguf(&pairs, &tensors, &data)
}
