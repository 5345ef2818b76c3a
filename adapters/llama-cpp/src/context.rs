//! A context of llama.cpp: decodes batches, returns logits, and holds sequences in its memory.

use std::{
    num::NonZeroU32,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use journeyman::{Error, ErrorKind, Result};
use llama_cpp_2::{
    context::{
        LlamaContext,
        params::{KvCacheType, LlamaContextParams},
    },
    llama_batch::LlamaBatch,
    model::{LlamaLoraAdapter, LlamaModel},
    token::LlamaToken,
};

use crate::{
    backend::backend,
    config::{LlamaConfig, Precision},
    convert::decode_error,
};

/// llama.cpp's `LLAMA_FLASH_ATTN_TYPE_AUTO`: used where the devices of all layers have it.
const FLASH_ATTENTION_AUTO: i32 = -1;
/// llama.cpp's `LLAMA_FLASH_ATTN_TYPE_DISABLED`.
const FLASH_ATTENTION_OFF: i32 = 0;
/// Cells that cached prefixes may always hold.
const LEAST_CACHED: usize = 2048;
/// Maximum bytes of logits that one decode writes.
const LOGITS_BYTES: usize = 128 << 20;
/// The same with layers on a GPU: fewer, larger batches.
const LOGITS_BYTES_OF_GPU: usize = 320 << 20;
/// Tokens of a block in which prompts are read where a request must always give the same bytes: few, so that most of a prompt
/// that begins as the one before it does is whole blocks, and enough for fast matrix products.
const BLOCK: usize = 64;

/// The parameters of a context.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Cells of KV memory, for all sequences together.
    pub(crate) cells: usize,
    /// Cells that cached prefixes may hold together: the look at a cell that belongs to another text is cheap, not free.
    pub(crate) cached: usize,
    /// Maximum tokens in one decode.
    pub(crate) batch: usize,
    /// Tokens of a block in which prompts are read where requests run one at a time.
    pub(crate) block: usize,
    /// Maximum sequences in memory at once.
    pub(crate) sequences: usize,
    /// Whether a part of a sequence can be reused. Not with sliding attention, where llama.cpp drops what is behind the
    /// window.
    divisible: bool,
    /// One request at a time, with nothing else in memory.
    pub(crate) deterministic: bool,
    pub(crate) threads: u32,
    precision: Precision,
    logits_bytes: usize,
}

impl Limits {
    pub(crate) fn new(
        config: &LlamaConfig,
        context: u32,
        divisible: bool,
        gpu_layers: u32,
    ) -> Self {
        let cells = context + config.shared_cells_for(context);
        Self {
            cells: cells as usize,
            cached: (context.max(config.shared_cells.unwrap_or(0)) as usize).max(LEAST_CACHED),
            batch: config.n_batch as usize,
            block: BLOCK.min(config.n_batch as usize),
            // llama.cpp asserts that its memory has a cell for each.
            sequences: config.n_seq_max.min(cells) as usize,
            divisible,
            deterministic: config.deterministic,
            threads: config.threads.unwrap_or(1),
            precision: config.precision,
            logits_bytes: match gpu_layers {
                0 => LOGITS_BYTES,
                _ => LOGITS_BYTES_OF_GPU,
            },
        }
    }

    /// The same with this number of threads.
    pub(crate) fn with_threads(mut self, threads: u32) -> Self {
        self.threads = threads;
        self
    }

    /// A name of the memory's parameters, stored with saved prefixes.
    pub(crate) fn memory_name(self) -> String {
        format!("{:?}, {} cells", self.precision, self.cells)
    }

    fn params(self) -> LlamaContextParams {
        // llama.cpp asserts that a batch can hold a row of each sequence.
        let batch = self.batch.max(self.sequences) as u32;
        let (memory, flash_attention) = match self.precision {
            Precision::Half => (KvCacheType::F16, FLASH_ATTENTION_AUTO),
            Precision::Full => (KvCacheType::F32, FLASH_ATTENTION_OFF),
        };
        LlamaContextParams::default()
            .with_n_ctx(NonZeroU32::new(self.cells as u32))
            .with_n_batch(batch)
            .with_n_ubatch(batch)
            .with_n_seq_max(self.sequences as u32)
            // One pool of cells: sequences share a prefix by referring to the same cells.
            .with_kv_unified(true)
            .with_n_threads(self.threads as i32)
            .with_n_threads_batch(self.threads as i32)
            .with_type_k(memory)
            .with_type_v(memory)
            .with_flash_attention_policy(flash_attention)
            .with_no_perf(true)
    }
}

