//! The configuration of a model.

use std::{collections::BTreeMap, path::PathBuf};

use journeyman::{Error, Result};
use serde::{Deserialize, Serialize};

use crate::threads;

/// The chat template that renders the messages of a prompt.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Template {
    /// The GGUF's own. Loading fails for a file without one.
    #[default]
    Auto,
    /// No template: the contents of the messages are joined, even where the GGUF has a template. For prompts in the
    /// model's own prompt format, and for texts that a model goes on with.
    None,
    /// A well-known template: `chatml`, `gemma`, `llama3` or `mistral`.
    Named(String),
    /// The text of a Jinja template, such as a corrected version of the GGUF's own.
    Jinja(String),
}

/// Whether a model thinks before it answers.
///
/// Thoughts stand between `<think>` and `</think>`. A text that is scored and an answer by a JSON Schema never begin with them.
/// At most half of an answer's `max_tokens` are thoughts: then the adapter ends them, so that there is room for the answer.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Thinking {
    /// As the chat template has it.
    #[default]
    Template,
    /// Not at all: `enable_thinking` is false where the template knows it, and thoughts that it opens are closed.
    Off,
    /// At most this number of tokens; `enable_thinking` is true where the template knows it.
    Budget(u32),
}

/// How many layers a GPU computes, beginning with the last. The output layer counts as one and is the first to move to
/// the GPU.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GpuLayers {
    /// None: GPUs are not used.
    None,
    /// This number, at most all. Loading fails without a GPU, or where the layers do not fit into its free memory.
    Count(u32),
    /// All layers, under the same conditions.
    All,
    /// As many as fit into the GPUs' free memory; none without a GPU, or for a model in several files, whose sizes are not known
    /// before it is loaded (then a warning is logged).
    #[default]
    Fit,
}

/// The precision of attention and of the keys and values in memory.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Precision {
    /// Keys and values in half precision, and flash attention where the device has it, as llama.cpp chooses by itself. Tokens
    /// of other sequences in memory then cost little; in full precision each one costs as if it belonged to the text.
    /// Log-probabilities depend on the shape of a batch by more than 1e-3.
    #[default]
    Half,
    /// Keys and values in full precision, in twice the memory, and no flash attention.
    Full,
}

/// The configuration of a model. Create it with [`LlamaConfig::new`], then set its fields. Defaults are in parentheses.
///
/// ```
/// use journeyman_llama_cpp::LlamaConfig;
///
/// let mut config = LlamaConfig::new("models/instruct.gguf");
/// config.n_ctx = Some(8192);
/// config.max_waiting = 16;
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LlamaConfig {
    /// The GGUF file.
    pub path: PathBuf,
    /// Maximum tokens of prompt and output together, at least 16. `None`: the trained context, at most 16,384. Above 4,096 it
    /// takes at most a quarter of the free memory, and less than that, down to 512, where memory is short. A value above the
    /// trained context is allowed and logged as a warning.
    pub n_ctx: Option<u32>,
    /// Maximum tokens in one decode, 2 or more (512). Time limits and dropped futures are noticed between decodes.
    pub n_batch: u32,
    /// Compute threads, 1 to 512. `None`: one for each physical core that the process may use, and one alone for a model of less
    /// than 64 MiB, for which a second one costs more than it gives. On Linux fewer compute while other programs hold cores, since
    /// threads that share a core wait for each other ([`EngineStats::threads`](crate::EngineStats::threads)). Such a change drops
    /// cached prefixes.
    pub threads: Option<u32>,
    /// Layers that GPUs compute (as many as fit).
    pub gpu_layers: GpuLayers,
    /// Sequences in memory at once, 2 to 256 (64): one for each running request, for each continuation that is scored
    /// beside others, and for each cached prefix. Work that finds none free waits, or is done in several rounds.
    pub n_seq_max: u32,
    /// Cells of KV memory beside `n_ctx`, one per token: for concurrent requests, continuations that are scored
    /// together, and cached prefixes. `None`: as many as `n_ctx`, plus 1,280 (ten continuations of 128 tokens).
    pub shared_cells: Option<u32>,
    /// Maximum number of waiting requests, 1 or more (1,024); more are refused with `RateLimited`.
    pub max_waiting: u32,
    /// Runs one request at a time, in batches of a fixed shape and with nothing else in memory (off). The same request
    /// then gives the same bytes, whatever ran before or waits beside it. Prompts are read in blocks of 64 tokens (of `n_batch`, if
    /// that is less). Only whole blocks of the last request's prompt are
    /// used again, where the next one begins with them, as an agent's does. When off, requests share batches and
    /// prefixes, and two texts of one request may differ where two tokens are nearly tied.
    pub deterministic: bool,
    /// The precision of attention and of keys and values (half).
    pub precision: Precision,
    /// The chat template that renders messages.
    pub template: Template,
    /// Whether the model thinks before it answers (as its template has it).
    #[serde(default)]
    pub thinking: Thinking,
    /// Ends a generation that repeats one phrase, of at most a quarter of this number of tokens, for this many tokens (128; at least
    /// 16), with [`FinishReason::Repeats`](journeyman::contract::FinishReason::Repeats); thoughts that repeat themselves are ended, and
    /// the answer follows. It is looked for at every eighth token. Small models fill an answer's limit with such loops. `None`: never,
    /// for a model that has to write much of the same.
    #[serde(default = "most_repeated")]
    pub most_repeated: Option<u32>,
    /// Adapters (LoRA, in GGUF) that are loaded with the model, by the names that requests use (none).
    /// [`LlamaCpp::load_adapter`](crate::LlamaCpp::load_adapter) loads more later.
    pub adapters: BTreeMap<String, PathBuf>,
    /// A folder whose backends are loaded before the model, unless an earlier model loaded them (none), as
    /// [`load_backends`](crate::load_backends) does. A worker process needs the folder here. Only in a build with the
    /// feature `dynamic-backends`.
    pub backends: Option<PathBuf>,
}

