//! llama.cpp without the adapter, as plainly as it can be asked: what the adapter's numbers and speed are held against.
#![allow(
    dead_code,
    clippy::unwrap_used,
    reason = "each user has its own part of this"
)]

use std::{num::NonZeroU32, path::Path};

use journeyman_llama_cpp::backend;
use llama_cpp_2::{
    context::{
        LlamaContext,
        params::{KvCacheType, LlamaContextParams},
    },
    llama_batch::LlamaBatch,
    model::{LlamaModel, params::LlamaModelParams},
    token::LlamaToken,
};

/// A model's weights.
pub(crate) struct Bare(pub(crate) LlamaModel);

impl Bare {
    pub(crate) fn load(path: &Path) -> Self {
        Self::load_on(path, 0)
    }

    pub(crate) fn load_on(path: &Path, gpu_layers: u32) -> Self {
        let params = LlamaModelParams::default().with_n_gpu_layers(gpu_layers);
        Self(LlamaModel::load_from_file(backend().unwrap(), path, &params).unwrap())
    }

    /// A context of the kind that the adapter makes.
    pub(crate) fn context(&self, cells: u32, batch: u32, threads: i32) -> LlamaContext<'_> {
        let params = LlamaContextParams::default()
            .with_n_ctx(NonZeroU32::new(cells))
            .with_n_batch(batch)
            .with_n_ubatch(batch)
            .with_n_seq_max(64)
            .with_kv_unified(true)
            .with_n_threads(threads)
            .with_n_threads_batch(threads)
            .with_type_k(KvCacheType::F32)
            .with_type_v(KvCacheType::F32)
            .with_flash_attention_policy(0)
            .with_no_perf(true);
        self.0.new_context(backend().unwrap(), params).unwrap()
    }

    /// The log-probabilities of a text behind a prompt: one pass over both, in a fresh memory, softmax by the book.
    pub(crate) fn score(&self, prompt: &[i32], text: &[i32]) -> Vec<f64> {
        let length = prompt.len() + text.len();
        let size = (length as u32).max(64);
        let mut context = self.context(size, size, 1);
        let mut batch = LlamaBatch::new(length, 1);
        for (at, &id) in prompt.iter().chain(text).enumerate() {
            let wanted = at + 1 >= prompt.len() && at + 1 < length;
            batch.add(LlamaToken(id), at as i32, &[0], wanted).unwrap();
        }
        if text.is_empty() {
            return Vec::new();
        }
        context.decode(&mut batch).unwrap();
        let places = (prompt.len() - 1..).zip(text);
        places
            .map(|(at, &id)| logprob(context.get_logits_ith(at as i32), id))
            .collect()
    }
}

/// log softmax, term by term.
pub(crate) fn logprob(logits: &[f32], id: i32) -> f64 {
    let max = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let sum: f64 = logits.iter().map(|&l| f64::from(l - max).exp()).sum();
    f64::from(logits[id as usize] - max) - sum.ln()
}
