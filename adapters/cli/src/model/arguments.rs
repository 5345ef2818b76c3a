//! The arguments of `journeyman model`.

use std::{num::NonZeroU32, path::PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use journeyman::domain::ScoreKind;
use journeyman_llama_cpp::GpuLayers;

use super::layers;

#[derive(Debug, Subcommand)]
pub(crate) enum ModelCommand {
    /// List the devices that a model can run on here
    Devices {
        /// The folder of llama.cpp's backends, in a build that loads them
        #[arg(long, value_name = "DIR")]
        backends: Option<PathBuf>,
    },
    /// Describe a model by its file's header; the weights are not loaded
    Info {
        /// The GGUF file, or the name of a public model
        file: PathBuf,
    },
    /// Fetch public models by name, or list those that are known
    Fetch {
        /// Their names; if left out, a list is printed and nothing is fetched
        names: Vec<String>,
    },
    /// Score given texts after a prompt by log-probability, likeliest first
    Score(Score),
    /// Write text after a prompt
    Generate(Generate),
    /// Measure speed: reading, writing in one stream and in several, scoring with a shared prompt and one by one
    Bench(Bench),
    /// Fit the threshold of the gate to a model, from --library and tasks, and say what it does on held-out tasks
    Calibrate(Calibrate),
    /// The worker process of --isolated
    #[command(hide = true)]
    Worker,
}

/// How a model is loaded.
#[derive(Debug, Args)]
pub(crate) struct Load {
    /// The GGUF file, or the name of a public model, which is fetched at its first use: `smollm2` or `gemma3`
    pub(crate) file: PathBuf,
    /// Maximum tokens of prompt and output together; if left out, the model's trained context, at most 16384, as far as memory allows
    #[arg(long, value_name = "N")]
    pub(crate) ctx: Option<u32>,
    /// Threads that compute; if left out, one for each physical core that other programs leave free, and one alone for a small model
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<u32>,
    /// Layers on GPUs: `none`, `all`, `fit` for as many as their free memory holds, or a number
    #[arg(long, value_name = "N", default_value = "fit", value_parser = layers::named)]
    pub(crate) gpu_layers: GpuLayers,
    /// The chat template: `auto` for the file's own, `none`, or one by name: `chatml`, `gemma`, `llama3` or `mistral`
    #[arg(long, value_name = "NAME", default_value = "auto")]
    pub(crate) template: String,
    /// An adapter (LoRA, in GGUF) to write and score with
    #[arg(long, value_name = "FILE")]
    pub(crate) adapter: Option<PathBuf>,
    /// The folder of llama.cpp's backends, in a build that loads them
    #[arg(long, value_name = "DIR")]
    pub(crate) backends: Option<PathBuf>,
    /// Compute in full precision, one request at a time in batches of a fixed shape: answers repeat to the byte
    #[arg(long)]
    pub(crate) exact: bool,
    /// Run the model in a process of its own
    #[arg(long)]
    pub(crate) isolated: bool,
    /// Maximum seconds of a request
    #[arg(long, value_name = "SECONDS", default_value = "600")]
    pub(crate) timeout: NonZeroU32,
}

/// The prompt of a request.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("given").required(true).args(["prompt", "prompt_file"]))]
pub(crate) struct Given {
    /// The prompt, as a user's message
    #[arg(long, value_name = "TEXT")]
    pub(crate) prompt: Option<String>,
    /// A file with the prompt; `-` for standard input
    #[arg(short = 'f', long, value_name = "FILE")]
    pub(crate) prompt_file: Option<PathBuf>,
    /// A system message before the prompt
    #[arg(long, value_name = "TEXT")]
    pub(crate) system: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Score {
    #[command(flatten)]
    pub(crate) load: Load,
    #[command(flatten)]
    pub(crate) given: Given,
    /// A text to score; can be repeated
    #[arg(long = "candidate", value_name = "TEXT", required = true)]
    pub(crate) candidates: Vec<String>,
    /// Tokens after which each text is cut
    #[arg(long, value_name = "N", default_value = "128")]
    pub(crate) max_tokens: usize,
    /// Also score after an empty prompt, and order by the difference (PMI)
    #[arg(long)]
    pub(crate) pmi: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Generate {
    #[command(flatten)]
    pub(crate) load: Load,
    #[command(flatten)]
    pub(crate) given: Given,
    /// Maximum tokens to write
    #[arg(long, value_name = "N", default_value = "256")]
    pub(crate) max_tokens: usize,
    /// Sampling temperature; 0 is greedy
    #[arg(long, value_name = "T", default_value = "0")]
    pub(crate) temperature: f32,
    /// Sample from the smallest set of tokens with this probability
    #[arg(long, value_name = "P", default_value = "1")]
    pub(crate) top_p: f32,
    /// Seed of the sampling
    #[arg(long, value_name = "N", default_value = "0")]
    pub(crate) seed: u64,
    /// A text that ends the writing; can be repeated
    #[arg(long, value_name = "TEXT")]
    pub(crate) stop: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Bench {
    #[command(flatten)]
    pub(crate) load: Load,
    /// Tokens of a prompt; if left out, 512 or half of the context, whichever is less
    #[arg(long, value_name = "N")]
    pub(crate) prompt_tokens: Option<usize>,
    /// Tokens that each stream writes
    #[arg(long, value_name = "N", default_value = "64")]
    pub(crate) tokens: NonZeroU32,
    /// Streams that write at once
    #[arg(long, value_name = "N", default_value = "8")]
    pub(crate) streams: NonZeroU32,
    /// Texts to score
    #[arg(long, value_name = "N", default_value = "10")]
    pub(crate) candidates: NonZeroU32,
    /// Tokens of each text
    #[arg(long, value_name = "N", default_value = "64")]
    pub(crate) candidate_tokens: NonZeroU32,
    /// Measured repetitions; one more before them is discarded
    #[arg(long, value_name = "N", default_value = "5")]
    pub(crate) repeats: NonZeroU32,
    /// Seed of the texts
    #[arg(long, value_name = "N", default_value = "1")]
    pub(crate) seed: u64,
}

#[derive(Debug, Args)]
pub(crate) struct Calibrate {
    #[command(flatten)]
    pub(crate) load: Load,
    /// Labeled tasks, JSON Lines: id, instruction, and skill, the name of the right skill or a list of names. If left out, the
    /// library's kept attempts; and where there are too few of them, tasks of many kinds that come with the command
    #[arg(long, value_name = "FILE")]
    pub(crate) tasks: Option<PathBuf>,
    /// Decide about the best candidate by this score of the model. If left out: about the skill that a search finds first, by the model's score
    /// and the search's; with a model that was trained to score skills like these, about the best by PMI
    #[arg(long, value_name = "KIND", value_enum)]
    pub(crate) score: Option<ScoreName>,
    /// Wrong candidates of each task with `--score`, those that a search finds first
    #[arg(long, value_name = "N", default_value = "10")]
    pub(crate) candidates: NonZeroU32,
    /// Greatest share of tasks at which a wrong skill may be injected; if left out, 0.05, and the recipe's 0.02 where a session's own fit is
    /// written
    #[arg(long, value_name = "SHARE")]
    pub(crate) most_wrong: Option<f64>,
    /// Seed of the halves
    #[arg(long, value_name = "N", default_value = "1")]
    pub(crate) seed: u64,
    /// Write the calibration to this file, which runs read; it must not be there yet
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

/// The options of `skill why`.
#[derive(Debug, Args)]
pub(crate) struct Why {
    /// The task, in words
    pub(crate) task: String,
    #[command(flatten)]
    pub(crate) load: Load,
    /// A calibration of the gate for this model, of `model calibrate`; if left out, the threshold is fitted as in a run
    #[arg(long, value_name = "FILE")]
    pub(crate) calibration: Option<PathBuf>,
}

/// A score of the gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScoreName {
    Sum,
    Mean,
    Pmi,
    CardPmi,
    Fits,
}

impl From<ScoreName> for ScoreKind {
    fn from(name: ScoreName) -> Self {
        match name {
            ScoreName::Sum => Self::Sum,
            ScoreName::Mean => Self::Mean,
            ScoreName::Pmi => Self::Pmi,
            ScoreName::CardPmi => Self::CardPmi,
            ScoreName::Fits => Self::Fits,
        }
    }
}
