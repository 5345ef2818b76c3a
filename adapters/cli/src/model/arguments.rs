//! What the commands about models understand.

use std::{num::NonZeroU32, path::PathBuf};

use clap::{Args, Subcommand};
use journeyman_llama_cpp::GpuLayers;

#[derive(Debug, Subcommand)]
pub(crate) enum ModelCommand {
    /// What a model can run on here
    Devices {
        /// The folder of llama.cpp's backends, in a build that loads them
        #[arg(long, value_name = "DIR")]
        backends: Option<PathBuf>,
    },
    /// What a file tells of its model; the weights are not loaded
    Info {
        /// The GGUF file
        file: PathBuf,
    },
    /// The log-probability of given texts behind a prompt, the likeliest first
    Score(Score),
    /// Write behind a prompt
    Generate(Generate),
    /// Tokens a second: reading, writing alone and side by side, scoring with a shared prompt and one by one
    Bench(Bench),
    /// The other side of --isolated
    #[command(hide = true)]
    Worker,
}

/// How a model is loaded.
#[derive(Debug, Args)]
pub(crate) struct Load {
    /// The GGUF file
    pub(crate) file: PathBuf,
    /// Most tokens of prompt and output together; what the model was trained for, at most 4096, if left out
    #[arg(long, value_name = "N")]
    pub(crate) ctx: Option<u32>,
    /// Threads that compute
    #[arg(long, value_name = "N", default_value = "1")]
    pub(crate) threads: u32,
    /// Layers given to GPUs: `none`, `all`, `fit` for as many as their free memory holds, or a number
    #[arg(long, value_name = "N", default_value = "none", value_parser = gpu_layers)]
    pub(crate) gpu_layers: GpuLayers,
    /// The chat template: `auto` for the file's own, `none`, or one by name: `chatml`, `gemma`, `llama3` or `mistral`
    #[arg(long, value_name = "NAME", default_value = "auto")]
    pub(crate) template: String,
    /// The folder of llama.cpp's backends, in a build that loads them
    #[arg(long, value_name = "DIR")]
    pub(crate) backends: Option<PathBuf>,
    /// Keep the model in a process of its own
    #[arg(long)]
    pub(crate) isolated: bool,
    /// How long a request may take
    #[arg(long, value_name = "SECONDS", default_value = "600")]
    pub(crate) timeout: NonZeroU32,
}

/// What the model is given.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("given").required(true).args(["prompt", "prompt_file"]))]
pub(crate) struct Given {
    /// What is said to the model, as a person's message
    #[arg(long, value_name = "TEXT")]
    pub(crate) prompt: Option<String>,
    /// The same out of a file; `-` for standard input
    #[arg(short = 'f', long, value_name = "FILE")]
    pub(crate) prompt_file: Option<PathBuf>,
    /// Standing instructions before it
    #[arg(long, value_name = "TEXT")]
    pub(crate) system: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Score {
    #[command(flatten)]
    pub(crate) load: Load,
    #[command(flatten)]
    pub(crate) given: Given,
    /// A text to score; may be given several times
    #[arg(long = "candidate", value_name = "TEXT", required = true)]
    pub(crate) candidates: Vec<String>,
    /// Each text is cut after so many tokens
    #[arg(long, value_name = "N", default_value = "128")]
    pub(crate) max_tokens: usize,
    /// Also behind an empty prompt: how much likelier the prompt makes each text (PMI), and order by that
    #[arg(long)]
    pub(crate) pmi: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Generate {
    #[command(flatten)]
    pub(crate) load: Load,
    #[command(flatten)]
    pub(crate) given: Given,
    /// At most so many tokens
    #[arg(long, value_name = "N", default_value = "256")]
    pub(crate) max_tokens: usize,
    /// 0 is greedy
    #[arg(long, value_name = "T", default_value = "0")]
    pub(crate) temperature: f32,
    /// Draw among the smallest set of tokens with this probability
    #[arg(long, value_name = "P", default_value = "1")]
    pub(crate) top_p: f32,
    /// What the draws follow from
    #[arg(long, value_name = "N", default_value = "0")]
    pub(crate) seed: u64,
    /// A text that ends the writing; may be given several times
    #[arg(long, value_name = "TEXT")]
    pub(crate) stop: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Bench {
    #[command(flatten)]
    pub(crate) load: Load,
    /// Tokens of a prompt; 512, or half of the context where that is less, if left out
    #[arg(long, value_name = "N")]
    pub(crate) prompt_tokens: Option<usize>,
    /// Tokens that each stream writes
    #[arg(long, value_name = "N", default_value = "64")]
    pub(crate) tokens: NonZeroU32,
    /// Streams side by side
    #[arg(long, value_name = "N", default_value = "8")]
    pub(crate) streams: NonZeroU32,
    /// Texts that are scored
    #[arg(long, value_name = "N", default_value = "10")]
    pub(crate) candidates: NonZeroU32,
    /// Tokens of each
    #[arg(long, value_name = "N", default_value = "64")]
    pub(crate) candidate_tokens: NonZeroU32,
    /// How often each is measured, once more before for warmth
    #[arg(long, value_name = "N", default_value = "5")]
    pub(crate) repeats: NonZeroU32,
    /// What the texts are drawn from
    #[arg(long, value_name = "N", default_value = "1")]
    pub(crate) seed: u64,
}

fn gpu_layers(text: &str) -> Result<GpuLayers, String> {
    match text {
        "none" => Ok(GpuLayers::None),
        "all" => Ok(GpuLayers::All),
        "fit" => Ok(GpuLayers::Fit),
        number => match number.parse() {
            Ok(0) => Ok(GpuLayers::None),
            Ok(layers) => Ok(GpuLayers::Count(layers)),
            Err(_) => Err("say `none`, `all`, `fit` or a number".to_owned()),
        },
    }
}