/// The default.
fn most_repeated() -> Option<u32> {
    Some(128)
}

impl LlamaConfig {
    /// The defaults for a file.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            n_ctx: None,
            n_batch: 512,
            threads: None,
            gpu_layers: GpuLayers::Fit,
            n_seq_max: 64,
            shared_cells: None,
            max_waiting: 1024,
            deterministic: false,
            precision: Precision::Half,
            template: Template::Auto,
            thinking: Thinking::Template,
            most_repeated: most_repeated(),
            adapters: BTreeMap::new(),
            backends: None,
        }
    }

    /// The same configuration for figures and tests that compare bytes: full precision, and one request at a time in batches
    /// of a fixed shape ([`LlamaConfig::deterministic`]). It is slower: requests wait for each other, and prompts are read 64 tokens
    /// at a time.
    ///
    /// ```
    /// use journeyman_llama_cpp::{LlamaConfig, Precision};
    ///
    /// let config = LlamaConfig::new("model.gguf").exact();
    /// assert!(config.deterministic && config.precision == Precision::Full);
    /// ```
    #[must_use]
    pub fn exact(mut self) -> Self {
        self.deterministic = true;
        self.precision = Precision::Full;
        self
    }

    /// The greatest context size for a model that was trained for `trained` tokens.
    pub(crate) fn context_for(&self, trained: u32) -> u32 {
        self.n_ctx.unwrap_or(trained.min(16_384))
    }

    /// The same configuration with its number of threads, for a model of so many bytes.
    pub(crate) fn with_threads(mut self, bytes: u64) -> Self {
        self.threads = Some(self.threads.unwrap_or_else(|| threads::for_model(bytes)));
        self
    }

    /// The number of cells beside a context.
    pub(crate) fn shared_cells_for(&self, context: u32) -> u32 {
        self.shared_cells.unwrap_or(context + 1280)
    }

    /// Refuses values out of range.
    pub(crate) fn check(&self) -> Result<()> {
        let out_of_range = |field: &'static str, value: u32, range: &'static str| {
            Err(
                Error::invalid("LlamaCpp::load", format!("{field} is {value}"))
                    .with("field", field)
                    .hint(format!("{field} must be {range}")),
            )
        };
        if let Some(n_ctx) = self.n_ctx
            && !(16..=1 << 24).contains(&n_ctx)
        {
            return out_of_range("n_ctx", n_ctx, "16 to 16,777,216");
        }
        if !(2..=1 << 16).contains(&self.n_batch) {
            return out_of_range("n_batch", self.n_batch, "2 to 65,536");
        }
        if let Some(threads) = self.threads
            && !(1..=512).contains(&threads)
        {
            return out_of_range("threads", threads, "1 to 512");
        }
        if !(2..=256).contains(&self.n_seq_max) {
            return out_of_range("n_seq_max", self.n_seq_max, "2 to 256");
        }
        if let Some(cells) = self.shared_cells
            && cells > 1 << 24
        {
            return out_of_range("shared_cells", cells, "at most 16,777,216");
        }
        if let Some(tokens) = self.most_repeated
            && tokens < 16
        {
            return out_of_range("most_repeated", tokens, "16 or more");
        }
        if self.max_waiting == 0 {
            return out_of_range("max_waiting", 0, "1 or more");
        }
        Ok(())
    }
}