/// A token at its position in a sequence.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) token: LlamaToken,
    pub(crate) position: usize,
    pub(crate) sequence: i32,
    /// Whether its logits are computed.
    pub(crate) logits: bool,
}

/// A cell of memory, held by each sequence that has its token. The held cells are counted.
#[derive(Debug)]
struct CellRef(Arc<AtomicUsize>);

impl CellRef {
    fn new(used: &Arc<AtomicUsize>) -> Arc<Self> {
        used.fetch_add(1, Ordering::Relaxed);
        Arc::new(Self(used.clone()))
    }
}

impl Drop for CellRef {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A run of tokens in memory. Returned with [`Context::close`].
#[derive(Debug)]
pub(crate) struct Sequence {
    id: i32,
    tokens: Vec<LlamaToken>,
    cells: Vec<Arc<CellRef>>,
}

impl Sequence {
    pub(crate) fn len(&self) -> usize {
        self.tokens.len()
    }

    pub(crate) fn tokens(&self) -> &[LlamaToken] {
        &self.tokens
    }

    /// What stands for its cells: a cell that two sequences share is the same in both.
    pub(crate) fn cells(&self) -> impl Iterator<Item = usize> {
        self.cells.iter().map(|cell| Arc::as_ptr(cell).addr())
    }

    /// The row of a token `ahead` positions after the sequence's end.
    pub(crate) fn row(&self, ahead: usize, token: LlamaToken, logits: bool) -> Row {
        Row {
            token,
            position: self.tokens.len() + ahead,
            sequence: self.id,
            logits,
        }
    }
}

/// A context with its batch, owned by the worker's thread.
pub(crate) struct Context<'m> {
    pub(crate) limits: Limits,
    /// Whether a sequence can begin with a part of another one; also not in recurrent models.
    pub(crate) divisible: bool,
    context: LlamaContext<'m>,
    batch: LlamaBatch<'static>,
    scored_rows: usize,
    free: Vec<i32>,
    used: Arc<AtomicUsize>,
}

impl<'m> Context<'m> {
    pub(crate) fn new(model: &'m LlamaModel, limits: Limits) -> Result<Self> {
        let context = model
            .new_context(backend()?, limits.params())
            .map_err(|error| {
                Error::new(
                    ErrorKind::Unavailable,
                    "LlamaCpp::load",
                    format!("llama.cpp cannot make a context of {} cells", limits.cells),
                )
                .hint("there may be too little memory: lower n_ctx, shared_cells or gpu_layers")
                .source_from(error)
            })?;
        let row = model.n_vocab().max(1) as usize * size_of::<f32>();
        let mut fresh = Self {
            limits,
            divisible: limits.divisible && !model.is_recurrent() && !model.is_hybrid(),
            context,
            batch: LlamaBatch::new(limits.batch, 1),
            scored_rows: (limits.logits_bytes / row).clamp(1, limits.batch),
            free: Vec::new(),
            used: Arc::default(),
        };
        fresh.renumber();
        Ok(fresh)
    }

    fn renumber(&mut self) {
        self.free = (0..self.limits.sequences as i32).rev().collect();
        self.used = Arc::default();
    }

    /// Maximum rows with logits in one decode.
    pub(crate) fn scored_rows(&self) -> usize {
        self.scored_rows
    }

    /// Number of free cells.
    pub(crate) fn free_cells(&self) -> usize {
        self.limits
            .cells
            .saturating_sub(self.used.load(Ordering::Relaxed))
    }

    /// Number of sequences that can still be opened.
    pub(crate) fn free_sequences(&self) -> usize {
        self.free.len()
    }

    /// Drops all sequences, which must not be used any more. With `wipe` the numbers are cleared too: a failed decode
    /// may leave non-finite ones, which would spread through masked attention.
    pub(crate) fn reset(&mut self, wipe: bool) {
        let forgotten = !wipe
            && self
                .context
                .clear_kv_cache_seq(None, None, None)
                .is_ok_and(|removed| removed);
        if !forgotten {
            self.context.clear_kv_cache();
        }
        self.renumber();
    }

    /// Opens an empty sequence; `None` where no id is free.
    pub(crate) fn open(&mut self) -> Option<Sequence> {
        Some(Sequence {
            id: self.free.pop()?,
            tokens: Vec::new(),
            cells: Vec::new(),
        })
    }

