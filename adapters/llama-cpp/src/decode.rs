//! The context of llama.cpp: batches in, logits out.

use std::num::NonZeroU32;

use journeyman::{Error, ErrorKind, Result};
use llama_cpp_2::{
    context::{
        LlamaContext,
        params::{KvCacheType, LlamaContextParams},
    },
    llama_batch::LlamaBatch,
    token::LlamaToken,
};

use crate::{config::LlamaConfig, convert::decode_error, loaded::backend, render::Renderer};

/// Asks whether to go on; an error ends the request.
pub(crate) type GoOn<'a> = &'a dyn Fn() -> Result<()>;

/// Bytes of logits that one decode may write.
const LOGITS_BYTES: usize = 64 << 20;

/// What a context is made with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Cells of memory: the context, and room for continuations scored together.
    pub(crate) cells: usize,
    /// Tokens in one decode.
    pub(crate) batch: usize,
    /// Sequences in memory at once.
    pub(crate) sequences: usize,
    threads: i32,
    memory: KvCacheType,
    flash_attention: bool,
}

impl Limits {
    pub(crate) fn new(config: &LlamaConfig, context: u32) -> Self {
        Self {
            cells: (context + config.score_cells) as usize,
            batch: config.n_batch as usize,
            sequences: config.n_seq_max as usize,
            threads: config.threads as i32,
            memory: if config.half_memory {
                KvCacheType::F16
            } else {
                KvCacheType::F32
            },
            flash_attention: config.flash_attention,
        }
    }

    fn params(self) -> LlamaContextParams {
        // llama.cpp asserts that a batch could hold a row of each sequence.
        let batch = self.batch.max(self.sequences) as u32;
        LlamaContextParams::default()
            .with_n_ctx(NonZeroU32::new(self.cells as u32))
            .with_n_batch(batch)
            .with_n_ubatch(batch)
            .with_n_seq_max(self.sequences as u32)
            // One pool of cells: sequences share a prefix by naming the same cells.
            .with_kv_unified(true)
            .with_n_threads(self.threads)
            .with_n_threads_batch(self.threads)
            .with_type_k(self.memory)
            .with_type_v(self.memory)
            // LLAMA_FLASH_ATTN_TYPE_ENABLED and _DISABLED.
            .with_flash_attention_policy(i32::from(self.flash_attention))
            .with_no_perf(true)
    }
}

/// A token at its place in a sequence.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) token: LlamaToken,
    pub(crate) position: usize,
    pub(crate) sequence: usize,
    /// Whether its logits are wanted.
    pub(crate) logits: bool,
}

/// A context with its batch, owned by the worker's thread.
pub(crate) struct Engine<'m> {
    pub(crate) renderer: &'m Renderer,
    pub(crate) limits: Limits,
    context: LlamaContext<'m>,
    batch: LlamaBatch<'static>,
    /// Whether a request failed since memory was wiped: what it left may be no numbers.
    suspect: bool,
}

impl<'m> Engine<'m> {
    pub(crate) fn new(renderer: &'m Renderer, limits: Limits) -> Result<Self> {
        let context = renderer
            .model()
            .new_context(backend()?, limits.params())
            .map_err(|error| {
                Error::new(
                    ErrorKind::Unavailable,
                    "LlamaCpp::load",
                    format!("llama.cpp cannot make a context of {} cells", limits.cells),
                )
                .hint("there may be too little memory: lower n_ctx, score_cells or gpu_layers")
                .source_from(error)
            })?;
        Ok(Self {
            renderer,
            limits,
            context,
            batch: LlamaBatch::new(limits.batch, 1),
            suspect: false,
        })
    }

    /// Forgets everything, so that a request finds what it would find in a fresh context.
    pub(crate) fn reset(&mut self) {
        let forgotten = !self.suspect
            && self
                .context
                .clear_kv_cache_seq(None, None, None)
                .is_ok_and(|removed| removed);
        if !forgotten {
            self.context.clear_kv_cache();
        }
        // Until the request is known to have gone well.
        self.suspect = true;
    }

    /// The request since [`Engine::reset`] went well.
    pub(crate) fn trust(&mut self) {
        self.suspect = false;
    }

    /// How many rows with logits one decode may have.
    pub(crate) fn scored_rows(&self) -> usize {
        let row = self.renderer.model().n_vocab().max(1) as usize * size_of::<f32>();
        (LOGITS_BYTES / row).clamp(1, self.limits.batch)
    }

    /// Decodes at most `limits.batch` rows.
    pub(crate) fn decode(&mut self, operation: &'static str, rows: &[Row]) -> Result<()> {
        self.batch.clear();
        for row in rows {
            self.batch
                .add(
                    row.token,
                    row.position as i32,
                    &[row.sequence as i32],
                    row.logits,
                )
                .map_err(|error| Error::new(ErrorKind::Internal, operation, error.to_string()))?;
        }
        self.context
            .decode(&mut self.batch)
            .map_err(|error| decode_error(operation, error))
    }

    /// Decodes tokens from the beginning of sequence 0, in chunks; the last one's logits are then at the row that is
    /// returned. `tokens` is not empty.
    pub(crate) fn prefill(
        &mut self,
        operation: &'static str,
        tokens: &[LlamaToken],
        go_on: GoOn<'_>,
    ) -> Result<usize> {
        let mut rows: Vec<Row> = sequence_rows(tokens.iter().copied(), 0, 0).collect();
        if let Some(last) = rows.last_mut() {
            last.logits = true;
        }
        let mut row = 0;
        for chunk in rows.chunks(self.limits.batch) {
            go_on()?;
            self.decode(operation, chunk)?;
            row = chunk.len() - 1;
        }
        Ok(row)
    }

    /// The logits of a row of the last decode that asked for them.
    pub(crate) fn logits(&self, row: usize) -> &[f32] {
        self.context.get_logits_ith(row as i32)
    }

    /// Lets a sequence begin with all of sequence 0, without computing it again.
    pub(crate) fn fork(&mut self, operation: &'static str, sequence: usize) -> Result<()> {
        self.context
            .copy_kv_cache_seq(0, sequence as i32, None, None)
            .map_err(|error| Error::new(ErrorKind::Internal, operation, error.to_string()))
    }

    /// Forgets a sequence.
    pub(crate) fn forget(&mut self, operation: &'static str, sequence: usize) -> Result<()> {
        self.context
            .clear_kv_cache_seq(Some(sequence as u32), None, None)
            .map(|_| ())
            .map_err(|error| Error::new(ErrorKind::Internal, operation, error.to_string()))
    }
}

/// The rows of tokens that stand one behind the other, without logits.
pub(crate) fn sequence_rows(
    tokens: impl Iterator<Item = LlamaToken>,
    sequence: usize,
    from: usize,
) -> impl Iterator<Item = Row> {
    tokens.enumerate().map(move |(index, token)| Row {
        token,
        position: from + index,
        sequence,
        logits: false,
    })
}
