//! What of a model fits where: layers on a GPU, context in memory.
//!
//! llama.cpp allocates when it loads, and what is too much ends in a plain "failed", on some systems in the end of the
//! process. Here it is reckoned before, from the file's header.

use journeyman::{Error, ErrorKind, Result};

use crate::{
    config::{GpuLayers, LlamaConfig},
    devices::{GPU_BACKENDS, Memory},
    gguf::{self, Header, Tensor},
};

const OPERATION: &str = "LlamaCpp::load";
/// A context that was not asked for is made smaller where memory is short, but not smaller than this.
const LEAST_CONTEXT: u32 = 512;
/// [`GpuLayers::Fit`] leaves one part in so many of a device's free memory free.
const SPARE: u64 = 16;

/// How much memory a model's parts take.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sizes {
    /// Bytes of each layer's weights.
    layers: Vec<u64>,
    /// Bytes that the last step, from states to logits, has for itself.
    output: u64,
    /// Bytes of the token embeddings where that step shares them: a GPU that has the step has a copy.
    shared: u64,
    /// Bytes of all weights.
    all: u64,
    /// Keys' and values' numbers of one token in one layer.
    kept: u64,
    /// Numbers for each token of a batch that are computed with, those of attention left out.
    computed: u64,
    /// Heads, each with a number for each pair of a batch's token and a cell.
    heads: u64,
    /// Whether the file holds the whole model.
    whole: bool,
}

impl Sizes {
    /// From the tensors and the architecture's own numbers. A width that is a list, one for each layer, counts as the
    /// widest that it can be.
    pub(crate) fn new(
        tensors: &[Tensor],
        number: impl Fn(&str) -> Option<u64>,
        vocabulary: u64,
        whole: bool,
    ) -> Self {
        let layers = number("block_count").unwrap_or(0).min(512) as usize;
        let mut sizes = Self {
            layers: vec![0; layers],
            whole,
            ..Self::default()
        };
        let mut output = false;
        for Tensor { name, bytes, .. } in tensors {
            sizes.all = sizes.all.saturating_add(*bytes);
            let layer = name
                .strip_prefix("blk.")
                .and_then(|rest| rest.split('.').next()?.parse::<usize>().ok())
                .and_then(|layer| sizes.layers.get_mut(layer));
            match layer {
                Some(layer) => *layer += bytes,
                None if name.starts_with("output") => sizes.output += bytes,
                None if name == "token_embd.weight" => sizes.shared = *bytes,
                None => {}
            }
            output |= name == "output.weight";
        }
        if output {
            sizes.shared = 0;
        }
        let size = |name: &str, other: u64| number(name).unwrap_or(other).min(1 << 28);
        let width = size("embedding_length", 0);
        sizes.heads = size("attention.head_count", 1).max(1);
        let head = width / sizes.heads;
        sizes.kept = size("attention.head_count_kv", sizes.heads)
            * (size("attention.key_length", head) + size("attention.value_length", head));
        sizes.computed = vocabulary + 4 * size("feed_forward_length", 4 * width);
        sizes
    }

    /// Layers, the last step counted as one as llama.cpp does.
    fn steps(&self) -> u32 {
        self.layers.len() as u32 + 1
    }

    /// Bytes on the GPUs and bytes in the system's memory with so many layers on a GPU, from the last on.
    fn needs(&self, config: &LlamaConfig, gpu_layers: u32, context: u32) -> Needs {
        let cells = u64::from(context) + u64::from(config.shared_cells_for(context));
        let of_layers = |count: usize| {
            let number = if config.half_memory { 2 } else { 4 };
            (count as u64).saturating_mul(self.kept.saturating_mul(cells * number))
        };
        let batch = u64::from(config.n_batch.max(config.n_seq_max));
        let attention = if config.flash_attention {
            0
        } else {
            self.heads.saturating_mul(cells)
        };
        let computing = (self.computed.saturating_add(attention)).saturating_mul(batch * 4);
        // The last step goes first.
        let moved = gpu_layers.saturating_sub(1).min(self.layers.len() as u32) as usize;
        let stay = self.layers.len() - moved;
        let (mut device, mut host) = (0, 0);
        let mut own = 0;
        if gpu_layers > 0 {
            own = self.output + self.layers[stay..].iter().sum::<u64>();
            device = own
                .saturating_add(self.shared)
                .saturating_add(of_layers(moved))
                .saturating_add(computing);
        }
        if stay > 0 {
            host = of_layers(stay).saturating_add(computing);
        }
        host = host.saturating_add(self.all.saturating_sub(own));
        Needs { device, host }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Needs {
    device: u64,
    host: u64,
}

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