    /// Opens a sequence with the first `len` tokens of another one, which are not computed again.
    pub(crate) fn fork(&mut self, from: &Sequence, len: usize) -> Result<Option<Sequence>> {
        let Some(mut fork) = self.open() else {
            return Ok(None);
        };
        if len == 0 {
            return Ok(Some(fork));
        }
        let end = (len < from.len()).then_some(len as u32);
        self.context
            .copy_kv_cache_seq(from.id, fork.id, None, end)
            .map_err(|error| {
                Error::new(ErrorKind::Internal, "LlamaCpp::fork", error.to_string())
            })?;
        fork.tokens.extend_from_slice(&from.tokens[..len]);
        fork.cells.extend_from_slice(&from.cells[..len]);
        Ok(Some(fork))
    }

    /// Keeps the first `len` tokens of a sequence and returns the cells of the others.
    pub(crate) fn truncate(&mut self, sequence: &mut Sequence, len: usize) {
        // Fails only for ids out of range, which these are not.
        let _ = self
            .context
            .clear_kv_cache_seq(Some(sequence.id as u32), Some(len as u32), None);
        sequence.tokens.truncate(len);
        sequence.cells.truncate(len);
    }

    /// Returns a sequence and its cells.
    pub(crate) fn close(&mut self, sequence: Sequence) {
        // Fails only for ids out of range, which these are not.
        let _ = self
            .context
            .clear_kv_cache_seq(Some(sequence.id as u32), None, None);
        self.free.push(sequence.id);
    }

    /// Adds a decoded token to a sequence.
    pub(crate) fn extend(&self, sequence: &mut Sequence, token: LlamaToken) {
        sequence.tokens.push(token);
        sequence.cells.push(CellRef::new(&self.used));
    }

    /// Decodes at most `limits.batch` rows.
    pub(crate) fn decode(&mut self, rows: &[Row]) -> Result<()> {
        const DECODE: &str = "LlamaCpp::decode";
        self.batch.clear();
        for row in rows {
            self.batch
                .add(row.token, row.position as i32, &[row.sequence], row.logits)
                .map_err(|error| Error::new(ErrorKind::Internal, DECODE, error.to_string()))?;
        }
        self.context
            .decode(&mut self.batch)
            .map_err(|error| decode_error(DECODE, error))
    }

    /// The logits of a row of the last decode, which asked for them.
    pub(crate) fn logits(&self, row: usize) -> &[f32] {
        self.context.get_logits_ith(row as i32)
    }

    /// Uses this adapter in the following decodes.
    pub(crate) fn compute_with(&mut self, adapter: &mut LlamaLoraAdapter) -> Result<()> {
        self.context
            .lora_adapter_set(adapter, 1.0)
            .map_err(|error| Error::new(ErrorKind::Internal, "LlamaCpp", error.to_string()))
    }

    /// Removes this adapter from the following decodes; llama.cpp accepts any.
    pub(crate) fn compute_without(&mut self, adapter: &mut LlamaLoraAdapter) -> Result<()> {
        self.context
            .lora_adapter_remove(adapter)
            .map_err(|error| Error::new(ErrorKind::Internal, "LlamaCpp", error.to_string()))
    }

    /// Saves a sequence's memory to a file.
    pub(crate) fn save(&self, sequence: &Sequence, path: &Path) -> Result<()> {
        self.context
            .state_seq_save_file(path, sequence.id, &sequence.tokens)
            .map(|_| ())
            .map_err(|error| {
                Error::new(
                    ErrorKind::Unavailable,
                    "LlamaCpp::save_prefixes",
                    "llama.cpp cannot write a sequence",
                )
                .hint("check that the folder may be written and that the disk is not full")
                .source_from(error)
            })
    }

    /// Reads a sequence that [`Context::save`] wrote for the same model and memory; `None` where it does not fit.
    pub(crate) fn restore(&mut self, path: &Path, tokens: usize) -> Option<Sequence> {
        if tokens > self.free_cells() {
            return None;
        }
        let mut sequence = self.open()?;
        match self.context.state_seq_load_file(path, sequence.id, tokens) {
            Ok((read, _)) if read.len() == tokens => {
                for token in read {
                    self.extend(&mut sequence, token);
                }
                Some(sequence)
            }
            _ => {
                self.close(sequence);
                None
            }
        }
    }
}
