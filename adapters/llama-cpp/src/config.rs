//! What a host sets.

use std::{collections::BTreeMap, path::PathBuf};

use journeyman::{Error, Result};
use serde::{Deserialize, Serialize};

/// Which chat template renders the messages of a prompt.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Template {
    /// The GGUF's own. A file without one is refused at loading.
    #[default]
    Auto,
    /// None: contents one after the other, even where the GGUF has a template. For prompts that are written in the
    /// model's own dialect, as the bundled model's are.
    None,
    /// A well-known one: `chatml`, `gemma`, `llama3` or `mistral`.
    Named(String),
    /// This text of a Jinja template, such as a GGUF's own with its flaw put right.
    Jinja(String),
}

/// How many layers a GPU computes, from the last on; the step from states to logits counts as one and goes first.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GpuLayers {
    /// None: GPUs are left alone.
    #[default]
    None,
    /// So many, at most all. Without a GPU, or where they do not fit into its free memory, loading is refused.
    Count(u32),
    /// All, under the same conditions.
    All,
    /// As many as fit into the free memory of the GPUs; none without a GPU.
    Fit,
}

/// How a model is loaded. Made with [`LlamaConfig::new`], then by its fields.
///
/// ```
/// use journeyman_llama_cpp::{LlamaConfig, Template};
///
/// let mut config = LlamaConfig::new("models/apprentice.gguf");
/// config.n_ctx = Some(1024);
/// config.template = Template::None;
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LlamaConfig {
    /// The GGUF file.
    pub path: PathBuf,
    /// Greatest number of tokens of prompt and output together, at least 16. `None`: what the model was trained for,
    /// at most 4,096, and less, down to 512, where memory is short. More than it was trained for is allowed and warned
    /// of.
    pub n_ctx: Option<u32>,
    /// Greatest number of tokens in one decode, 2 or more (512). A time limit or a dropped future is noticed between
    /// decodes.
    pub n_batch: u32,
    /// Threads that compute, 1 or more (1).
    pub threads: u32,
    /// Layers given to GPUs (none).
    pub gpu_layers: GpuLayers,
    /// Sequences in memory at once, 2 to 256 (64): one for each request that is computed, for each continuation that is
    /// scored beside others, and for each cached prefix. What finds none free waits, or goes in several rounds.
    pub n_seq_max: u32,
    /// Memory cells beside `n_ctx`, one for a token: for further requests at the same time, continuations that are
    /// scored together, and cached prefixes. `None`: as many as `n_ctx`, and 1,280 (ten continuations of 128 tokens).
    pub shared_cells: Option<u32>,
    /// Greatest number of requests that wait to begin, 1 or more (1,024); more are refused with `RateLimited`.
    pub max_waiting: u32,
    /// One request at a time, in batches of a fixed shape and in a memory that holds nothing else (off). The same request
    /// then gives the same bytes, whatever ran before or waits beside it. Off, requests share batches and prefixes, and
    /// two texts of one request may part where two tokens are nearly tied.
    pub deterministic: bool,
    /// Keeps keys and values in half precision (off): half the memory. What is multiplied with them is then rounded to
    /// half precision too, and log-probabilities depend on the shape of a batch by up to some 1e-3.
    pub half_memory: bool,
    /// Flash attention (off). On the CPU it adds up in half precision, and log-probabilities then depend on the
    /// shape of a batch by more than 1e-3.
    pub flash_attention: bool,
    /// Which chat template renders messages.
    pub template: Template,
    /// Adapters (LoRA, in GGUF) that are loaded with the model, by the names that requests say (none). More can be loaded
    /// later: [`LlamaCpp::load_adapter`](crate::LlamaCpp::load_adapter).
    pub adapters: BTreeMap<String, PathBuf>,
    /// A folder whose backends are loaded before the model if no model did so before (none), as
    /// [`load_backends`](crate::load_backends) does; a worker process needs it here. Only in a build with the feature
    /// `dynamic-backends`.
    pub backends: Option<PathBuf>,
}

impl LlamaConfig {
    /// The defaults, for a file.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            n_ctx: None,
            n_batch: 512,
            threads: 1,
            gpu_layers: GpuLayers::None,
            n_seq_max: 64,
            shared_cells: None,
            max_waiting: 1024,
            deterministic: false,
            half_memory: false,
            flash_attention: false,
            template: Template::Auto,
            adapters: BTreeMap::new(),
            backends: None,
        }
    }

    /// The context for a model that was trained for `trained` tokens.
    pub(crate) fn context_for(&self, trained: u32) -> u32 {
        self.n_ctx.unwrap_or(trained.min(4096))
    }

    /// The cells beside a context.
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
        if !(1..=512).contains(&self.threads) {
            return out_of_range("threads", self.threads, "1 to 512");
        }
        if !(2..=256).contains(&self.n_seq_max) {
            return out_of_range("n_seq_max", self.n_seq_max, "2 to 256");
        }
        if let Some(cells) = self.shared_cells
            && cells > 1 << 24
        {
            return out_of_range("shared_cells", cells, "at most 16,777,216");
        }
        if self.max_waiting == 0 {
            return out_of_range("max_waiting", 0, "1 or more");
        }
        Ok(())
    }
}
