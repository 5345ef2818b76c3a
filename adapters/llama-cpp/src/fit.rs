//! What of a model fits where: layers on a GPU, context in memory.
//!
//! llama.cpp allocates when it loads, and what is too much ends in a plain "failed", on some systems in the end of the
//! process. Here it is reckoned before, from the file's header.

use journeyman::{Error, ErrorKind, Result};

use crate::{
    config::{GpuLayers, LlamaConfig},
    devices::{GPU_BACKENDS, Memory},
    gguf::{self, Header},
    sizes::Sizes,
};

const OPERATION: &str = "LlamaCpp::load";
/// A context that was not asked for is made smaller where memory is short, but not smaller than this.
const LEAST_CONTEXT: u32 = 512;
/// [`GpuLayers::Fit`] leaves one part in so many of a device's free memory free.
const SPARE: u64 = 16;

/// How a model is loaded.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Layers on a GPU, from the last on; the step from states to logits counts as one and goes first.
    pub gpu_layers: u32,
    /// Layers that could be, that step included.
    pub layers: u32,
    /// Tokens of context.
    pub context: u32,
    /// Bytes that this takes on GPUs: weights, keys and values, and what a batch is computed in. An estimate, rather
    /// too high.
    pub gpu_bytes: u64,
    /// The same in the system's memory.
    pub system_bytes: u64,
}

impl Plan {
    /// What loading would do, without loading: from the file's header and the memory that is free now.
    ///
    /// # Errors
    /// As [`LlamaCpp::load`](crate::LlamaCpp::load), as far as a header tells.
    pub fn new(config: &LlamaConfig) -> Result<Self> {
        config.check()?;
        Self::of(
            config,
            &gguf::inspect(&config.path, gguf::Purpose::Writing)?,
        )
    }

    pub(crate) fn of(config: &LlamaConfig, header: &Header) -> Result<Self> {
        let memory = Memory::read()?;
        plan(
            &header.sizes,
            config,
            config.context_for(header.trained_context),
            memory,
        )
        .map_err(|error| error.with("path", config.path.display()))
    }
}

/// Chooses layers and context; says what does not fit and what would.
fn plan(sizes: &Sizes, config: &LlamaConfig, wanted: u32, memory: Memory) -> Result<Plan> {
    let gpu_layers = layers_wanted(sizes, config, wanted, memory)?;
    let made = |context| {
        let needs = sizes.needs(config, gpu_layers, context);
        Plan {
            gpu_layers,
            layers: sizes.steps(),
            context,
            gpu_bytes: needs.device,
            system_bytes: needs.host,
        }
    };
    let room = |context| {
        let needs = sizes.needs(config, gpu_layers, context);
        !sizes.whole
            || (memory.gpu.is_none_or(|free| needs.device <= free)
                && memory.system.is_none_or(|free| needs.host <= free))
    };
    let largest = greatest(wanted, room);
    match largest {
        Some(context) if context == wanted => Ok(made(wanted)),
        Some(context) if config.n_ctx.is_none() && context >= LEAST_CONTEXT => Ok(made(context)),
        _ => Err(too_little(made(wanted), sizes, config, memory, largest)),
    }
}

fn layers_wanted(sizes: &Sizes, config: &LlamaConfig, context: u32, memory: Memory) -> Result<u32> {
    let layers = match config.gpu_layers {
        GpuLayers::None | GpuLayers::Count(0) => return Ok(0),
        GpuLayers::Count(layers) => layers.min(sizes.steps()),
        GpuLayers::All => sizes.steps(),
        GpuLayers::Fit => {
            let Some(free) = memory.gpu else {
                return Ok(0);
            };
            if !sizes.whole {
                return Err(Error::unsupported(
                    OPERATION,
                    "layers are fitted only to a model in one file",
                )
                .with("field", "gpu_layers")
                .hint(
                    "say how many layers, or merge the files with llama.cpp's llama-gguf-split",
                ));
            }
            let free = free - free / SPARE;
            return Ok(most_layers(sizes, config, context, free));
        }
    };
    if memory.gpu.is_some() {
        return Ok(layers);
    }
    let error = Error::unsupported(OPERATION, "layers are wanted on a GPU, and there is none")
        .with("field", "gpu_layers");
    Err(error.hint(if GPU_BACKENDS {
        "no GPU is found: check its driver with `devices()`, load its backend with `load_backends` where backends \
         are plugins, or set gpu_layers to GpuLayers::None or Fit"
    } else {
        "build with the feature cuda, vulkan, metal or dynamic-backends of journeyman-llama-cpp, or set gpu_layers to \
         GpuLayers::None or Fit"
    }))
}

/// The most layers that fit on a GPU with this context.
fn most_layers(sizes: &Sizes, config: &LlamaConfig, context: u32, free: u64) -> u32 {
    greatest(sizes.steps(), |layers| {
        sizes.needs(config, layers, context).device <= free
    })
    .unwrap_or(0)
}

/// The greatest number up to `most` that is good, where all below a good one are good.
fn greatest(most: u32, good: impl Fn(u32) -> bool) -> Option<u32> {
    if good(most) {
        return Some(most);
    }
    if !good(0) {
        return None;
    }
    let (mut least, mut bad) = (0, most);
    while bad - least > 1 {
        let middle = least + (bad - least) / 2;
        if good(middle) {
            least = middle;
        } else {
            bad = middle;
        }
    }
    Some(least)
}

fn too_little(
    plan: Plan,
    sizes: &Sizes,
    config: &LlamaConfig,
    memory: Memory,
    context: Option<u32>,
) -> Error {
    let mib = |bytes: u64| bytes.div_ceil(1 << 20);
    let gpu = memory.gpu.filter(|&free| plan.gpu_bytes > free);
    let (place, needed, free) = match (gpu, memory.system) {
        (Some(free), _) => ("the GPU's", plan.gpu_bytes, free),
        (None, free) => ("the system's", plan.system_bytes, free.unwrap_or(0)),
    };
    let mut ways = Vec::new();
    if gpu.is_some() {
        let layers = most_layers(sizes, config, plan.context, free);
        ways.push(format!(
            "set gpu_layers to {layers} or fewer of {}, or to GpuLayers::Fit",
            plan.layers
        ));
    }
    if let Some(context) = context.filter(|&context| context >= 16) {
        ways.push(format!("set n_ctx to {context} or less"));
    }
    ways.push("end what else uses that memory".to_owned());
    ways.push("use a smaller model or quantization".to_owned());
    Error::new(
        ErrorKind::Unavailable,
        OPERATION,
        format!(
            "{place} memory is too small: about {} MiB are needed for weights and a context of {}, {} are free",
            mib(needed),
            plan.context,
            free >> 20
        ),
    )
    .hint(ways.join("; or "))
}

#[cfg(test)]
mod tests;
